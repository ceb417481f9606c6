"""Rays that end on the border of a curved cone, where its coefficients make it flat."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

import convexml as cml
from convexml import Verdict
from convexml.certificates.conic.flat import flattened
from convexml.objective.conic.cones import SecondOrder
from convexml.objective.conic.curved import ExponentialCone
from convexml.objective.conic.program import ConeProgram, Rounded


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("bounded", [False, True])
def test_squares_with_a_line_fall_where_a_linear_program_does(seed: int, bounded: bool) -> None:
    """|A x|^2 - c'x over x >= -1: unbounded iff some d >= 0 has A d = 0 and c'd > 0."""
    rng = np.random.default_rng(seed)
    A, c = rng.normal(size=(4, 7)), np.abs(rng.normal(size=7))
    if bounded:
        A[0] = np.abs(A[0])  # then only d = 0 has A d = 0
    x = cp.Variable(7, name="x")
    found = cml.solve(cp.Problem(cp.Minimize(cp.sum_squares(A @ x) - c @ x), [x >= -1.0]))
    room = linprog(-c, A_eq=A, b_eq=np.zeros(4), bounds=(0.0, 1.0)).fun
    assert found.verdict is Verdict.CERTIFIED, str(found)
    assert found.claim == ("unbounded" if room < -1e-9 else "optimal")
    if found.claim == "unbounded":
        ray = found.evidence["ray"]["x"]
        np.testing.assert_allclose(A @ ray, 0.0, atol=1e-14)
        assert ray.min() >= 0.0
        assert c @ ray > 0.1


def test_the_dual_of_an_inseparable_hard_margin_is_unbounded() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), np.sign(rng.normal(size=60))
    a = cp.Variable(60, name="a")
    gain = cp.sum(a) - 0.5 * cp.sum_squares((y[:, None] * X).T @ a)
    found = cml.solve(cp.Problem(cp.Maximize(gain), [a >= 0.0, y @ a == 0.0]))
    assert (found.claim, found.verdict) == ("unbounded", Verdict.CERTIFIED)
    ray = found.evidence["ray"]["a"]
    np.testing.assert_allclose([*(y * ray) @ X, y @ ray], 0.0, atol=1e-13)
    assert ray.min() >= 0.0


def program(rows: list[list[float]], cone: SecondOrder | ExponentialCone) -> ConeProgram:
    A = sparse.csc_array(np.array(rows, dtype=float))
    m, n = A.shape
    return ConeProgram(sparse.csc_array((n, n)), -np.ones(n), A, np.zeros(m), (cone,))


FLAT = {
    "twins": ([[-1, 0], [-1, 0], [0, 1]], SecondOrder(3)),
    "opposite": ([[-1, 0], [1, 0], [0, 1]], SecondOrder(3)),
    "no height": ([[0, 0], [1, 0], [0, 1]], SecondOrder(3)),
    "exponential": ([[1, 0], [0, 0], [0, 1]], ExponentialCone()),
}


@pytest.mark.parametrize("name", FLAT)
def test_what_is_flat_has_the_rays_of_the_curved_cone(name: str) -> None:
    """Of 400 directions with small integers, the same ones: -A d in K, decided in integers."""
    curved = program(*FLAT[name])
    flat = flattened(curved)
    assert flat.is_polyhedral
    assert not curved.is_polyhedral
    for d in np.random.default_rng(0).integers(-2, 3, size=(400, 2)).astype(float):
        s = -(curved.A @ d)
        if name == "exponential":
            inside = s[0] <= 0.0 == s[1] and s[2] >= 0.0
        else:
            inside = s[0] >= 0.0 and s[0] ** 2 >= s[1] ** 2 + s[2] ** 2
        assert np.array_equal(flat.project(-(flat.A @ d)), -(flat.A @ d)) is bool(inside)


@pytest.mark.parametrize("name", FLAT)
def test_what_is_not_quite_flat_stays_curved(name: str) -> None:
    """Coefficients that differ in the last place, or may, decide nothing."""
    curved = program(*FLAT[name])
    row = 0 if name == "no height" else 1
    other = curved.A.toarray()
    other[row, 0] += 2.0**-52
    assert flattened(replace(curved, A=sparse.csc_array(other))).cones == curved.cones
    off = sparse.csr_array(([1e-300], ([row], [0])), shape=(3, 3))
    may = Rounded(off, np.zeros(2), np.zeros(2, dtype=bool))
    assert flattened(replace(curved, rounded=may)).cones == curved.cones

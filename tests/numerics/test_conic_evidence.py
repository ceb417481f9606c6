"""Multipliers, rays and curves of cone programs: what is evidence, and what beside it is none."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from convexml import Verdict, solve
from convexml.certificates.conic import slater as conic
from convexml.certificates.conic.infeasible import verify_farkas
from convexml.certificates.conic.program import conic_units
from convexml.certificates.conic.ray import flattened, has_ray_among, inside, rays_of
from convexml.certificates.conic.search import deepest
from convexml.certificates.conic.unbounded import beside
from convexml.duality import cone_program
from convexml.numerics import Array
from convexml.problem import cones


def program(
    rows: list[list[float]], cone: cones.SecondOrder | cones.ExponentialCone
) -> cones.ConeProgram:
    A = sparse.csc_array(np.array(rows, dtype=float))
    m, n = A.shape
    return cones.ConeProgram(sparse.csc_array((n, n)), -np.ones(n), A, np.zeros(m), (cone,))


FLAT = {
    "twins": ([[-1, 0], [-1, 0], [0, 1]], cones.SecondOrder(3)),
    "opposite": ([[-1, 0], [1, 0], [0, 1]], cones.SecondOrder(3)),
    "no height": ([[0, 0], [1, 0], [0, 1]], cones.SecondOrder(3)),
    "exponential": ([[1, 0], [0, 0], [0, 1]], cones.ExponentialCone()),
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
    may = cones.Rounded(off, np.zeros(2), np.zeros(2, dtype=bool))
    assert flattened(replace(curved, rounded=may)).cones == curved.cones


UNITS = np.array([1.0, np.sqrt(2.0), 1.0, np.sqrt(2.0), np.sqrt(2.0), 1.0])
"""Of the upper triangle of a matrix of order 3, column by column."""


def corner_below_zero() -> Any:
    """X_11 = -1, X positive semidefinite; Y = E_11 proves that there is none."""
    A = np.vstack([np.eye(1, 6), -np.diag(UNITS)])
    return cones.cone_program_of(
        None, np.ones(6), A, np.eye(1, 7).ravel() * -1.0, [cones.ZeroCone(1), PSD]
    )


PSD = cones.Semidefinite(6)

E11 = np.eye(1, 6).ravel()


@pytest.mark.parametrize("noise", [0.0, 4e-11, -4e-11])
def test_the_unit_matrix_of_a_corner_proves_the_corner_negative(noise: float) -> None:
    program = corner_below_zero()
    y = np.concatenate([[1.0 + noise], E11])
    found = verify_farkas(program, lambda: conic_units(program), y, 1e-6)
    assert found.verdict is Verdict.CERTIFIED
    Y = PSD.matrix(found.dual["y"][1:])
    assert np.array_equal(Y, np.diag([found.dual["y"][0], 0.0, 0.0]))


def test_another_matrix_proves_nothing() -> None:
    program = corner_below_zero()
    y = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0])  # rank one, but of other entries
    found = verify_farkas(program, lambda: conic_units(program), y, 1e-6)
    assert found.verdict is Verdict.UNDECIDED


def test_a_ray_may_be_on_the_border() -> None:
    """trace X falls along -E_22 for ever where X is negative semidefinite and X_11 = -1."""
    A = np.vstack([np.eye(1, 6), np.diag(UNITS)])
    cost = np.array([1.0, 0.0, 1.0, 0.0, 0.0, 1.0])
    program = cones.cone_program_of(
        None, cost, A, np.eye(1, 7).ravel() * -1.0, [cones.ZeroCone(1), PSD]
    )
    rays = rays_of(program)
    assert has_ray_among(rays, [-np.eye(1, 6, 2).ravel()])
    assert not has_ray_among(rays, [-np.array([0.0, 1.0, 1.0, 0.0, 0.0, 0.0])])  # X_12: no room
    assert inside(program, -E11, program.b)


def test_what_falls_by_the_rounding_of_a_sum_does_not_fall() -> None:
    """0.3 d_1 - (0.1 + 0.2) d_2 over d >= 0 with d_1 = d_2 is -5.6e-17, and 0 as it was meant.

    It falls where the floats are what was written, and where it falls by more than the sums hide.
    """
    costs, rows = np.array([0.3, -(0.1 + 0.2)]), np.array([[1.0, -1.0], [-1.0, 0.0], [0.0, -1.0]])
    made = [cones.ZeroCone(1), cones.NonnegativeCone(2)]
    off = cones.Rounded(sparse.csr_array((3, 3)), 1e-16 * abs(costs), np.zeros(2, dtype=bool))
    for lower, rounded, falls in ((0.0, off, False), (0.0, None, True), (1e-9, off, True)):
        program = cones.cone_program_of(None, costs - [lower, 0.0], rows, np.zeros(3), made)
        rays = rays_of(replace(program, rounded=rounded))
        assert has_ray_among(rays, [np.ones(2)]) is falls


def falls_along(program: cones.ConeProgram, x: Array, ray: Array, turn: Array) -> bool:
    """Whether every condition on a curve holds of these floats, exactly."""
    turned = beside(program, x, ray)
    return turned is not None and has_ray_among(turned, [turn])


def test_every_condition_on_a_curve_counts() -> None:
    problem = cp.Problem(cp.Maximize(cp.log(cp.Variable(name="x"))))
    program = cone_program(problem).program  # x and the epigraph variable r
    at = np.zeros(2)
    r = int(np.flatnonzero(program.q)[0])
    at[1 - r] = 1.0
    at[r] = -1.0
    ray, turn = np.eye(2)[1 - r], np.eye(2)[r]
    assert program.q[r] < 0.0
    assert falls_along(program, at, ray, turn)
    for wrong in ((-ray, turn), (ray, -turn), (0.0 * ray, turn), (turn, turn)):
        assert not falls_along(program, at, *wrong)
    assert not falls_along(program, -at, ray, turn)  # outside of the cone
    dear = replace(program, q=program.q + 1e-9 * ray)
    assert not falls_along(dear, at, ray, turn)


x_slater = cp.Variable(name="x")

X = cp.Variable((2, 2), symmetric=True, name="X")

CASES = {
    "cut at its end": [cp.square(x_slater) <= 1, x_slater == 1],
    "a point": [cp.square(x_slater) <= 0],
    "a border of correlations": [X >> 0, cp.diag(X) == 1, X[0, 1] >= 1],
}


def feasibility(*constraints: cp.Constraint) -> cp.Problem:
    return cp.Problem(cp.Minimize(0.0), list(constraints))


@pytest.mark.parametrize("how", ["sign", "slip", "scale"])
def test_multipliers_that_are_wrong_prove_nothing(how: str) -> None:
    """Every entry of a valid certificate is spoilt in turn; one that still holds is checked."""
    for name, rows in CASES.items():
        program = cone_program(feasibility(*rows)).program
        y = conic.no_interior(program, deepest(program)[1])
        assert y is not None
        exact = [Fraction(each) for each in y.tolist()]
        assert conic._proves(program, exact) or "correlations" in name  # 1/sqrt(2) is rounded
        for i in np.flatnonzero(y):
            wrong = list(exact)
            spoilt = {"sign": -exact[i], "slip": exact[i] + Fraction(1, 3), "scale": 2 * exact[i]}
            wrong[i] = spoilt[how]
            assert not conic._proves(program, wrong)
        assert not conic._proves(program, [Fraction(0)] * y.size)


@pytest.mark.parametrize("y", [[0.0, 0.0], [1.0, 1.0]])
def test_multipliers_of_value_0_are_no_evidence(y: list[float]) -> None:
    """x <= 1, -x <= -1 has a point: A'y = 0 exactly, and b'y = 0."""
    x = cp.Variable(1)
    program = cone_program(feasibility(x <= 1, x >= 1)).program
    found = verify_farkas(program, lambda: conic_units(program), np.array(y), 1e-6)
    assert found.verdict is Verdict.UNDECIDED
    assert found.reason == "the multipliers prove nothing: b'y = 0"


@pytest.mark.parametrize("short", [0.1, 1e-3, 1e-5])
def test_curved_cones_that_nearly_meet_are_infeasible(short: float) -> None:
    """Two balls whose radii add up to less than the distance of their centres; Jensen for log."""
    x = cp.Variable(5)
    balls = [cp.norm(x - 1.0) <= 1.0, cp.norm(x + 1.0) <= 2.0 * np.sqrt(5.0) - 1.0 - short]
    sums = [cp.log_sum_exp(x) <= np.log(5.0) - short, cp.sum(x) >= 0.0]
    for constraints in (balls, sums):
        found = solve(cp.Problem(cp.Minimize(x[0]), constraints))
        assert (found.claim, found.verdict) == ("infeasible", Verdict.CERTIFIED)

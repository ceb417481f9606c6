"""Certificates of cone programs that are given as arrays: mutations, units, bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from support.programs.arrays import certify_arrays
from support.sizes import sizes

import convexml as cml
from convexml import Verdict
from convexml.certificates.algebra.definite import eigenvalue_bound
from convexml.certificates.algebra.dual_points import dual_value
from convexml.certificates.algebra.searchers import solve_cone_program
from convexml.certificates.conic.program import conic_objective, solve_scaled
from convexml.problem.cones import (
    ConeProgram,
    ExponentialCone,
    NonnegativeCone,
    SecondOrder,
    Semidefinite,
    ZeroCone,
    cone_program_of,
)


def test_a_dual_residual_is_never_ignored() -> None:
    """Minimise x subject to x >= 0, with y = 1 - 1e-3 where y must be 1; x may be anywhere."""
    program = cone_program_of(None, [1.0, 0.0], [[-1.0, 0.0]], [0.0], [NonnegativeCone(1)])
    assert certify_arrays(program, [0.0, 3.0], y=[0.999]).gap == 0.0
    free = cone_program_of(None, [1.0, 1e-3], [[-1.0, 0.0]], [0.0], [NonnegativeCone(1)])
    certificate = certify_arrays(free, [0.0, 3.0], y=[1.0], R=5.0)
    assert (certificate.verdict, certificate.within) == (Verdict.REFUTED, 5.0)  # x[1] may fall
    assert conic_objective(free, certificate.witness["x"]) < 3e-3
    assert certificate.gap == pytest.approx(5e-3)
    assert certify_arrays(free, [0.0, 3.0], y=[1.0]).gap == np.inf


def test_a_dual_value_is_rounded_once() -> None:
    """-w'Pw / 2 - b'y in fractions, where the two terms cancel but for their last digits."""
    rng = np.random.default_rng(1)
    P, w = rng.normal(size=(3, 3)), rng.normal(size=3)
    P = P + P.T
    bent = sum(Fraction(P[i, j]) * Fraction(w[i]) * Fraction(w[j]) for i, j in np.ndindex(3, 3))
    y = -float(bent) / 2.0
    program = cone_program_of(P, np.zeros(3), np.zeros((1, 3)), [1.0], [NonnegativeCone(1)])
    assert dual_value(program, w, np.array([y])) == float(-bent / 2 - Fraction(y)) != 0.0


def program_of_all_cones(rng: np.random.Generator) -> ConeProgram:
    """A quadratic objective over all self-made cones, strictly feasible on both sides."""
    cones = [ZeroCone(1), NonnegativeCone(3), SecondOrder(3), ExponentialCone(), Semidefinite(3)]
    m, n = sum(cone.dim for cone in cones), 5
    A, root = rng.normal(size=(m, n)), rng.normal(size=(3, n))
    interior = np.array([0.0, 1, 1, 1, 2, 0.5, 0.5, 0, 1, 2, 1, 0, 1])
    dual = np.array([1.0, 1, 1, 1, 2, 0.5, 0.5, -1, 0, 1, 1, 0, 1])
    x0 = rng.normal(size=n)
    P = root.T @ root
    return cone_program_of(P, -A.T @ dual - P @ x0, A, A @ x0 + interior, cones)


COUNTS = sizes(1, 8)


@pytest.mark.parametrize("count", COUNTS)
def test_the_bound_holds_for_any_point_and_any_multiplier(count: int) -> None:
    rng = np.random.default_rng(2)
    bounded = 0
    for _ in range(count):
        program = program_of_all_cones(rng)
        x, _, y = solve_cone_program(program)
        value = conic_objective(program, x)
        for _ in range(20):
            size = 10.0 ** rng.uniform(-9, 1)
            point = x + size * rng.normal(size=x.size)
            multiplier = y + size * rng.normal(size=y.size)
            certificate = certify_arrays(program, point, y=multiplier)
            bounded += np.isfinite(certificate.gap)
            suboptimality = conic_objective(program, point) - value
            assert certificate.gap >= suboptimality - 1e-6 * (1.0 + abs(value))
            local = certify_arrays(program, point, y=multiplier, R=20.0)
            assert local.gap >= suboptimality - 1e-6 * (1 + abs(value))
    assert bounded > 7.5 * count


def test_a_factorisation_proves_its_bound() -> None:
    """Sparse and dense: no eigenvalue below the bound, none claimed of an indefinite matrix."""
    rng = np.random.default_rng(3)
    for n in (5, 40, 1100):
        root = sparse.random_array((n, n), density=3.0 / n, rng=rng) + sparse.eye_array(n)
        G = sparse.csc_array(root @ root.T)
        bound = eigenvalue_bound(G)
        assert -1e-6 < bound <= 0.0
        least = float(np.linalg.eigvalsh(G.toarray())[0])
        assert eigenvalue_bound(G - (least + 1e-3) * sparse.eye_array(n)) == -np.inf


def random_program(rng: np.random.Generator, kind: str) -> ConeProgram:
    n = 4
    A, x = rng.normal(size=(8, n)), rng.normal(size=n)
    slack, y = rng.uniform(0.5, 2.0, 8), rng.uniform(0.5, 2.0, 8)
    cones: list[Any] = [ZeroCone(1), NonnegativeCone(7)]
    slack[0] = 0.0
    if kind == "socp":
        cones = [ZeroCone(1), NonnegativeCone(3), SecondOrder(4)]
        slack[4:] = [3.0, 1.0, 1.0, 1.0]
        y[4:] = [3.0, -1.0, 1.0, 1.0]
    root = rng.normal(size=(2, n))
    P = root.T @ root if kind == "qp" else None
    bent = P @ x if kind == "qp" else 0.0
    return cone_program_of(P, -A.T @ y - bent, A, A @ x + slack, cones)


@pytest.mark.parametrize("kind", ["lp", "qp", "socp"])
def test_powers_of_two_change_nothing(kind: str) -> None:
    """Units of columns, of rows (one a second-order cone) and of the objective."""
    rng = np.random.default_rng(5)
    seen = set()
    for draw in range(8):
        program = random_program(rng, kind)
        x, y = solve_scaled(program)
        x = x + (0.0, 1e-9, 1e-7, 1e-3)[draw % 4] * rng.normal(size=x.size)
        column = 2.0 ** rng.integers(-20, 21, x.size)
        row = 2.0 ** rng.integers(-20, 21, y.size)
        if kind == "socp":
            row[4:] = row[4]
        cost = 2.0 ** rng.integers(-20, 21)
        C, R = sparse.diags_array(column), sparse.diags_array(row)
        other = ConeProgram(
            sparse.csc_array(cost * (C @ program.P @ C)),
            cost * column * program.q,
            sparse.csc_array(R @ program.A @ C),
            row * program.b,
            program.cones,
        )
        first = certify_arrays(program, x, y=y)
        second = certify_arrays(other, x / column, y=cost * y / row)
        assert first.verdict is second.verdict, f"{first}\n{second}"
        assert second.scale == pytest.approx(cost * first.scale, rel=1e-6)
        # The search for an exact multiplier of a curved cone ends at a third of tol; where it does
        # not get there, the best of a few mixtures counts.
        spread = 1e-10
        if kind == "socp":
            spread = 3e-7 if first.verdict is Verdict.CERTIFIED else 1e-5
        assert second.relative_gap == pytest.approx(first.relative_gap, rel=1e-2, abs=spread)
        seen.add(first.verdict)
    assert Verdict.CERTIFIED in seen
    assert Verdict.REFUTED in seen


def test_what_has_no_price_no_convexity_or_no_size_is_not_certified() -> None:
    free = cone_program_of(None, [1.0, 1e-3], [[-1.0, 0.0]], [0.0], [NonnegativeCone(1)])
    point, y = [1e-300, 0.0], [1.0]
    assert certify_arrays(free, point, y=y).gap == np.inf
    bent = cone_program_of([[-1.0]], [0.0], [[1.0], [-1.0]], [1.0, 1.0], [NonnegativeCone(2)])
    assert certify_arrays(bent, [0.0], y=[0.0, 0.0]).gap == np.inf
    small = cone_program_of(None, [1e-7], [[-1.0]], [-1.0], [NonnegativeCone(1)])
    assert certify_arrays(small, [2.0], y=[1e-7]).verdict is not Verdict.CERTIFIED


def test_multipliers_below_the_surface_of_their_cone_are_repaired_along_it() -> None:
    """The infimum of e^x is 0 and no x attains it: a bound of 0 certifies what is near."""
    verdicts = []
    for n in range(2, 7):
        x = cp.Variable(n)
        problem = cp.Problem(cp.Minimize(cp.exp(x[0])), [x[1:] == 0])
        for far in (24.0, 28.0, 32.0, 36.0, 40.0):
            x.value = -far * np.eye(n)[0]
            problem.constraints[0].save_dual_value(np.zeros(n - 1))
            found = cml.certify(problem)
            assert found.gap >= np.exp(-far) * (1.0 - 1e-9)
            verdicts.append(found.verdict)
    assert verdicts.count(Verdict.CERTIFIED) > 13  # without these steps 8 of 25


def test_a_matrix_with_a_nan_has_no_bound() -> None:
    """Its trace is known, and a Cholesky runs to its end all the same."""
    G = np.array([[2.0, np.nan], [np.nan, 2.0]])
    assert eigenvalue_bound(G) == -np.inf

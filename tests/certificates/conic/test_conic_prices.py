"""What multipliers leave has its price, in exact rationals; without one there is no bound."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from support.programs.arrays import certify_arrays
from support.programs.maros import solved

import convexml as cml
from convexml import Verdict
from convexml.certificates.conic.prices.lineality import idle_columns
from convexml.certificates.conic.prices.polyhedral import rational_dual
from convexml.certificates.conic.prices.price import priced
from convexml.certificates.conic.search.scaling import solve_scaled
from convexml.certificates.conic.units import conic_units
from convexml.objective.conic.cones import NonnegativeCone
from convexml.objective.conic.program import ConeProgram, cone_program_of


def random_lp(rng: np.random.Generator) -> ConeProgram:
    """Integer data; feasible and bounded on both sides, with margins."""
    m, n = 6, 4
    A = rng.integers(-5, 6, (m, n)).astype(float)
    x, y = rng.integers(-5, 6, n).astype(float), rng.integers(1, 6, m).astype(float)
    return cone_program_of(None, -A.T @ y, A, A @ x + rng.integers(1, 6, m), [NonnegativeCone(m)])


def exact_bound(program: ConeProgram, y: list[Fraction]) -> Fraction:
    return -sum((Fraction(float(b)) * v for b, v in zip(program.b, y, strict=True)), Fraction(0))


def test_a_priced_bound_is_below_the_optimum() -> None:
    """Of multipliers that are off by up to 1e-2: against vertices in rationals."""
    rng = np.random.default_rng(1)
    finite = 0
    for _ in range(60):
        program = random_lp(rng)
        x, y = solve_scaled(program)
        exact = rational_dual(program, x, np.where(y > 1e-6, y, 0.0))
        assert exact is not None
        best = exact.value + 1e-12 * abs(exact.value)  # strong duality: a vertex is optimal
        assert program.objective(x) == pytest.approx(exact.value, rel=1e-7)
        for size in (1e-12, 1e-9, 1e-6, 1e-2):
            moved = np.abs(y + size * rng.normal(size=y.size))
            for start in (moved, np.where(y > 1e-6, moved, 0.0)):
                found = priced(program, x, start, conic_units(program))
                finite += np.isfinite(found.price)
                assert not found.bound > best
    assert finite > 100


def test_what_no_multiplier_carries_has_no_price() -> None:
    """Minimise x + r z, z free: no bound for any r but 0."""
    for r in 2.0 ** -np.arange(1, 1000, 37):
        program = cone_program_of(None, [1.0, r], [[-1.0, 0.0]], [0.0], [NonnegativeCone(1)])
        found = priced(program, np.zeros(2), np.ones(1), conic_units(program))
        assert found.price == np.inf
        assert certify_arrays(program, [0.0, 0.0], y=[1.0]).verdict is not Verdict.CERTIFIED


def test_dual_points_without_interior_are_solved_in_rationals() -> None:
    """CVXPY's lp_5 has redundant rows: the multipliers of x > 0 are always 0."""
    from cvxpy.tests import solver_test_helpers as helpers

    certificate = cml.certify(solved(helpers.lp_5().prob), tol=1e-6)
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.within is None


def test_a_column_that_follows_from_others_is_left_out() -> None:
    """Only x_0 - x_1 appears: its sum is a direction along which nothing changes."""
    A = sparse.csr_array([[1.0, -1.0], [-1.0, 1.0]])
    program = cone_program_of(None, [1.0, -1.0], A, [3.0, 5.0], [NonnegativeCone(2)])
    assert idle_columns(program).size == 1
    sloped = replace(program, q=np.array([1.0, -1.0 + 2.0**-40]))
    assert idle_columns(sloped).size == 0
    certificate = certify_arrays(program, [-5.0, 0.0], y=[0.0, 1.0 - 1e-9])
    assert (certificate.verdict, certificate.within) == (Verdict.CERTIFIED, None)


def test_points_are_charged_for_their_violations() -> None:
    """Minimise 1e9 x over x >= 1: a violation of 1e-9 is worth 1."""
    x = cp.Variable()
    problem = cp.Problem(cp.Minimize(1e9 * x), [x >= 1])
    x.value = 1.0 - 1e-9
    problem.constraints[0].save_dual_value(np.array(1e9))
    certificate = cml.certify(problem)
    assert certificate.rounding == pytest.approx(1.0, rel=1e-5)  # and the rounding of P = 1e9

"""Programs on the border of having no point or no minimum: none is denied what it has."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest
from support.draws.families import assert_honest, sampled

import convexml as cml
from convexml import Verdict

SEEDS = sampled(4, 28, 60)


@pytest.mark.parametrize("seeds", SEEDS)
def test_feasible_however_tiny_the_row(seeds: range) -> None:
    tally = assert_honest("CVXPY: however tiny", seeds, 3)
    assert tally.counts["certified"] > 0.2 * tally.judged


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("name", ["open ended", "rays", "hardly curved", "hyperbolas"])
def test_on_the_border_of_unbounded(name: str, seeds: range) -> None:
    tally = assert_honest(f"CVXPY: {name}", seeds, 3)
    assert tally.counts["certified"] > 0


@pytest.mark.parametrize("seeds", sampled(6))
def test_multipliers_that_grow_buy_nothing(seeds: range) -> None:
    tally = assert_honest("CVXPY: multipliers without end", seeds, 8)
    assert tally.judged > 4 * len(seeds)


# -- single ones -----------------------------------------------------------------------------


def certified(problem: cp.Problem) -> cml.Certificate:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cml.certify(problem)


def test_the_line_of_the_table() -> None:
    m = cp.Variable(3, nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(m)), [[1e-7, 2e-7, 5e-8] @ m >= 1])
    found = cml.solve(problem)
    assert (found.claim, found.verdict) == ("optimal", Verdict.CERTIFIED)
    assert found.primal_objective == pytest.approx(1.0 / (1e-14 + 4e-14 + 2.5e-15), rel=1e-6)


def test_multipliers_of_1e14_of_an_equality_as_two_rows() -> None:
    x = cp.Variable(2)
    rows = [x[0] + 2 * x[1] <= 3, -x[0] - 2 * x[1] <= -3, x >= 0]
    problem = cp.Problem(cp.Minimize(cp.sum(x)), rows)  # 3/2 at (0, 3/2)
    for at, worse in (([3.0, 0.0], 1.5), ([0.0, 1.5], 0.0)):
        x.save_value(np.array(at))
        for row, value in zip(rows, (1e14, 1e14 + 1.0, np.zeros(2)), strict=True):
            row.save_dual_value(np.array(value))  # D = 3, c + A'y = (0, -1)
        found = certified(problem)
        assert found.verdict is not (Verdict.CERTIFIED if worse else Verdict.REFUTED)
        assert found.within is not None or found.gap >= worse


@pytest.mark.parametrize("K", [1e3, 1e14, 1e17, 1e30])
def test_the_multiplier_of_a_bound_hides_no_residual(K: float) -> None:
    """min x subject to x >= 1, x >= 0: (2, K) leaves -1 - K, of which K is no rounding."""
    x = cp.Variable(1)
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, x >= 0])
    x.save_value(np.array([2.0]))
    for row, value in zip(problem.constraints, (2.0, K), strict=True):
        row.save_dual_value(np.array([value]))
    found = certified(problem)
    assert found.verdict is not Verdict.CERTIFIED
    assert found.gap >= 1.0 or found.within is not None


@pytest.mark.parametrize("k", [20, 30, 40, 50])
def test_no_way_down_from_nowhere(k: int) -> None:
    """x <= 1 and x >= 1 + 2^-k, both within tol, beside a z that falls for ever."""
    x, z = cp.Variable(), cp.Variable(nonneg=True)
    for side, status in ((1.0 + 2.0**-k, "infeasible"), (1.0 - 2.0**-k, "unbounded")):
        problem = cp.Problem(cp.Minimize(-z), [x <= 1.0, x >= side])
        problem._status = "unbounded"
        found = certified(problem)
        assert found.verdict is not Verdict.CERTIFIED or found.claim == status
        assert found.verdict is Verdict.CERTIFIED or status == "infeasible"


def test_rounding_of_a_form_is_no_better_point() -> None:
    """The terms of x'Px are 1e21: NumPy's P* = -3.2e8 is off by 3e4."""
    P = np.array([[145.0, 28.0, -229.0], [28.0, 73.0, -247.0], [-229.0, -247.0, 970.0]])
    A = np.array([[2.0, -5.0, 13.0], [3.0, -2.0 + 2.0**-18, 3.0], [-23.0, -3.0, 32.0]])
    x = cp.Variable(3)
    objective = 0.5 * cp.quad_form(x, cp.psd_wrap(P)) + np.array([-3.0, 1.0, -1.0]) @ x
    problem = cp.Problem(cp.Minimize(objective), [A @ x <= [32.0, 7.0, 92.0], x >= 0])
    x.save_value(np.array([642326821.9885494, 1926984743.7770998, 642327225.9083729]))
    assert certified(problem).verdict is not Verdict.REFUTED  # the optimum, rounded

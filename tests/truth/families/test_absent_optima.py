"""Near the border of having no point or no minimum: none is denied what it has; rationals know."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.draws.infeasible_draws import FAMILIES, judged
from support.exact.exact_judging import Tally
from support.programs.maros import judged as of_values

import convexml as cml
from convexml import LearningProblem, Verdict
from convexml.losses import HardMargin, Interpolation, Loss
from convexml.penalties import Box, L1Ball, L2Ball, Nonnegative, Penalty

POWERS = [20, 45, 52]


@pytest.mark.parametrize("name", FAMILIES)
def test_no_false_absence(name: str) -> None:
    tally = Tally()
    for seed in range(3):
        tally.add(judged(name, seed)[1])
    assert not tally.crimes, tally.crimes[:5]
    clear = sum(n for answer, n in tally.counts.items() if "clearly: " in answer)
    sure = tally.counts["optimal clearly: optimal"] + tally.counts["infeasible clearly: infeasible"]
    assert sure >= 0.25 * clear  # offsets of 1e14 leave doubt
    assert not any("failed" in answer for answer in tally.counts)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("k", POWERS)
def test_two_rows_that_differ_by_a_power_of_two(k: int, intercept: bool) -> None:
    step = 2.0**-k
    problem = cml.MinimumNorm([[1, 1], [1, 1 + step]], [0, 1], fit_intercept=intercept)
    w = [0.0, 1.0 / step] if intercept else [-1.0 / step, 1.0 / step]
    b = -w[1] if intercept else 0.0
    solution = problem.solve()
    assert solution.primal["w"] == pytest.approx(w, rel=1e-9, abs=1e-9 * max(w))
    assert solution.objective == pytest.approx(0.5 * float(np.dot(w, w)), rel=1e-9)
    if k < 52 or intercept:
        assert solution.status == "optimal"
        assert problem.certify(w, b, solution.dual["u"]).verdict is Verdict.CERTIFIED
    else:  # u near 2^105 has no digits left for X'u = -w, so that no float u proves it
        assert solution.status == "inaccurate"
    assert problem.certify(w, b).verdict is not Verdict.REFUTED  # by points that miss Xw = y by 1


@pytest.mark.parametrize(("penalty", "status"), [
    (L2Ball(0.5), "infeasible"), (L2Ball(0.8), "optimal"), (L1Ball(0.5), "infeasible"),
    (L1Ball(1.0), "optimal"), (Box(-0.4, 0.4), "infeasible"), (Box(-0.5, 0.5), "optimal"),
    (Box(-np.inf, 0.0), "infeasible"), (Nonnegative(), "optimal"),
], ids=repr)  # fmt: skip
def test_a_constraint_on_w_leaves_no_interpolation(penalty: Penalty, status: str) -> None:
    A, targets = np.array([[1.0, 0.0, 1.0], [0.0, 2.0, 0.0]]), np.array([1.0, 0.0])
    solution = LearningProblem(A, targets, Interpolation(), penalty, fit_intercept=False).solve()
    assert solution.status == status
    assert solution.certificate.verdict is Verdict.CERTIFIED
    if status == "infeasible":
        nu = solution.evidence["nu"]
        assert penalty.conjugate(A.T @ nu, 1e-12) < targets @ nu


@pytest.mark.parametrize("k", POWERS)
@pytest.mark.parametrize("lo", [-np.inf, [-np.inf, 0.0]], ids=["free", "half"])
@pytest.mark.parametrize("loss", [Interpolation(), HardMargin()], ids=["equations", "margins"])
def test_weights_without_a_bound_may_be_enormous(k: int, lo: Any, loss: Loss) -> None:
    """(-2^k, 2^k), or (-2^k - 1, 2^(k + 1)), solves it."""
    X, y = [[1, 1], [1, 1 + 2.0**-k]], [0, 1]
    problem = LearningProblem(X, y, loss, Box(lo, np.inf), fit_intercept=False)
    assert problem.solve().status != "infeasible"


@pytest.mark.parametrize("K", [1e3, 1e17])
def test_the_multiplier_of_a_bound_hides_no_residual(K: float) -> None:
    """min x subject to x >= 1, x >= 0: (2, K) leaves -1 - K, of which K is no rounding."""
    x = cp.Variable(1)
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, x >= 0])
    x.save_value(np.array([2.0]))
    for row, value in zip(problem.constraints, (2.0, K), strict=True):
        row.save_dual_value(np.array([value]))
    found = of_values(problem)
    assert found.verdict is not Verdict.CERTIFIED
    assert found.gap >= 1.0 or found.within is not None


@pytest.mark.parametrize("k", [20, 50])
def test_no_way_down_from_nowhere(k: int) -> None:
    """x <= 1 and x >= 1 + 2^-k, both within tol, beside a z that falls for ever."""
    x, z = cp.Variable(), cp.Variable(nonneg=True)
    for side, status in ((1.0 + 2.0**-k, "infeasible"), (1.0 - 2.0**-k, "unbounded")):
        problem = cp.Problem(cp.Minimize(-z), [x <= 1.0, x >= side])
        problem._status = "unbounded"
        found = of_values(problem)
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
    assert of_values(problem).verdict is not Verdict.REFUTED  # the optimum, rounded

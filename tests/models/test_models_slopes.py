"""Every multiplier is a shadow price: one-sided slopes of the optimal value bracket it.

The value p(t) of the problem with a right-hand side moved by t is convex in t, so that for every
step h > 0, large or small,

    (p(0) - p(-h)) / h  <=  -multiplier  <=  (p(h) - p(0)) / h.

For g(w) <= t, h(w) = t the multiplier is -dp/dt: the convention of Boyd and Vandenberghe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from support.model_cases import MODELS, consistent, samples, separable

import convexml as cml
from convexml.numerics import Array

STEP = 0.02
NOISE = 1e-5
"""CLARABEL's error in two values of order 1 to 10, divided by the step."""
X, Y = samples("real")
XB, YB = samples("binary")


@dataclass
class Slopes:
    """The one-sided difference quotients of p at 0."""

    left: float
    right: float

    def bracket(self, multiplier: float) -> bool:
        """Whether -multiplier lies between them."""
        slack = NOISE * max(1.0, abs(multiplier))
        return self.left - slack <= -multiplier <= self.right + slack


def value(posed: Any) -> float:
    """The optimal value by CLARABEL; inf where infeasible."""
    posed.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9)
    return np.inf if posed.status == "infeasible" else float(posed.value)


def moved(problem: Any, label: str) -> tuple[Any, Any]:
    """The posed primal with t added on the right of one labelled constraint, and t."""
    import cvxpy as cp

    row = problem.constraints[label]
    left, right = row.args
    t = cp.Parameter(row.shape, value=np.zeros(row.shape))
    equal = isinstance(row, cp.constraints.Equality)
    moved_row = left - right == t if equal else left - right <= t
    others = [other for name, other in problem.constraints.items() if name != label]
    return cp.Problem(problem.primal.objective, [*others, moved_row]), t


def slopes(posed: Any, t: Any, direction: Array) -> Slopes:
    """Difference quotients of p in a direction of right-hand sides."""
    values = []
    for step in (-STEP, 0.0, STEP):
        t.value = step * direction
        values.append(value(posed))
    return Slopes((values[1] - values[0]) / STEP, (values[2] - values[1]) / STEP)


def directions(multiplier: Array) -> list[Array]:
    """The entries with the largest and the least multiplier, and one mixed direction."""
    flat = np.abs(np.ravel(multiplier))
    mixed = np.random.default_rng(0).normal(size=multiplier.shape)
    if multiplier.ndim == 0:
        return [np.ones(())]
    unit = np.eye(len(flat))
    return [unit[flat.argmax()], unit[flat.argmin()], mixed]


CASES = [(case, label) for case in MODELS for label in case.pose().constraints]


@pytest.mark.parametrize(
    ("case", "label"), CASES, ids=[f"{case.name}-{label}" for case, label in CASES]
)
def test_slopes_bracket_the_multiplier(case: Any, label: str) -> None:
    problem = case.pose()
    problem.primal.solve(solver="CLARABEL")
    theirs = np.array(problem.constraints[label].dual_value)
    problem.solve()
    ours = np.array(problem.constraints[label].dual_value)
    assert ours.shape == theirs.shape
    if case.name not in ("QuantileRegression", "SVR"):  # elsewhere the multipliers are unique
        assert ours == pytest.approx(theirs, abs=1e-4)
    posed, t = moved(problem, label)
    for number, direction in enumerate(directions(ours)):
        found = slopes(posed, t, direction)
        assert found.bracket(float(np.sum(ours * direction)))
        assert found.bracket(float(np.sum(theirs * direction)))
        if number == 0 and np.abs(ours).max() > 0.02:
            # The mutation: the same multiplier with the wrong sign is not between them.
            assert not found.bracket(-float(np.sum(ours * direction)))


def test_the_bracket_is_tight_where_the_value_is_smooth() -> None:
    problem = cml.Ridge(X, Y, 0.3)
    u = problem.solve().dual["u"]
    found = slopes(*moved(problem, "prediction"), np.eye(len(u))[np.abs(u).argmax()])
    assert found.right - found.left < 2e-3


def test_minimum_norm_against_the_derivative_of_its_closed_form() -> None:
    A, y = consistent()
    inverse = np.linalg.inv(A @ A.T)
    step, unit = 1e-5, np.eye(len(y))
    price = [
        ((y + step * e) @ inverse @ (y + step * e) - (y - step * e) @ inverse @ (y - step * e))
        / (4.0 * step)
        for e in unit
    ]
    assert cml.MinimumNorm(A, y).solve().dual["nu"] == pytest.approx(-np.array(price), rel=1e-6)


def test_soft_margin_against_a_problem_written_here() -> None:
    import cvxpy as cp

    w, b, xi = cp.Variable(5), cp.Variable(), cp.Variable(len(YB))
    at_least = cp.Parameter(len(YB))
    rows = [(YB[:, None] * XB) @ w + YB * b >= at_least - xi, xi >= 0]
    posed = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 0.7 * cp.sum(xi)), rows)
    alpha = cml.SoftMarginSVM(XB, YB, 0.7).solve().dual["alpha"]
    for index in (alpha.argmax(), alpha.argmin()):
        values = []
        for step in (-STEP, 0.0, STEP):
            at_least.value = np.ones(len(YB)) + step * np.eye(len(YB))[index]
            values.append(value(posed))
        # Asking for more margin makes the problem dearer: +alpha.
        assert (values[1] - values[0]) / STEP - NOISE <= alpha[index]
        assert alpha[index] <= (values[2] - values[1]) / STEP + NOISE


@pytest.mark.parametrize("norm", [1, 2])
def test_the_radius_against_a_problem_written_here(norm: int) -> None:
    import cvxpy as cp

    w, b, radius = cp.Variable(5), cp.Variable(), cp.Parameter(nonneg=True)
    loss = cp.sum_squares(X @ w + b - Y) / (2.0 * len(Y))
    posed = cp.Problem(cp.Minimize(loss), [cp.norm(w, norm) <= radius])
    model = {1: cml.ConstrainedLasso, 2: cml.ConstrainedRidge}[norm](X, Y, 1.5)
    multiplier = float(model.solve().dual[{1: "lambda", 2: "mu"}[norm]])
    values = []
    for step in (-STEP, 0.0, STEP):
        radius.value = 1.5 + step
        values.append(value(posed))
    found = Slopes((values[1] - values[0]) / STEP, (values[2] - values[1]) / STEP)
    assert found.bracket(multiplier)
    assert not found.bracket(-multiplier)


def test_the_hard_margin_bound_is_the_sum_of_alpha() -> None:
    A, y = separable()
    problem = cml.HardMarginSVM(A, y)
    alpha = problem.solve().dual["alpha"]
    # All margins multiplied by m multiply P* by m^2: dp/dm = 2 P* = sum of alpha at m = 1.
    assert alpha.sum() == pytest.approx(2.0 * problem.solve().objective, rel=1e-9)

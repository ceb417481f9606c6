"""The hard-margin support vector machine."""

from __future__ import annotations

from typing import Any, ClassVar

from ...losses import HardMargin, Loss
from ...numerics import Array
from ...objective import Objective, Statement, label_all
from ...penalties import L2, Penalty
from ...terms import constant
from ..learning.posing import pose_in_slacks
from ..problem import LearningProblem


class HardMarginSVM(LearningProblem):
    r"""Minimise (1/2) |w|^2 subject to y_i (w.x_i + b) >= 1.

    The multipliers of ``margin`` are alpha >= 0: w = sum_i alpha_i y_i x_i, sum_i alpha_i y_i = 0;
    the support vectors are those with alpha_i > 0, a subset of the points on the margin, which is
    1/|w| wide on either side. Inseparable data are "infeasible", with Farkas multipliers in
    ``evidence``. u_i = -y_i alpha_i. Sources: [E] 2, [H] 8.1.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Two labels of any kind; the larger is +1.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        Only whether a weight is 0 matters: such rows are dropped.

    Raises
    ------
    InputError
        For other than two classes, NaN or infinite entries, wrong shapes, bad weights.
    """

    multiplier_names: ClassVar = {"margin": "alpha"}

    def __init__(
        self, X: Any, y: Any, *, fit_intercept: bool = True, sample_weight: Any = None
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return HardMargin(), L2(1.0), "sum"

    def _pose(self) -> Statement:
        return pose_in_slacks(self)

    def _pose_dual(self) -> Statement:
        return pose_margin_dual(self.objective_parts)

    def dual_from_constraints(self) -> Array | None:
        alpha = self.constraints["margin"].dual_value
        return None if alpha is None else -self.objective_parts.y * alpha


def pose_margin_dual(objective: Objective, upper: Any = None, X: str = "X") -> Statement:
    """Maximise sum_i alpha_i - (1/2) |sum_i alpha_i y_i x_i|^2, 0 <= alpha_i <= upper_i."""
    import cvxpy as cp

    alpha, y = cp.Variable(objective.n, name="alpha"), constant(objective.y, "y")
    constraints = {"alpha": alpha >= 0.0}
    if upper is not None:
        constraints["beta"] = alpha <= upper
    if objective.fit_intercept:
        constraints["balance"] = y @ alpha == 0.0
    normal = constant(objective.design.constant, X).T @ cp.multiply(y, alpha)
    value = cp.sum(alpha) - 0.5 * cp.sum_squares(normal)
    problem = cp.Problem(cp.Maximize(value), label_all(constraints))
    return Statement(problem, {"alpha": alpha}, constraints)

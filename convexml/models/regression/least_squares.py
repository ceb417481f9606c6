"""Least squares, and the minimum-norm solution of an underdetermined system."""

from __future__ import annotations

from typing import Any, ClassVar

from ...losses import Interpolation, Loss, Squared
from ...numerics import Array
from ...objective import Statement, label_all
from ...penalties import L2, Penalty, Zero
from ...terms import constant
from ..learning.posing import pose_in_slacks
from ..problem import LearningProblem


class LeastSquares(LearningProblem):
    r"""Minimise (1/2) mean (y - X w - b)^2, the mean weighted by sample_weight.

    The normal equations X' S (X w + b - y) = 0, 1' S (X w + b - y) = 0 characterise the solutions.
    Sources: [G] 2.3, [H] 4, [E] 1.7.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, bad weights.
    """

    scikit_learn: ClassVar = {"LinearRegression": {}}

    def __init__(
        self, X: Any, y: Any, *, fit_intercept: bool = True, sample_weight: Any = None
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Squared(), Zero(), "mean"


class MinimumNorm(LearningProblem):
    r"""Minimise (1/2) |w|^2 subject to X w = y (no intercept).

    The multiplier of ``interpolation`` is nu (equal to u), and w = -X' nu. Gradient descent and SGD
    from 0 converge to this point. Source: [H] 2.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    fit_intercept : bool
        Whether b is free; False unless asked for.
    sample_weight : array, shape (n,), optional
        Only whether a weight is 0 matters: such rows are dropped.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, bad weights.
    """

    multiplier_names: ClassVar = {"interpolation": "nu"}

    def __init__(
        self, X: Any, y: Any, *, fit_intercept: bool = False, sample_weight: Any = None
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Interpolation(), L2(1.0), "sum"

    def _pose(self) -> Statement:
        return pose_in_slacks(self)

    def _pose_dual(self) -> Statement:
        import cvxpy as cp

        parts = self.objective_parts
        nu = cp.Variable(parts.n, name="nu")
        constraints = {"intercept": cp.sum(nu) == 0.0} if parts.fit_intercept else {}
        value = -0.5 * cp.sum_squares(constant(parts.design.constant, "X").T @ nu)
        value = value - constant(parts.y, "y") @ nu
        problem = cp.Problem(cp.Maximize(value), label_all(constraints))
        return Statement(problem, {"nu": nu}, constraints)

    def dual_from_constraints(self) -> Array | None:
        return self.constraints["interpolation"].dual_value

"""The soft-margin support vector machine."""

from __future__ import annotations

from typing import Any, ClassVar

from ...losses import Hinge, Loss
from ...numerics import Array
from ...objective import Statement
from ...penalties import L2, Penalty
from ...validation import positive_number
from ..base import Hyperparameter
from ..learning.posing import coefficients, pose_in_slacks
from ..problem import LearningProblem
from .hard_margin_svm import pose_margin_dual


class SoftMarginSVM(LearningProblem):
    r"""Minimise (1/2) |w|^2 + C sum_i s_i xi_i s.t. y_i (w.x_i + b) >= 1 - xi_i, xi_i >= 0.

    The multipliers of ``margin`` are alpha, those of ``slack`` beta: alpha_i + beta_i = C s_i.
    w = sum_i alpha_i y_i x_i, u_i = -y_i alpha_i. The lambda form (1/n) sum hinge + (lam/2)|w|^2
    has
    C = 1 / (lam n). Sources: [E] 2, [H] 8.2.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Two labels of any kind; the larger is +1.
    C : float
        Cost of a unit of slack, > 0.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        The s_i.

    Raises
    ------
    InputError
        For C <= 0, other than two classes, NaN or infinite entries, wrong shapes, bad weights.
    """

    scikit_learn: ClassVar = {"SVC": {"C": "C = C"}}

    C = Hyperparameter()
    multiplier_names: ClassVar = {"margin": "alpha", "slack": "beta"}

    def __init__(
        self,
        X: Any,
        y: Any,
        C: float = 1.0,
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight, C=C)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, float]:
        return Hinge(), L2(1.0), positive_number(hyper["C"], self.name, "C")

    def _pose(self) -> Statement:
        return pose_in_slacks(self)

    def _pose_dual(self) -> Statement:
        return pose_margin_dual(self.objective_parts, coefficients(self), self._design_name)

    def dual_from_constraints(self) -> Array | None:
        alpha = self.constraints["margin"].dual_value
        return None if alpha is None else -self.objective_parts.y * alpha

"""The lasso, penalised and constrained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..certificates import Condition
from ..certificates.learning_rows import ball_conditions, penalty_domain, products
from ..certificates.passed_point import PassedPoint
from ..losses import Loss, Squared
from ..penalties import L1, L1Ball, Penalty
from ..validation import positive_number
from .base import Hyperparameter
from .latex import Latex
from .learning_problem import LearningProblem


class Lasso(LearningProblem):
    r"""Minimise (1/2) mean (y - X w - b)^2 + lam |w|_1.

    KKT: |x_j'u| <= lam, with x_j'u = -lam sign(w_j) where w_j is not 0; u is (X w + b - y) / n.
    w = 0 exactly for lam >= ``lam_max``. Source: [H] 6.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    lam : float
        Strength, >= 0.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, NaN or infinite entries, wrong shapes, bad weights.
    """

    lam = Hyperparameter()

    def __init__(
        self, X: Any, y: Any, lam: float, *, fit_intercept: bool = True, sample_weight: Any = None
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight, lam=lam)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Squared(), L1(hyper["lam"]), "mean"

    def textbook_conditions(self, point: PassedPoint) -> Sequence[Condition]:
        return [
            penalty_domain(point, "|x_j'u| <= lam"),
            products("lam |w_j| + w_j x_j'u = 0", point.feature_terms),
        ]

    def _latex(self) -> Latex:
        return Latex(
            r"\min_{w,b}\ \tfrac{1}{2n}\|y - Xw - b\mathbf{1}\|_2^2 + \lambda\|w\|_1",
            r"\tfrac{1}{2n}\|z - y\|_2^2 + \lambda\|w\|_1 + u^\top(Xw + b\mathbf{1} - z)",
            r"\max_u\ -\tfrac n2\|u\|_2^2 - y^\top u\quad\text{s.t.}\quad"
            r"\|X^\top u\|_\infty \le \lambda,\ \mathbf{1}^\top u = 0",
            (
                r"u = \tfrac1n(Xw + b\mathbf{1} - y)",
                r"|x_j^\top u| \le \lambda,\quad x_j^\top u = -\lambda\,\mathrm{sign}(w_j)"
                r"\ \text{where}\ w_j \ne 0",
                r"\mathbf{1}^\top u = 0",
            ),
        )


class ConstrainedLasso(LearningProblem):
    r"""Minimise (1/2) mean (y - X w - b)^2 subject to |w|_1 <= radius.

    The multiplier of ``ball`` is lambda >= 0, the strength of the equivalent lasso:
    lambda = max_j |x_j'u|. Source: [H] 6.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    radius : float
        Radius of the l1 ball, > 0, in units of w.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For radius <= 0, NaN or infinite entries, wrong shapes, bad weights.
    """

    radius = Hyperparameter()
    multiplier_names: ClassVar = {"ball": "lambda"}

    def __init__(
        self,
        X: Any,
        y: Any,
        radius: float,
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight, radius=radius)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        radius = positive_number(hyper["radius"], self.name, "radius")
        return Squared(), L1Ball(radius), "mean"

    def textbook_conditions(self, point: PassedPoint) -> Sequence[Condition]:
        norm, lam = float(np.abs(point.w).sum()), float(np.abs(point.v).max(initial=0.0))
        return [
            products("lambda |w_j| + w_j x_j'u = 0", lam * np.abs(point.w) - point.w * point.v),
            *ball_conditions(self.radius, norm, "|w|_1", lam, "lambda"),
        ]

    def _latex(self) -> Latex:
        return Latex(
            r"\min_{w,b}\ \tfrac{1}{2n}\|y - Xw - b\mathbf{1}\|_2^2"
            r"\quad\text{s.t.}\quad\|w\|_1 \le t",
            r"\tfrac{1}{2n}\|z - y\|_2^2 + u^\top(Xw + b\mathbf{1} - z) + \lambda(\|w\|_1 - t)",
            r"\max_u\ -\tfrac n2\|u\|_2^2 - y^\top u - t\|X^\top u\|_\infty"
            r"\quad\text{s.t.}\quad\mathbf{1}^\top u = 0",
            (
                r"u = \tfrac1n(Xw + b\mathbf{1} - y)",
                r"-X^\top u \in \lambda\,\partial\|w\|_1,\quad \lambda = \|X^\top u\|_\infty",
                r"\lambda \ge 0,\quad \lambda(t - \|w\|_1) = 0",
            ),
        )

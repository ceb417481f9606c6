"""The lasso, penalised and constrained."""

from __future__ import annotations

from typing import Any, ClassVar

from ...losses import Loss, Squared
from ...penalties import L1, L1Ball, Penalty
from ...validation import positive_number
from ..base import Hyperparameter
from ..problem import LearningProblem


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

    scikit_learn: ClassVar = {"Lasso": {"alpha": "lam = alpha"}}

    lam = Hyperparameter()

    def __init__(
        self, X: Any, y: Any, lam: float, *, fit_intercept: bool = True, sample_weight: Any = None
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight, lam=lam)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Squared(), L1(hyper["lam"]), "mean"


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

"""Huber regression."""

from __future__ import annotations

from typing import Any, ClassVar

from ...losses import Huber, Loss
from ...penalties import L2, Penalty
from ..base import Hyperparameter
from ..problem import LearningProblem


class HuberRegression(LearningProblem):
    r"""Minimise mean huber_delta(y - X w - b) + (lam/2) |w|^2.

    huber_delta(r) = r^2/2 for |r| <= delta, delta (|r| - delta/2) beyond: Huber's own (1964), not
    scikit-learn's, which also estimates a scale.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    delta : float
        Where the loss turns linear, > 0, in units of y.
    lam : float
        Strength, >= 0.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For delta <= 0, a negative lam, NaN or infinite entries, wrong shapes, bad weights.
    """

    scikit_learn: ClassVar = {
        "HuberRegressor": {"epsilon": "delta = epsilon σ", "alpha": "lam = alpha σ / S"}
    }

    delta = Hyperparameter()
    lam = Hyperparameter()

    def __init__(
        self,
        X: Any,
        y: Any,
        delta: float,
        lam: float,
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight, delta=delta, lam=lam)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Huber(hyper["delta"]), L2(hyper["lam"]), "mean"

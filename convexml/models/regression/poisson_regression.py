"""Poisson regression with the log link."""

from __future__ import annotations

from typing import Any, ClassVar

from ...losses import Loss, Poisson
from ...penalties import L2, Penalty
from ..base import Hyperparameter
from ..problem import LearningProblem


class PoissonRegression(LearningProblem):
    r"""Minimise mean (e^z - y z + y log y - y) + (lam/2) |w|^2, z = X w + b, y >= 0.

    Half the mean Poisson deviance, as scikit-learn's PoissonRegressor with alpha = lam.
    Predictions are e^z.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Counts, or rates, >= 0.
    lam : float
        Strength, >= 0.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, a negative y, NaN or infinite entries, wrong shapes, bad weights.
    """

    scikit_learn: ClassVar = {"PoissonRegressor": {"alpha": "lam = alpha"}}

    lam = Hyperparameter()

    def __init__(
        self,
        X: Any,
        y: Any,
        lam: float,
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight, lam=lam)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Poisson(), L2(hyper["lam"]), "mean"

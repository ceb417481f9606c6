"""Quantile regression."""

from __future__ import annotations

from typing import Any, ClassVar

from ...losses import Loss, Pinball
from ...penalties import L1, Penalty
from ..base import Hyperparameter
from ..problem import LearningProblem


class QuantileRegression(LearningProblem):
    r"""Minimise mean pinball_tau(y - X w - b) + lam |w|_1, as scikit-learn's QuantileRegressor.

    pinball_tau(r) = tau r for r >= 0, (tau - 1) r for r < 0: a linear program. The residual is
    split
    as y - z = r_plus - r_minus; the multiplier of ``residual`` is u, in [-tau/n, (1 - tau)/n].
    Source: Koenker and Bassett (1978), https://doi.org/10.2307/1913643.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    tau : float
        The quantile, strictly between 0 and 1.
    lam : float
        Strength, >= 0.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For tau outside (0, 1), a negative lam, NaN or infinite entries, wrong shapes, bad weights.
    """

    scikit_learn: ClassVar = {
        "QuantileRegressor": {"alpha": "lam = alpha", "quantile": "tau = quantile"}
    }

    tau = Hyperparameter()
    lam = Hyperparameter()

    def __init__(
        self,
        X: Any,
        y: Any,
        tau: float,
        lam: float,
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight, tau=tau, lam=lam)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Pinball(hyper["tau"]), L1(hyper["lam"]), "mean"

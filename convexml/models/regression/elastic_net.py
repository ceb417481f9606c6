"""The elastic net and the group lasso."""

from __future__ import annotations

from typing import Any, ClassVar

from ...losses import Loss, Squared
from ...penalties import ElasticNet as ElasticNetPenalty
from ...penalties import GroupL2, Penalty
from ..base import Hyperparameter
from ..problem import LearningProblem


class ElasticNet(LearningProblem):
    r"""Minimise (1/2) mean (y - X w - b)^2 + lam (rho |w|_1 + (1 - rho)/2 |w|^2), rho = l1_ratio.

    As scikit-learn's ElasticNet with alpha = lam. ``lam_max`` is that of the lasso divided by rho.
    Source: Zou and Hastie (2005), https://doi.org/10.1111/j.1467-9868.2005.00503.x.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    lam : float
        Strength, >= 0.
    l1_ratio : float
        rho, from 0 (ridge) to 1 (lasso).
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, l1_ratio outside [0, 1], NaN or infinite entries, wrong shapes, bad
        weights.
    """

    scikit_learn: ClassVar = {"ElasticNet": {"alpha": "lam = alpha", "l1_ratio": "l1_ratio = ρ"}}

    lam = Hyperparameter()
    l1_ratio = Hyperparameter()

    def __init__(
        self,
        X: Any,
        y: Any,
        lam: float,
        l1_ratio: float,
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight, lam=lam, l1_ratio=l1_ratio)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Squared(), ElasticNetPenalty(hyper["lam"], hyper["l1_ratio"]), "mean"


class GroupLasso(LearningProblem):
    r"""Minimise (1/2) mean (y - X w - b)^2 + lam sum_g sqrt|g| |w_g|_2.

    KKT: |X_g'u| <= lam sqrt|g|, with X_g'u = -lam sqrt|g| w_g / |w_g| where w_g is not 0. Source:
    Yuan and Lin (2006), https://doi.org/10.1111/j.1467-9868.2005.00532.x.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    lam : float
        Strength, >= 0.
    groups : array, shape (d,)
        The label of each feature's group.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, groups of a wrong length, NaN or infinite entries, wrong shapes, bad
        weights.
    """

    lam = Hyperparameter()
    groups = Hyperparameter(structural=True)

    def __init__(
        self,
        X: Any,
        y: Any,
        lam: float,
        groups: Any,
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight, lam=lam, groups=groups)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Squared(), GroupL2(hyper["lam"], hyper["groups"]), "mean"

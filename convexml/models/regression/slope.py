"""The sorted l1 penalty on least squares (SLOPE)."""

from __future__ import annotations

from typing import Any

from ...losses import Loss, Squared
from ...penalties import Penalty, SortedL1
from ...penalties.sorted_l1 import decreasing
from ..base import Hyperparameter
from ..problem import LearningProblem


class Slope(LearningProblem):
    r"""Minimise (1/2) mean (y - X w - b)^2 + sum_j lams_j |w|_(j), |w|_(1) >= |w|_(2) >= ...

    KKT: the sum of the k largest |x_j'u| is at most lams_1 + ... + lams_k for every k, with
    equality where |w|_(k) > |w|_(k+1); u is (X w + b - y) / n. Coefficients form clusters of one
    size. ``lam_max`` is the smallest factor on ``lams`` for which w = 0.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    lams : array, shape (d,)
        Strengths by rank, lams_1 >= lams_2 >= ... >= lams_d >= 0. Equal ones are the lasso.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For strengths that increase, are negative or not one per feature, NaN or infinite entries,
        wrong shapes, bad weights.

    References
    ----------
    Bogdan, van den Berg, Sabatti, Su and Candes, *SLOPE: adaptive variable selection via convex
    optimization*, Annals of Applied Statistics 9 (2015), https://doi.org/10.1214/15-AOAS842.
    """

    lams = Hyperparameter(structural=True)

    def __init__(
        self, X: Any, y: Any, lams: Any, *, fit_intercept: bool = True, sample_weight: Any = None
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight, lams=lams)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Squared(), SortedL1(decreasing(hyper["lams"], self.name)), "mean"

"""Least squares, as scikit-learn has it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from sklearn import linear_model

from ..numerics import EPS, Array
from .base import OURS, Given
from .linear import LinearFit

LARGE = 20_000_000
"""Entries of X above which of several minimisers any is taken."""


class LinearRegression(LinearFit, linear_model.LinearRegression):
    """Minimise sum_i s_i (y_i - x_i.w - b)^2, and certify it.

    That is 2 sum(s) times ``cml.LeastSquares``. Of many minimisers it is the one of least
    |w|, where X has no more than 2e7 entries.

    Parameters
    ----------
    fit_intercept : bool
        The intercept is not penalised.
    copy_X : bool
        Has no effect: X is never changed.
    tol : float
        Verified relative gap that the fit is to reach.
    n_jobs : int, optional
        Has no effect.
    positive : bool
        Whether w >= 0.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _parameter_constraints: ClassVar = linear_model.LinearRegression._parameter_constraints | OURS
    _reading: ClassVar = {"multi_output": True, "y_numeric": True}

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
        max_iter: int | None = None,
        engine: str = "auto",
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive
        self.max_iter = max_iter
        self.engine = engine

    def _end(self, given: Given, parts: Any, solutions: Any) -> None:
        super()._end(given, parts, solutions)
        objective, before = parts[0].objective, self.coef_
        if self.positive or objective.n * objective.d > LARGE:
            return
        X, centre = objective.design.dense(), np.zeros(objective.d)
        if self.fit_intercept:
            centre = objective.c @ X / objective.c.sum()
        X = X - centre
        if not _independent(X):
            self.coef_ = linalg.lstsq(X, X @ before.T, cond=max(X.shape) * EPS)[0].T
            self.intercept_ = self.intercept_ + (before - self.coef_) @ centre


def _independent(X: Array) -> bool:
    """Whether the columns are independent, far beyond rounding."""
    if X.shape[0] < X.shape[1]:
        return False
    units = np.sqrt(np.sum(X**2, axis=0))
    if np.any(units == 0.0):
        return False
    spectrum = linalg.eigvalsh((X / units).T @ (X / units))
    return bool(spectrum[0] > 1e-10 * spectrum[-1])

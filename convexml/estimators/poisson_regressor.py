"""Poisson regression, as scikit-learn has it."""

from __future__ import annotations

from typing import ClassVar

from sklearn import linear_model

from .base import OURS, Given
from .linear import LinearFit


class PoissonRegressor(LinearFit, linear_model.PoissonRegressor):
    """Minimise the mean of half the deviance of y from exp(x.w + b), + (alpha / 2) |w|^2.

    That is ``cml.PoissonRegression`` with lam = alpha.

    Parameters
    ----------
    alpha : float
        Strength >= 0.
    fit_intercept : bool
        The intercept is not penalised.
    solver : str
        A solver of scikit-learn, or "auto": it names the problem; ``engine``
        solves it.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    tol : float
        Verified relative gap that the fit is to reach.
    warm_start : bool
        Has no effect: every fit starts anew.
    verbose : int
        Has no effect.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _parameter_constraints: ClassVar = linear_model.PoissonRegressor._parameter_constraints | OURS
    _reading: ClassVar = {"y_numeric": True}

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "auto",
        max_iter: int | None = None,
        tol: float = 1e-6,
        warm_start: bool = False,
        verbose: int = 0,
        engine: str = "auto",
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.engine = engine

    def _begin(self, given: Given) -> None:
        super()._begin(given)
        self._base_loss = self._get_loss()  # what the namesake predicts and scores with

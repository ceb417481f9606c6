"""Quantile regression, as scikit-learn has it."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn import linear_model

from .base import OURS
from .linear import LinearFit


class QuantileRegressor(LinearFit, linear_model.QuantileRegressor):
    """Minimise the mean pinball loss of y - x.w - b, + alpha |w|_1, and certify it.

    That is ``cml.QuantileRegression`` with tau = quantile, lam = alpha.

    Parameters
    ----------
    quantile : float
        Between 0 and 1.
    alpha : float
        Strength >= 0.
    fit_intercept : bool
        The intercept is not penalised.
    solver : str
        A solver of scikit-learn, or "auto": it names the problem; ``engine``
        solves it.
    solver_options : dict, optional
        Has no effect.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    tol : float
        Verified relative gap that the fit is to reach.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _parameter_constraints: ClassVar = linear_model.QuantileRegressor._parameter_constraints | OURS
    _reading: ClassVar = {"y_numeric": True}

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "auto",
        solver_options: Any = None,
        max_iter: int | None = None,
        tol: float = 1e-6,
        engine: str = "auto",
    ) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options
        self.max_iter = max_iter
        self.tol = tol
        self.engine = engine

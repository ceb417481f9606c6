"""The lasso, as scikit-learn has it."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn import linear_model

from .base import OURS
from .linear import LinearFit


class Lasso(LinearFit, linear_model.Lasso):
    """Minimise sum_i s_i (y_i - x_i.w - b)^2 / (2 sum(s)) + alpha |w|_1, and certify it.

    That is ``cml.Lasso`` with lam = alpha.

    Parameters
    ----------
    alpha : float
        Strength >= 0.
    fit_intercept : bool
        The intercept is not penalised.
    precompute : bool or array
        Has no effect: Gram matrices are made where they pay.
    copy_X : bool
        Has no effect: X is never changed.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    tol : float
        Verified relative gap that the fit is to reach.
    warm_start : bool
        Has no effect: every fit starts anew.
    positive : bool
        Whether w >= 0.
    random_state : int, optional
        Has no effect: nothing is random.
    selection : str
        Has no effect.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _parameter_constraints: ClassVar = linear_model.Lasso._parameter_constraints | OURS
    _reading: ClassVar = {"multi_output": True, "y_numeric": True}

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = False,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-6,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        engine: str = "auto",
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.engine = engine

"""Ridge regression, as scikit-learn has it."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn import linear_model

from .base import OURS
from .linear import LinearFit


class Ridge(LinearFit, linear_model.Ridge):
    """Minimise sum_i s_i (y_i - x_i.w - b)^2 + alpha |w|^2, and certify it.

    That is 2 sum(s) times ``cml.Ridge`` with lam = alpha / sum(s).

    Parameters
    ----------
    alpha : float or array of shape (K,)
        Strength >= 0; of each target.
    fit_intercept : bool
        The intercept is not penalised.
    copy_X : bool
        Has no effect: X is never changed.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    tol : float
        Verified relative gap that the fit is to reach.
    solver : str
        A solver of scikit-learn, or "auto": it names the problem; ``engine`` solves it.
    positive : bool
        Whether w >= 0.
    random_state : int, optional
        Has no effect: nothing is random.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _parameter_constraints: ClassVar = linear_model.Ridge._parameter_constraints | OURS
    _reading: ClassVar = {"multi_output": True, "y_numeric": True}

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-6,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
        engine: str = "auto",
    ) -> None:
        super().__init__(
            alpha,
            fit_intercept=fit_intercept,
            copy_X=copy_X,
            max_iter=max_iter,
            tol=tol,
            solver=solver,
            positive=positive,
            random_state=random_state,
        )
        self.engine = engine

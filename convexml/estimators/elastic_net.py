"""The elastic net, as scikit-learn has it."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn import linear_model

from .base import OURS
from .linear import LinearFit


class ElasticNet(LinearFit, linear_model.ElasticNet):
    """Minimise the loss of ``Lasso`` + alpha (rho |w|_1 + (1 - rho) |w|^2 / 2), rho = l1_ratio.

    That is ``cml.ElasticNet`` with lam = alpha.

    Parameters
    ----------
    alpha : float
        Strength >= 0.
    l1_ratio : float
        Share of the l1 norm, from 0 to 1.
    fit_intercept : bool
        The intercept is not penalised.
    precompute : bool or array
        Has no effect: Gram matrices are made where they pay.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    copy_X : bool
        Has no effect: X is never changed.
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

    _parameter_constraints: ClassVar = linear_model.ElasticNet._parameter_constraints | OURS
    _reading: ClassVar = {"multi_output": True, "y_numeric": True}

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = False,
        max_iter: int | None = None,
        copy_X: bool = True,
        tol: float = 1e-6,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        engine: str = "auto",
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.engine = engine

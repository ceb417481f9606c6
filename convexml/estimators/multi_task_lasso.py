"""The lasso of several targets with common features, as scikit-learn has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn import linear_model

from .. import models
from ..errors import InputError
from ..models.reading.names import NamedColumns
from ..models.solution import Solution
from .base import OURS, Given
from .linear import LinearFit


class MultiTaskLasso(LinearFit, linear_model.MultiTaskLasso):
    """Minimise sum_i s_i |y_i - W'x_i - b|^2 / (2 sum(s)) + alpha sum_j |W_j.|, and certify it.

    W, of shape (d, K), is the transpose of ``coef_``; its rows vanish together. That is
    ``cml.MultiTaskLasso`` with lam = alpha.

    Parameters
    ----------
    alpha : float
        Strength >= 0.
    fit_intercept : bool
        The intercepts are not penalised.
    copy_X : bool
        Has no effect: X is never changed.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    tol : float
        Verified relative gap that the fit is to reach.
    warm_start : bool
        Has no effect: every fit starts anew.
    random_state : int, optional
        Has no effect: nothing is random.
    selection : str
        Has no effect.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _parameter_constraints: ClassVar = linear_model.MultiTaskLasso._parameter_constraints | OURS
    _reading: ClassVar = {"multi_output": True, "y_numeric": True}

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-6,
        warm_start: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        engine: str = "auto",
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection
        self.engine = engine

    def _begin(self, given: Given) -> None:
        if np.ndim(given.y) != 2:
            raise InputError("MultiTaskLasso.fit: for mono-task outputs, use Lasso.")
        super()._begin(given)

    def _solved(self, part: Any, tol: float) -> Solution:
        targets = part.targets
        X, names = targets.design.constant, targets.features
        problem = models.MultiTaskLasso(
            NamedColumns(X, names) if names else X,
            targets.Y,
            targets.lam,
            fit_intercept=targets.fit_intercept,
            sample_weight=targets.c,
        )
        return self._solution(problem, tol)

    def _end(self, given: Given, parts: Sequence[Any], solutions: Sequence[Solution]) -> None:
        point = solutions[0].primal
        self.coef_ = np.array(point["w"]).T.copy()
        if self.fit_intercept:
            self.intercept_ = np.array(point["b"])

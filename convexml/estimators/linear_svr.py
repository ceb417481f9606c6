"""The linear support vector regression of liblinear, as scikit-learn has it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn import svm

from .base import OURS, Given
from .linear import LinearFit


class LinearSVR(LinearFit, svm.LinearSVR):
    """Minimise |(w, b/m)|^2 / 2 + C sum_i s_i (|y_i - x_i.w - b| - epsilon)_+, and certify it.

    The intercept is penalised, as in the namesake: m = intercept_scaling.
    ``loss="squared_epsilon_insensitive"`` squares each loss.

    Parameters
    ----------
    epsilon : float
        Half of the width of the tube without loss, >= 0.
    tol : float
        Verified relative gap that the fit is to reach.
    C : float
        Weight > 0 of the losses.
    loss : str
        Or "squared_epsilon_insensitive".
    fit_intercept : bool
        Whether there is an intercept.
    intercept_scaling : float
        Entry of the column whose coefficient is the intercept.
    dual : bool or "auto"
        Has no effect: both problems are solved.
    verbose : int
        Has no effect.
    random_state : int, optional
        Has no effect: nothing is random.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _parameter_constraints: ClassVar = svm.LinearSVR._parameter_constraints | OURS
    _reading: ClassVar = {"y_numeric": True}

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-6,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: Any = "auto",
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int | None = None,
        engine: str = "auto",
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.engine = engine

    def _end(self, given: Given, parts: Any, solutions: Any) -> None:
        super()._end(given, parts, solutions)
        self.intercept_ = np.atleast_1d(self.intercept_) if self.fit_intercept else 0.0

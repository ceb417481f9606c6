"""Logistic regression, as scikit-learn has it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn import linear_model

from ..errors import InputError
from .base import OURS, Given
from .linear import ClassifierFit


class LogisticRegression(ClassifierFit, linear_model.LogisticRegression):
    """Minimise C sum_i v_i s_i log(1 + exp(-y_i z_i)) + Omega(w), z = X w + b, and certify it.

    With K > 2 classes the loss is log sum_k exp(z_ik) - z_i,y_i (softmax). v are the class weights,
    Omega = rho |w|_1 + (1 - rho) |w|^2 / 2 with rho = l1_ratio; C = inf: no Omega. That is
    ``cml.LogisticRegression`` with lam = 1 / (C sum(v s)). With ``solver="liblinear"`` it is
    liblinear's problem, Omega(w, b/m) with m = intercept_scaling, of two classes.

    Parameters
    ----------
    penalty : str, optional
        As of scikit-learn, which wants l1_ratio and C in its place.
    C : float
        Weight > 0 of the losses; np.inf is no penalty.
    l1_ratio : float
        Share of the l1 norm, from 0 to 1.
    dual : bool or "auto"
        Has no effect: both problems are solved.
    tol : float
        Verified relative gap that the fit is to reach.
    fit_intercept : bool
        The intercept is not penalised, but for ``solver="liblinear"``.
    intercept_scaling : float
        With ``solver="liblinear"``: entry of the column whose coefficient is the intercept.
    class_weight : dict or "balanced", optional
        Weights of the classes, times those of the samples.
    random_state : int, optional
        Has no effect: nothing is random.
    solver : str
        A solver of scikit-learn, or "auto": it names the problem, "liblinear" its own; ``engine``
        solves it.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    verbose : int
        Has no effect.
    warm_start : bool
        Has no effect: every fit starts anew.
    n_jobs : int, optional
        Has no effect.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _held_at_zero: ClassVar = False
    _parameter_constraints: ClassVar = linear_model.LogisticRegression._parameter_constraints | OURS

    def __init__(
        self,
        penalty: Any = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        dual: bool = False,
        tol: float = 1e-6,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "auto",
        max_iter: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        engine: str = "auto",
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.engine = engine

    def _begin(self, given: Given) -> None:
        super()._begin(given)
        if self.solver != "liblinear":
            return
        if len(self.classes_) > 2:
            raise InputError(
                "LogisticRegression.fit: solver='liblinear' does not support multiclass "
                f"classification (n_classes={len(self.classes_)}); another solver does, or a "
                "OneVsRestClassifier around it."
            )
        rho = self.l1_ratio or 0.0
        if self.C == np.inf or self.penalty is None or rho not in (0.0, 1.0):
            raise InputError(
                "LogisticRegression.fit: solver='liblinear' takes a finite C and l1_ratio=0 or 1, "
                f"got C={self.C:g}, l1_ratio={rho:g}; leave solver at 'auto'."
            )

    def _end(self, given: Given, parts: Any, solutions: Any) -> None:
        if len(self.classes_) == 2:
            super()._end(given, parts, solutions)
            return
        point = solutions[0].primal
        self.coef_ = np.array(point["w"]).T.copy()
        self.intercept_ = np.array(point["b"])

    def _iterations(self, solutions: Any) -> Any:
        return np.array([super()._iterations(solutions)])

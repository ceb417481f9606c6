"""The linear support vector machine of liblinear, as scikit-learn has it."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn import svm

from .base import OURS
from .linear import ClassifierFit


class LinearSVC(ClassifierFit, svm.LinearSVC):
    """Minimise Omega(w, b/m) + C sum_i v_i s_i (1 - y_i z_i)_+^2, z = X w + b, and certify it.

    The intercept is penalised, as in the namesake: m = intercept_scaling. v are the class weights;
    ``loss="hinge"`` does not square. With K > 2 classes there are K problems, each class against
    the rest. Not ``cml.SoftMarginSVM``, whose intercept is free.

    Parameters
    ----------
    penalty : str
        "l2": Omega = |.|^2 / 2, "l1": |.|_1.
    loss : str
        Or "hinge".
    dual : bool or "auto"
        Has no effect: both problems are solved.
    tol : float
        Verified relative gap that the fit is to reach.
    C : float
        Weight > 0 of the losses.
    multi_class : str
        Only "ovr".
    fit_intercept : bool
        Whether there is an intercept.
    intercept_scaling : float
        Entry of the column whose coefficient is the intercept.
    class_weight : dict or "balanced", optional
        Weights of the classes, times those of the samples.
    verbose : int
        Has no effect.
    random_state : int, optional
        Has no effect: nothing is random.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _parameter_constraints: ClassVar = svm.LinearSVC._parameter_constraints | OURS

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: Any = "auto",
        tol: float = 1e-6,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int | None = None,
        engine: str = "auto",
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.engine = engine

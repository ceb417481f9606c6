"""Ridge regression of labels, as scikit-learn has it."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn import linear_model
from sklearn.preprocessing import LabelBinarizer

from .base import OURS, Given
from .linear import ClassifierFit


class RidgeClassifier(ClassifierFit, linear_model.RidgeClassifier):
    """Minimise sum_i v_i s_i (y_i - x_i.w - b)^2 + alpha |w|^2, y = -1 or 1, and certify it.

    v are the class weights. With K > 2 classes there are K problems, each class against the rest.

    Parameters
    ----------
    alpha : float
        Strength >= 0.
    fit_intercept : bool
        The intercept is not penalised.
    copy_X : bool
        Has no effect: X is never changed.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    tol : float
        Verified relative gap that the fit is to reach.
    class_weight : dict or "balanced", optional
        Weights of the classes, times those of the samples.
    solver : str
        A solver of convexml; "auto" chooses.
    positive : bool
        Whether w >= 0.
    random_state : int, optional
        Has no effect: nothing is random.
    """

    _parameter_constraints: ClassVar = linear_model.RidgeClassifier._parameter_constraints | OURS

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-6,
        class_weight: Any = None,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    def _begin(self, given: Given) -> None:
        super()._begin(given)
        self._label_binarizer = LabelBinarizer().fit(given.y)  # what the namesake predicts with

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags

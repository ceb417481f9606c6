"""Ridge regression of labels, as scikit-learn has it."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import numpy as np
from sklearn import linear_model
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from .base import OURS, Given
from .linear import ClassifierFit


class RidgeClassifier(ClassifierFit, linear_model.RidgeClassifier):
    """Minimise sum_i v_i s_i (y_i - x_i.w - b)^2 + alpha |w|^2, y = -1 or 1, and certify it.

    v are the class weights. With K > 2 classes there are K problems, each class against the rest;
    with several labels for a sample, y of shape (n, K) of 0 and 1, one for each column.

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
        A solver of scikit-learn, or "auto": it names the problem; ``engine`` solves it.
    positive : bool
        Whether w >= 0.
    random_state : int, optional
        Has no effect: nothing is random.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _parameter_constraints: ClassVar = linear_model.RidgeClassifier._parameter_constraints | OURS
    _reading: ClassVar = {"multi_output": True}

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
        engine: str = "auto",
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
        self.engine = engine

    def _read(self, X: Any, y: Any) -> tuple[Any, Any]:
        X, y = super()._read(X, y)
        several = type_of_target(y).startswith("multilabel")
        return X, y if several else column_or_1d(y, warn=True)

    def _begin(self, given: Given) -> None:
        self._label_binarizer = LabelBinarizer(neg_label=-1)  # what the namesake predicts with
        Y = self._label_binarizer.fit(given.y).transform(given.y)
        if np.ndim(given.y) == 1:
            super()._begin(given)
            if len(self.classes_) == 2 and _is_flat():
                self.coef_ = self.coef_[0]
            return
        self.classes_ = self._label_binarizer.classes_
        self.coef_ = np.zeros((Y.shape[1], given.X.shape[1]))
        self.intercept_ = self._no_intercept(Y.shape[1])


@cache
def _is_flat() -> bool:
    """Whether this release of scikit-learn holds a vector ``coef_`` for two classes."""
    return linear_model.RidgeClassifier().fit(np.eye(2), [0, 1]).coef_.ndim == 1

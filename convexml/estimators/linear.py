"""Estimators that hold coefficients of the features: ``coef_`` and ``intercept_``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from ..audit.sklearn.parts import LearningPart
from ..errors import InputError
from ..models.solution import Solution
from ..numerics import Array
from .base import CertifiedFit, Given, coefficients


class LinearFit(CertifiedFit):
    """A certified fit of ``coef_`` and ``intercept_``, one row for each part."""

    fit_intercept: bool

    def _begin(self, given: Given) -> None:
        targets = np.shape(given.y)[1:]
        self.coef_ = np.zeros((*targets, given.X.shape[1]))
        self.intercept_: Any = np.zeros(targets) if targets and self.fit_intercept else 0.0

    def _end(
        self, given: Given, parts: Sequence[LearningPart], solutions: Sequence[Solution]
    ) -> None:
        shape, unit = self.coef_.shape, float(getattr(self, "intercept_scaling", 1.0))
        found = [
            coefficients(part, solution, shape[-1], unit)
            for part, solution in zip(parts, solutions, strict=True)
        ]
        self.coef_ = np.reshape([w for w, _ in found], shape)
        if self.fit_intercept:
            b = np.array([shift for _, shift in found])
            self.intercept_ = b if np.ndim(self.intercept_) else float(b[0])


class ClassifierFit(LinearFit):
    """The same for labels: one row of ``coef_`` for two classes, else one for each class."""

    classes_: Array
    class_weight: Any
    _reading: ClassVar = {}
    _held_at_zero: ClassVar[bool] = True
    """Whether ``intercept_`` is the number 0.0 where none is fitted, and no vector."""

    def _begin(self, given: Given) -> None:
        self.classes_ = read_classes(type(self).__name__, given, self.class_weight)
        rows = 1 if len(self.classes_) == 2 else len(self.classes_)
        self.coef_ = np.zeros((rows, given.X.shape[1]))
        self.intercept_ = self._no_intercept(rows)

    def _no_intercept(self, rows: int) -> Any:
        """0 in the shape of the namesake."""
        return np.zeros(rows) if self.fit_intercept or not self._held_at_zero else 0.0


def read_classes(owner: str, given: Given, class_weight: Any = None) -> Array:
    """The labels in increasing order, two at least, each of a positive weight.

    Raises
    ------
    InputError
        If a class is alone, or has no weight.
    """
    y, weights = given.y, given.weights
    check_classification_targets(y)
    classes, index = np.unique(y, return_inverse=True)
    names = classes.tolist()
    if len(names) < 2:
        raise InputError(f"{owner}.fit: y holds one class, {names[0]!r}; two classes are needed.")
    total: Any = np.ones(len(names))
    if weights is not None:
        total = np.bincount(index, weights=weights)
    if isinstance(class_weight, dict):
        total = total * [class_weight.get(name, 1.0) for name in names]
    empty = total == 0.0
    if np.any(empty) and not np.all(empty):  # where all are, the weights are refused as such
        name = names[int(np.argmax(empty))]
        raise InputError(
            f"{owner}.fit: the samples of class {name!r} have no weight; leave them out, or give "
            "them a positive sample_weight and class_weight."
        )
    return classes

"""What classifiers that add up weak learners share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from ...numerics import LEAST_SQUARE, Array
from ..arrays.problem import ArrayProblem, Arrays
from ..learning.prediction import score
from ..pictures.margins import draw_margins
from ..reading.inputs import Samples, read_samples


class Boosted(ArrayProblem):
    """A classifier by the sign of a combination of weak learners."""

    classes: Array
    """The two labels; the larger is +1."""
    _samples: Samples

    def _read_samples(self, X: Any, y: Any, sample_weight: Any, matrix: str = "X") -> None:
        self._samples = read_samples(self.name, X, y, sample_weight, "binary", matrix)
        assert self._samples.classes is not None
        self.classes = self._samples.classes

    @property
    def _total(self) -> float:
        return float(self._samples.weights.sum())

    @abstractmethod
    def decision_function(self, X: Any, primal: Arrays) -> Array:
        """The combination for new samples, shape (k,)."""

    @abstractmethod
    def margins(self, w: Any) -> Array:
        """y_i f(x_i) of the samples that have a weight."""

    def draw(self, axes: Any, solution: Any) -> None:
        """The margins of the samples."""
        w = solution.primal["w"]
        draw_margins(axes, self.margins(w) / max(float(np.abs(w).sum()), LEAST_SQUARE))

    def predict(self, X: Any, primal: Arrays) -> Array:
        """Labels of the caller, shape (k,)."""
        found: Array = self.classes[(self.decision_function(X, primal) > 0.0).astype(int)]
        return found

    def score(self, X: Any, y: Any, primal: Arrays, sample_weight: Any = None) -> float:
        """The share of the labels, by weight, that is predicted right."""
        posed: Any = self
        return score(posed, X, y, primal, sample_weight)

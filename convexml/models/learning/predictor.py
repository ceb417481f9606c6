"""A problem that is asked about samples: scores, predictions, probabilities, how good they are."""

from __future__ import annotations

from typing import Any

from ...numerics import Array
from ..base import Problem
from ..pictures.learning import draw_learning
from . import prediction
from .posed import PosedLearning, Values


class Predictor(Problem):
    """A posed problem whose points predict; ``Solution`` passes its own point on."""

    def decision_function(self: PosedLearning, X: Any, primal: Values) -> Array:
        """X w + b for new samples, shape (n,), or (n, K) for K classes."""
        return prediction.scores(self, X, primal)

    def predict(self: PosedLearning, X: Any, primal: Values) -> Array:
        """Predictions for new samples, in the caller's labels for classification."""
        return prediction.predictions(self, self.decision_function(X, primal))

    def predict_proba(self: PosedLearning, X: Any, primal: Values) -> Array:
        """Probabilities of the classes for new samples, in the order of ``classes``."""
        return prediction.probabilities(self, X, primal)

    def score(
        self: PosedLearning, X: Any, y: Any, primal: Values, sample_weight: Any = None
    ) -> float:
        """Accuracy for labels, R^2 for real targets, D^2 for counts; see ``Solution.score``."""
        return prediction.score(self, X, y, primal, sample_weight)

    def draw(self, axes: Any, solution: Any) -> None:
        """Margins of a classifier, the fit of a function of a kernel, coefficients of others."""
        draw_learning(self, axes, solution)

"""Scores and predictions of a model for new samples, and how good they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data import as_design
from ..errors import InputError
from ..numerics import Array
from ..validation import finite_array, read_labels
from .base import Problem
from .inputs import read_new, read_weights
from .pictures.answers import draw_learning
from .posing import PosedLearning, Values


def predictions(problem: PosedLearning, scores: Array) -> Array:
    """What is predicted from scores: labels of the caller, counts, or the scores themselves."""
    classes = problem.classes
    if classes is not None and scores.ndim == 2:
        return classes[scores.argmax(axis=1)]
    if classes is not None:
        return classes[(scores > 0.0).astype(int)]
    return np.exp(scores) if problem.sample_parts.loss.labels == "count" else scores


def score(problem: PosedLearning, X: Any, y: Any, primal: Values, sample_weight: Any) -> float:
    """Accuracy for labels, R^2 for real targets, D^2 for counts."""
    owner, predicted = f"{problem.name}.score", problem.predict(X, primal)
    given = read_labels(y, owner, "y")
    given = given[:, 0] if given.ndim == 2 and given.shape[1] == 1 else given
    if given.shape != predicted.shape:
        what = f"shape {given.shape}" if given.ndim else repr(y)
        raise InputError(
            f"{owner}: y must hold the true target of each row of X, shape {predicted.shape}, got "
            f"{what}. Pass X and y of the same samples."
        )
    weights = read_weights(owner, sample_weight, len(given))
    if problem.classes is not None:
        if (given.dtype.kind in "US") != (problem.classes.dtype.kind in "US"):
            raise InputError(
                f"{owner}: y holds {given.dtype} and the labels of the model are "
                f"{problem.classes.dtype}; pass labels of one kind."
            )
        return float(np.average(given == predicted, weights=weights))
    target = finite_array(given, owner, "y")
    if problem.sample_parts.loss.labels == "count":
        return _explained_deviance(problem.sample_parts.loss, target, predicted, weights, owner)
    from sklearn.metrics import r2_score

    return float(r2_score(target, predicted, sample_weight=weights))


def _explained_deviance(loss: Any, y: Array, predicted: Array, s: Array, owner: str) -> float:
    """1 - D(predicted) / D(the mean), by the loss, which is half the deviance of a sample."""
    if np.any(y < 0.0):
        k = int(np.argmax(y < 0.0))
        raise InputError(f"{owner}: y must be counts >= 0, got {y[k]:g} at entry {k}.")
    with np.errstate(divide="ignore"):
        reached = s @ loss.value(y, np.log(predicted))
    mean = s @ y / s.sum()
    most = s @ loss.value(y, np.full(len(y), np.log(mean))) if mean > 0.0 else 0.0
    return float(1.0 - reached / most) if most > 0.0 else float(reached == 0.0)


# A problem that is asked about samples: scores, predictions, probabilities, how good they are.


class Predicting(Problem):
    """A posed problem whose points predict by scores, those of two classes by their sign."""

    classes: Array | None
    """The two (or K) labels in increasing order; None for real targets."""

    def predict(self: Any, X: Any, primal: Values) -> Array:
        """Predictions for new samples, in the caller's labels for classification."""
        return predictions(self, self.decision_function(X, primal))

    def score(self: Any, X: Any, y: Any, primal: Values, sample_weight: Any = None) -> float:
        """Accuracy for labels, R^2 for real targets, D^2 for counts; see ``Solution.score``."""
        return score(self, X, y, primal, sample_weight)


class Predictor(Predicting):
    """A predicting problem with losses; ``Solution`` passes its own point on."""

    def decision_function(self: PosedLearning, X: Any, primal: Values) -> Array:
        """X w + b for new samples, shape (n,), or (n, K) for K classes."""
        samples = self._samples
        new = read_new(self.name, X, samples.feature_names, samples.design.shape[1])
        return as_design(new).matvec(primal["w"]) + primal["b"]

    def predict_proba(self: PosedLearning, X: Any, primal: Values) -> Array:
        """Probabilities of the classes for new samples, in the order of ``classes``."""
        loss = self.sample_parts.loss
        found = loss.probabilities(self.decision_function(X, primal))
        if found is None:
            raise InputError(
                f"predict_proba: {self.name} (loss {loss.name}) predicts no probabilities; "
                "LogisticRegression, SoftmaxRegression and KernelLogistic do. For scores use "
                "decision_function."
            )
        return found

    def draw(self, axes: Any, solution: Any) -> None:
        """Margins of a classifier, the fit of a function of a kernel, coefficients of others."""
        draw_learning(self, axes, solution)

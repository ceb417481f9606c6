"""Classes that are predicted by Gaussians of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax

from ...errors import InputError
from ...numerics import Array
from ..arrays.problem import Arrays
from ..learning.prediction import score
from ..reading.matrix import read_matrix
from ..reading.names import match_columns


class GaussianClasses:
    """The part of a model that predicts, from "Theta", "means" and "priors"."""

    name: Any
    features: Any
    classes: Array
    means: Array

    def decision_function(self, X: Any, primal: Arrays) -> Array:
        """log pi_k + log det(Theta_k) / 2 - (x - mu_k)'Theta_k (x - mu_k) / 2, shape (n, K).

        For two classes the second less the first, shape (n,).
        """
        matrix = read_matrix(self.name, match_columns(self.name, X, self.features))
        K, d = self.means.shape
        if matrix.shape[1] != d:
            raise InputError(
                f"{self.name}: X has {matrix.shape[1]} features, the model was posed with {d}."
            )
        matrix = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
        thetas = np.broadcast_to(primal["Theta"], (K, d, d))
        found = np.empty((len(matrix), K))
        for k, (Theta, mean, prior) in enumerate(
            zip(thetas, primal["means"], primal["priors"], strict=True)
        ):
            R = matrix - mean
            level = np.log(prior) + 0.5 * np.linalg.slogdet(Theta)[1]
            found[:, k] = level - 0.5 * np.einsum("ij,ij->i", R @ Theta, R)
        return found[:, 1] - found[:, 0] if K == 2 else found

    def predict(self, X: Any, primal: Arrays) -> Array:
        """The most probable class, in the caller's labels."""
        scores = self.decision_function(X, primal)
        best = (scores > 0.0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes[best]

    def predict_proba(self, X: Any, primal: Arrays) -> Array:
        """Probabilities of the classes, (n, K), in the order of ``classes``."""
        scores = self.decision_function(X, primal)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros_like(scores), scores])
        return np.asarray(softmax(scores, axis=1))

    def score(self, X: Any, y: Any, primal: Arrays, sample_weight: Any = None) -> float:
        """Accuracy."""
        problem: Any = self
        return score(problem, X, y, primal, sample_weight)

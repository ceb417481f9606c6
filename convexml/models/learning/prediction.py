"""Scores and predictions of a linear model for new samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...design import as_design
from ...errors import InputError
from ...numerics import Array
from ..reading.matrix import read_matrix
from ..reading.names import match_columns
from .posed import PosedLearning, Values


def scores(problem: PosedLearning, X: Any, primal: Values) -> Array:
    """X w + b, refused where X has other features than the model was posed with."""
    X = match_columns(problem.name, X, problem._samples.feature_names)
    matrix, features = read_matrix(problem.name, X), problem._samples.X.shape[1]
    if matrix.shape[1] != features:
        raise InputError(
            f"{problem.name}: X has {matrix.shape[1]} features, the model was posed with "
            f"{features}."
        )
    return as_design(matrix).matvec(primal["w"]) + primal["b"]


def predictions(problem: PosedLearning, scores: Array) -> Array:
    """What is predicted from scores: labels of the caller, counts, or the scores themselves."""
    classes = problem.classes
    if classes is not None and scores.ndim == 2:
        return classes[scores.argmax(axis=1)]
    if classes is not None:
        return classes[(scores > 0.0).astype(int)]
    return np.exp(scores) if problem.sample_parts.loss.labels == "count" else scores

"""The samples behind a likelihood: dense, weighted, rows of weight 0 dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ...errors import InputError
from ...numerics import Array
from ...objective.likelihood.moments import Moments
from ...validation import read_labels, refuse_masked
from ..reading.inputs import read_weights
from ..reading.labels import read_many_classes, refuse_weightless
from ..reading.matrix import read_matrix
from ..reading.names import NamedColumns, column_names


@dataclass(frozen=True)
class Rows:
    """Samples of positive weight, a copy of those that were passed.

    Attributes
    ----------
    X : array, shape (n, d)
    weights : array, shape (n,)
    kept : array of int
        Their rows in the caller's numbering.
    total : int
        The number of rows passed.
    feature_names : list of str or None
        Of the columns of a data frame.
    """

    X: Array
    weights: Array
    kept: Array
    total: int
    feature_names: list[str] | None

    def refuse_lost(self, owner: str, found: Moments, group: Any = slice(None)) -> None:
        """Raise InputError for columns so large or small that their squares leave float64.

        ``group`` are the rows whose moments were found.
        """
        self.refuse_lost_variances(owner, np.diag(found.S), np.diag(found.noise), group)

    def refuse_lost_variances(
        self, owner: str, variances: Array, errors: Array, group: Any = slice(None)
    ) -> None:
        """The same by the variances alone, (d,), and bounds on their errors."""
        X = self.X[group]
        lost = ~np.isfinite(variances) | ~np.isfinite(errors)
        lost |= (variances <= np.finfo(float).tiny) & (np.ptp(X, axis=0) > 0.0)
        if np.any(lost):
            j = int(np.argmax(lost))
            name = self.feature_names[j] if self.feature_names else j
            raise InputError(
                f"{owner}: the variance of column {name} is beyond float64 "
                f"(entries up to {np.max(np.abs(X[:, j])):g}); change its unit."
            )

    def to_dict(self) -> dict[str, Any]:
        """The rows kept, for JSON."""
        return {
            "X": self.X.tolist(),
            "sample_weight": self.weights.tolist(),
            "rows": self.kept.tolist(),
            "total": self.total,
            "features": self.feature_names,
        }

    @staticmethod
    def from_dict(stored: dict[str, Any]) -> tuple[Any, Array]:
        """X and weights as they were passed; dropped rows come back with weight 0."""
        rows, total = np.array(stored["rows"], dtype=int), int(stored["total"])
        kept = np.array(stored["X"], dtype=float)
        X, weights = np.zeros((total, kept.shape[1])), np.zeros(total)
        X[rows], weights[rows] = kept, stored["sample_weight"]
        names = stored.get("features")
        return (NamedColumns(X, names) if names else X), weights


def read_rows(owner: str, X: Any, sample_weight: Any) -> Rows:
    """Validate X (n, d) and sample weights."""
    matrix = read_matrix(owner, X)
    if sparse.issparse(matrix):
        matrix = matrix.toarray()
    weights = read_weights(owner, sample_weight, len(matrix))
    kept = np.flatnonzero(weights)
    return Rows(np.array(matrix[kept]), weights[kept], kept, len(matrix), column_names(X))


def read_classified(owner: str, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, Array, Array]:
    """Samples of positive weight, the class of each as a number, and the labels of the classes."""
    rows = read_rows(owner, X, sample_weight)
    if sparse.issparse(y):
        raise InputError(f"{owner}: y must be a dense vector; pass y.toarray().ravel().")
    refuse_masked(y, owner, "y")
    labels = read_labels(y, owner, "y")
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.shape != (rows.total,):
        raise InputError(
            f"{owner}: y must be a vector with one entry per row of X ({rows.total}), got"
            f" shape {labels.shape}."
        )
    refuse_weightless(owner, labels, rows.kept)
    index, classes = read_many_classes(owner, labels[rows.kept], rows.kept)
    return rows, index.astype(int), classes

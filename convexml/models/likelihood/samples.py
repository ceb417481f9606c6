"""The samples behind a likelihood: dense, weighted, rows of weight 0 dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ...errors import InputError
from ...numerics import Array
from ...objective.likelihood.moments import Moments
from ..reading.inputs import read_weights
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

    def refuse_lost(self, owner: str, found: Moments) -> None:
        """Raise InputError for columns so large or small that their squares leave float64."""
        variances = np.diag(found.S)
        lost = ~np.isfinite(variances) | ~np.isfinite(np.diag(found.noise))
        lost |= (variances <= np.finfo(float).tiny) & (np.ptp(self.X, axis=0) > 0.0)
        if np.any(lost):
            j = int(np.argmax(lost))
            name = self.feature_names[j] if self.feature_names else j
            raise InputError(
                f"{owner}: the variance of column {name} is beyond float64 "
                f"(entries up to {np.max(np.abs(self.X[:, j])):g}); change its unit."
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

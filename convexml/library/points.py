"""What a model takes in place of X and y, or beside them: queries, distances, costs, stumps."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ProblemFileError
from ..objective.boosting.stumps import stumps_of
from .arrays import Array, ProblemData


def suited(constructor: Callable[..., Any], name: str, data: ProblemData) -> ProblemData:
    """The data as the constructor takes them.

    "Q", queries, are the rows that `split` holds out; "distances" are those of the rows of X, and
    "costs" those of the rows of X to the rows held out, all of one mass on each side; "H" holds the
    decision stumps of X.

    Raises
    ------
    ProblemFileError
        Where no rows are held out.
    """
    taken, arrays = inspect.signature(constructor).parameters, dict(data.arrays)
    if "distances" in taken and "X" in arrays:
        X = arrays.pop("X")
        arrays["distances"] = _distances(X, X)
        return ProblemData(arrays, (), data.sha256)
    if "H" in taken and "X" in arrays:
        found = stumps_of(_dense(arrays.pop("X")))
        names = data.features or [f"x{j}" for j in range(len(found.thresholds))]
        arrays["H"] = found.dense()
        return ProblemData(arrays, tuple(found.names(names)), data.sha256)
    if "X" not in taken and "y" in taken:
        arrays.pop("X", None)
        return ProblemData(arrays, (), data.sha256)
    if not {"Q", "costs"} & taken.keys():
        return data
    if "X" not in data.held_out:
        raise ProblemFileError(
            f"data.split is required by {name}: it asks of the rows that are held out; write "
            "split = 0.25"
        )
    if "costs" in taken:
        costs = _distances(arrays["X"], data.held_out["X"])
        m, n = costs.shape
        masses = {"a": np.full(m, 1.0 / m), "b": np.full(n, 1.0 / n)}
        return ProblemData({"costs": costs, **masses}, (), data.sha256)
    arrays["Q"] = data.held_out["X"]
    return ProblemData(arrays, data.features, data.sha256)


def _distances(X: Any, Q: Any) -> Array:
    """Euclidean, between rows; of a sparse matrix too."""
    from scipy.spatial.distance import cdist

    return cdist(_dense(X), _dense(Q))


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if hasattr(X, "indptr") else X)

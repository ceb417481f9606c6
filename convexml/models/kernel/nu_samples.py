"""The samples of a machine with nu: as plain lists, for JSON, and back; scores of new ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...design import as_design
from ...errors import InputError
from ...kernels import Kernel
from ...numerics import Array
from ..learning.stored import described, rebuilt
from ..reading.inputs import Samples
from ..reading.matrix import read_matrix
from ..reading.names import NamedColumns, match_columns


def samples_to_dict(samples: Samples, kernel: Kernel | None) -> dict[str, Any]:
    """The rows kept, their labels or targets and weights, and the kernel."""
    X, classes = samples.X, samples.classes
    return {
        "X": (X.toarray() if hasattr(X, "toarray") else X).tolist(),
        "y": None if classes is None else samples.y.tolist(),
        "classes": None if classes is None else classes.tolist(),
        "sample_weight": samples.weights.tolist(),
        "rows": samples.kept.tolist(),
        "total": samples.total,
        "features": samples.feature_names,
        "kernel": None if kernel is None else described(kernel),
    }


def samples_from_dict(stored: dict[str, Any]) -> tuple[list[Any], Any, Array]:
    """X and perhaps y, the kernel and the weights; rows that were dropped have weight 0."""
    rows, total = np.array(stored["rows"], dtype=int), int(stored["total"])
    kept = np.array(stored["X"], dtype=float)
    X, weights = np.zeros((total, kept.shape[1])), np.zeros(total)
    X[rows], weights[rows] = kept, stored["sample_weight"]
    kernel = None if stored["kernel"] is None else rebuilt(stored["kernel"])
    names = stored.get("features")
    data: list[Any] = [NamedColumns(X, names) if names else X]
    if stored["y"] is not None and stored["classes"] is None:
        targets = np.zeros(total)
        targets[rows] = stored["y"]
        data.append(targets)
    elif stored["y"] is not None:
        classes = np.array(stored["classes"])
        y = np.repeat(classes[:1], total)
        y[rows] = classes[(np.array(stored["y"]) > 0.0).astype(int)]
        data.append(y)
    return data, kernel, weights


def scores_of(owner: str, samples: Samples, kernel: Kernel | None, X: Any, f: Array) -> Array:
    """f(x) of new samples, shape (m,); f is w, or the coefficients of all training samples."""
    new = read_matrix(owner, match_columns(owner, X, samples.feature_names))
    width = samples.X.shape[1]
    if new.shape[1] != width:
        raise InputError(
            f"{owner}: X has {new.shape[1]} columns, the model was posed with {width}."
        )
    if kernel is None:
        return as_design(new).matvec(f)
    rows = new if kernel.takes_samples else new[:, samples.kept]
    found: Array = kernel(rows, samples.X) @ f[samples.kept]
    return found

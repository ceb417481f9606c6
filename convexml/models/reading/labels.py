"""The labels of classes, of any kind that can be ordered."""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ...numerics import Array
from ...validation import refuse_nonfinite


def read_classes(owner: str, y: Array, rows: Array) -> tuple[Array, Array]:
    """Map two labels of any kind to -1 and +1, the larger to +1."""
    classes = distinct_labels(owner, y, rows)
    if len(classes) != 2:
        listed = ", ".join(repr(value) for value in classes[:5].tolist())
        raise InputError(
            f"{owner}: y must hold exactly two classes, got {len(classes)} ({listed}"
            f"{', ...' if len(classes) > 5 else ''}).{_remedy(classes, y)}"
        )
    return np.where(y == classes[1], 1.0, -1.0), classes


def refuse_weightless(owner: str, y: Array, rows: Array) -> None:
    """Raise InputError for a class of which no sample has a weight; ``rows`` are those that do."""
    known, lost = set(y[rows].tolist()), np.delete(y, rows).tolist()
    gone = [label for label in lost if label not in known and label == label]  # nan is no class
    if gone:
        raise InputError(
            f"{owner}: the {lost.count(gone[0])} samples of class {gone[0]!r} have no weight; "
            "leave them out, or give them a positive sample_weight."
        )


def _remedy(classes: Array, y: Array) -> str:
    if len(classes) < 2:
        return " Pass samples of both."
    if y.dtype.kind == "f" and len(classes) > max(10, len(y) // 2):
        return " For real targets take a regression, or make labels of them, as y > 0."
    return " SoftmaxRegression takes several."


def distinct_labels(owner: str, y: Array, rows: Array, name: str = "y") -> Array:
    """The distinct labels, in order; ``rows`` are the caller's numbers of the samples."""
    if y.dtype.kind == "f":
        refuse_nonfinite(y, owner, name, " Drop that sample.", rows=rows)
    if y.dtype.kind == "c":
        raise InputError(
            f"{owner}: {name} is complex; labels are of a kind that can be ordered. "
            "Pass integers or text."
        )
    if y.dtype.kind in "biuf" and y.size:
        ends = np.array([y.min(), y.max()], dtype=y.dtype)
        if ((y == ends[0]) | (y == ends[1])).all():
            return ends if ends[0] != ends[1] else ends[:1]
    try:
        return np.unique(y)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in y.tolist()})
        raise InputError(
            f"{owner}: the labels in {name} cannot be ordered; use one type, not "
            f"{' and '.join(kinds)}."
        ) from None


def read_many_classes(owner: str, y: Array, rows: Array) -> tuple[Array, Array]:
    """Map the labels of two or more classes to 0 ... K-1, in their order."""
    classes = distinct_labels(owner, y, rows)
    if len(classes) < 2:
        listed = ", ".join(repr(value) for value in classes.tolist())
        raise InputError(
            f"{owner}: y must hold at least two classes, got only {listed}. Pass samples of both."
        )
    return np.searchsorted(classes, y).astype(float), classes

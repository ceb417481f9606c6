"""Variable attributes as explicit, labelled constraints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import Array


def attribute_constraints(variable: Any, name: str) -> Iterator[Any]:
    """Say each attribute of a CVXPY variable as a constraint: "x >= 0", "X >> 0", "X == X.T"..."""
    has = variable.attributes
    if has["nonneg"] or has["pos"]:
        yield (variable >= 0).set_label(f"{name} >= 0")
    if has["nonpos"] or has["neg"]:
        yield (variable <= 0).set_label(f"{name} <= 0")
    if has["bounds"] is not None:
        yield from _bounds(variable, name)
    if has["PSD"]:
        yield (variable >> 0).set_label(f"{name} >> 0")
    if has["NSD"]:
        yield (variable << 0).set_label(f"{name} << 0")
    yield from _zeros(variable, name)


def _bounds(variable: Any, name: str) -> Iterator[Any]:
    for bound, sign, word in zip(variable.bounds, (1.0, -1.0), (">=", "<="), strict=True):
        values = np.broadcast_to(bound_value(bound), variable.shape)
        finite = np.isfinite(values)
        if not finite.any():
            continue
        part, limit = (variable, values) if finite.all() else (variable[finite], values[finite])
        same = np.unique(limit)
        shown = f"{same[0]:g}" if same.size == 1 else "lower" if sign > 0 else "upper"
        posed = part >= limit if sign > 0 else part <= limit
        yield posed.set_label(f"{name} {word} {shown}")


def bound_value(bound: Any) -> Array:
    """The value of a bound: a number, an array or an expression without variables."""
    value = getattr(bound, "value", bound)
    return np.asarray(value.toarray() if sparse.issparse(value) else value, dtype=float)


def _zeros(variable: Any, name: str) -> Iterator[Any]:
    """Equalities of a variable whose entries repeat or are 0."""
    import cvxpy as cp

    has = variable.attributes
    position = np.arange(variable.size).reshape(variable.shape, order="F")
    entries = cp.vec(variable, order="F")
    if (has["symmetric"] or has["PSD"] or has["NSD"]) and variable.shape[-1] > 1:
        row, column = np.triu_indices(variable.shape[-1], k=1)
        upper, lower = position[..., row, column].ravel(), position[..., column, row].ravel()
        yield (entries[upper] == entries[lower]).set_label(f"{name} == {name}.T")
    if has["diag"]:
        outside = position[~np.eye(variable.shape[-1], dtype=bool)]
        if outside.size:
            yield (entries[outside] == 0).set_label(f"{name} is diagonal")
    if has["sparsity"]:
        kept = np.zeros(variable.shape, dtype=bool)
        kept[tuple(variable.sparse_idx)] = True
        if not kept.all():
            yield (entries[position[~kept]] == 0).set_label(f"{name} is sparse")

"""Rows of the conic form that attributes of variables stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....numerics import Array
from ....objective.conic.cones import NonnegativeCone, Semidefinite
from ....objective.conic.program import ConeProgram
from .layout import Columns

KINDS = ("nonneg", "pos", "nonpos", "neg", "bounds", "PSD", "NSD")
"""Attributes that have rows."""


def attribute_rows(
    program: ConeProgram, parts: list[Columns], taken: Array, label: Mapping[int, str]
) -> dict[str, Array]:
    """Rows of the conic form that only say what an attribute of one variable says, by name.

    ``taken`` is the mask of rows that say something else, ``label`` has the variables' by id.
    """
    kept = any(any(part.variable.attributes[kind] for kind in KINDS) for part in parts)
    if not kept or np.all(taken):
        return {}
    owner: list[Any] = [None] * program.q.size
    for part in parts:
        for j in part.columns:
            owner[j] = part.variable
    A = program.A_by_row
    names: dict[str, list[int]] = {}
    for cone, block in program.blocks:
        if isinstance(cone, NonnegativeCone):
            alone = ~taken[block] & (np.diff(A.indptr)[block] == 1)
            for i in np.flatnonzero(alone) + block.start:
                place = A.indptr[i]
                if owner[A.indices[place]] is not None:
                    name = _sided(label, owner[A.indices[place]], float(A.data[place]))
                    names.setdefault(name, []).append(int(i))
        elif isinstance(cone, Semidefinite) and not np.any(taken[block]):
            owners = {owner[j] for j in np.unique(A[block].indices)}
            variable: Any = owners.pop() if len(owners) == 1 else None
            kind = [] if variable is None else [k for k in ("PSD", "NSD") if variable.attributes[k]]
            if kind:
                name = f"{label[variable.id]} {kind[0]}"
                names.setdefault(name, []).extend(range(block.start, block.stop))
    return {name: np.array(rows, dtype=int) for name, rows in names.items() if name}


def _sided(label: Mapping[int, str], variable: Any, coefficient: float) -> str:
    """The attribute behind a row a x_j <= b of one variable; "" where it has none."""
    lower = coefficient < 0.0
    for kind in ("nonneg", "pos") if lower else ("nonpos", "neg"):
        if variable.attributes[kind]:
            return f"{label[variable.id]} {kind}"
    if variable.attributes["bounds"]:
        return f"{label[variable.id]} {'lower' if lower else 'upper'} bounds"
    return ""

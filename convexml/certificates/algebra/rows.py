"""Equations judged exactly: which rows depend on others."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from scipy import linalg

from ...numerics import Array

RANK = 1e-9
"""Below this share of the largest pivot a row may depend on others: then fractions decide."""
BITS = 20_000
"""Numbers longer than this end the exact elimination."""
WORK = 300_000
"""So many multiplications of fractions, at most."""


def independent_rows(equal: Any, side: Array, columns: Array, z: Array) -> Array | None:
    """Return rows of E z = e that imply all of them, moving only ``columns``.

    Parameters
    ----------
    equal : csr_array, shape (k, n)
    side : array, shape (k,)
    columns : array of bool, shape (n,)
        Those that may move; the others stay as they are in z.
    z : array, shape (n,)

    Returns
    -------
    array of int or None
        None where the equations contradict one another, or nothing could be decided.
    """
    k = side.size
    if k == 0:
        return np.arange(0)
    moving = equal[:, np.flatnonzero(columns)]
    if moving.shape[1] >= k:
        dense = moving.toarray()
        size = np.sqrt((dense**2).sum(axis=1))
        scaled = dense / np.where(size > 0.0, size, 1.0)[:, None]
        pivots = np.abs(np.diag(linalg.qr(scaled.T, mode="r", pivoting=True)[0]))
        if pivots.size == k and pivots[-1] > RANK * pivots[0]:
            return np.arange(k)
    return _eliminate(equal, side, columns, z)


def _eliminate(equal: Any, side: Array, columns: Array, z: Array) -> Array | None:
    """Gaussian elimination in fractions, shortest rows first."""
    order = np.argsort(np.diff(equal.indptr), kind="stable")
    pivots: list[tuple[int, dict[int, Fraction]]] = []
    kept: list[int] = []
    work = 0
    for i in order:
        row: dict[int, Fraction] = {-1: Fraction(side[i])}
        for place in range(equal.indptr[i], equal.indptr[i + 1]):
            j, entry = int(equal.indices[place]), Fraction(equal.data[place])
            if columns[j]:
                row[j] = row.get(j, Fraction(0)) + entry
            else:
                row[-1] -= entry * Fraction(z[j])
        for j, pivot in pivots:
            factor = row.get(j, Fraction(0))
            if not factor:
                continue
            work += len(pivot)
            if work > WORK:
                return None
            for key, entry in pivot.items():
                row[key] = row.get(key, Fraction(0)) - factor * entry
        left = {j: entry for j, entry in row.items() if j >= 0 and entry}
        if not left:
            if row[-1]:
                return None  # 0 = 1
            continue
        j = max(left, key=lambda key: abs(left[key]))
        if left[j].numerator.bit_length() > BITS:
            return None
        pivots.append((j, {key: entry / left[j] for key, entry in {**left, -1: row[-1]}.items()}))
        kept.append(int(i))
    return np.sort(np.array(kept, dtype=int))

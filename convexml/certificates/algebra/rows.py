"""Equations judged exactly: which rows depend on others."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from scipy import linalg

from ...numerics import Array

RANK = 1e-9
"""Below this share of the largest pivot a row may depend on others: then fractions decide."""
USED = 1e-7
"""A coefficient below this is one of rounding."""
BITS = 20_000
"""Numbers longer than this end the exact elimination."""
WORK = 300_000
"""So many multiplications of fractions, at most."""


def independent_rows(equal: Any, side: Array, columns: Array, z: Array) -> Array | None:
    """Return rows of E z = e that imply all of them, moving only ``columns``.

    They do if they are independent, which is the caller's to prove (``least_singular_value``).
    Rows that floats find dependent are proved to follow from the few that they are made of.

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
    dense = equal[:, np.flatnonzero(columns)].toarray()
    size = np.sqrt((dense**2).sum(axis=1))
    scaled = dense / np.where(size > 0.0, size, 1.0)[:, None]
    if not np.all(np.isfinite(scaled)) or not dense.size:
        return _eliminate(equal, side, columns, z)
    R, order = linalg.qr(scaled.T, mode="r", pivoting=True)
    pivots = np.abs(np.diag(R))
    rank = int(np.sum(pivots > RANK * pivots[0]))
    if rank == k:
        return np.arange(k)
    if rank:
        mixed = linalg.solve_triangular(R[:rank, :rank], R[:rank, rank:])
        few = [order[:rank][np.abs(mix) > USED] for mix in mixed.T]
        if all(
            _follows(equal, side, columns, z, rows, int(i))
            for rows, i in zip(few, order[rank:], strict=True)
        ):
            return np.sort(order[:rank])
    return _eliminate(equal, side, columns, z)


def _follows(equal: Any, side: Array, columns: Array, z: Array, rows: Array, i: int) -> bool:
    """Whether row i is exactly a combination of ``rows``, its side included.

    Provided that these are independent: then they and i have the rank of these alone.
    """
    together = np.append(rows, i)
    kept = _eliminate(equal[together], side[together], columns, z)
    return kept is not None and kept.size == rows.size


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

"""Equations: which rows depend on others, judged exactly, and how far points are from them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from ...numerics import Array
from .least_change import LeastChange
from .singular import SAFE, from_gram, least_singular_value
from .sums import exact_residual

DIRECT, LARGEST = 60, 1500
"""Above so many equalities those with a slack of their own are left to it, and up to so many
others are projected on."""
RANK = 1e-9
"""Below this share of the largest pivot a row may depend on others: then fractions decide."""
USED = 1e-7
"""A coefficient below this is one of rounding."""
BITS, WORD = 20_000, 64
"""Numbers longer than this end the exact elimination; a multiplication counts by their words."""
WORK = 300_000
"""So many multiplications of fractions, at most."""


class Slacks(NamedTuple):
    """Rows, a column for each that has no other entry, and these entries."""

    rows: Array
    columns: Array
    entries: Array


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
        for rows, i in zip(few, order[rank:], strict=True):
            # It follows if these, which are independent, and i have the rank of these alone.
            together = np.append(rows, i)
            kept = _eliminate(equal[together], side[together], columns, z)
            if kept is None:  # to eliminate all of them is more work
                return None
            if kept.size > rows.size:
                return _eliminate(equal, side, columns, z)
        return np.sort(order[:rank])
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
            work += len(pivot) * (1 + factor.numerator.bit_length() // WORD)
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


def onto(equal: Any, side: Array, moving: Array, z: Array) -> tuple[Array, float]:
    """Rows that imply E z = e, and a sigma such that |d| <= |r| / sigma for some d with E d = r.

    Above ``DIRECT`` rows those with a slack of their own, a column that moves and has one entry, go
    last, where they are most or all are more than ``LARGEST``: E = [N 0; M D] has d_1 with
    N d_1 = r_1, |d_1| <= |r_1| / sigma(N), and then d_2 = D^-1 (r_2 - M d_1), so that
    1/sigma = (1 + |D^-1 M|) / sigma(N) + 1 / min |D|. sigma is 0 where the rows contradict one
    another or nothing was decided.
    """
    return kept_rows(equal, side, moving, z, slacks_of(equal, moving))


def kept_rows(
    equal: Any, side: Array, moving: Array, z: Array, slacks: Slacks
) -> tuple[Array, float]:
    """``onto`` with these slacks."""
    rest, left = np.setdiff1d(np.arange(side.size), slacks.rows), moving.copy()
    if rest.size > LARGEST:
        return rest, 0.0
    left[slacks.columns] = False
    columns = np.flatnonzero(left)
    sigma = _of_gram(equal[rest][:, columns])
    if not sigma > 0.0:
        kept = independent_rows(equal[rest], side[rest], left, z)
        if kept is None:
            return rest, 0.0
        rest = rest[kept]
        matrix = equal[rest][:, columns].toarray()
        sigma = least_singular_value(matrix.T) if rest.size else np.inf
    if slacks.rows.size and sigma > 0.0:
        inverse = sparse.diags_array(1.0 / slacks.entries)
        size = _norm(inverse @ equal[slacks.rows][:, columns])
        least = float(np.min(np.abs(slacks.entries)))
        sigma = 1.0 / (SAFE * ((1.0 + size) / sigma + 1.0 / least))
    return np.sort(np.concatenate([rest, slacks.rows])), sigma


def _of_gram(rows: Any) -> float:
    """A bound on the least singular value from the Gram matrix of sparse rows; 0 where none is."""
    if rows.shape[0] == 0:
        return np.inf
    with np.errstate(over="ignore", invalid="ignore"):
        return from_gram((rows @ rows.T).toarray(), rows.shape[1])


def slacks_of(equal: Any, moving: Array) -> Slacks:
    """Those of ``onto``, of each row the one of the largest entry; none in few rows."""
    k = equal.shape[0]
    none = np.zeros(0, dtype=int)
    if k <= DIRECT:
        return Slacks(none, none, np.zeros(0))
    single = equal.tocsc()
    places = np.flatnonzero((np.diff(single.indptr) == 1) & moving)
    rows, entries = (values[single.indptr[places]] for values in (single.indices, single.data))
    order = np.argsort(-np.abs(entries), kind="stable")
    rows, first = np.unique(rows[order], return_index=True)
    if 2 * rows.size < k <= LARGEST:
        return Slacks(none, none, np.zeros(0))
    chosen = order[first]
    return Slacks(rows, places[chosen], entries[chosen])


def _norm(matrix: Any) -> float:
    """A bound on the 2-norm: that of all entries, or of the largest sums of rows and columns."""
    sizes = abs(matrix)
    sums = [float(np.max(sizes.sum(axis=axis), initial=0.0)) for axis in (0, 1)]
    return SAFE * min(float(np.linalg.norm(matrix.data)), float(np.sqrt(sums[0] * sums[1])))


def onto_rows(
    equal: Any, side: Array, moving: Array, z: Array, rows: Array, slacks: Slacks
) -> Array:
    """z moved to where these rows and those with slacks are met, up to rounding."""
    least, z = moving.astype(float), z.copy()
    least[slacks.columns] = 0.0
    change = LeastChange(equal[rows], least)
    for _ in range(2):
        if rows.size:
            z += change(-exact_residual(change.matrix, z, side[rows]))
        if slacks.rows.size:
            left = exact_residual(equal, z, side)[slacks.rows]
            z[slacks.columns] -= left / slacks.entries
    return z

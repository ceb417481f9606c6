"""Whether rows are differences of neighbours, and of which order."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from scipy.special import binom

from ...numerics import Array
from ..posing.rows import NEAR
from ..reading.declined import Declined, named
from ..reading.terms import Term


@dataclass(frozen=True)
class DifferenceRows:
    """Row i of a term is ``scale``_i times the difference that begins at the entry ``start``_i.

    ``off`` bounds by how much the coefficients of each entry differ from that, all rows together,
    as they are weighted.
    """

    term: Term
    times: int
    start: Array
    scale: Array
    off: Array


@dataclass
class Differences:
    """All terms: how often differences are taken, and what each of them counts for."""

    times: int
    level: Array
    rows: list[DifferenceRows] = field(default_factory=list)


def read_differences(terms: list[Term], key: int, n: int) -> Differences:
    """The sum of sizes of differences of the variable ``key`` of n entries.

    Raises
    ------
    Declined
        Naming the term that is something else.
    """
    rows = [difference_rows(term, key) for term in terms]
    times = rows[0].times
    other = next((each.term for each in rows if each.times != times), None)
    if other is not None:
        raise Declined(f"{named(other.said)} is of differences of another order than the rest")
    level = np.zeros(n - times)
    for each in rows:
        level += np.bincount(each.start, each.term.weight * np.abs(each.scale), level.size)
    if not (np.abs(level - level[0]) <= NEAR * level[0]).all():
        raise Declined(f"{named(rows[0].term.said)}: some differences count more than others")
    return Differences(times, level, rows)


def difference_rows(term: Term, key: int) -> DifferenceRows:
    """The rows of a term of sizes, as differences.

    Raises
    ------
    Declined
        Where one is none.
    """
    if term.kind != "abs" or term.affine.offset.any() or list(term.affine.maps) != [key]:
        raise _refused(term)
    matrix = sparse.csr_array(term.affine.maps[key].full(), copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    counts = np.diff(matrix.indptr)
    if not matrix.shape[0] or counts.min() != counts.max() or counts[0] < 2:
        raise _refused(term)
    times = int(counts[0]) - 1
    index, data = (each.reshape(-1, times + 1) for each in (matrix.indices, matrix.data))
    pattern = binom(times, np.arange(times + 1)) * (-1.0) ** np.arange(times, -1, -1)
    start, scale = index[:, 0].astype(int), data[:, 0] / pattern[0]
    off = np.abs(data - scale[:, None] * pattern)
    near = (off <= NEAR * np.abs(data)).all()
    if not near or (index != start[:, None] + np.arange(times + 1)).any():
        raise _refused(term)
    lost = np.bincount(index.ravel(), (term.weight[:, None] * off).ravel(), matrix.shape[1])
    return DifferenceRows(term, times, start, scale, lost)


def _refused(term: Term) -> Declined:
    return Declined(f"{named(term.said)} is not of differences of neighbours")

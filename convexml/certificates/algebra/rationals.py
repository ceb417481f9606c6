"""Linear algebra over the rationals: floats are integers times a power of two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...blocks import in_memory
from ...numerics import Array

Row = list[int]
DIGITS = 53
LOW = 26
FEW = 1000
"""So many integers of 53 digits add up to one of 63."""
MANY = 2**25
"""So many integers of 27 digits and a sign add up to one of 53."""


def exact_total(u: Array) -> float:
    """The sum of all entries, rounded once; multiples of one small number are added as integers."""
    largest = float(np.max(np.abs(u), initial=0.0))
    if not 0.0 < largest < np.inf:
        return float(np.abs(u).sum())
    grid = grid_of(largest)
    if grid > 0.0:
        k = np.rint(u / grid)
        if np.array_equal(k * grid, u):
            return float(exact_sum(k)) * grid
    return math.fsum(in_memory(u).tolist())


def grid_of(largest: float) -> float:
    """The power of two of which numbers up to ``largest`` are at most 2^53 times as much."""
    return math.ldexp(1.0, math.frexp(largest)[1] - DIGITS)


def exact_sum(k: Array) -> int:
    """The sum of whole numbers up to 2^53 in size, int64 or float64 as they are, exactly."""
    if k.size <= FEW:
        return int(k.astype(np.int64, copy=False).sum())
    if k.dtype.kind == "f":
        if k.size > MANY:
            return exact_sum(k.astype(np.int64))
        part = k * 2.0**-LOW
        high = int(np.rint(part, out=part).sum())  # as the rest, it adds up without rounding
        part *= 2.0**LOW
        return (high << LOW) + int(np.subtract(k, part, out=part).sum())
    return (int((k >> LOW).sum()) << LOW) + int((k & ((1 << LOW) - 1)).sum())


def exact_sums(k: Array) -> list[int]:
    """The sums of rows of whole numbers up to 2^53 in size, float64, exactly."""
    if k.shape[1] > MANY:
        return [exact_sum(row) for row in k]
    high = np.rint(k * 2.0**-LOW)
    low = k - high * 2.0**LOW  # as the others, they add up without rounding
    pairs = zip(high.sum(axis=1).tolist(), low.sum(axis=1).tolist(), strict=True)
    return [(int(top) << LOW) + int(rest) for top, rest in pairs]


def as_integers(matrix: Array) -> list[Row]:
    """Rows of Python integers: the entries times one power of two for each row."""
    mantissas, exponents = np.frexp(matrix)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    least = np.min(np.where(whole != 0, exponents, 10_000), axis=1, initial=10_000)
    shifts = np.where(whole != 0, exponents - least[:, None], 0)
    return [
        [int(m) << int(s) for m, s in zip(row, shift, strict=True)]
        for row, shift in zip(whole.tolist(), shifts.tolist(), strict=True)
    ]


@dataclass(frozen=True)
class Echelon:
    """Integer rows in echelon form: pivot i stands in row i, column ``columns[i]``.

    ``origins`` numbers the original rows in the order of ``rows``: the first ``rank`` of them are
    independent, every other one is a combination of these.
    """

    rows: list[Row]
    columns: list[int]
    origins: list[int]

    @property
    def rank(self) -> int:
        return len(self.columns)


def eliminate(rows: Sequence[Row], width: int | None = None) -> Echelon:
    """Eliminate without fractions (Bareiss, 1968, https://doi.org/10.2307/2004533).

    Parameters
    ----------
    rows : sequence of lists of int
    width : int, optional
        Pivots are taken from the first ``width`` columns only; all by default.
    """
    table = [(list(row), i) for i, row in enumerate(rows)]
    width = (len(rows[0]) if rows else 0) if width is None else width
    columns: list[int] = []
    before, done = 1, 0
    for j in range(width):
        candidates = [i for i in range(done, len(table)) if table[i][0][j]]
        if not candidates:
            continue
        best = min(candidates, key=lambda i: abs(table[i][0][j]))
        table[done], table[best] = table[best], table[done]
        pivot, *top = table[done][0][j:]
        for row, _ in table[done + 1 :]:  # before column j all is 0
            if (factor := row[j]) or pivot != before:
                pairs = zip(row[j + 1 :], top, strict=True)
                row[j + 1 :] = [
                    (pivot * a - factor * t) // before if a or t else 0 for a, t in pairs
                ]
                row[j] = 0
        before, done = pivot, done + 1
        columns.append(j)
    return Echelon([row for row, _ in table], columns, [i for _, i in table])


def whole_row(row: Sequence[Fraction]) -> Row:
    """The row times its common denominator."""
    times = math.lcm(*(x.denominator for x in row))
    return [int(x * times) for x in row]


def solve_exactly(
    matrix: Array, right: Array, free: Sequence[Fraction] | None = None
) -> list[Fraction] | None:
    """Return an exact x with matrix x = right, None where there is none.

    Parameters
    ----------
    matrix : array, shape (m, k)
    right : array, shape (m,)
    free : sequence of Fraction, optional
        Values that entries without a pivot take; 0 by default.
    """
    return solve_rows(as_integers(np.column_stack([matrix, right])), free)


def solve_rows(
    rows: Sequence[Row], free: Sequence[Fraction] | None = None
) -> list[Fraction] | None:
    """Return an exact solution of the equations with these rows, right-hand sides last, or None."""
    k = len(rows[0]) - 1
    echelon = eliminate(rows, k)
    if any(row[k] for row in echelon.rows[echelon.rank :]):
        return None
    x = [Fraction(0)] * k if free is None else list(free)
    for i in reversed(range(echelon.rank)):
        row, j = echelon.rows[i], echelon.columns[i]
        rest = sum((row[m] * x[m] for m in range(j + 1, k) if row[m]), Fraction(0))
        x[j] = (row[k] - rest) / row[j]
    return x

"""Linear algebra over the rationals: floats are integers times a power of two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import linalg, sparse

from ...data import in_memory
from ...numerics import Array
from ...problem.linear_program import LinearData
from .definite import unit_columns
from .sums import exact_residual

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


def whole_row(row: Sequence[Fraction | float]) -> Row:
    """The row times one number: the smallest integers."""
    ratios = [x.as_integer_ratio() for x in row]
    times = math.lcm(*(q for _, q in ratios))
    whole = [p * (times // q) for p, q in ratios]
    common = math.gcd(*whole) or 1
    return [p // common for p in whole]


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
    x = [ZERO] * k if free is None else list(free)
    for i in reversed(range(echelon.rank)):
        row, j = echelon.rows[i], echelon.columns[i]
        rest = sum((row[m] * x[m] for m in range(j + 1, k) if row[m]), ZERO)
        x[j] = (row[k] - rest) / row[j]
    return x


# Whether small polyhedra are empty, decided in rationals: a point, or Farkas multipliers.


LARGEST = 500
"""Up to this many entries are eliminated in rationals."""
NEAR = 1e-6
"""Rows with less slack than this share of their terms can be in the way."""
HUGE = 2**1023
"""What is smaller is a float."""
ZERO, ONE = Fraction(0), Fraction(1)

RationalRow = list[Fraction]


def has_exact_point(data: LinearData, x: Array) -> bool | None:
    """Whether some point meets all constraints exactly; None where that is not decided.

    The rows near x come first: where they contradict one another there is no point, and a point
    of theirs near x meets the others, which have room. All rows are taken where that is not so.

    Parameters
    ----------
    data : LinearData
    x : array, shape (n,)
        An almost feasible point.
    """
    if (x.size + 1) * data.b_eq.size > LARGEST:
        return None
    (A, b), equal = data.constraints, data.equal
    if not np.all(np.isfinite(x)) or b.size == 0:
        return None if b.size else True
    terms = abs(A) @ np.abs(x) + np.abs(b)
    near = -exact_residual(A, x, b) <= NEAR * terms
    near |= equal
    for picked in (near,) if np.all(near) else (near, np.ones(b.size, dtype=bool)):
        found = _decide(A[picked], b[picked], equal[picked], x)
        if found is None:
            return None
        step, _ = found
        if step is None:
            return False
        size = np.array([float(abs(v)) if abs(v) < HUGE else np.inf for v in step])
        if np.all(abs(A[~picked]) @ size <= 0.5 * NEAR * terms[~picked]):
            return True
    return None


def exact_farkas(data: LinearData) -> Array | None:
    """(lambda_ub, nu) that prove that there is no point; None where there is one, or not decided.

    Integers where they fit: then they prove it exactly.
    """
    A, b = data.constraints
    found = _decide(A, b, data.equal, np.zeros(data.n))
    if found is None or found[0] is not None:
        return None
    y = whole_row(found[1])
    unit = max(map(abs, y))
    whole = np.array([value / (unit if unit >= HUGE else 1) for value in y])
    return whole[: data.sides.size]


def _decide(
    A: sparse.csr_array, b: Array, equal: Array, x: Array
) -> tuple[RationalRow | None, RationalRow] | None:
    """``alternative`` of A (x + z) <= b; None where it is too large."""
    if (x.size + 1) * b.size > LARGEST or not np.all(np.isfinite(b)):
        return None
    if b.size == 0:
        return [ZERO] * x.size, []
    start = [Fraction(v) for v in x.tolist()]
    rows = [[Fraction(v) for v in line] for line in A.toarray().tolist()]
    sides = [
        Fraction(side) - sum((s * t for s, t in zip(line, start, strict=True)), ZERO)
        for line, side in zip(rows, b.tolist(), strict=True)
    ]
    return alternative(rows, sides, np.flatnonzero(equal).tolist())


def alternative(
    rows: Sequence[RationalRow], sides: RationalRow, equal: Sequence[int]
) -> tuple[RationalRow | None, RationalRow]:
    """Return z with rows z <= sides, those of ``equal`` as equations; or None and a Farkas vector.

    Minimise the sum of a >= 0 subject to A'y + a = 0, -s'y + a_0 = 1 with y >= 0 (free for
    equations), by Bland's rule: 0 is a vector of Farkas, and else the multipliers (z, v) of the
    two, v > 0, have A z <= s v.
    """
    k, n = len(rows), len(rows[0])
    signs = [(i, ONE) for i in range(k)] + [(i, -ONE) for i in equal]
    width = len(signs)
    table = [
        [sign * (rows[i][j] if j < n else -sides[i]) for i, sign in signs]
        + [ONE if t == j else ZERO for t in range(n + 1)]
        + [ONE if j == n else ZERO]
        for j in range(n + 1)
    ]
    cost = [-sum((line[t] for line in table), ZERO) for t in range(width)]
    cost += [ZERO] * (n + 1) + [-ONE]
    basis = list(range(width, width + n + 1))
    while (entering := next((t for t in range(width) if cost[t] < 0), -1)) >= 0:
        _, _, i = min(
            (line[-1] / line[entering], basis[j], j)
            for j, line in enumerate(table)
            if line[entering] > 0
        )
        _pivot(table, cost, i, entering)
        basis[i] = entering
    if cost[-1] < 0:
        v = ONE - cost[width + n]
        return [(ONE - cost[width + j]) / v for j in range(n)], []
    y = [ZERO] * k
    for line, t in zip(table, basis, strict=True):
        if t < width:
            i, sign = signs[t]
            y[i] += sign * line[-1]
    return None, y


def _pivot(table: list[RationalRow], cost: RationalRow, i: int, j: int) -> None:
    pivot = table[i][j]
    table[i] = line = [v / pivot if v else v for v in table[i]]
    used = [t for t, v in enumerate(line) if v]
    for other in (*table, cost):
        factor = other[j]
        if other is not line and factor:
            for t in used:
                other[t] -= factor * line[t]


# Exact dual points of small programs whose constraints are linear, in rationals.


LARGEST_DUAL = 40
"""Up to this many equations, and three times as many unknowns, are solved in rationals."""


def exact_dual(
    P: Any, q: Array, A: Any, b: Array, signed: Array, w: Array, y: Array
) -> tuple[Array, Array, Fraction] | None:
    """(w, y) with P w + A'y + q = 0, y >= 0 where ``signed``: nearest floats, and the exact D.

    Unknowns without sign move, then large ones; the others stay as they are. None where that leaves
    y >= 0 or is too large.
    """
    P = sparse.csc_array(P)
    bent = np.flatnonzero(np.diff(P.indptr))
    n, used = q.size, np.count_nonzero(~signed | (y > 0.0))
    if n > LARGEST_DUAL or bent.size + used > 3 * LARGEST_DUAL:
        return None
    rows = np.argsort(np.where(signed, -y, -np.inf), kind="stable")[: 3 * LARGEST_DUAL - bent.size]
    if not (np.all(np.isfinite(y)) and np.all(np.isfinite(w))):
        return None
    matrix = np.hstack([sparse.csr_array(A)[rows].toarray().T, P[:, bent].toarray()])
    start = [Fraction(float(value)) for value in (*y[rows], *w[bent])]
    solution = solve_exactly(matrix, -q, start)
    signs = np.flatnonzero(signed[rows]).tolist()
    if solution is None or any(solution[i] < 0 for i in signs):
        return None
    own, moved = solution[: rows.size], solution[rows.size :]
    value = -sum((Fraction(side) * v for side, v in zip(b[rows].tolist(), own, strict=True)), ZERO)
    for s, line in zip(moved, P[bent][:, bent].toarray().tolist(), strict=True):
        value -= s * sum((Fraction(p) * t for p, t in zip(line, moved, strict=True)), ZERO) / 2
    kept, nearest = np.zeros(n), y.copy()
    nearest[rows], kept[bent] = [float(v) for v in own], [float(v) for v in moved]
    return kept, nearest, value


# Which columns of a matrix depend on the others: exactly, or only up to rounding.


INDEPENDENT = 1e-11
"""Share of its length that a column keeps beside the others if it counts as independent."""
FACTORISED = 4_000_000
"""Entries up to which all rows look for a dependence."""
NOTHING = 2.0**-60
"""Below what two different entries of a column can leave beside its mean."""
DENOMINATOR = 4096
ENTRIES = 200_000
"""Up to this many entries a combination is solved for exactly where no simple one is found."""
COLUMNS = 40


@dataclass(frozen=True)
class Dependence:
    """The columns of B, split in three.

    Attributes
    ----------
    independent : array of int
        Columns that are independent as far as floating point can tell.
    exact : array of int
        Columns that are, exactly, rational combinations of independent ones.
    doubtful : array of int
        Columns that are so up to rounding only, or not known to be so exactly.
    """

    independent: Array
    exact: Array
    doubtful: Array


def dependence(B: Array, *, ones: bool = False) -> Dependence:
    """Split the columns of B; combinations are verified on every row without rounding.

    Parameters
    ----------
    B : array, shape (n, k)
    ones : bool
        Whether a column of ones stands behind them, as number k; it is always kept.
    """
    n, k = B.shape
    unit, scales = unit_columns(B)
    same = np.array_equal(unit / scales, B)  # nothing fell below the least number
    # A dependence on all rows is one on some of them, where it is found; then all rows decide.
    some = np.arange(n) if n * k <= FACTORISED else np.linspace(0, n - 1, 8 * k + 2000).astype(int)
    near = unit[some]
    if ones:
        near = near - near.mean(axis=0)
        near = near - near.mean(axis=0)  # a constant column leaves nothing
        near = np.where(np.abs(near).max(axis=0) > NOTHING, near, 0.0)
        unit = np.column_stack([unit, np.ones(n)])
    R, order = linalg.qr(unit_columns(near)[0], mode="r", pivoting=True, check_finite=False)
    size = np.zeros(k)
    size[: min(len(some), k)] = np.abs(np.diag(R))
    rank = int(np.sum(size > INDEPENDENT))
    kept, others = np.sort(order[:rank]), np.sort(order[rank:])
    kept = np.append(kept, k) if ones else kept
    sure = [int(j) for j in others if same and _is_combination(unit[:, kept], unit[:, j], some)]
    return Dependence(kept, np.array(sure, dtype=int), np.setdiff1d(others, sure))


def _is_combination(base: Array, column: Array, some: Array) -> bool:
    """Whether q column = base p holds exactly for integers p and some q > 0."""
    n, k = base.shape
    if not np.any(column):
        return True
    if not k:
        return False
    near = linalg.lstsq(base[some], column[some], check_finite=False)[0]
    fractions = [Fraction(float(p)).limit_denominator(DENOMINATOR) for p in near]
    if _holds(base, column, fractions):
        return True
    if n * k > ENTRIES or k > COLUMNS:
        return False
    # Rows on which the base is regular decide the combination, if there is one.
    rows = linalg.qr(base.T, mode="r", pivoting=True, check_finite=False)[1][:k]
    exact = solve_exactly(base[rows], column[rows])
    if exact is None:
        return False
    return all(
        sum((p * Fraction(x) for p, x in zip(exact, row, strict=True)), -Fraction(y)) == 0
        for row, y in zip(base.tolist(), column.tolist(), strict=True)
    )


def _holds(base: Array, column: Array, fractions: list[Fraction]) -> bool:
    q = math.lcm(*(f.denominator for f in fractions))
    whole = [int(f * q) for f in fractions]
    if q >= 2**53 or any(abs(p) >= 2**53 for p in whole):
        return False
    used = [i for i, p in enumerate(whole) if p]
    weights = np.array([*(float(whole[i]) for i in used), -float(q)])
    return not np.any(exact_residual(np.column_stack([base[:, used], column]), weights))

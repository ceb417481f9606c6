"""Whether small polyhedra are empty, decided in rationals: a point, or Farkas multipliers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy import sparse

from ...numerics import Array
from ...objective.linear.data import LinearData
from .sums import exact_residual

LARGEST = 500
"""Up to this many entries are eliminated in rationals."""
NEAR = 1e-6
"""Rows with less slack than this share of their terms can be in the way."""
ZERO, ONE = Fraction(0), Fraction(1)

Row = list[Fraction]


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
    A, b, equal = _rows(data)
    if not np.all(np.isfinite(x)) or b.size == 0:
        return None if b.size else True
    terms = abs(A) @ np.abs(x) + np.abs(b)
    near = -exact_residual(A, x, b) <= NEAR * terms
    near[:equal] = True
    for picked in (near,) if np.all(near) else (near, np.ones(b.size, dtype=bool)):
        found = _decide(A[picked], b[picked], equal, x)
        if found is None:
            return None
        step, _ = found
        if step is None:
            return False
        size = np.array([as_float(abs(v)) for v in step])
        if np.all(abs(A[~picked]) @ size <= 0.5 * NEAR * terms[~picked]):
            return True
    return None


def exact_farkas(data: LinearData) -> Array | None:
    """(lambda_ub, nu) that prove that there is no point; None where there is one, or not decided.

    Integers where they fit: then they prove it exactly.
    """
    A, b, equal = _rows(data)
    found = _decide(A, b, equal, np.zeros(data.n)) if b.size else None
    if found is None or found[0] is not None:
        return None
    y = [value * math.lcm(*(v.denominator for v in found[1])) for value in found[1]]
    whole = np.array([as_float(value) for value in y])
    if not np.all(np.isfinite(whole)):
        largest = max(abs(value) for value in y)
        whole = np.array([float(value / largest) for value in y])
    return np.concatenate([whole[equal : equal + data.b_ub.size], whole[:equal]])


def as_float(value: Fraction) -> float:
    """The nearest float; beyond the largest inf."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _rows(data: LinearData) -> tuple[sparse.csr_array, Array, int]:
    """A x <= b of everything, equations first, and how many these are."""
    lower, upper = np.isfinite(data.lower), np.isfinite(data.upper)
    eye = sparse.eye_array(data.n, format="csr")
    A = sparse.vstack([data.A_eq, data.A_ub, -eye[lower], eye[upper]], format="csr")
    b = np.concatenate([data.b_eq, data.b_ub, -data.lower[lower], data.upper[upper]])
    return A, b, data.b_eq.size


def _decide(A: sparse.csr_array, b: Array, equal: int, x: Array) -> tuple[Row | None, Row] | None:
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
    return alternative(rows, sides, equal)


def alternative(rows: Sequence[Row], sides: Row, equal: int) -> tuple[Row | None, Row]:
    """Return z with rows z <= sides, the first ``equal`` as equations; or None and a Farkas vector.

    Minimise the sum of a >= 0 subject to A'y + a = 0, -s'y + a_0 = 1 with y >= 0 (free for
    equations), by Bland's rule: 0 is a vector of Farkas, and else the multipliers (z, v) of the
    two, v > 0, have A z <= s v.
    """
    k, n = len(rows), len(rows[0])
    signs = [(i, ONE) for i in range(k)] + [(i, -ONE) for i in range(equal)]
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


def _pivot(table: list[Row], cost: Row, i: int, j: int) -> None:
    pivot = table[i][j]
    table[i] = line = [v / pivot if v else v for v in table[i]]
    used = [t for t, v in enumerate(line) if v]
    for other in (*table, cost):
        factor = other[j]
        if other is not line and factor:
            for t in used:
                other[t] -= factor * line[t]

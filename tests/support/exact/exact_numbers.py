"""Floats as the rationals that they are; linear algebra without rounding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat

ctx.prec = 400
"""Bits of what is no rational: 120 digits."""

Row = list[fmpq]
ZERO, ONE, HALF = fmpq(0), fmpq(1), fmpq(1, 2)


def exact(x: Any) -> fmpq:
    """The rational that a float is."""
    return x if isinstance(x, fmpq) else fmpq(*float(x).as_integer_ratio())


def row(x: Any) -> Row:
    """A vector of floats, exactly."""
    return [exact(v) for v in np.ravel(np.asarray(x)).tolist()]


def table(X: Any) -> list[Row]:
    """A matrix of floats, exactly."""
    return [[exact(v) for v in line] for line in np.asarray(X, dtype=float).tolist()]


def dot(a: Iterable[Any], b: Iterable[Any]) -> Any:
    """The inner product."""
    return sum((s * t for s, t in zip(a, b, strict=True)), ZERO)


def covariance(X: Any) -> list[Row]:
    """S about the mean with 1/n."""
    columns = [[v - sum(column, ZERO) / len(column) for v in column] for column in table(X.T)]
    return [[dot(a, b) / len(a) for b in columns] for a in columns]


def ball(x: Any) -> arb:
    """A number as a ball of 120 digits."""
    return x if isinstance(x, arb) else arb(x if isinstance(x, fmpq) else float(x))


def below(a: Any, b: Any) -> bool:
    """Whether a <= b certainly; infinities as usual, nan never."""
    return bool(ball(a) <= ball(b))


def above(a: Any, b: Any) -> bool:
    """Whether a > b certainly."""
    return bool(ball(a) > ball(b))


def solve_consistent(A: Sequence[Row], b: Row) -> Row | None:
    """A solution of A x = b, free unknowns 0; None where there is none."""
    if not A or not A[0]:
        return [] if not any(b) else None
    n = len(A[0])
    reduced, rank = fmpq_mat([[*line, side] for line, side in zip(A, b, strict=True)]).rref()
    x = [ZERO] * n
    for i in range(rank):
        pivot = next(j for j in range(n + 1) if reduced[i, j] != 0)
        if pivot == n:
            return None
        x[pivot] = reduced[i, n]
    return x


def rank(A: Sequence[Row]) -> int:
    """The rank, decided exactly."""
    return int(fmpq_mat(A).rank()) if A and A[0] else 0


def definite(A: Sequence[Row], shift: fmpq = ZERO) -> bool:
    """Whether A + shift I is positive definite, A symmetric: its leading minors, exactly."""
    M = [[v + (i == j) * shift for j, v in enumerate(line)] for i, line in enumerate(A)]
    return all(fmpq_mat([line[:k] for line in M[:k]]).det() > 0 for k in range(1, len(M) + 1))

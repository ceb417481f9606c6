"""Ranks, definiteness and least squares in fractions, and columns that depend or nearly do."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from convexml.numerics import Array
from convexml.objective import Objective

Table = list[list[Fraction]]


def fractions(matrix: Array) -> Table:
    return [[Fraction(float(x)) for x in row] for row in np.atleast_2d(matrix)]


def rank(table: Table) -> int:
    """Gauss in Fractions: nothing of the package."""
    rows, done = [row[:] for row in table], 0
    for j in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(done, len(rows)) if rows[i][j] != 0), None)
        if pivot is None:
            continue
        rows[done], rows[pivot] = rows[pivot], rows[done]
        for i in range(done + 1, len(rows)):
            factor = rows[i][j] / rows[done][j]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[done], strict=True)]
        done += 1
    return done


def is_positive_definite(table: Table) -> bool:
    rows = [row[:] for row in table]
    for j in range(len(rows)):
        if rows[j][j] <= 0:
            return False
        for i in range(j + 1, len(rows)):
            factor = rows[i][j] / rows[j][j]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[j], strict=True)]
    return True


def exceeds(B: Array, sigma: float) -> bool:
    """Whether sigma_min(B) > sigma, decided in rationals."""
    table, k = fractions(B), B.shape[1]
    gram = [[sum((r[i] * r[j] for r in table), Fraction(0)) for j in range(k)] for i in range(k)]
    for i in range(k):
        gram[i][i] -= Fraction(sigma) ** 2
    return is_positive_definite(gram)


def with_dependence(seed: int) -> tuple[Array, bool]:
    """Columns of which the last depends on the others: exactly, up to rounding, or not at all."""
    rng = np.random.default_rng(seed)
    n, kind = int(rng.integers(8, 40)), seed % 8
    a, b = rng.normal(size=(2, n))
    if kind == 0:
        last = a + b
    elif kind == 1:
        a, b = rng.integers(-500, 500, size=(2, n)) / 16.0
        last = a + b
    elif kind == 2:
        a, b = rng.integers(-500, 500, size=(2, n)) / 16.0
        last = 3.0 * a - 7.0 * b + 2.5
    elif kind == 3:
        last = 0.1 * a
    elif kind == 4:
        last = 2.0**-30 * a
    elif kind == 5:
        last = np.full(n, rng.normal())
    elif kind == 6:
        a, b = rng.integers(-9, 9, size=(2, n)).astype(float)
        a[:4], b[:4] = [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]
        last = (2.0 * a + 31.0 * b) * 2.0**20 / 64.0
    else:
        last = rng.normal(size=n)
    X = np.column_stack([a, b, last])[:, rng.permutation(3)]
    table = fractions(np.column_stack([X, np.ones(n)]))
    return X, rank(table) == 4


def least_squares(X: Array, y: Array) -> Fraction:
    """The least mean of squares / 2 over (w, b), in rationals, by the normal equations."""
    table = [[*row, Fraction(1)] for row in fractions(X)]
    right = [Fraction(float(v)) for v in y]
    k, n = len(table[0]), len(table)
    rows = [
        [sum((r[i] * r[j] for r in table), Fraction(0)) for j in range(k)]
        + [sum((r[i] * t for r, t in zip(table, right, strict=True)), Fraction(0))]
        for i in range(k)
    ]
    pivots: list[int] = []
    for j in range(k):
        top = next((i for i in range(len(pivots), k) if rows[i][j] != 0), None)
        if top is None:
            continue
        at = len(pivots)
        rows[at], rows[top] = rows[top], rows[at]
        rows[at] = [a / rows[at][j] for a in rows[at]]
        for i in range(k):
            if i != at:
                rows[i] = [a - rows[i][j] * b for a, b in zip(rows[i], rows[at], strict=True)]
        pivots.append(j)
    w = [Fraction(0)] * k
    for i, j in enumerate(pivots):
        w[j] = rows[i][k]
    residual = [
        t - sum((a * b for a, b in zip(r, w, strict=True)), Fraction(0))
        for r, t in zip(table, right, strict=True)
    ]
    return sum((e * e for e in residual), Fraction(0)) / (2 * n)


def squared_dual(y: Array, u: Array) -> Fraction:
    """-F*(u) = -sum n u_i^2 / 2 + u_i y_i, in rationals."""
    n = len(y)
    pairs = [(Fraction(float(a)), Fraction(float(t))) for a, t in zip(u, y, strict=True)]
    return -sum((n * a * a / 2 + a * t for a, t in pairs), Fraction(0))


def overstated(objective: Objective, u: Array, rng: np.random.Generator, size: float) -> Array:
    """U moved towards larger D, off the rows X'u = 0, with 1'u = 0 as far as floats go."""
    moved = u - size * np.abs(u).max() * (objective.y + u * objective.n)
    return moved - moved.mean()


def noticed(test: Callable[[int], None], seeds: int) -> bool:
    try:
        for seed in range(seeds):
            test(seed)
    except AssertionError:
        return True
    return False

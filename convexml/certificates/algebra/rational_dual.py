"""Exact dual points of small programs whose constraints are linear, in rationals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import Array
from .rationals import solve_exactly

LARGEST = 40
"""Up to this many equations, and three times as many unknowns, are solved in rationals."""
LARGE = 1e-6
"""Multipliers above this share of the largest take what an equation leaves, and stay positive."""


def exact_dual(
    P: Any, q: Array, A: Any, b: Array, signed: Array, w: Array, y: Array
) -> tuple[Array, Array, Fraction] | None:
    """(w, y) with P w + A'y + q = 0, y >= 0 where ``signed``: nearest floats, and the exact D.

    Unknowns without sign move, then large ones; zeros do where that does not suffice, the others
    stay as they are. None where that leaves y >= 0 or is too large.
    """
    P = sparse.csc_array(P)
    bent = np.flatnonzero(np.diff(P.indptr))
    n, used = q.size, np.count_nonzero(~signed | (y > 0.0))
    if n > LARGEST or bent.size + used > 3 * LARGEST:
        return None
    rows = np.argsort(np.where(signed, -y, -np.inf), kind="stable")[: 3 * LARGEST - bent.size]
    if not (np.all(np.isfinite(y)) and np.all(np.isfinite(w))):
        return None
    matrix = np.hstack([sparse.csr_array(A)[rows].toarray().T, P[:, bent].toarray()])
    start = [Fraction(float(value)) for value in (*y[rows], *w[bent])]
    below = np.append(signed[rows], np.zeros(bent.size, dtype=bool))
    size = np.append(y[rows], np.zeros(bent.size))
    large = ~below | (size > LARGE * np.max(np.abs(y), initial=0.0))
    solution = _by_carriers(matrix, -q, start, ~below | (size > 0.0), large)
    if not _meets_signs(solution, below):
        solution = solve_exactly(matrix, -q, start)
    if solution is None or not _meets_signs(solution, below):
        return None
    terms = (Fraction(float(b[i])) * v for i, v in zip(rows, solution, strict=False))
    value = -sum(terms, Fraction(0))
    moved = dict(zip(bent.tolist(), solution[rows.size :], strict=True))
    curve = P.tocoo()
    for j, k, entry in zip(
        curve.row.tolist(), curve.col.tolist(), curve.data.tolist(), strict=True
    ):
        value -= Fraction(entry) * moved[j] * moved[k] / 2
    kept, nearest = np.zeros(n), y.copy()
    nearest[rows] = [float(v) for v in solution[: rows.size]]
    kept[bent] = [float(v) for v in solution[rows.size :]]
    return kept, nearest, value


def _meets_signs(solution: list[Fraction] | None, signed: Array) -> bool:
    return solution is not None and all(solution[i] >= 0 for i in np.flatnonzero(signed).tolist())


def _by_carriers(
    matrix: Array, side: Array, start: list[Fraction], mobile: Array, large: Array
) -> list[Fraction] | None:
    """An exact solution near ``start``, which is 0 but for what is ``mobile``, if there is one.

    An equation with a large unknown of its own asks nothing of the others, and is solved last.
    """
    used = matrix != 0.0
    carriers = np.flatnonzero(large & (np.count_nonzero(used, axis=0) == 1))
    own, first = np.unique(np.argmax(used[:, carriers], axis=0), return_index=True)
    rest, solution = np.setdiff1d(np.arange(side.size), own), list(start)
    if rest.size:
        core = np.flatnonzero(mobile & np.any(used[rest], axis=0))
        found = solve_exactly(matrix[np.ix_(rest, core)], side[rest], [start[k] for k in core])
        if found is None:
            return None
        for k, value in zip(core.tolist(), found, strict=True):
            solution[k] = value
    for i, k in zip(own.tolist(), carriers[first].tolist(), strict=True):
        others = [j for j in np.flatnonzero(used[i]).tolist() if j != k]
        left = sum((Fraction(float(matrix[i, j])) * solution[j] for j in others), Fraction(0))
        solution[k] = (Fraction(float(side[i])) - left) / Fraction(float(matrix[i, k]))
    return solution

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


def exact_dual(
    P: Any, q: Array, A: Any, b: Array, signed: Array, w: Array, y: Array
) -> tuple[Array, Array, Fraction] | None:
    """(w, y) with P w + A'y + q = 0, y >= 0 where ``signed``: nearest floats, and the exact D.

    Unknowns without sign move, then large ones, zeros last; the others stay as they are. None
    where that leaves y >= 0 or is too large.
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
    solution = solve_exactly(matrix, -q, start)
    if solution is None or any(
        value < 0 for value, i in zip(solution, rows, strict=False) if signed[i]
    ):
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

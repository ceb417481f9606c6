"""Dual points in rationals, where a program is small and all its cones are polyhedral."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ....numerics import EPS, Array
from ....objective.conic.cones import NonnegativeCone
from ....objective.conic.program import ConeProgram
from ...algebra.rationals import solve_exactly
from ..values import dual_residual, dual_value
from .polyhedral import bent_columns
from .price import Priced

LARGEST = 40
"""Up to this many equations, and three times as many unknowns, are solved in rationals."""


def rational_dual(program: ConeProgram, w: Array, y: Array) -> Priced | None:
    """An exact dual point near (w, y), rounded, and what the rounding hides.

    P w + A'y + q = 0 is solved in rationals: unknowns without sign move, then large ones, zeros
    last; the others stay as they are. None where that leaves y >= 0 or is too large.
    """
    if not all(cone.is_polyhedral for cone in program.cones):
        return None
    bent, y = bent_columns(program), program.project_dual(y)
    signed = np.zeros(y.size, dtype=bool)
    for cone, part in program.blocks:
        signed[part] = isinstance(cone, NonnegativeCone)
    n, used = program.q.size, np.count_nonzero(~signed | (y > 0.0))
    if n > LARGEST or bent.size + used > 3 * LARGEST:
        return None
    rows = np.argsort(np.where(signed, -y, -np.inf), kind="stable")[: 3 * LARGEST - bent.size]
    if not (np.all(np.isfinite(y)) and np.all(np.isfinite(w))):
        return None
    matrix = np.hstack([program.A.tocsr()[rows].toarray().T, program.P[:, bent].toarray()])
    start = [Fraction(float(value)) for value in (*y[rows], *w[bent])]
    solution = solve_exactly(matrix, -program.q, start)
    if solution is None or any(
        value < 0 for value, i in zip(solution, rows, strict=False) if signed[i]
    ):
        return None
    exact = -sum(
        (Fraction(float(program.b[i])) * v for i, v in zip(rows, solution, strict=False)),
        Fraction(0),
    )
    moved = dict(zip(bent.tolist(), solution[rows.size :], strict=True))
    curve = program.P.tocoo()
    for j, k, value in zip(
        curve.row.tolist(), curve.col.tolist(), curve.data.tolist(), strict=True
    ):
        exact -= Fraction(value) * moved[j] * moved[k] / 2
    kept, nearest = np.zeros(n), y.copy()
    nearest[rows] = [float(value) for value in solution[: rows.size]]
    kept[bent] = [float(value) for value in solution[rows.size :]]
    value = dual_value(program, kept, nearest)
    if not np.isfinite(value):
        return None
    price = max(float(Fraction(value) - exact), 0.0) * (1.0 + 4.0 * EPS)
    return Priced(kept, nearest, value, price, dual_residual(program, kept, nearest))

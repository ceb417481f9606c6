"""Interpolation of least norm in rationals: where X is so near to singular that floats give up."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..certificates.evidence import with_ones
from ..certificates.exact import as_integers, eliminate, solve_rows, whole_row
from ..numerics import Array
from ..objective import Objective

OPERATIONS = 30_000
"""Products of long integers up to which that is done."""


def least_norm(objective: Objective) -> tuple[Array, float, Array] | None:
    """(w, b, u) of min (1/2) w'H w s.t. X w + b = y, rounded at the end; None for other problems.

    On independent rows of [X, 1], w = H^-1 X'a with X H^-1 X'a + b = y and, with an intercept,
    1'a = 0; u = -a.
    """
    n, d = objective.n, objective.d
    if not objective.loss.moves_with_y or not objective.loss.is_indicator or n * d * n > OPERATIONS:
        return None
    if objective.penalty.name != "l2" or not objective.penalty.strong_convexity > 0.0:
        return None
    X, free = objective.design.dense(), objective.fit_intercept
    echelon = eliminate(as_integers(with_ones(objective, X)))
    kept = sorted(echelon.origins[: echelon.rank])
    if not kept:
        return None
    rows = [[Fraction(x) for x in X[i].tolist()] for i in kept]
    inverse = [1 / Fraction(h) for h in objective.penalty.gradient(np.ones(d)).tolist()]
    scaled = [[h * x for h, x in zip(inverse, row, strict=True)] for row in rows]
    table = [
        [sum((s * t for s, t in zip(a, b, strict=True)), Fraction(0)) for b in rows] for a in scaled
    ]
    if free:
        table = [[*line, Fraction(1)] for line in table] + [[Fraction(1)] * len(rows)]
        table[-1].append(Fraction(0))
    right = [*(Fraction(float(objective.y[i])) for i in kept), *[Fraction(0)] * free]
    a = solve_rows([whole_row([*line, side]) for line, side in zip(table, right, strict=True)])
    if a is None:
        return None
    w = [
        sum((t * row[j] for t, row in zip(a, scaled, strict=False)), Fraction(0)) for j in range(d)
    ]
    u = np.zeros(n)
    try:
        u[kept] = [-float(t) for t in a[: len(kept)]]
        return np.array([float(x) for x in w]), float(a[-1]) if free else 0.0, u
    except OverflowError:
        return None

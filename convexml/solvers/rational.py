"""Constraints on the predictions met exactly: by rationals, or by numbers of few digits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..certificates.algebra.rationals import as_integers, eliminate, solve_rows, whole_row
from ..certificates.learning.existence.attainable import met_exactly
from ..certificates.learning.existence.evidence import with_ones
from ..numerics import Array
from ..objective import Objective

OPERATIONS = 30_000
"""Products of long integers up to which that is done."""
BITS = (26, 18, 10)
"""Digits of the largest number that are kept, in turn."""


def of_few_digits(objective: Objective, w: Array, b: float) -> tuple[Array, float] | None:
    """(w, b) rounded to a common grid where it is feasible exactly; None where it is not.

    Where a constraint on w leaves just one point, or few, these are often numbers of few digits.
    """
    size = float(np.max(np.abs(np.append(w, b)), initial=0.0))
    if not 0.0 < size < np.inf:
        return None
    for bits in BITS:
        grid = float(np.ldexp(1.0, int(np.frexp(size)[1]) - bits))
        near, shift = np.rint(w / grid) * grid, float(np.rint(b / grid) * grid)
        if met_exactly(objective, near, shift):
            return near, shift
    return None


def least_norm(objective: Objective) -> tuple[Array, float, Array] | None:
    """(w, b, u) of min (1/2) w'H w s.t. X w + b = y, rounded at the end; None for other problems.

    For an X so near to singular that floats give up. On independent rows of [X, 1], w = H^-1 X'a
    with X H^-1 X'a + b = y and, with an intercept, 1'a = 0; u = -a.
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

"""Finish a solution: the optimality conditions solved on the surface it has identified.

Interior-point solvers return 1e-9 where the solution has 0. Solving the linear system of the
identified support and kinks gives exact zeros and multipliers, to rounding.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..certificates.algebra.rationals import as_integers, eliminate, solve_rows, whole_row
from ..certificates.learning.dual import newton_candidates
from ..certificates.learning.existence import met_exactly, with_ones
from ..certificates.learning.repair import PrimalPoint, primal_scale, repair_dual, repair_primal
from ..certificates.rounding import compensated_matvec
from ..deadline import is_late
from ..numerics import EPS, Array
from ..problem import Objective

ROUNDS = 3
LEVEL = 64.0 * EPS
"""A relative gap at the level of rounding."""
DENSE = 4_000_000
"""Entries of X up to which equalities are solved again by dense least squares."""
DESCENTS = 60
SIZES = (1.0, 0.5, 0.1, 0.01)
FEASIBLE = 1e-9
"""A point that misses a constraint on the predictions by more is never a better one."""


def polish(
    objective: Objective, start: PrimalPoint, u: Array | None
) -> tuple[PrimalPoint, Array | None]:
    """Return the point with the smallest verified gap among those reached, the start included.

    Each round steps from the best candidate of the round before, even where its gap is not yet
    smaller: on a curved surface the second step is the one that pays. The gap of the start and u,
    which is computed here, decides; a candidate is never taken on trust. No step is made at the
    level of rounding where loss and penalty are differentiable and the penalty strongly convex:
    no zero and no kink is to be met, and no direction is flat.
    """
    point, best = start, (start, u)
    least, scale = _gap(objective, start, u)
    curved = objective.penalty.is_smooth and objective.penalty.strong_convexity > 0.0
    if objective.loss.is_smooth and curved and least <= LEVEL * scale:
        return best
    for _ in range(ROUNDS):
        if is_late():
            break
        reached = [
            (repair_primal(objective, step.w, step.b), step.u)
            for step in candidates(objective, point, u)
        ]
        if not reached:
            break
        gaps = [_gap(objective, *each)[0] for each in reached]
        gap = min(gaps)
        point, u = reached[gaps.index(gap)]
        # At the level of rounding the candidate is preferred: its zeros are exact.
        if gap < least or gap <= LEVEL * scale:
            best, least = (point, u), min(gap, least)
        if gap <= LEVEL * scale:
            break
    return best


def candidates(objective: Objective, point: PrimalPoint, u: Array | None) -> list[Any]:
    """The finite ends of Newton's steps on the surfaces that a point, and u at kinks, identify."""
    steps = newton_candidates(objective, point, u)
    return [s for s in steps if np.all(np.isfinite(s.w)) and np.all(np.isfinite(s.b))]


def meet_equalities(objective: Objective, w: Array, b: Any) -> tuple[Array, Any]:
    """Remove what X w + b = y is missed by, measured in twice the digits, by the least change.

    The constraint of interpolation is solved as exactly as numbers allow: what it is missed by has
    a price, which grows with the condition of X.
    """
    loss, n, d = objective.loss, objective.n, objective.d
    if not loss.is_indicator or loss.labels != "real" or n * d > DENSE:
        return w, b
    X = objective.design.dense()
    matrix = np.column_stack([X, np.ones(n)]) if objective.fit_intercept else X

    def missed(w: Array, b: Any) -> Array:
        return objective.y - (compensated_matvec(objective.design, w) + b)

    left = missed(w, b)
    for _ in range(ROUNDS):
        step = np.linalg.lstsq(matrix, left, rcond=None)[0]
        new, shift = w + step[:d], b + float(step[d]) if objective.fit_intercept else b
        after = missed(new, shift)
        if not np.max(np.abs(after)) < np.max(np.abs(left)):
            break
        w, b, left = new, shift, after
    return w, b


def descend(objective: Objective, point: PrimalPoint) -> PrimalPoint:
    """Take damped Newton steps on the identified surfaces as long as P falls.

    Where an interior-point method stopped early because P* is small, its point is far from the
    optimum in relative terms, and a full step may lead uphill.
    """
    for _ in range(DESCENTS):
        if is_late():
            break
        trials = [
            repair_primal(objective, point.w + t * (s.w - point.w), point.b + t * (s.b - point.b))
            for s in candidates(objective, point, None)
            for t in SIZES
        ]
        best = min(trials, key=lambda each: each.value, default=point)
        if not best.value < point.value - EPS * abs(point.value):
            break
        point = best
    return point


def _gap(objective: Objective, point: PrimalPoint, u: Array | None) -> tuple[float, float]:
    if objective.loss.is_indicator:  # what the repair could not meet counts as infeasible
        violation = objective.loss.violation(objective.y, point.z)
        if np.any(violation > FEASIBLE * primal_scale(objective, point.w, point.b)):
            return np.inf, 1.0
    if u is None:
        with np.errstate(over="ignore"):
            u = objective.loss_derivative(point.z)
    dual = repair_dual(objective, u)
    return point.value - dual.value, max(abs(point.value), abs(dual.value))


# Constraints on the predictions met exactly: by rationals, or by numbers of few digits.


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

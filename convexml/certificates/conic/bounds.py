"""The bound that multipliers give: over all points, at a price, or over a box."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np

from ...numerics import Array
from ...problem.cones import ConeProgram, ExponentialCone, NonnegativeCone, Semidefinite
from ..algebra.definite import negative_eigenvalue
from ..algebra.dual_points import (
    Priced,
    bounded_prices,
    dual_interior,
    dual_residual,
    priced_inside,
    rational_prices,
    unpriced,
)
from ..scale import ProgramUnits
from .margin import nudged, repair_conic_dual, weights_of_multipliers
from .prices import Budget, approached, priced
from .program import FittedProgram, InUnits, equilibrate_cone, row_sizes
from .search import Completed, idle_columns, inward_prices, mixtures, on_equality

# Exponential multipliers inside their cones by an entry that no equality sees.


WIDE = 1e-4
"""Room in which the residual goes down to its rounding."""
SHARES = (1e-9, 1e-6, 1e-8, 1e-10)
"""Then it costs little in a narrow one; where the second is too narrow, too, others are."""


def lifted_prices(
    program: ConeProgram, w: Array, y: Array, units: ProgramUnits, idle: Array | None = None
) -> Iterator[Priced]:
    """Prices of (w, y) after ``lifted``, whose room costs next to nothing; none without such cones.

    Everything may move by the same share of its size only: so the metric of the slack stays as
    well conditioned as the program, however small the room is. Columns that are ``idle`` are looked
    for where there is no price without.
    """
    # The rows of v of exponential cones (u, v, w) that are empty in A.
    empty = np.diff(program.A_by_row.indptr) == 0
    curved = [rows[:, 1] for cone, rows in program.runs if isinstance(cone, ExponentialCone)]
    rows = np.concatenate([np.zeros(0, dtype=int), *curved])
    free = np.asarray(rows[empty[rows]])
    if not free.size:
        return
    at, wide = approached(program, w, lifted(program, y, WIDE, free), units, idle, WIDE)
    failed = False
    for share in SHARES:
        found = priced(program, at, lifted(program, wide, share, free), units, idle, share)
        if np.isfinite(found.price):
            yield found
        elif idle is None and (idle := idle_columns(program)).size:
            yield from lifted_prices(program, w, y, units, idle)
            return
        elif failed:
            return
        else:
            failed = True


def lifted(program: ConeProgram, y: Array, share: float, free: Array) -> Array:
    """y with v such that u and w may change by ``share`` of their sizes.

    (u, v, w) with u < 0 < w is in K* where v >= u (1 + log(-w / u)). Where the row of v is one of
    zeros in A, no equality knows of it, and raising it costs b_v dv.
    """
    y = program.project_dual(y)
    at = free[(y[free - 1] < 0.0) & (y[free + 1] > 0.0)]
    u, w = y[at - 1], y[at + 1]
    slope = np.log(w / -u)
    y[at] = u * (1.0 + slope) - 2.0 * share * u * (2.0 + np.abs(slope))
    return y


# Multipliers of log-determinants, from those of the matrix alone.
#
# CVXPY says log det A >= sum log z_i by a triangular Z with diagonal z and [[diag z, Z], [Z', A]]
# positive semidefinite. Let [[Y, T], [T', W]] be the multiplier of that, scaled so that column z_i
# says a_i Y_ii + 2 k_i T_ii + g_i w_i = 0, w_i the multiplier of the argument of the logarithm;
# T_ij
# = 0 for i < j, and nothing is said of the rest of T and Y. With W^-1 = L L' the best row i of T is
# -(k_i / (a_i L_ii)) times that of L^-1, and then the least Y = T W^-1 T' is diagonal: W says it
# all.


MARGINS = (1e-9, 1e-10, 1e-8)
"""How far inside of the cones, for the size of Y and of the logarithms' multipliers."""


class LogDet(NamedTuple):
    """Where the entries of a log-determinant of order d are; shape (d,) where nothing is said.

    ``rows`` of the semidefinite block, ``first`` rows of the exponential cones, ``matrix``,
    ``corner`` and ``logarithm``: a, k and g.
    """

    cone: Semidefinite
    rows: slice
    first: Array
    matrix: Array
    corner: Array
    logarithm: Array


def log_det_prices(
    program: ConeProgram, w: Array, y: Array, units: ProgramUnits
) -> Iterator[Priced]:
    """Prices of (w, y) with the residual taken off, and the multipliers that W implies."""
    found = log_dets(program)
    if not found:
        return
    y = nudged(program, y)
    w, y = on_equality(program, w, y, weights_of_multipliers(program, y))
    for margin in MARGINS:
        moved = y.copy()
        for each in found:
            if not _imply(each, moved, margin):
                return
        yield priced(program, w, moved, units)


def log_dets(program: ConeProgram) -> list[LogDet]:
    """The log-determinants that a program spells out as CVXPY does, or seems to."""
    A, counts = program.A_by_row, np.diff(program.A_by_row.indptr)
    arguments = {  # the columns that are one, and the exponential cones that they are in
        int(A.indices[A.indptr[part.start + 2]]): part.start
        for cone, part in program.blocks
        if isinstance(cone, ExponentialCone) and counts[part.start + 2] == 1
    }
    found = []
    for cone, rows in program.blocks if arguments else ():
        if not isinstance(cone, Semidefinite) or cone.order % 2:
            continue
        d, order = cone.order // 2, np.arange(cone.order // 2)
        diagonal = rows.start + order * (order + 3) // 2
        corner = rows.start + (d + order) * (d + order + 1) // 2 + order
        if np.any(counts[np.append(diagonal, corner)] != 1):
            continue
        columns = A.indices[A.indptr[diagonal]].tolist()
        if arguments.keys() >= set(columns):
            first = np.array([arguments[column] for column in columns])
            a, k, g = (-A.data[A.indptr[at]] for at in (diagonal, corner, first + 2))
            if all((each > 0.0).all() for each in (a, k, g)):
                found.append(LogDet(cone, rows, first, a, k / np.sqrt(2.0), g))
    return found


def _imply(log_det: LogDet, y: Array, margin: float) -> bool:
    """Put what W implies into y; False where W or a logarithm has no such multiplier."""
    cone, rows, first, a, k, g = log_det
    d, Y = first.size, cone.matrix(y[rows])
    try:
        L = np.linalg.cholesky(np.linalg.inv(Y[d:, d:]))
        inverse = np.linalg.inv(L)
    except np.linalg.LinAlgError:
        return False
    share, u = k / (a * np.diag(L)), y[first]
    if not (u < 0.0).all():
        return False
    T = -share[:, None] * np.tril(inverse)
    least = share**2 * (1.0 + margin)
    Y[:d, :d], Y[:d, d:], Y[d:, :d] = np.diag(least), T, T.T
    y[rows] = cone.vector(Y)
    w = -(2.0 * k * np.diag(T) + a * least) / g
    y[first + 1] = u * (1.0 + np.log(-w / u)) - margin * u
    y[first + 2] = w
    return bool(np.all(w > 0.0) and np.all(np.isfinite(y[rows])))


SMALL = 1e-4
"""Multipliers above this share of the largest are no noise."""
FEW = 300
"""Rows up to which the point as it is comes first: its price costs less than the others'."""
ROOM = "the room that multipliers have"
FARTHER = "points farther inside, repairs and mixtures"
"""Means to find a dual point, in words."""


@dataclass(frozen=True)
class Bound:
    """What holds of every feasible point x' of a cone program (a minimisation).

    Attributes
    ----------
    pair : Priced
        The dual point: objective(x') >= its ``bound``, the constant left out.
    local : float
        objective(x') >= local wherever abs(x'_j - xhat_j) <= radius, and <= far for auxiliary j.
    radius, far : float
        Of the owner's entries; far is max(1, abs(xhat)_inf), 0 where nothing is left on others.
    moved : float
        How far the dual point is from the one that was passed, largest coordinate.
    curvature : float
        The least eigenvalue of P where it is negative: then there is no bound at all.
    untried : tuple of str
        The means that a budget left out of the search for a better one.
    """

    pair: Priced
    local: float
    radius: float
    far: float
    moved: float
    curvature: float = 0.0
    untried: tuple[str, ...] = ()


def bound_of(
    program: ConeProgram,
    fit: FittedProgram,
    x: Array,
    own: Array,
    passed: Completed,
    R: float | None,
    enough: float = np.inf,
    thorough: bool = True,
    convex: bool = True,
    effort: str = "full",
) -> Bound:
    """Price the dual point that was passed, or a dual point nearby that is well inside its cone.

    Tried in turn: (w, y) as they are where rows bound the variables, with free multipliers raised,
    with the room that multipliers have, without the noise that an interior-point method leaves on
    inactive rows, after the least change that removes the residual, and mixed with a little of a
    point inside the dual cone. The first that bounds ``enough`` ends the search, the first one at
    all where ``thorough`` is not asked for. Nothing is tried where P is known not to be ``convex``,
    which is looked at else. The local bound holds over R, ``reach`` by default. The ``effort``
    "normal" has a ``Budget``.
    """
    curvature = negative_eigenvalue(program.P) if convex else -np.inf
    (w, y), radius = passed, reach(x, own) if R is None else R
    there = (fit.scaled.x_in(x), fit.scaled.x_in(w), fit.scaled.y_in(y))
    usable = curvature == 0.0 and all(np.all(np.isfinite(part)) for part in there)
    budget, target = Budget.of(fit.program, effort), enough / fit.scaled.worth
    found = priced_candidates(fit.program, *there, fit.units, budget) if usable else iter(())
    none = Priced(w, y, -np.inf, np.inf, program.stationarity(w, y))
    best = _local(none, x, own, radius)
    for inside in found:
        budget.take(inside, there[0], target)
        pair = _outside(program, fit.scaled, inside)
        best = max(best, _local(pair, x, own, radius), key=lambda b: (b[0].bound, b[1]))
        if best[0].bound >= enough or not thorough:
            budget.untried.clear()
            break
    pair, local, far = best
    moved = (np.max(np.abs(step), initial=0.0) for step in (pair.w - w, pair.y - y))
    return Bound(pair, local, radius, far, float(max(moved)), curvature, tuple(budget.untried))


def _local(pair: Priced, x: Array, own: Array, radius: float) -> tuple[Priced, float, float]:
    """The dual point, ``Bound.local`` of it and ``Bound.far``."""
    far = max(1.0, float(np.max(np.abs(x), initial=0.0))) if np.any(pair.left[~own]) else 0.0
    spread = float(np.where(own, radius, far) @ np.abs(pair.left))
    return pair, pair.value + float(pair.left @ x) - spread, far


def reach(x: Array, own: Array) -> float:
    """max(1, |x|_inf) of the owner's entries."""
    return max(1.0, float(np.max(np.abs(x[own]), initial=0.0)))


def priced_candidates(
    program: ConeProgram,
    x: Array,
    w: Array,
    y: Array,
    units: ProgramUnits,
    budget: Budget,
    mixed: bool = True,
) -> Iterator[Priced]:
    """Dual points near (w, y) with their prices, the cheapest to find first."""
    small = program.b.size <= FEW
    # Of a polyhedron, an ill-conditioned metric costs more than a point inside, which bounds more.
    flat = not small and program.is_polyhedral
    near, farther = partial(budget.spent_on, ROOM), partial(budget.spent_on, FARTHER)

    def as_it_is(start: Array, idle: Array | None = None) -> Priced:
        return priced(program, w, start, units, idle)

    if not program.q.any() and not program.P.nnz:  # of a constant multipliers of 0 say all
        yield unpriced(program, np.zeros_like(w), np.zeros_like(y))
    yield from near(bounded_prices(program, w, y))
    if small:
        yield from near(map(as_it_is, [y]))
    for inside in (lifted_prices, log_det_prices, inward_prices):
        yield from near(inside(program, w, y, units))
    if not small and not flat:
        yield from near(map(as_it_is, [y]))
    clean = np.where(_inactive(program, x, y, units), 0.0, y)
    starts = [y] if np.array_equal(clean, y) else [y, clean]
    for start in reversed(starts):
        yield from near(rational_prices(program, w, start))
    if not budget.allows(FARTHER):
        return
    scaled = equilibrate_cone(program)
    interior = dual_interior(scaled.program)

    def within(*point: Array) -> Priced:
        assert interior is not None
        return _outside(program, scaled, priced_inside(scaled.program, interior, *point))

    if interior is not None:
        yield from farther(within(scaled.x_in(w), scaled.y_in(start)) for start in starts)
    if flat:
        yield from near(map(as_it_is, [y]))
    if not budget.allows(FARTHER):
        return
    idle = idle_columns(program)
    new = starts if idle.size else starts[1:]
    yield from near(as_it_is(start, idle) for start in new)

    def mixed_prices() -> Iterator[Priced]:
        """Mixtures, which have a price inside of a polyhedron."""
        for point in mixtures(scaled.program, scaled.x_in(w), scaled.y_in(y)):
            if interior is not None:
                yield within(*point)
            yield priced(program, scaled.x_out(point[0]), scaled.y_out(point[1]), units, idle)

    points = (repair_conic_dual(program, x, start, w) for start in starts)
    repaired = (priced(program, *point, units, idle) for point in points)
    # Inside of a polyhedron a mixture has its price; a repair may go on along the boundary.
    more = mixed_prices() if mixed else iter(())
    yield from farther(chain(*((repaired, more) if interior is None else (more, repaired))))


def _outside(program: ConeProgram, scaled: InUnits[ConeProgram], pair: Priced) -> Priced:
    """A priced point of the scaled program in the program's own units, exactly."""
    w, y = scaled.x_out(pair.w), scaled.y_out(pair.y)
    left = dual_residual(program, w, y)
    return Priced(w, y, pair.value * scaled.worth, pair.price * scaled.worth, left)


def _inactive(program: ConeProgram, x: Array, y: Array, units: ProgramUnits) -> Array:
    """Rows of inequalities whose slack is larger, for its size, than their multiplier."""
    slack = program.slack(x)
    size = row_sizes(program, units)
    size = np.where(size > 0.0, size, 1.0)
    level = y * size
    level = level / (float(np.max(np.abs(level), initial=0.0)) or 1.0)
    mask = np.zeros(y.size, dtype=bool)
    for cone, part in program.blocks:
        if isinstance(cone, NonnegativeCone):
            mask[part] = (level[part] < slack[part] / size[part]) & (level[part] < SMALL)
        elif not cone.is_polyhedral:
            wide = np.linalg.norm(slack[part]) > np.sqrt(SMALL) * np.linalg.norm(size[part])
            mask[part] = wide and np.linalg.norm(level[part]) < SMALL
    return mask

"""The bound that multipliers give: over all points, at a price, or over a box."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from ...numerics import Array
from ...objective.conic.cones import NonnegativeCone
from ...objective.conic.program import ConeProgram
from ..algebra.definite import negative_eigenvalue
from ..algebra.polyhedron import MANY, Interior
from ..scale import ProgramUnits
from .budget import CLEAN, PASSED, Budget
from .prices.bounded import bounded_prices
from .prices.inwards import inward_prices
from .prices.lift import lifted_prices
from .prices.lineality import idle_columns
from .prices.log_det import log_det_prices
from .prices.polyhedral import dual_interior, priced_inside, rational_dual
from .prices.price import Priced, priced, unpriced
from .prices.repair import repair_conic_dual
from .rows import row_sizes
from .search.fit import FittedProgram
from .search.interior import mixtures
from .search.recovery import Completed
from .search.scaling import ScaledCone, equilibrate_cone
from .values import dual_residual

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
    value : float
        That of the dual point (w, y), without the constant of the objective.
    price : float
        objective(x') >= value - price; inf where no exact dual point was found nearby.
    local : float
        objective(x') >= local wherever abs(x'_j - xhat_j) <= radius, and <= far for auxiliary j.
    radius, far : float
        Of the owner's entries; far is max(1, abs(xhat)_inf), 0 where nothing is left on others.
    left : array, shape (n,)
        The residual r of P w + A'y + q.
    w, y : array
        The dual point.
    moved : float
        How far it is from the one that was passed, largest coordinate.
    curvature : float
        The least eigenvalue of P where it is negative: then there is no bound at all.
    untried : tuple of str
        The means that a budget left out of the search for a better one.
    """

    value: float
    price: float
    local: float
    radius: float
    far: float
    left: Array
    w: Array
    y: Array
    moved: float
    curvature: float = 0.0
    untried: tuple[str, ...] = ()

    @property
    def everywhere(self) -> float:
        """The bound over all points."""
        return self.value - self.price if np.isfinite(self.price) else -np.inf


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
    best: Bound | None = None
    (w, y), radius = passed, reach(x, own) if R is None else R
    there = (fit.scaled.x_in(x), fit.scaled.x_in(w), fit.scaled.y_in(y))
    usable = curvature == 0.0 and all(np.all(np.isfinite(part)) for part in there)
    budget, target = Budget.of(fit.program, effort), enough / fit.scaled.worth
    found = priced_candidates(fit.program, *there, fit.units, budget) if usable else iter(())
    for inside in found:
        budget.take(inside, there[0], target)
        pair = _exactly_outside(program, fit.scaled, inside)
        bound = _evaluate(x, own, radius, pair, passed)
        best = bound if best is None else max(best, bound, key=lambda b: (b.everywhere, b.local))
        if best.everywhere >= enough or not thorough:
            return best
    if best is None:
        pair = Priced(w, y, -np.inf, np.inf, program.stationarity(w, y))
        return _evaluate(x, own, radius, pair, passed, curvature)
    return replace(best, untried=tuple(budget.untried))


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
    allows = budget.allows
    if not program.q.any() and not program.P.nnz:  # of a constant multipliers of 0 say all
        yield unpriced(program, np.zeros_like(w), np.zeros_like(y))
    if allows(ROOM, PASSED):
        yield from bounded_prices(program, w, y)
    is_small = program.b.size <= FEW
    if is_small and allows(ROOM, PASSED):
        yield priced(program, w, y, units)
    for inside in (lifted_prices, log_det_prices, inward_prices):
        if allows(ROOM, PASSED):
            yield from inside(program, w, y, units)
    # Of a polyhedron, an ill-conditioned metric costs more than a point inside, which bounds more.
    flat = not is_small and program.is_polyhedral
    # The multipliers of a linear program are often on the border of all that there are.
    later = flat and mixed and not program.P.nnz and program.b.size <= MANY
    if not is_small and not later and allows(ROOM, PASSED):
        yield priced(program, w, y, units, quick=flat)
    clean = np.where(_inactive(program, x, y, units), 0.0, y)
    starts = [(y, PASSED)] if np.array_equal(clean, y) else [(y, PASSED), (clean, CLEAN)]
    for start, name in reversed(starts):
        exact = rational_dual(program, w, start) if allows(ROOM, name) else None
        if exact is not None:
            yield exact
    names = [name for _, name in starts]
    if not allows(FARTHER, *names):
        return
    scaled = equilibrate_cone(program)
    interior = dual_interior(scaled.program)
    for start, name in starts:
        if interior is not None and allows(FARTHER, name):
            pair = priced_inside(scaled.program, interior, scaled.x_in(w), scaled.y_in(start))
            yield _outside(program, scaled, pair)
    if flat and allows(ROOM, PASSED):
        yield priced(program, w, y, units)
    if not allows(FARTHER, *names):
        return
    idle = idle_columns(program)
    if idle.size and allows(ROOM, PASSED):
        yield priced(program, w, y, units, idle)
    if len(starts) > 1 and allows(ROOM, CLEAN):
        yield priced(program, w, clean, units, idle)
    repaired = _repaired(program, x, w, starts, units, idle, budget)
    inner = _mixed(program, scaled, interior, w, y, units, idle, budget, names)
    inner = inner if mixed else iter(())
    # Inside of a polyhedron a mixture has its price; a repair may go on along the boundary.
    yield from chain(*((repaired, inner) if interior is None else (inner, repaired)))


def _repaired(
    program: ConeProgram,
    x: Array,
    w: Array,
    starts: list[tuple[Array, str]],
    units: ProgramUnits,
    idle: Array,
    budget: Budget,
) -> Iterator[Priced]:
    for start, name in starts:
        if budget.allows(FARTHER, name):
            pair = repair_conic_dual(program, x, start, w)
            yield priced(program, pair.w, pair.y, units, idle)


def _mixed(
    program: ConeProgram,
    scaled: ScaledCone,
    interior: Interior | None,
    w: Array,
    y: Array,
    units: ProgramUnits,
    idle: Array,
    budget: Budget,
    names: list[str],
) -> Iterator[Priced]:
    if not budget.allows(FARTHER, *names):
        return
    for inner_w, inner in mixtures(scaled.program, scaled.x_in(w), scaled.y_in(y)):
        if not budget.allows(FARTHER, *names):
            return
        if interior is not None:
            yield _outside(program, scaled, priced_inside(scaled.program, interior, inner_w, inner))
        yield priced(program, scaled.x_out(inner_w), scaled.y_out(inner), units, idle)


def _outside(program: ConeProgram, scaled: ScaledCone, pair: Priced) -> Priced:
    """A priced point of the scaled program in the program's own units, exactly."""
    w, y = scaled.x_out(pair.w), scaled.y_out(pair.y)
    left = dual_residual(program, w, y)
    return Priced(w, y, pair.value * scaled.worth, pair.price * scaled.worth, left)


def _exactly_outside(program: ConeProgram, scaled: ScaledCone, pair: Priced) -> Priced:
    """``_outside`` where all factors are powers of two: the residual has them, too."""
    left = pair.left * (scaled.cost / scaled.columns)
    if np.count_nonzero(np.abs(left) >= np.finfo(float).tiny) < np.count_nonzero(pair.left):
        return _outside(program, scaled, pair)
    value, price = pair.value * scaled.worth, pair.price * scaled.worth
    return Priced(scaled.x_out(pair.w), scaled.y_out(pair.y), value, price, left)


def _evaluate(
    x: Array,
    own: Array,
    radius: float,
    pair: Priced,
    passed: Completed,
    curvature: float = 0.0,
) -> Bound:
    left = pair.left
    far = max(1.0, float(np.max(np.abs(x), initial=0.0))) if np.any(left[~own]) else 0.0
    drift, spread = float(left @ x), float(np.where(own, radius, far) @ np.abs(left))
    steps = (pair.w - passed.w, pair.y - passed.y)
    moved = max(float(np.max(np.abs(step), initial=0.0)) for step in steps)
    local = pair.value + drift - spread
    return Bound(pair.value, pair.price, local, radius, far, left, pair.w, pair.y, moved, curvature)


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

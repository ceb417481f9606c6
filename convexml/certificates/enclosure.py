"""What a gap says of every optimal (w, b) and every dual optimal u: intervals and spheres."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..losses import Loss
from ..numerics import ROUNDING, Array
from ..problem import Objective
from .learning.repair import DualPoint, PrimalPoint
from .learning.unpenalised import price_of_columns

# Intervals that hold a number for certain: intersected, never guessed.


Map = Callable[[Array], Array]

FAR = 1e15
"""Predictions beyond this size count as infinite."""
BISECTIONS = 20
"""They leave an end 2^-16 of its distance too far out, which costs nothing in truth."""


class Intervals:
    """Entrywise lo <= x <= hi, arrays of one shape; they only ever shrink.

    Parameters
    ----------
    lo, hi : array
        Ends; -inf and +inf where nothing is known.
    """

    def __init__(self, lo: Array, hi: Array) -> None:
        self.lo, self.hi = np.array(lo, dtype=float), np.array(hi, dtype=float)

    @classmethod
    def everywhere(cls, size: int) -> Intervals:
        """Nothing is known."""
        return cls(np.full(size, -np.inf), np.full(size, np.inf))

    def meet(self, lo: Array | float, hi: Array | float, at: Array | None = None) -> None:
        """Intersect with [lo, hi], at the entries ``at`` or at all of them.

        Two enclosures of one number overlap; where they miss one another it is by rounding, and
        what lies between them is kept.
        """
        index = slice(None) if at is None else at
        # fmax and fmin: NaN, which is 0 times an unknown, knows nothing.
        low, high = np.fmax(self.lo[index], lo), np.fmin(self.hi[index], hi)
        self.lo[index], self.hi[index] = np.minimum(low, high), np.maximum(low, high)

    @property
    def bounded(self) -> Array:
        """Mask of the entries with two finite ends."""
        return np.isfinite(self.lo) & np.isfinite(self.hi)

    @property
    def middle(self) -> Array:
        """Midpoints; 0 where an end is infinite."""
        lo, hi = np.where(self.bounded, (self.lo, self.hi), 0.0)
        return 0.5 * lo + 0.5 * hi

    @property
    def half(self) -> Array:
        """Half-widths; inf where an end is infinite."""
        return np.where(self.bounded, 0.5 * (self.hi - self.lo), np.inf)

    @property
    def excludes_zero(self) -> Array:
        """Mask of the entries that are certainly not 0."""
        return (self.lo > 0.0) | (self.hi < 0.0)


def around(center: Array | float, radius: Array | float) -> tuple[Array, Array]:
    """The ends center -+ radius."""
    return np.asarray(center - radius), np.asarray(center + radius)


def product(matvec: Map, abs_matvec: Map, x: Intervals) -> tuple[Array, Array]:
    """The ends of M x over a box, rounded outward; infinite, or NaN, unless the box is bounded."""
    middle = x.middle
    return around(matvec(middle), abs_matvec(x.half) + ROUNDING * abs_matvec(middle))


def sublevel(function: Callable[[Array], Array], start: Array, level: float) -> tuple[Array, Array]:
    """The ends of {x : f_i(x) <= level}, rounded outward, for convex f_i with f_i(start) <= level.

    Steps that grow bracket each end, bisection pulls it in; the outer end is what is returned.
    """
    unit = 1e-13 * np.maximum(1.0, np.abs(start))
    ends = []
    for sign in (-1.0, 1.0):
        reach = unit.copy()
        for _ in range(30):
            inside = function(start + sign * reach) <= level
            if not np.any(inside & (reach < FAR)):
                break
            reach = np.where(inside & (reach < FAR), 16.0 * reach, reach)
        inner, outer = np.where(reach > unit, 0.0625 * reach, 0.0), reach
        for _ in range(BISECTIONS):
            middle = 0.5 * (inner + outer)
            inside = function(start + sign * middle) <= level
            inner, outer = np.where(inside, middle, inner), np.where(inside, outer, middle)
        ends.append(start + sign * np.where(reach < FAR, outer + unit, np.inf))
    return ends[0], ends[1]


def crossing(loss: Loss, y: Array, v: Array, after: bool = False) -> Array:
    """The least z with l'(y, z) >= v; with ``after``, the largest z with l'(y, z) <= v.

    Between the two lie the z with v in dl(y, z). -FAR and FAR where there is none.
    """
    lo, hi = np.full(len(y), -FAR), np.full(len(y), FAR)
    for _ in range(130):
        middle = 0.5 * (lo + hi)
        slope = loss.derivative(y, middle)
        below = slope <= v if after else slope < v
        lo, hi = np.where(below, middle, lo), np.where(below, hi, middle)
    return lo if after else hi


# Gap-safe spheres: where every minimiser and every dual maximiser must lie, from the gap alone.
#
# For all optimal (w*, b*, u*), with g_i = c_i l'(z_i) and w~ the gradient of Omega* at v = -X'u,
#
#     P(w, b) - P* = sum_i FY_i(z_i, u_i*) + FY(w, v*),
#     P* - D(u)    = sum_i FY_i(z_i*, u_i) + FY(w*, v)
#
# are sums of Fenchel-Young terms, each >= 0, and together at most the gap G. Strong convexity with
# modulus mu bounds FY(w, v*) >= mu/2 |w - w*|^2 and FY(w*, v) >= mu/2 |w* - w~|^2; a curvature of
# at
# most K bounds FY_i(z_i, u_i*) >= (u_i* - g_i)^2 / (2 c_i K), and the same with u_i for g_i. Two
# such
# squares with different centres make one sphere about the midpoint: see ``sphere``.
# Sources: Fercoq, Gramfort and Salmon (2015, https://arxiv.org/abs/1505.03410); Ndiaye, Fercoq,
# Gramfort and Salmon (2017, https://jmlr.org/papers/v18/16-577.html).


@dataclass(frozen=True)
class Sphere:
    """The x with sum_i weights_i (x_i - center_i)^2 <= radius^2."""

    center: Array
    radius: float
    weights: Array | float = 1.0


def sphere(one: Array, other: Array | None, weights: Array | float, gap: float) -> Sphere:
    """The x with |x - one|^2 / 2 + |x - other|^2 / 2 <= gap, in the norm of the weights.

    By the parallelogram law |x - m|^2 <= gap - |one - other|^2 / 4 about their midpoint m. With
    ``other`` None, |x - one|^2 <= 2 gap.
    """
    if other is None:
        return Sphere(one, float(np.sqrt(2.0 * gap)), weights)
    apart = float(np.sum(weights * (one - other) ** 2))
    room = gap * (1.0 + ROUNDING) - 0.25 * apart * (1.0 - ROUNDING)
    return Sphere(0.5 * (one + other), float(np.sqrt(max(room, 0.0))), weights)


def rounded_gap(objective: Objective, point: PrimalPoint, dual: DualPoint) -> float:
    """P - D, enlarged by what rounding may hide in it, and by the price of unpenalised columns.

    The term is 64 eps times the sizes of all that is summed: the losses and their conjugates, the
    penalty and its own, and sum_i (|u_i| + |g_i|)(|x_i|.|w| + |b| + |y_i|), which also covers
    bounds on X'u that u meets within rounding only. inf where P or D is not finite, and for
    constraints such as Xw = y, which no point of a computer meets exactly.
    """
    loss, y, c = objective.loss, objective.y, objective.c
    exact = not loss.is_indicator or (loss.labels == "binary" and not objective.penalty.restricts)
    if not (exact and np.isfinite(point.value) and np.isfinite(dual.value)):
        return np.inf
    lo, hi = loss.domain(y)
    value = 0.0 if loss.is_indicator else loss.value(y, point.z)
    slope = np.abs(objective.loss_derivative(point.z)) + np.abs(dual.u)
    terms = c @ (np.abs(value) + np.abs(loss.conjugate(y, np.clip(dual.u / c, lo, hi))))
    terms += abs(objective.penalty.value(point.w)) + abs(point.value) + abs(dual.value)
    rounding = ROUNDING * terms + slope @ objective.prediction_slack(point.w, point.b)
    price = price_of_columns(objective, dual, point).price
    return max(point.value - dual.value, 0.0) + float(rounding) + price


def primal_sphere(
    objective: Objective, point: PrimalPoint, dual: DualPoint, gap: float
) -> Sphere | None:
    """Where every optimal w lies; None where the penalty is not strongly convex."""
    mu = objective.penalty.strong_convexity
    if mu <= 0.0:
        return None
    other = objective.penalty.conjugate_gradient(dual.v)
    found = sphere(point.w, other, 1.0, gap / mu)
    slack = ROUNDING * np.linalg.norm(np.abs(point.w) + objective.design.abs_rmatvec(dual.u) / mu)
    return Sphere(found.center, found.radius + float(slack))


def dual_sphere(
    objective: Objective, point: PrimalPoint, dual: DualPoint, gap: float
) -> Sphere | None:
    """Where u* lies, with weights 1/(c_i K); None where the curvature K is not bounded.

    With an intercept 1'u* = 0 as well: the sphere cut by that plane is a smaller one.
    """
    curvature = objective.loss.curvature_bound
    if not np.isfinite(curvature):
        return None
    weights = 1.0 / (objective.c * curvature)
    found = sphere(dual.u, objective.loss_derivative(point.z), weights, gap)
    if not objective.fit_intercept:
        return found
    inverse = 1.0 / weights
    total, size = float(found.center.sum()), float(inverse.sum())
    center = found.center - total / size * inverse
    room = found.radius**2 - total**2 / size * (1.0 - ROUNDING)
    return Sphere(center, float(np.sqrt(max(room, 0.0))), weights)


def reach(objective: Objective, ball: Sphere) -> Array:
    """Max abs(u_i - center_i) over the dual sphere, shape (n,)."""
    inverse = 1.0 / np.broadcast_to(ball.weights, (objective.n,))
    share = inverse / inverse.sum() if objective.fit_intercept else 0.0
    most = ball.radius * np.sqrt(inverse * np.maximum(1.0 - share, 0.0))
    return most + ROUNDING * np.abs(ball.center)


def spread(objective: Objective, ball: Sphere) -> Array:
    """Max abs(x_j'(u - center)) over the dual sphere, shape (d,).

    With an intercept 1'(u - center) = 0, so that a multiple of 1 may be taken off x_j: the best is
    its mean, weighted by the inverse weights of the sphere.
    """
    inverse = 1.0 / np.broadcast_to(ball.weights, (objective.n,))
    squares = objective.design.column_squares(inverse)
    rounding = ROUNDING * squares
    if objective.fit_intercept:
        squares = squares - objective.design.rmatvec(inverse) ** 2 / inverse.sum()
    most = ball.radius * np.sqrt(np.maximum(squares, 0.0) + rounding)
    return most + ROUNDING * objective.design.abs_rmatvec(ball.center)


class Enclosure:
    """Intervals for w*, b*, z* = Xw* + b*1, u* and v* = -X'u*, as the gap alone gives them.

    Each holds for every minimiser and every dual maximiser; ``shrink`` tightens them by turns.

    Parameters
    ----------
    objective : Objective
    point, dual : PrimalPoint, DualPoint
        Feasible, with a finite gap.

    Attributes
    ----------
    w, z, u, v : Intervals
        Shapes (d,), (n,), (n,), (d,).
    b : Intervals
        Shape (1,); the single point 0 without intercept.
    zero : array, shape (d,)
        Mask of the coefficients that are 0 at every minimiser.
    pinned : array, shape (n,)
        Mask of the samples that lie on one kink of their loss at every minimiser.
    unique_w : bool
        Whether the linear system for w* has full rank, so that there is only one.
    level : (float, float) or None
        An interval of b that are all optimal, with any w*.
    blocks, levels : arrays
        Of ``Penalty.zero_blocks``; None and () where there are none.
    slopes, nearest : arrays, shape (n,)
        u_i / c_i, and a z_i where it is a slope of the loss.
    gap : float
        P - D, enlarged by rounding.
    """

    def __init__(self, objective: Objective, point: PrimalPoint, dual: DualPoint) -> None:
        self.objective, self.point, self.dual = objective, point, dual
        n, d, loss, y, c = objective.n, objective.d, objective.loss, objective.y, objective.c
        self.gap = rounded_gap(objective, point, dual)
        self.w, self.z, self.u, self.v = map(Intervals.everywhere, (d, n, n, d))
        self.b = Intervals.everywhere(1)
        if not objective.fit_intercept:
            self.b.meet(0.0, 0.0)
        self.zero, self.pinned = np.zeros(d, dtype=bool), np.zeros(n, dtype=bool)
        self.unique_w = False
        self.level: tuple[float, float] | None = None
        self.slopes = np.clip(dual.u / c, *loss.domain(y))
        self.nearest = loss.kinks(y)[0] if loss.is_indicator else crossing(loss, y, self.slopes)
        self._conjugate = loss.conjugate(y, self.slopes)
        blocks = objective.penalty.zero_blocks(d)
        self.blocks: Array | None = None if blocks is None else blocks[0]
        self.levels: Array = np.zeros(0) if blocks is None else blocks[1]
        self.w_sphere = primal_sphere(objective, point, dual, self.gap)
        self.u_sphere = dual_sphere(objective, point, dual, self.gap)
        self._start()

    def _start(self) -> None:
        objective, gap = self.objective, self.gap
        self.u.meet(*objective.dual_bounds())
        if self.w_sphere is not None:
            self.w.meet(*around(self.w_sphere.center, self.w_sphere.radius))
        if self.u_sphere is not None:
            self.u.meet(*around(self.u_sphere.center, reach(objective, self.u_sphere)))
        self.z.meet(*sublevel(self.terms_of_predictions, self.point.z, gap))
        self.u.meet(*sublevel(self.terms_of_dual, objective.loss_derivative(self.point.z), gap))
        if objective.loss.is_indicator:
            # sum_i alpha_i* <= P(2w, 2b) - D: margins of 2 leave each FY_i(2z_i, u_i*) >= alpha_i*
            most = objective.penalty.value(2.0 * self.point.w) - self.dual.value
            self.u.meet(*around(0.0, most * (1.0 + ROUNDING) + gap))
        if self.blocks is not None:  # Omega(w*) <= P - inf F, and inf F >= -sum_i c_i l*(0)
            least = objective.loss.conjugate(objective.y, np.zeros(objective.n))
            room = self.point.value + float(objective.c @ np.maximum(least, 0.0))
            level = self.levels[self.blocks]
            self.w.meet(*around(0.0, np.where(level > 0.0, room * (1 + ROUNDING) / level, np.inf)))

    def terms_of_predictions(self, z: Array) -> Array:
        """FY_i(z_i, u_i), less its rounding."""
        value = self.objective.loss.value(self.objective.y, z)
        return self._terms(value, self._conjugate, self.slopes * z)

    def terms_of_dual(self, u: Array) -> Array:
        """FY_i(z_i, u_i) at the point's own z, less its rounding."""
        loss, y, z = self.objective.loss, self.objective.y, self.point.z
        value = 0.0 if loss.is_indicator else loss.value(y, z)
        v = u / self.objective.c
        return self._terms(value, loss.conjugate(y, v), v * z)

    def _terms(self, value: Array | float, conjugate: Array, product: Array) -> Array:
        sizes = np.abs(value) + np.abs(conjugate) + np.abs(product)
        return self.objective.c * (value + conjugate - product - ROUNDING * sizes)

    @property
    def scores(self) -> tuple[Array, Array]:
        """Ends of x_i.w*, from the box of w and from its sphere."""
        design = self.objective.design
        scores = Intervals(*product(design.matvec, design.abs_matvec, self.w))
        if self.w_sphere is not None:
            reach = self.w_sphere.radius * np.sqrt(design.row_squares())
            center = self.w_sphere.center
            reach = reach * (1.0 + ROUNDING) + ROUNDING * design.abs_matvec(center)
            scores.meet(*around(design.matvec(center), reach))
        return scores.lo, scores.hi

    @property
    def width(self) -> float:
        """How much is left to know, for the stopping rule: falls with every interval."""
        halves = [np.where(x.bounded, x.half, 1e6).sum() for x in (self.w, self.z, self.u)]
        return float(sum(halves) - self.zero.sum())

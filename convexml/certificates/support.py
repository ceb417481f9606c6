"""Which samples support the solution and which coefficients are zero: only what is certain."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from ..numerics import ROUNDING, Array
from ..penalties import L2
from ..problem import Objective
from ..typesetting import html
from .enclosure import Enclosure, around, crossing, product, spread, sublevel
from .learning.dual import construct_dual
from .learning.repair import DualPoint, PrimalPoint, repair_dual, repair_primal
from .uniqueness import Uniqueness, solve_dual, solve_primal, unique_coefficients, unique_minimiser

# Shrink what is known of each feature: v* from u*, then which w_j* are 0, and w* from v*.


def shrink_features(known: Enclosure) -> None:
    """First v* from u*, then which w_j* are 0, then w* from v* and back."""
    design, penalty = known.objective.design, known.objective.penalty
    lo, hi = product(design.rmatvec, design.abs_rmatvec, known.u)
    known.v.meet(-hi, -lo)
    if known.u_sphere is not None:
        known.v.meet(*around(*_dual_ball(known)))
    if isinstance(penalty, L2):
        known.v.meet(penalty.gradient(known.w.lo), penalty.gradient(known.w.hi))
    if known.blocks is not None:
        _find_zeros(known)
    gradients = penalty.conjugate_gradient(known.v.lo), penalty.conjugate_gradient(known.v.hi)
    if gradients[0] is not None and gradients[1] is not None:
        rounding = ROUNDING * (np.abs(gradients[0]) + np.abs(gradients[1]))
        known.w.meet(gradients[0] - rounding, gradients[1] + rounding)


def _dual_ball(known: Enclosure) -> tuple[Array, Array]:
    """The centre and the reach of v_j over the dual sphere."""
    assert known.u_sphere is not None
    center = known.u_sphere.center
    return -known.objective.design.rmatvec(center), spread(known.objective, known.u_sphere)


def _find_zeros(known: Enclosure) -> None:
    """A block with |v_g*| < level_g is 0. L1: |w_j| (level_j - s_j v_j*) <= G, s = sign w."""
    assert known.blocks is not None
    index, levels, size = known.blocks, known.levels, len(known.levels)

    def norms(x: Array) -> Array:
        return np.sqrt(np.bincount(index, x * x, minlength=size))

    most = norms(np.maximum(np.abs(known.v.lo), np.abs(known.v.hi)))
    if known.u_sphere is not None:
        center, reach = _dual_ball(known)
        most = np.fmin(most, norms(center) + norms(reach))
    known.zero |= (most * (1.0 + ROUNDING) < levels)[index]
    known.w.meet(0.0, 0.0, known.zero)
    if size == known.objective.d and known.objective.penalty.strong_convexity == 0.0:
        w = known.point.w
        room = np.where(w != 0.0, known.gap / np.abs(w), np.inf)
        level = levels[index]
        known.v.meet(-level, level)
        known.v.meet(
            np.where(w > 0.0, level - room, -np.inf), np.where(w < 0.0, room - level, np.inf)
        )
        sure = np.where(known.w.excludes_zero, np.sign(known.w.lo + known.w.hi), 0.0)
        held = sure != 0.0
        known.v.meet((sure * level)[held], (sure * level)[held], held)


# Shrink what is known of each sample: b* and z* from w* and u*, u* from z*.


def shrink_predictions(known: Enclosure) -> None:
    """b* from the sum of all terms FY_i(z_i*, u_i) <= G; z* from w*, b* and u*."""
    objective = known.objective
    lo, hi = known.scores
    bounded = bool(np.all(np.isfinite(lo) & np.isfinite(hi)))
    if objective.fit_intercept and bounded:

        def total(b: Array) -> Array:
            terms = known.terms_of_predictions(np.clip(known.nearest, lo + b, hi + b))
            return np.array([terms.sum()])

        known.b.meet(*sublevel(total, np.array([known.point.b]), known.gap))
    level_intercepts(known, lo, hi)
    known.z.meet(lo + known.b.lo, hi + known.b.hi)
    if objective.loss.is_indicator:
        held = known.u.excludes_zero
        known.z.meet(known.nearest[held], known.nearest[held], held)
        known.pinned |= held
    else:
        low, high = _inverse_slopes(known)
        known.z.meet(low, high)


def level_intercepts(known: Enclosure, lo: Array, hi: Array) -> None:
    """An interval of optimal b: no sample on a kink of its loss, the slopes adding up to 0.

    At such a b every sample is certainly on one side of its kinks, for each w* that is possible:
    dP/db = sum_i c_i l'(z_i) = 0 makes (w*, b) optimal, so that u_i* is that slope, and with it
    every b up to the next kink. The sum must vanish exactly.
    """
    objective = known.objective
    loss, y, c = objective.loss, objective.y, objective.c
    if not objective.fit_intercept or loss.is_smooth or loss.is_indicator:
        return
    if known.level is not None or not np.all(np.isfinite(lo) & np.isfinite(hi)):
        return
    kinks = np.stack(loss.kinks(y))
    for b in (*known.b.middle[known.b.bounded], known.point.b):
        slack = ROUNDING * (np.abs(lo) + np.abs(hi) + np.abs(y) + abs(b))
        below, above = hi + b + slack < kinks, lo + b - slack > kinks
        middle = 0.5 * (lo + hi) + b
        slopes = c * loss.derivative(y, middle)
        straight = np.all(below | above) and not np.any(loss.curvature(y, middle))
        if straight and math.fsum(slopes.tolist()) == 0.0:
            known.u.meet(slopes, slopes)
            low = np.where(above, kinks - lo + slack, -np.inf).max()
            high = np.where(below, kinks - hi - slack, np.inf).min()
            known.level = (float(low), float(high))
            return


def _inverse_slopes(known: Enclosure) -> tuple[Array, Array]:
    """The z with dl(z) meeting the interval of u_i*/c_i, rounded outward."""
    loss, y, c = known.objective.loss, known.objective.y, known.objective.c
    least, most = known.u.lo / c, known.u.hi / c
    blur = ROUNDING * (1.0 + np.abs(y) + np.abs(known.slopes))
    if not loss.is_smooth:  # slopes are exact between kinks
        blur = ROUNDING * np.maximum(np.abs(least), np.abs(most))
        blur = np.where(np.isfinite(blur), blur, 0.0)
    low = crossing(loss, y, least - blur)
    high = crossing(loss, y, most + blur, after=True)
    slack = 4.0 * ROUNDING * (np.abs(y) + np.minimum(np.abs(low), np.abs(high)))
    if not loss.is_smooth:
        away = np.abs(np.stack(loss.kinks(y)) - low).min(axis=0)
        known.pinned |= (high - low <= slack) & (away <= slack)
    low = np.where(np.abs(low) < 1e14, low - slack, -np.inf)
    high = np.where(np.abs(high) < 1e14, high + slack, np.inf)
    return low, high


def shrink_dual(known: Enclosure) -> None:
    """What z* leaves of u*: u_i* in c_i dl(z_i*)."""
    objective = known.objective
    y, c, loss = objective.y, objective.c, objective.loss
    slack = ROUNDING * (1.0 + np.abs(y) + np.abs(np.where(known.z.bounded, known.z.middle, 0.0)))
    lo, hi = known.z.lo - slack, known.z.hi + slack
    if loss.is_indicator:
        clear = loss.violation(y, lo) + loss.violation(y, hi) == 0.0
        known.u.meet(0.0, 0.0, clear)
        return
    low = np.where(np.isfinite(lo), c * loss.derivative(y, lo), -np.inf)
    high = np.where(np.isfinite(hi), c * loss.derivative(y, hi), np.inf)
    least, most = objective.dual_bounds()
    if loss.is_smooth:
        at = (low == 0.0) | (low == least) | (low == most)
        low = np.where(at, low, low - ROUNDING * (np.abs(low) + c * np.abs(y)))
        at = (high == 0.0) | (high == least) | (high == most)
        high = np.where(at, high, high + ROUNDING * (np.abs(high) + c * np.abs(y)))
    known.u.meet(low, high)


# Tighten an enclosure by turns, each fact using the others, until little changes.


ROUNDS = 5
ENOUGH = 0.9
"""A round that leaves more than this share of the width was the last one."""


def enclose(objective: Objective, point: PrimalPoint, dual: DualPoint) -> Enclosure:
    """Enclose all that is optimal, from a primal and a dual feasible point.

    What the facts know of one another: u_i* in c_i dl(z_i*), v* in dOmega(w*), X'u* = -v*,
    1'u* = 0, Xw* + b*1 = z*, and the Fenchel-Young terms of ``spheres``.
    """
    known = Enclosure(objective, point, dual)
    if not np.isfinite(known.gap):
        return known
    for _ in range(ROUNDS):
        before = known.width
        shrink_predictions(known)
        shrink_dual(known)
        shrink_features(known)
        if not objective.loss.is_smooth:
            solve_dual(known)
            shrink_features(known)
        solve_primal(known)
        if known.width >= ENOUGH * before:
            break
    return known


FREE, AT_BOUND, NOT_SUPPORT = "free", "at_bound", "not_support"
ZERO, NONZERO = "zero", "nonzero"
UNDECIDABLE = "undecidable"


@dataclass(frozen=True)
class CertifiedSupport:
    """What a point and its duality gap prove of every optimal (w*, b*) and dual optimal u*.

    A label other than "undecidable" holds at every minimiser and every dual maximiser.

    Attributes
    ----------
    samples : array of str, shape (n,)
        "not_support": u_i* = 0. "at_bound": u_i* is at an end of its box other than 0 (for the
        SVMs alpha_i* = C s_i). "free": strictly between, and not 0. "undecidable".
    coordinates : array of str, shape (d,)
        "zero", "nonzero" or "undecidable", for w_j*.
    groups : array of str, shape (G,), or None
        The same for whole groups of the group lasso, ordered as ``numpy.unique(groups)``.
    b_interval : (float, float)
        Holds every optimal b.
    optimal_b : (float, float) or None
        When no sample lies on its kink: every b in it is optimal (with w*).
    unique_w, unique : Uniqueness
        Whether w*, and (w*, b*), are the only ones: .answer "yes", "no" or "unknown", .reason.
    w_interval, u_interval : (array, array)
        Ends of the intervals that hold w* and u*.
    gap : float
        The gap used, P - D enlarged by its rounding.
    """

    samples: Array
    coordinates: Array
    groups: Array | None
    b_interval: tuple[float, float]
    optimal_b: tuple[float, float] | None
    unique_w: Uniqueness
    unique: Uniqueness
    w_interval: tuple[Array, Array]
    u_interval: tuple[Array, Array]
    gap: float

    @property
    def support(self) -> Array:
        """Sorted indices of the samples that support every solution: "free" or "at_bound"."""
        return np.flatnonzero(np.isin(self.samples, (FREE, AT_BOUND)))

    def expanded(self, kept: Array, total: int) -> CertifiedSupport:
        """The same with samples in the caller's numbering: those of weight 0 have u_i = 0."""
        if len(kept) == total:
            return self
        samples = np.full(total, NOT_SUPPORT)
        samples[kept] = self.samples
        lo, hi = np.zeros((2, total))
        lo[kept], hi[kept] = self.u_interval
        return replace(self, samples=samples, u_interval=(lo, hi))

    def __str__(self) -> str:
        title, lines = self._told()
        return "\n".join([title, *(f"  {name:<12} {words}" for name, words in lines)])

    def _repr_html_(self) -> str:
        title, lines = self._told()
        return html.paragraph(title) + html.table(lines)

    def _told(self) -> tuple[str, list[tuple[str, str]]]:
        """A title, and what is known of each part by its name."""

        def count(labels: Array) -> str:
            return ", ".join(f"{k} {name}" for name, k in sorted(Counter(labels.tolist()).items()))

        low, high = self.b_interval
        lines = [("samples", count(self.samples)), ("coordinates", count(self.coordinates))]
        lines += [] if self.groups is None else [("groups", count(self.groups))]
        lines += [("b", f"in [{low:.6g}, {high:.6g}]")]
        lines += [("unique w", str(self.unique_w)), ("unique", str(self.unique))]
        return f"certified support at gap {self.gap:.3g}", lines


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def certify_support(
    objective: Objective, w: Array, b: float | None = None, u: Array | None = None
) -> CertifiedSupport:
    """Label samples and coefficients, as far as the gap of (w, b, u) decides them.

    Parameters
    ----------
    objective : Objective
    w : array, shape (d,)
    b : float, optional
        None takes the best one for this w.
    u : array, shape (n,), optional
        Dual point, repaired where almost feasible; None constructs one.
    """
    if b is None:
        b = objective.best_intercept(objective.predict(w)) if objective.fit_intercept else 0.0
    point = repair_primal(objective, w, b)
    if u is not None:
        dual = repair_dual(objective, u, source="passed")
    elif np.isfinite(point.value):
        dual = construct_dual(objective, point)
    else:
        dual = repair_dual(objective, np.zeros(objective.n))
    known = enclose(objective, point, dual)
    coefficients = unique_coefficients(known)
    coordinates = np.where(known.w.excludes_zero, NONZERO, UNDECIDABLE)
    coordinates = np.where(known.zero, ZERO, coordinates)
    return CertifiedSupport(
        samples=_sample_labels(known),
        coordinates=coordinates,
        groups=_group_labels(objective, coordinates),
        b_interval=(float(known.b.lo[0]), float(known.b.hi[0])),
        optimal_b=known.level,
        unique_w=coefficients,
        unique=unique_minimiser(known, coefficients),
        w_interval=(known.w.lo, known.w.hi),
        u_interval=(known.u.lo, known.u.hi),
        gap=known.gap,
    )


def _sample_labels(known: Enclosure) -> Array:
    lo, hi = known.u.lo, known.u.hi
    least, most = known.objective.dual_bounds()
    slack = ROUNDING * np.maximum(np.abs(lo), np.abs(hi))
    inside = (lo - slack > least) & (hi + slack < most)
    labels = np.full(len(lo), UNDECIDABLE, dtype="<U11")
    labels[inside & known.u.excludes_zero] = FREE
    labels[((lo >= most) | (hi <= least)) & known.u.excludes_zero] = AT_BOUND
    labels[(lo == 0.0) & (hi == 0.0)] = NOT_SUPPORT
    return labels


def _group_labels(objective: Objective, coordinates: Array) -> Array | None:
    """A group is zero when all of it is, nonzero when some of it is."""
    blocks = objective.penalty.zero_blocks(objective.d)
    if blocks is None or not hasattr(objective.penalty, "groups"):
        return None
    count, (zero, nonzero) = len(blocks[1]), (coordinates == ZERO, coordinates == NONZERO)
    of, some = (np.bincount(blocks[0], each, count) for each in (~zero, nonzero))
    return np.where(some > 0.0, NONZERO, np.where(of > 0.0, UNDECIDABLE, ZERO))

"""Augmented Lagrangians for losses whose dual has a bounded box, by semismooth Newton steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...design import Design
from ...numerics import Array
from ...objective import Objective
from ..box_dual import curvatures
from ..driver import Iterate
from .proximal_newton import STEPS, minimise
from .smoothed_loss import Smoothed

FIRST, AGAIN = 2.4, 0.1
"""The first band covers all samples; that of a start with w other than 0 is narrower by AGAIN."""
NARROWER = ((2, 0.25), (4, 0.45), (STEPS - 1, 0.7))
"""After so many Newton steps at most, the next band is narrower by this factor; else as wide."""
REACH, FEW = 2.0, 0.4
"""Samples further from their bands than REACH times the last move and the width stay where they
are, if no more than this share is nearer;"""
TINY = 30_000
"""and if X has more entries than this, where a whole step costs less than to look for them."""
NARROWEST = 1e-8
"""Of the first width: u is rounded by EPS / NARROWEST of its box."""
PATIENCE = 8
"""Centres without a smaller gap before it ends."""


@dataclass(frozen=True)
class ProximalPoint:
    """(w, b), the scores z and the u of some samples, and v = X'u and 1'u of all."""

    w: Array
    b: float
    z: Array
    u: Array
    v: Array
    total: float


def augmented_lagrangian(objective: Objective, w: Array, b: float) -> Iterator[Iterate]:
    """Maximise D by proximal points u <- argmax D(u) - |u - v|^2_D / 2, v <- u.

    Each is found through its own dual, phi(w, b) = F_v(X w + b) + Omega(w): differentiable and
    piecewise quadratic, it curves only along samples in their bands, which are soon few. Newton
    steps with an exact line search minimise it; then the centre moves to u and the bands get
    narrower (Rockafellar, 1976, https://doi.org/10.1287/moor.1.2.97; Li, Sun and Toh, 2018,
    https://doi.org/10.1137/16M1097572). All other u_i sit at the ends of the box, exactly, and
    those far from their bands are left out of the steps, until a product tells that one has moved.
    """
    design, free_b = objective.design, objective.fit_intercept
    level = objective.penalty.manifold(w, np.zeros_like(w), np.ones_like(w)).hessian
    is_fresh = not w.any()
    if is_fresh and free_b:
        b = float(objective.c @ objective.y) / float(objective.c.sum())
    z = objective.predict(w, b)
    smoothed = first_bands(objective, z, 1.0 if is_fresh else AGAIN)
    if not is_fresh:
        smoothed = smoothed.about(smoothed.slope(z)[0], smoothed.omega)
    at = ProximalPoint(w, b, z, smoothed.centre, np.zeros_like(w), 0.0)
    floor, reach, least, waited, passes = NARROWEST * smoothed.omega, np.inf, np.inf, 0, 1.0
    yield Iterate(w, b, None, passes, promise=np.inf)
    while waited < PATIENCE:
        before, few = at.z, None
        if reach < np.inf:
            few = smoothed.near(at.z, reach)
        if few is None or few.size > FEW * objective.n:
            at, steps, work = solved(design, smoothed, level, free_b, at, np.zeros_like(w), 0.0)
            is_solved = True
        else:
            at, steps, work, is_solved = on_some(design, smoothed, level, free_b, at, few)
        passes += work
        if objective.n * objective.d > TINY:
            reach = REACH * (float(np.abs(at.z - before).max()) + smoothed.omega)
        if not is_solved:
            reach = np.inf
            continue
        gap = expected_gap(objective, smoothed, level, at)
        state = {"centre": smoothed.centre, "D": smoothed.D}
        yield Iterate(at.w, at.b, at.u, passes, {"width": smoothed.omega}, state, promise=gap)
        waited = 0 if gap < 0.5 * least else waited + 1
        least = min(gap, least)
        factor = next((share for most, share in NARROWER if steps <= most), 1.0)
        smoothed = smoothed.about(at.u, max(factor * smoothed.omega, floor))


def first_bands(objective: Objective, z: Array, share: float) -> Smoothed:
    """Bands about the middle of the box that hold all samples but outliers, or a share of that."""
    lo, hi = objective.dual_bounds()
    far = np.abs(z - objective.y)
    omega = FIRST * min(float(far.max()), 4.0 * float(far.mean())) or 1.0
    epsilon = float(getattr(objective.loss, "epsilon", 0.0))
    K = curvatures(objective)
    return Smoothed(objective.y, K, (lo, hi), epsilon, 0.5 * (lo + hi), share * omega)


def solved(
    design: Design,
    smoothed: Smoothed,
    level: Array,
    free_b: bool,
    at: ProximalPoint,
    fixed: Array,
    rest: float,
) -> tuple[ProximalPoint, int, float]:
    """The minimum of phi from there, how many Newton steps it took, and the passes."""
    given = smoothed.bands, level, free_b, at.w, at.b, at.z, fixed, rest
    w, b, z, u, v, total, steps, passes = minimise(design, *given)
    return ProximalPoint(w, b, z, u, v, total), steps, passes


def on_some(
    design: Design, smoothed: Smoothed, level: Array, free_b: bool, at: ProximalPoint, few: Array
) -> tuple[ProximalPoint, int, float, bool]:
    """The same on some samples, and whether the u of all others are still right there."""
    part, rows = replace(at, z=at.z[few], u=at.u[few]), design.rows(few)
    others = at.v - rows.rmatvec(part.u), at.total - float(part.u.sum())
    found, steps, work = solved(rows, smoothed.of(few), level, free_b, part, *others)
    z = at.z + (design.matvec(found.w - at.w) + (found.b - at.b))
    u = smoothed.slope(z)[0]
    z[few], u[few] = found.z, found.u
    right = at.u.copy()
    right[few] = found.u
    passes = 1.0 + work * few.size / len(z)
    return replace(found, z=z, u=u), steps, passes, bool(np.array_equal(u, right))


def expected_gap(
    objective: Objective, smoothed: Smoothed, level: Array, at: ProximalPoint
) -> float:
    """What the relative gap will be about: F(z) + F*(u) - u'z + |Lam w + X'u|^2 / 2, in Lam^-1."""
    loss, conjugate = objective.loss_value(at.z), smoothed.conjugate(at.u)
    pull = level * at.w
    slope = pull + at.v
    gap = loss + conjugate - float(at.u @ at.z) + 0.5 * float(slope @ (slope / level))
    above = loss + 0.5 * float(at.w @ pull)
    size = max(above, -conjugate - 0.5 * float(at.v @ (at.v / level)))
    return (abs(gap) + abs(at.total) * smoothed.omega) / size if size > 0.0 else np.inf

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
from .curved_samples import ROUNDS, newton_step
from .smoothed_loss import Smoothed

CLOSE = 0.2
"""phi is minimised once a full step promised no more than this share of |u - v|^2_D."""
LEVEL = 0.3
"""Share of its slope that the line search leaves."""
TRIALS, STEPS = 15, 30
"""Points of one line search, and Newton steps for one centre."""
FIRST, AGAIN = 2.4, 0.1
"""The first band covers all samples; that of a start with w other than 0 is narrower by AGAIN."""
NARROWER = ((2, 0.25), (4, 0.45), (STEPS - 1, 0.7))
"""After so many Newton steps at most, the next band is narrower by this factor; else as wide."""
REACH, FEW = 2.0, 0.4
"""Samples further from their bands than REACH times the last move and the width stay where they
are, if no more than this share is nearer."""
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
    is_fresh = not np.any(w)
    if is_fresh and free_b:
        b = float(np.average(objective.y, weights=objective.c))
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
            at, steps, work = minimise(design, smoothed, level, free_b, at, is_whole=True)
            is_solved = True
        else:
            at, steps, work, is_solved = on_some(design, smoothed, level, free_b, at, few)
        passes += work
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


def minimise(
    design: Design,
    smoothed: Smoothed,
    level: Array,
    free_b: bool,
    at: ProximalPoint,
    *,
    is_whole: bool,
) -> tuple[ProximalPoint, int, float]:
    """Minimise phi by Newton steps, the u of samples that are not in ``design`` fixed.

    Returns the point, how many steps it took, and the passes.
    """
    # What the samples that are left out contribute.
    fixed = 0.0 if is_whole else at.v - design.rmatvec(at.u)
    rest = 0.0 if is_whole else at.total - float(at.u.sum())
    w, b, z = at.w, at.b, at.z
    u, inside = smoothed.slope(z)
    v, total = fixed + design.rmatvec(u), rest + float(u.sum()) if free_b else 0.0
    passes, is_solved, steps = 1.0, False, 0
    while not is_solved and steps < STEPS:
        slope = level * w + v
        dw, db = newton_step(design, level, smoothed.rate, inside, slope, total, free_b)
        fall = -float(slope @ dw) - total * db
        if not fall > 0.0:
            break
        dz = design.matvec(dw) + db
        # Along the step the slope of phi is u'dz + linear + t square.
        linear = float(w @ (level * dw)) + float(fixed @ dw if not is_whole else 0.0) + rest * db
        square = float(dw @ (level * dw))
        t, u, now = search(smoothed, z, dz, linear, square, fall)
        w, b, z = w + t * dw, b + t * db, z + t * dz
        v, total = fixed + design.rmatvec(u), rest + float(u.sum()) if free_b else 0.0
        count = float(inside.sum())
        passes += 2.0 + count * min(count, design.shape[1], ROUNDS) / max(len(z), 1)
        is_solved = t == 1.0 and (
            fall <= CLOSE * smoothed.distance(u) or np.array_equal(now, inside)
        )
        inside, steps = now, steps + 1
    return ProximalPoint(w, b, z, u, v, total), steps, passes


def on_some(
    design: Design, smoothed: Smoothed, level: Array, free_b: bool, at: ProximalPoint, few: Array
) -> tuple[ProximalPoint, int, float, bool]:
    """The same on some samples, and whether the u of all others are still right there."""
    part = replace(at, z=at.z[few], u=at.u[few])
    rows = design.rows(few)
    found, steps, work = minimise(rows, smoothed.of(few), level, free_b, part, is_whole=False)
    z = at.z + (design.matvec(found.w - at.w) + (found.b - at.b))
    u = smoothed.slope(z)[0]
    z[few], u[few] = found.z, found.u
    right = at.u.copy()
    right[few] = found.u
    passes = 1.0 + work * few.size / len(z)
    return replace(found, z=z, u=u), steps, passes, bool(np.array_equal(u, right))


def search(
    smoothed: Smoothed, z: Array, dz: Array, linear: float, square: float, fall: float
) -> tuple[float, Array, Array]:
    """A step t at which the slope of phi along dz is nearly 0, and u and the bands there.

    The slope is u(z + t dz)'dz + linear + t square, -fall at t = 0; it rises with t.
    """
    low, below, high, above, t = 0.0, -fall, np.inf, np.inf, 1.0
    for _ in range(TRIALS):
        u, inside = smoothed.slope(z + t * dz)
        slope = float(u @ dz) + linear + t * square
        if abs(slope) <= LEVEL * fall:
            break
        if slope < 0.0:
            low, below = t, slope
        else:
            high, above = t, slope
        if high == np.inf:
            t *= 2.0
        else:  # regula falsi, not too near the ends
            room = 0.05 * (high - low)
            chord = low - below * (high - low) / (above - below)
            t = min(max(chord, low + room), high - room)
    return t, u, inside


def expected_gap(
    objective: Objective, smoothed: Smoothed, level: Array, at: ProximalPoint
) -> float:
    """What the relative gap will be about: F(z) + F*(u) - u'z + |Lam w + X'u|^2 / 2, in Lam^-1."""
    loss, conjugate = objective.loss_value(at.z), smoothed.conjugate(at.u)
    slope = level * at.w + at.v
    gap = loss + conjugate - float(at.u @ at.z) + 0.5 * float(slope @ (slope / level))
    above = loss + 0.5 * float(at.w @ (level * at.w))
    size = max(above, -conjugate - 0.5 * float(at.v @ (at.v / level)))
    return (abs(gap) + abs(at.total) * smoothed.omega) / size if size > 0.0 else np.inf

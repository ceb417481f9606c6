"""Newton's steps to a proximal point: an exact line search, and only samples in their bands."""

from __future__ import annotations

import numpy as np

from ...design import Design
from ...numerics import Array
from .curved_samples import ROUNDS, newton_step
from .smoothed_loss import Bands, slope_at

CLOSE = 0.2
"""phi is minimised once a full step promised no more than this share of |u - v|^2_D."""
LEVEL = 0.3
"""Share of its slope that the line search leaves."""
TRIALS, STEPS = 15, 30
"""Points of one line search, and Newton steps for one centre."""


def search(
    bands: Bands, z: Array, dz: Array, linear: float, square: float, fall: float
) -> tuple[float, Array, Array]:
    """A step t at which the slope of phi along dz is nearly 0, and u and the bands there.

    The slope is u(z + t dz)'dz + linear + t square, -fall at t = 0; it rises with t.
    """
    low, below, high, above, t = 0.0, -fall, np.inf, np.inf, 1.0
    u, inside = slope_at(bands, z + dz)
    for _ in range(TRIALS):
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
        u, inside = slope_at(bands, z + t * dz)
    return t, u, inside


def minimise(
    design: Design,
    bands: Bands,
    level: Array,
    free_b: bool,
    w: Array,
    b: float,
    z: Array,
    fixed: Array,
    rest: float,
) -> tuple[Array, float, Array, Array, Array, float, int, float]:
    """Minimise phi by Newton steps from (w, b) and its predictions z.

    The samples that are left out contribute ``fixed`` to v = X'u and ``rest`` to 1'u. Returns
    w, b, z, u, v and 1'u, how many steps it took, and the passes.
    """
    n, d = max(len(z), 1), len(w)
    u, inside = slope_at(bands, z)
    v, total = fixed + design.rmatvec(u), rest + u.sum() if free_b else 0.0
    passes, is_solved, steps = 1.0, False, 0
    while not is_solved and steps < STEPS:
        slope = level * w + v
        dw, db = newton_step(design, level, bands.rate, inside, slope, total, free_b)
        fall = -(slope @ dw) - total * db
        if not fall > 0.0:
            break
        dz = design.matvec(dw) + db
        # Along the step the slope of phi is u'dz + linear + t square.
        linear = w @ (level * dw) + fixed @ dw + rest * db
        t, u, now = search(bands, z, dz, linear, dw @ (level * dw), fall)
        w, b, z = w + t * dw, b + t * db, z + t * dz
        v, total = fixed + design.rmatvec(u), rest + u.sum() if free_b else 0.0
        count = inside.sum()
        passes += 2.0 + count * min(count, d, ROUNDS) / n
        if t == 1.0:
            distance = bands.D @ (u - bands.centre) ** 2
            is_solved = bool(fall <= CLOSE * distance or np.all(now == inside))
        inside, steps = now, steps + 1
    return w, b, z, u, v, total, steps, passes

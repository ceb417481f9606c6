"""Newton's steps to a proximal point: an exact line search, and only samples in their bands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...compiled import ByHand, compiled
from ...design import DenseDesign, Design
from ...numerics import Array
from .curved_samples import ROUNDS, newton_step
from .smoothed_loss import Bands, slope_at

CLOSE = 0.2
"""phi is minimised once a full step promised no more than this share of |u - v|^2_D."""
LEVEL = 0.3
"""Share of its slope that the line search leaves."""
TRIALS, STEPS = 15, 30
"""Points of one line search, and Newton steps for one centre."""
SMALL = 200_000
"""Entries of a dense X up to which calls cost more than the arithmetic."""


@dataclass(frozen=True, eq=False)
class Products(ByHand):
    """A design whose products and systems are its own."""

    design: Design


def rows_of(design: Design) -> Array | Products:
    """What ``minimise`` takes: a small dense X itself."""
    if not isinstance(design, DenseDesign) or design.array.size > SMALL:
        return Products(design)
    X = np.ascontiguousarray(design.array).view()
    X.flags.writeable = False  # one kind of array to compile for
    return X


@compiled(by_hand=lambda X, w: X.design.matvec(w))
def product(X: Array, w: Array) -> Array:
    """X w."""
    return X @ w


@compiled(by_hand=lambda X, u: X.design.rmatvec(u))
def sums(X: Array, u: Array) -> Array:
    """X'u."""
    return X.T @ u


@compiled(by_hand=lambda X, *given: newton_step(X.design, *given))
def direction(
    X: Array, level: Array, h: Array, inside: Array, slope: Array, total: float, free_b: bool
) -> tuple[Array, float]:
    """As ``newton_step``; it raises LinAlgError where the system is singular."""
    d, index = X.shape[1], np.flatnonzero(inside)
    m = len(index)
    if m == 0:
        return -slope / level, (-total / float(h.max()) if free_b else 0.0)
    R, rates = X[index], h[index]
    if m <= d:
        scaled = R / level
        system = scaled @ R.T
        for i in range(m):
            system[i, i] += 1.0 / rates[i]
        right = np.ones((m, 2))
        right[:, 0] = scaled @ slope
        found = np.linalg.solve(system, right)
        t, ones = found[:, 0].copy(), found[:, 1].copy()
        db = (t.sum() - total) / ones.sum() if free_b else 0.0
        return ((t - db * ones) @ R - slope) / level, db
    system = np.zeros((d + 1, d + 1))
    system[:d, :d] = (R * rates.reshape(m, 1)).T @ R
    for i in range(d):
        system[i, i] += level[i]
    goal = np.zeros((d + 1, 1))
    goal[:d, 0], system[d, d] = slope, 1.0
    if free_b:
        system[:d, d] = rates @ R
        system[d, :d], system[d, d], goal[d, 0] = system[:d, d], rates.sum(), total
    step = -np.linalg.solve(system, goal)[:, 0]
    return step[:d].copy(), float(step[d])


@compiled
def search(
    bands: Bands, z: Array, dz: Array, linear: float, square: float, fall: float
) -> tuple[float, Array, Array]:
    """A step t at which the slope of phi along dz is nearly 0, and u and the bands there.

    The slope is u(z + t dz)'dz + linear + t square, -fall at t = 0; it rises with t.
    """
    low, below, high, above, t = 0.0, -fall, np.inf, np.inf, 1.0
    u, inside = slope_at(bands, z + dz)
    for _ in range(TRIALS):
        slope = u @ dz + linear + t * square
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


@compiled
def minimise(
    X: Array,
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
    v, total = fixed + sums(X, u), rest + u.sum() if free_b else 0.0
    passes, is_solved, steps = 1.0, False, 0
    while not is_solved and steps < STEPS:
        slope = level * w + v
        dw, db = direction(X, level, bands.rate, inside, slope, total, free_b)
        fall = -(slope @ dw) - total * db
        if not fall > 0.0:
            break
        dz = product(X, dw) + db
        # Along the step the slope of phi is u'dz + linear + t square.
        linear = w @ (level * dw) + fixed @ dw + rest * db
        t, u, now = search(bands, z, dz, linear, dw @ (level * dw), fall)
        w, b, z = w + t * dw, b + t * db, z + t * dz
        v, total = fixed + sums(X, u), rest + u.sum() if free_b else 0.0
        count = inside.sum()
        passes += 2.0 + count * min(count, d, ROUNDS) / n
        if t == 1.0:
            distance = bands.D @ (u - bands.centre) ** 2
            is_solved = bool(fall <= CLOSE * distance or np.all(now == inside))
        inside, steps = now, steps + 1
    return w, b, z, u, v, total, steps, passes

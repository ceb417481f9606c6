"""Augmented Lagrangians for losses whose dual has a bounded box, by semismooth Newton steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from ...data import Design, SparseDesign
from ...numerics import Array
from ...problem import Objective
from ...problem.newton import by_products
from ..composite import curvature, curvatures
from ..driver import Iterate

# Newton steps for a penalty w'Lam w / 2 and losses of which only some samples curve.


LARGEST = 3000
"""Above this many rows and columns nothing is factored."""
ROOM = 1e6
"""Nor are rows of a sparse X that would have more entries than this, zeros included."""
JITTERS = (0.0, 1e-14, 1e-11, 1e-8)
"""Shares of the diagonal, added until a matrix is definite in floating point."""
ACCURATE, ROUNDS = 1e-2, 200
"""How well conjugate gradients solve a system, and in how many rounds at most."""


def newton_step(
    design: Design, level: Array, h: Array, inside: Array, slope: Array, total: float, free_b: bool
) -> tuple[Array, float]:
    """(dw, db) with (Lam + R'H R) dw + R'H 1 db = -slope, 1'H (R dw + db) = -total.

    R are the rows of X in the mask ``inside``. Through a matrix of their number or of d, whichever
    is smaller, or by conjugate gradients.
    """
    d = design.shape[1]
    (index,) = inside.nonzero()
    if not index.size:
        return -slope / level, -total / float(h.max()) if free_b else 0.0
    is_sparse = isinstance(getattr(design, "base", design), SparseDesign)
    if index.size <= min(d, LARGEST) and (index.size * d <= ROOM or not is_sparse):
        return _by_rows(design.rows(index), level, h[index], slope, total, free_b)
    if d <= LARGEST:
        return _by_columns(design, level, np.where(inside, h, 0.0), slope, total, free_b)
    rows = design.rows(index)
    return by_products(rows, level, h[index], slope, total, free_b, ACCURATE, ROUNDS)


def _by_rows(
    rows: Design, level: Array, h: Array, slope: Array, total: float, free_b: bool
) -> tuple[Array, float]:
    """(H^-1 + R Lam^-1 R') t = 1 db - R Lam^-1 slope, 1't = -total, Lam dw = -slope - R't."""
    R = rows.dense()
    scaled = R / level
    matrix = scaled @ R.T
    matrix.flat[:: len(h) + 1] += 1.0 / h
    right = np.ones((len(h), 2), order="F")
    right[:, 0] = scaled @ slope
    known, ones = _solved(matrix, right).T
    if not free_b:
        return (known @ R - slope) / level, 0.0
    db = (float(known.sum()) - total) / float(ones.sum())
    return ((known - db * ones) @ R - slope) / level, db


def _by_columns(
    design: Design, level: Array, h: Array, slope: Array, total: float, free_b: bool
) -> tuple[Array, float]:
    d = design.shape[1]
    matrix = design.bordered_gram(h) if free_b else design.gram(h)
    matrix.flat[: d * len(matrix) : len(matrix) + 1] += level  # in any order of memory
    x = -_solved(matrix, np.append(slope, total) if free_b else slope)
    return x[:d], float(x[d]) if free_b else 0.0


def _solved(matrix: Array, right: Array) -> Array:
    diagonal = matrix.diagonal()
    for jitter in JITTERS:
        trial = matrix + np.diag(jitter * diagonal) if jitter > 0.0 else matrix
        _, x, info = lapack.dposv(trial, right)
        if info == 0:
            return x
    return np.linalg.lstsq(matrix, right, rcond=None)[0]


# The proximal point of F* as a function of the predictions, for a bounded box dual.


class Bands(NamedTuple):
    """What u(z) is made of: rate (z + shift), less epsilon, in the box; D and its centre."""

    shift: Array
    rate: Array
    lo: Array
    hi: Array
    D: Array
    centre: Array
    epsilon: float


def slope_at(bands: Bands, z: Array) -> tuple[Array, Array]:
    """The maximiser u, and the mask of the samples in their bands."""
    line = z + bands.shift
    if bands.epsilon > 0.0:
        line = np.sign(line) * np.maximum(np.abs(line) - bands.epsilon, 0.0)
    line = line * bands.rate
    u = np.minimum(np.maximum(line, bands.lo), bands.hi)
    inside = u == line
    if bands.epsilon > 0.0:
        inside = inside & (u != 0.0)
    return u, inside


class Smoothed:
    """F_v(z) = max_u { u'z - F*(u) - |u - v|^2_D / 2 }, with D = omega / (hi - lo).

    The maximiser is a clipped line in each z_i, which rises in a band as wide as omega about a
    kink of the loss. F* is F* on the box, (lo, hi) its ends.
    """

    def __init__(
        self, y: Array, K: Array, box: tuple[Array, Array], epsilon: float, v: Array, omega: float
    ) -> None:
        self.y, self.K, self.epsilon = y, K, epsilon
        self.lo, self.hi = box
        self.centre, self.omega = v, omega
        self.D = omega / (self.hi - self.lo)
        self.rate = 1.0 / (self.D + K)
        self.shift = self.D * v - y

    @property
    def bands(self) -> Bands:
        """The same for loops."""
        box = self.lo, self.hi
        return Bands(self.shift, self.rate, *box, self.D, self.centre, self.epsilon)

    def about(self, centre: Array, omega: float) -> Smoothed:
        """The same with another centre and bands of another width."""
        return Smoothed(self.y, self.K, (self.lo, self.hi), self.epsilon, centre, omega)

    def of(self, index: Array) -> Smoothed:
        """The same for some samples."""
        y, K, lo, hi, v = (x[index] for x in (self.y, self.K, self.lo, self.hi, self.centre))
        return Smoothed(y, K, (lo, hi), self.epsilon, v, self.omega)

    def slope(self, z: Array) -> tuple[Array, Array]:
        """The maximiser u, and the mask of the samples in their bands."""
        found: tuple[Array, Array] = slope_at(self.bands, z)
        return found

    def expected(self, z: Array, z0: Array) -> Array:
        """U + h (z - z0) in the box, for the slopes u and the curvatures h at z0."""
        u, inside = self.slope(z0)
        found: Array = np.clip(u + np.where(inside, self.rate * (z - z0), 0.0), self.lo, self.hi)
        return found

    def near(self, z: Array, reach: float) -> Array:
        """The samples whose z_i is within ``reach`` of a band, or in it."""
        line = z + self.shift
        low, high = self.lo / self.rate - reach, self.hi / self.rate + reach
        if self.epsilon > 0.0:
            size = np.abs(line) - self.epsilon
            return np.flatnonzero((size > -reach) & (size < np.where(line > 0.0, high, -low)))
        return np.flatnonzero((line > low) & (line < high))

    def conjugate(self, u: Array) -> float:
        """F*(u)."""
        size = self.epsilon * float(np.abs(u).sum()) if self.epsilon > 0.0 else 0.0
        return float(u @ (self.y + 0.5 * self.K * u)) + size


# Newton's steps to a proximal point: an exact line search, and only samples in their bands.


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
    level = curvature(objective)
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

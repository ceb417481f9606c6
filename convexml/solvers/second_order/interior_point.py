"""A primal-dual interior point method for losses with a box dual."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from ...data import (
    Design,
    ahead,
    by_blocks,
    cached_rows,
    dear,
    in_blocks,
    joined,
    parted,
    rows_in_blocks,
    rowwise,
)
from ...numerics import EPS, Array
from ...problem import Objective
from ...problem.objective import solve_symmetric
from ..composite import BoxDual, box_dual, curvature, curvatures, kinks_at_zero, with_kinks
from ..driver import Iterate
from .augmented_lagrangian import Smoothed
from .newton import Sample

# The optimality conditions of the dual QP of a learning problem, and Newton steps for them.


BACK_OFF = 0.995
"""Share of the way to the boundary that a step goes."""
SIDES = np.array([1.0, -1.0])[:, None, None]
"""Slacks s and multipliers z have shape (2, k, m): those of p >= lo, and those of p <= hi."""


@dataclass(frozen=True)
class InteriorPoint:
    """The unknowns p (k, m), (w, b), the slacks s > 0 of the box and their multipliers z > 0."""

    p: Array
    w: Array
    b: float
    s: Array
    z: Array

    def plus(self, t: float, d: InteriorPoint) -> InteriorPoint:
        """Return the point t along the direction d."""
        s, z = self.s + t * d.s, self.z + t * d.z
        return InteriorPoint(self.p + t * d.p, self.w + t * d.w, self.b + t * d.b, s, z)


class KinkedRows:
    """The predictions (X w + b, w_j for j in ``kinked``): rows of the samples and of kinks."""

    def __init__(self, objective: Objective, kinked: Array) -> None:
        self.objective, self.kinked = objective, kinked

    def forth(self, w: Array, b: float) -> Array:
        """The predictions at (w, b)."""
        scores = self.objective.predict(w, b)
        return joined(scores, w[self.kinked]) if self.kinked.size else scores

    def back(self, u: Array) -> tuple[Array, float]:
        """The transpose: (X'u + u of the kinks, 1'u), 1'u of samples and 0 without an intercept."""
        u, v = self.split(u)
        pull = self.objective.design.rmatvec(u)
        if v.size:
            pull[self.kinked] += v
        return pull, float(u.sum()) if self.objective.fit_intercept else 0.0

    def split(self, u: Array) -> tuple[Array, Array]:
        """Of the samples, and of the kinks."""
        return parted(u, self.objective.n) if self.kinked.size else (u, np.zeros(0))

    def ahead(self, back: Sequence[Array], h: Array | None = None, **numbers: Any) -> None:
        """Let blocks of rows compute in one visit what is asked next: see ``design.ahead``."""
        if not self.kinked.size:
            ahead(self.objective.design, back, h, self.objective.fit_intercept, **numbers)


class Aim:
    """What a step aims at: pull = finite (target / s - z), and what that is for the rows.

    Linear in the target, so that a step's centring may be known after X was read for it.
    """

    def __init__(self, rows: KinkedRows, pull: Array, g: Array, h: Array) -> None:
        self.rows, self.pull, self.g = rows, pull, g
        self.hg = np.sum(h * g, axis=0)

    @cached_property
    def right(self) -> tuple[Array, float]:
        return self.rows.back(self.hg)


class NewtonSystem:
    """Lam w + A'u = 0, 1'u = 0, K p + q - A (w, b) = z_lo - z_hi, u = sum_k p_k; s z = target.

    A are the ``KinkedRows``. Eliminating p and z leaves one weighted ridge regression for (dw, db),
    with weights H = sum_k 1 / (K + z_lo/s_lo + z_hi/s_hi): a (d, d) matrix, factored once.
    """

    def __init__(
        self, rows: KinkedRows, box: BoxDual, level: Array, finite: Array, at: InteriorPoint
    ) -> None:
        self.rows, self.finite, self.at = rows, finite, at
        self.u, products = at.p.sum(axis=0), at.s * at.z
        self.size = np.abs(box.q * at.p) + 0.5 * box.K * at.p**2
        with np.errstate(divide="ignore", over="ignore"):
            self.h = 1.0 / (box.K + np.sum(at.z / at.s, axis=0))
        self.weights = self.h.sum(axis=0)
        slope = box.K * at.p + box.q - rows.forth(at.w, at.b)
        self.r_p = slope - np.sum(SIDES * at.z, axis=0)
        self.level = level
        self.affine = self._aim(-(finite * at.z))
        numbers = [self.u, self.affine.hg, self.weights, products, self.size]
        rows.ahead([self.u, self.affine.hg], self.weights, sums=numbers)
        self.product = float(np.sum(products))
        pull, self.r_b = rows.back(self.u)
        self.r_w = level * at.w + pull

    def _aim(self, pull: Array, linear: bool = False) -> Aim:
        """Aim with this pull; ``linear`` leaves out what no target changes."""
        g = np.sum(SIDES * pull, axis=0)
        return Aim(self.rows, pull, g if linear else g - self.r_p, self.h)

    def factor(self) -> None:
        """Form the matrix of the weighted ridge regression and factor it."""
        h, kinks = self.rows.split(self.weights)
        level = self.level.copy()
        level[self.rows.kinked] += kinks
        self.solve = normal_equations(self.rows.objective, level, h)

    def predicted(self) -> tuple[float, Callable[[float], float]]:
        """How far one can go along the step towards s z = 0, and s'z after a share of it.

        What the corrector needs of X is asked in the same visit.
        """
        at, finite = self.at, self.finite
        step = self._towards(self.affine.pull, self.affine.g, *self.affine.right)
        both = step.s * step.z
        self.central = self._aim(finite / at.s, linear=True)
        self.second = self._aim(-(finite * (both / at.s + at.z)))
        cross, ends = at.s * step.z + at.z * step.s, [reach(at.s, step.s), reach(at.z, step.z)]
        back = [self.central.hg, self.second.hg]
        self.rows.ahead(back, sums=[both, cross, *back], least=ends)
        change, last = float(np.sum(cross)), float(np.sum(both))
        return longest(*ends), lambda t: self.product + t * change + t * t * last

    def corrected(self, mu: float) -> tuple[InteriorPoint, float]:
        """The step towards s z = mu - ds dz of the one that was predicted, and how far to go."""
        one, other = self.central, self.second
        (central, on_b), (right, last) = one.right, other.right
        sums = mu * central + right, mu * on_b + last
        step = self._towards(mu * one.pull + other.pull, mu * one.g + other.g, *sums)
        ends = [reach(self.at.s, step.s), reach(self.at.z, step.z)]
        self.rows.ahead([], least=ends)
        return step, longest(*ends)

    def _towards(self, pull: Array, g: Array, right: Array, last: float) -> InteriorPoint:
        """The Newton step with this dz, but for -(z/s) ds."""
        at = self.at
        dw, db = self.solve(-self.r_w - right, -self.r_b - last)
        dp = self.h * (self.rows.forth(dw, db) + g)
        ds = self.finite * SIDES * dp
        return InteriorPoint(dp, dw, db, ds, pull - at.z / at.s * ds)


def reach(x: Array, dx: Array) -> Array:
    """How far each entry of x > 0 may go along dx until it is 0."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        found: Array = np.where(dx < 0.0, -x / dx, np.inf)
    return found


def longest(*reaches: Array) -> float:
    """The largest step <= 1/BACK_OFF that leaves nothing negative."""
    return float(min(1.0 / BACK_OFF, *(each.min(initial=np.inf) for each in reaches)))


def normal_equations(
    objective: Objective, level: Array, h: Array
) -> Callable[[Array, float], tuple[Array, float]]:
    """Factor [Lam + X'HX, X'H1; 1'HX, 1'H1] once; returns its solver."""
    k = objective.d + int(objective.fit_intercept)
    design = objective.design
    matrix = design.bordered_gram(h) if objective.fit_intercept else design.gram(h)
    matrix.flat[: objective.d * k : k + 1] += level
    unit = 1.0 / np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    scaled = matrix * unit[:, None] * unit
    for jitter in (0.0, 1e-14, 1e-11, 1e-8):  # a singular matrix: unpenalised, dependent columns
        with suppress(linalg.LinAlgError):
            factor = linalg.cho_factor(scaled + jitter * np.eye(k), check_finite=False)
            break

    def solve(right: Array, last: float) -> tuple[Array, float]:
        r = unit * (np.append(right, last) if k > objective.d else right)
        x = linalg.cho_solve(factor, r, check_finite=False)
        x += linalg.cho_solve(factor, r - scaled @ x, check_finite=False)
        x *= unit
        return x[: objective.d], float(x[-1]) if k > objective.d else 0.0

    return solve


# What a Newton step on a smoothed loss asks of the rows: all of it in one pass over X.


ROWS = 8192
"""Rows whose numbers stay in the cache from one elementwise step to the next."""


@dataclass(frozen=True)
class BandSums:
    """BandSums over the rows at predictions z, for bands of width omega.

    Attributes
    ----------
    matrix : array, shape (d + 1, d + 1)
        [X, 1]' diag(h) [X, 1] for the curvatures h of the smoothed loss.
    pulls : array, shape (d, 2)
        X'u for the slopes u of the smoothed loss at z, and for those that were expected of it.
    totals : array, shape (2,)
        1'u.
    loss : float
        F(z).
    terms : array, shape (2,)
        F(z) + F*(u) - u'z, not below 0.
    smoothed : array, shape (2,)
        The smoothed loss at z in these bands, and in those before.
    inside : float
        The samples in their bands.
    """

    matrix: Array
    pulls: Array
    totals: Array
    loss: float
    terms: Array
    smoothed: Array
    inside: float

    @classmethod
    def of(cls, flat: Array, d: int) -> BandSums:
        """From ``row_sums``."""
        square = (d + 1) ** 2
        matrix, pulls, rest = np.split(flat, [square, square + 2 * d])
        return cls(
            matrix.reshape(d + 1, d + 1),
            pulls.reshape(d, 2),
            rest[:2],
            float(rest[2]),
            rest[3:5],
            rest[5:7],
            float(rest[7]),
        )


@dataclass(frozen=True)
class BandedLoss:
    """How F is smoothed: about the middle of its box, in bands of width omega in z.

    Attributes
    ----------
    objective : Objective
        Whose F* is quadratic on a bounded box.
    """

    objective: Objective

    @property
    def _rows(self) -> tuple[Array, Array, Array, Array]:
        """What F* is made of, row by row; not to be kept, for it is much where rows are many."""
        objective = self.objective
        return objective.y, curvatures(objective), *objective.dual_bounds()

    @property
    def _epsilon(self) -> float:
        return float(getattr(self.objective.loss, "epsilon", 0.0))

    def sums(self, z: Array, omega: float, z0: Array, before: float) -> BandSums:
        """Those at z, after a step from z0 in bands of the width ``before``."""
        objective = self.objective
        losses = objective.c * objective.loss.value(objective.y, z)
        arguments: tuple[Any, ...] = (losses, *self._rows, self._epsilon, z, omega, z0, before)
        if in_blocks(objective.design):
            found = by_blocks(row_sums, objective.design, *arguments)
            return BandSums.of(found.executor.total(found.parts), objective.d)
        return BandSums.of(row_sums(objective.design, *arguments), objective.d)

    def slopes(self, z: Array, omega: float) -> Array:
        """The slopes of the smoothed loss at z."""
        found: Array = _slopes(*self._rows, z, epsilon=self._epsilon, omega=omega)
        return found

    def expected(self, z: Array, z0: Array, before: float) -> Array:
        """The slopes that its curvature at z0 lets expect at z."""
        found: Array = _expected(*self._rows, z, z0, epsilon=self._epsilon, omega=before)
        return found


def smoothed(y: Array, K: Array, lo: Array, hi: Array, epsilon: float, omega: float) -> Smoothed:
    """About the middle of the box, so that bands lie about the kinks."""
    return Smoothed(y, K, (lo, hi), epsilon, 0.5 * (lo + hi), omega)


def row_sums(
    design: Design,
    losses: Array,
    y: Array,
    K: Array,
    lo: Array,
    hi: Array,
    epsilon: float,
    z: Array,
    omega: float,
    z0: Array,
    before: float,
) -> Array:
    """The ``BandSums`` of some rows, one after the other."""
    n = len(z)
    h, slopes, sums = np.empty(n), np.empty((n, 2)), np.zeros(8)
    for start in range(0, n, ROWS):
        some = slice(start, start + ROWS)
        of_rows = tuple(each[some] for each in (losses, y, K, lo, hi, z, z0))
        h[some], slopes[some], more = _bands(of_rows, epsilon, omega, before)
        sums += more
    matrix, pulls = _products(design, h, slopes)
    return np.concatenate([matrix.ravel(), pulls.ravel(), sums])


def _bands(
    of_rows: tuple[Array, ...], epsilon: float, omega: float, before: float
) -> tuple[Array, Array, list[float]]:
    """Curvatures, both slopes, and what the samples alone add to the ``BandSums``."""
    losses, y, K, lo, hi, z, z0 = of_rows
    narrow, wide = (smoothed(y, K, lo, hi, epsilon, width) for width in (omega, before))
    u, inside = narrow.slope(z)
    v = wide.expected(z, z0)
    loss = float(losses.sum())
    terms = [loss + narrow.conjugate(each) - float(each @ z) for each in (u, v)]
    values = [_value(narrow, u, z), _value(wide, wide.slope(z)[0], z)]
    counts = float(np.count_nonzero(inside))
    sums = [float(u.sum()), float(v.sum()), loss, *terms, *values, counts]
    return np.where(inside, narrow.rate, 0.0), np.stack([u, v], axis=1), sums


def _products(design: Design, h: Array, slopes: Array) -> tuple[Array, Array]:
    """[X, 1]'diag(h) [X, 1] and X'u for two u, of rows that are brought to the cache once."""
    if design.is_sparse:
        return design.bordered_gram(h), design.rmatvec(slopes)
    d = design.shape[1]
    matrix, pulls = np.zeros((d + 1, d + 1)), np.zeros((d, 2))
    for some, rows in design.row_blocks(cached_rows(d)):
        matrix += rows.bordered_gram(h[some])
        pulls += rows.rmatvec(slopes[some])
    return matrix, pulls


def _value(smooth: Smoothed, u: Array, z: Array) -> float:
    """The smoothed loss at z, whose slopes there are u."""
    away = u - smooth.centre
    return float(u @ z) - smooth.conjugate(u) - 0.5 * float(smooth.D @ (away * away))


@rowwise
@dear
def _slopes(
    y: Array, K: Array, lo: Array, hi: Array, z: Array, *, epsilon: float, omega: float
) -> Array:
    return smoothed(y, K, lo, hi, epsilon, omega).slope(z)[0]


@rowwise
@dear
def _expected(
    y: Array, K: Array, lo: Array, hi: Array, z: Array, z0: Array, *, epsilon: float, omega: float
) -> Array:
    """As ``Smoothed.expected``."""
    return smoothed(y, K, lo, hi, epsilon, omega).expected(z, z0)


# Where an interior point method on very many rows need not start: kinks seen through bands.


FIRST = 4.0
"""Bands at first, in multiples of what predictions miss the targets by."""
NARROWER, FEWEST = 8.0, 3.0
"""Bands are made so many times narrower, as long as so many samples for each unknown are left in
them: their curvature is what a step is made with."""
WORTH = 1.3
"""Bands that could only be made narrower by less stay as they are."""
MOST = 40
"""Passes at most."""
LEAST = 1e-3
"""Steps below this share of Newton's end the run: the curvature of so few samples says nothing."""


@dataclass(frozen=True)
class BandedPoint:
    """(w, b), its predictions, the width of the bands and what the rows say there."""

    w: Array
    b: float
    z: Array
    omega: float
    sums: BandSums


def smoothed_start(
    objective: Objective, b: float, level: Array, sample: int, rng: np.random.Generator
) -> Generator[Iterate, None, float]:
    """Newton steps on the smoothed loss, of a sample and then of all rows; returns the passes.

    max_u { u'z - F*(u) - |u - m|^2_D / 2 }, D = omega / (hi - lo), is below F(z) by no more than
    omega / 8 for each unit of slope, a constant that D sets left out, and off only in bands as
    wide as omega about the kinks. A step costs one pass: scores, slopes, their pull and the Gram
    matrix of the bands together. Where the decrease that it promises is less than what the bands
    hide, they are made narrower. Of very many rows enough are left in bands that hide less than
    rounding of the gap (Nesterov, 2005, https://doi.org/10.1007/s10107-004-0552-5; Chapelle, 2007,
    https://doi.org/10.1162/neco.2007.19.5.1155, for SVMs).

    Parameters
    ----------
    objective : Objective
        Whose F* is quadratic on a bounded box, and whose penalty is w'Lam w / 2.
    b : float
        The intercept at w = 0.
    level : array, shape (d,)
        The diagonal of Lam.
    sample : int
        Rows of the sample.
    rng : Generator
    """
    part = Sample(objective, rng.choice(objective.n, sample, replace=False)).part
    w, omega, count = np.zeros(objective.d), _width(part, b), 0
    for at in _steps(part, w, b, level, omega, 1.0):
        w, b, omega, count = at.w, at.b, at.omega, count + 1
    passes = 1.0 + count * (objective.d + 4.0) * sample / objective.n
    before: BandedPoint | None = None
    for at in _steps(objective, w, b, level, omega, EPS):
        passes += objective.d + 4.0
        yield _iterate(objective, level, at, before, passes)
        before = at
    return passes


def _width(objective: Objective, b: float) -> float:
    """Bands that hold nearly all samples at w = 0."""
    far = np.abs(b - objective.y)
    return FIRST * min(float(far.max()), float(far.mean())) or 1.0


def _steps(
    objective: Objective, w: Array, b: float, level: Array, omega: float, share: float
) -> Iterator[BandedPoint]:
    """Points, until bands stay as they are and a step promises a share of what they hide."""
    looks, z = BandedLoss(objective), objective.predict(w, b)
    at = BandedPoint(w, b, z, omega, looks.sums(z, omega, z, omega))
    yield at
    count = 1
    while count < MOST:
        dw, db, gain = _direction(objective, level, at)
        hidden = float(at.sums.terms[0])
        narrower = min(NARROWER, at.sums.inside / (FEWEST * (objective.d + 1)))
        ready = gain <= hidden and narrower >= WORTH
        if not gain > (0.0 if ready else share * hidden):
            return
        value = float(at.sums.smoothed[0]) + 0.5 * float(level @ at.w**2)
        step, width = 1.0, at.omega / narrower if ready else at.omega
        while True:
            w, b = at.w + step * dw, at.b + step * db
            z = objective.predict(w, b)
            sums = looks.sums(z, width, at.z, at.omega)
            count += 1
            there = float(sums.smoothed[1]) + 0.5 * float(level @ w**2)
            if there <= value - 1e-4 * step * gain + EPS * abs(value):
                break
            step, width = 0.5 * step, at.omega
            if step < LEAST or not np.isfinite(there) or count >= MOST:
                return
        at = BandedPoint(w, b, z, width, sums)
        yield at


def _direction(objective: Objective, level: Array, at: BandedPoint) -> tuple[Array, float, float]:
    """Newton's step (dw, db), and minus the slope along it."""
    d, free = objective.d, objective.fit_intercept
    slope = np.append(at.sums.pulls[:, 0] + level * at.w, at.sums.totals[0])[: d + free]
    matrix = at.sums.matrix[: d + free, : d + free].copy()
    matrix[np.arange(d), np.arange(d)] += level
    step = solve_symmetric(matrix, -slope)
    return step[:d], float(step[d]) if free else 0.0, -float(slope @ step)


def _iterate(
    objective: Objective, level: Array, at: BandedPoint, before: BandedPoint | None, passes: float
) -> Iterate:
    """The point, with the better of its two dual points and the gap that this one promises."""
    slopes = at.sums.pulls + (level * at.w)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = np.where(slopes == 0.0, 0.0, slopes**2 / level[:, None])
    gaps = at.sums.terms + 0.5 * squares.sum(axis=0)
    value = at.sums.loss + 0.5 * float(level @ at.w**2)
    looks, best = BandedLoss(objective), int(np.argmin(gaps))
    if before is None or best == 0:
        u = looks.slopes(at.z, at.omega)
    else:
        u = looks.expected(at.z, before.z, before.omega)
    promise = float(gaps[best]) / value if value > 0.0 else np.nan
    return Iterate(at.w, at.b, u, passes, {"sampled": 1.0}, promise=promise or np.nan)


NEAR = 1e-2
"""Relative gaps that s'z tells well; asked where a look at the gap takes passes over files."""


def interior_point(
    objective: Objective, w: Array, b: float, *, sample: int = 0, seed: int = 0
) -> Iterator[Iterate]:
    """Solve the dual QP by Mehrotra's predictor-corrector steps, all variables at once.

    F*(u) = min { q'p + p'K p / 2 : sum_k p_k = u, lo <= p <= hi } and Omega = w'Lam w / 2 make the
    dual a QP, whose conditions are linear but for s z = mu (``NewtonSystem``). Where l_j |w_j| is
    added, it counts as the absolute loss of one more prediction, w_j itself. Each iteration
    solves them twice with one factor: for mu = 0, which tells how far one can go, and for the mu
    that this allows, second-order terms included (Mehrotra, 1992, https://doi.org/10.1137/0802028;
    Ferris and Munson, 2002, https://doi.org/10.1137/S1052623400374379, for SVMs).

    It needs no start: (w, b) is only the first iterate. Where rows are very many, ``sample`` of
    them drawn at random come first, and steps on all rows that a smoothed loss takes from there
    (``smoothed_start``): what follows is needed where their gap is too large.
    """
    kinks = kinks_at_zero(objective)
    (kinked,) = kinks.nonzero()
    passes = 1.0
    yield Iterate(w, b, None, passes, promise=np.inf if sample else np.nan)
    if sample and not kinked.size:
        rng = np.random.default_rng(seed)
        passes += yield from smoothed_start(objective, b, curvature(objective), sample, rng)
    rows, box = KinkedRows(objective, kinked), with_kinks(box_dual(objective), kinks[kinked])
    level = curvature(objective)
    tells = rows_in_blocks(objective)
    finite = np.stack([np.isfinite(box.lo), np.isfinite(box.hi)])
    count = max(int(finite.sum()), 1)
    left = 1.0
    at = start(rows, box, finite)
    while True:
        system = NewtonSystem(rows, box, level, finite, at)
        mu = system.product / count
        state = {"p": at.p, "s": finite * at.s, "z": at.z}
        state |= {"q": box.q, "K": box.K}
        passes += 2.0
        u, _ = rows.split(system.u)
        cost = float(np.sum(system.size) + 0.5 * level @ at.w**2)
        promise = max(mu * count / cost, left) if tells and cost > 0.0 else np.nan
        known = promise if promise <= NEAR else np.nan
        yield Iterate(at.w, at.b, u, passes, {"complementarity": mu}, state, promise=known)
        if (mu * count <= EPS * cost and left <= EPS) or not np.isfinite(system.weights.sum()):
            return
        system.factor()
        reach, product = system.predicted()
        centring = (max(product(min(1.0, reach)), 0.0) / count / mu) ** 3 if mu > 0.0 else 0.0
        move, reach = system.corrected(centring * mu)
        step = min(1.0, BACK_OFF * reach)
        passes += objective.d + 4.0
        if not (step > EPS and np.all(np.isfinite(move.w))):
            return
        at, left = at.plus(step, move), left * (1.0 - step)


def start(rows: KinkedRows, box: BoxDual, finite: Array) -> InteriorPoint:
    """The centre p of the box at w = 0, and the multipliers that suit them, well above 0."""
    objective, ends = rows.objective, np.stack([box.lo, box.hi])
    c = joined(objective.c, np.ones(rows.kinked.size)) if rows.kinked.size else objective.c
    p = np.where(finite, ends, SIDES[::-1] * c * finite[::-1]).mean(axis=0)
    s = np.where(finite, SIDES * (p - np.where(finite, ends, 0.0)), 1.0)
    b = objective.best_intercept(objective.zero_scores)
    slope = box.K * p + box.q - rows.forth(np.zeros(objective.d), b)
    size = float(np.abs(slope).mean()) or 1.0
    return InteriorPoint(
        p, np.zeros(objective.d), b, s, finite * (np.maximum(SIDES * slope, 0.0) + size)
    )


# Newton's method on a loss with kinks, smoothed in narrower and narrower bands about them.

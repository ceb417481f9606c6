"""Make an almost feasible dual point exactly feasible, moving it as little as it takes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite, isnan
from typing import Any

import numpy as np
from scipy import linalg

from ...data import Design, in_memory, rowwise, unscaled
from ...numerics import EPS, ROUNDING, UNIT, Array, all_finite, gamma, length, power_between
from ...problem import Objective, once
from ...problem.classes import MulticlassObjective, refit
from ...problem.geometry import on_simplex
from ..algebra.definite import from_gram, least_singular_value, powers
from ..algebra.rationals import DIGITS, exact_sum
from ..rounding import balanced, spread

# Dual feasible points of problems with K classes: rows in the simplex, columns that sum to 0.


def restore_probabilities(objective: MulticlassObjective, u: Array) -> Array:
    """Return a u near to the one passed, with p_i = u_i / c_i + e_{y_i} in the simplex.

    With unpenalised rows p_ik <- p_ik exp(x_i.v_k + t_k) / Z_i then, the nearest point in the sense
    of Kullback and Leibler with 1'u = 0, and X'u = 0 on these rows: a refit with offset log p.
    """
    u = _onto_simplex(objective, u)
    if not objective.penalty.free(objective.d).any():
        return u
    z = objective.log_probabilities(u)
    w, b = refit(objective, z)
    return objective.loss_derivative(z + objective.predict(w, b))


def _onto_simplex(objective: MulticlassObjective, u: Array) -> Array:
    """The nearest u whose rows are in the simplex (Euclidean, row by row)."""
    sums = np.abs(u.sum(axis=1)) <= ROUNDING * objective.c
    lo, hi = objective.dual_bounds()
    if np.all(sums) and np.all((u >= lo) & (u <= hi)):
        return u
    p = u / objective.coefficients + objective.labels
    p = on_simplex(np.where(np.isfinite(p), p, 0.0), 1.0)
    others = np.where(objective.labels > 0.0, 0.0, p)
    own = -others.sum(axis=1)[:, None]  # p - 1, without cancellation
    return objective.coefficients * np.where(objective.labels > 0.0, own, others)


def balanced_rows(objective: MulticlassObjective, u: Array) -> Array | None:
    """U on a grid of a power of two, with p_i exactly in the simplex and columns that sum to 0.

    The entry of the sample's own class is minus the sum of the others. With an intercept the grid
    is one for all samples, and what a column lacks is moved within rows. None where it cannot be.
    """
    own = objective.labels > 0.0
    others = np.where(own, 0.0, np.maximum(u, 0.0))
    sizes = others.sum(axis=1)[:, None]
    largest = sizes.max(initial=0.0) if objective.fit_intercept else sizes
    if not np.any(largest):
        return np.zeros_like(u)
    # A digit less than there are: rounding makes sums larger.
    grid = np.ldexp(1.0, np.where(largest > 0.0, np.frexp(largest)[1] - DIGITS + 1, 0))
    with np.errstate(over="ignore"):
        room = np.minimum(np.floor(objective.coefficients / grid), 2.0**DIGITS).astype(np.int64)
    k = _no_more_than(np.rint(others / grid).astype(np.int64), room)
    k = np.where(own, -k.sum(axis=1)[:, None], k)
    if objective.fit_intercept and not _balance_columns(k, np.where(own, room, 0)):
        return None
    return k * grid


@rowwise
def _no_more_than(k: Array, room: Array) -> Array:
    """Rows of whole numbers, the largest of them lowered until their sum is at most ``room``."""
    while np.any(over := np.maximum(k.sum(axis=1) - room[:, 0], 0)):
        at = np.arange(len(k)), k.argmax(axis=1)
        k[at] -= np.minimum(k[at], over)
    return k


def _balance_columns(k: Array, room: Array) -> bool:
    """Move whole numbers within the rows of k until its columns sum to 0; k + room stays >= 0."""
    sums = [exact_sum(k[:, j]) for j in range(k.shape[1])]
    while any(sums):
        more, less = int(np.argmax(sums)), int(np.argmin(sums))
        amount = min(sums[more], -sums[less])
        step = spread(k[:, more] + room[:, more], amount)
        k[:, more] -= step
        k[:, less] += step
        if exact_sum(step) != amount:
            return False
        sums[more], sums[less] = sums[more] - amount, sums[less] + amount
    return True


# Make an almost feasible primal point exactly feasible, where that can be done exactly.


@dataclass(frozen=True)
class PrimalPoint:
    """A point (w, b), its predictions z and value P, and how far it was moved."""

    w: Array
    b: float
    z: Array
    value: float
    moved: float
    error: Array | None = None
    """What z may be off by, where it is known entry by entry."""
    losses: Array | None = None
    """l(y_i, z_i), where they are known."""
    divided: float = 0.0
    """The share by which a division by the margin rounded w and b."""


def repair_primal(objective: Objective, w: Array, b: float) -> PrimalPoint:
    """Shrink w into its ball or box; divide (w, b) by min y_i z_i where margins fall short of 1.

    Points of an equality constraint (X w + b = y) cannot be repaired exactly: P is then
    Omega(w), and the residual is reported beside the gap as primal infeasibility. The last point
    is remembered: who stops a solver, finishes its point and certifies it asks for the same.
    """
    last: PrimalPoint | None = objective.__dict__.get("_last_point")
    if last is not None and (last.w == w).all() and np.all(last.b == b):
        return last
    own = w.copy(), b.copy() if isinstance(b, np.ndarray) else b  # w may be written to
    point = _primal_repair_repaired(objective, *own)
    if point.moved == 0.0 and isfinite(point.value):
        objective.__dict__["_last_point"] = point
    return point


def _primal_repair_repaired(objective: Objective, w: Array, b: float) -> PrimalPoint:
    new_w, new_b, divided = objective.penalty.project(w), b, 0.0
    z = objective.predict(new_w, new_b)
    loss = objective.loss
    if loss.is_indicator:
        violation = loss.violation(objective.y, z)
        if np.any(violation > objective.prediction_slack(new_w, new_b)) and scales(objective):
            margin = float(np.min(objective.y * z))
            if margin <= 0.0:
                return PrimalPoint(w, b, z, np.inf, 0.0)
            if stretches(objective, new_w, margin):
                new_w, new_b, z = new_w / margin, new_b / margin, z / margin
                divided = EPS
    value, losses = objective.penalty.value(new_w), None
    if not loss.is_indicator:
        with np.errstate(over="ignore"):
            losses = loss.value(objective.y, z)
        value += float(objective.c @ losses)
    value = np.inf if isnan(value) else value  # inf - inf, after an overflow
    if new_w is w and new_b is b:
        return PrimalPoint(w, b, z, value, 0.0, losses=losses)
    moved = max(float(np.max(np.abs(new_w - w), initial=0.0)), float(np.max(np.abs(new_b - b))))
    return PrimalPoint(new_w, new_b, z, value, moved, losses=losses, divided=divided)


def scales(objective: Objective) -> bool:
    """Whether the constraint on the predictions is a margin, met by scaling (w, b) up."""
    return objective.loss.labels == "binary"


def stretches(objective: Objective, w: Array, margin: float) -> bool:
    """Whether (w, b) of this least margin, scaled to the margin 1, is in the domain of Omega."""
    if not margin > 0.0:
        return False
    most = objective.penalty.stretch(w)
    return (1.0 + EPS) / margin <= most or (margin >= 1.0 and most >= 1.0)


def primal_scale(objective: Objective, w: Array, b: float) -> Array | float:
    """The size of each row of the constraint on the predictions, shape (n,)."""
    return 1.0 if scales(objective) else objective.prediction_slack(w, b) / ROUNDING


# One Gram matrix of columns that need X'u = 0: it corrects u, and says how far a correction goes.
#
# The correction du = -H E (E'HE)^-1 E'u has |du / sqrt(h)|_2 <= |E'u|_2 / sigma_min(sqrt(H) E), so
# that the matrix which moved u to where E'u is 0 down to rounding also prices that rounding.


FACTORED = 20_000_000
"""Entries of E up to which its own factors are asked where its Gram matrix does not tell."""
ROUNDED = 16
"""What an entry of the matrix is rounded by beside its sum, in units of its terms: weights."""


@dataclass(frozen=True, eq=False)
class ColumnGram:
    """E'HE for E = [B, 1], or B alone, and weights H = diag(h).

    Attributes
    ----------
    columns : Design
        B.
    h : array, shape (n,)
        >= 0, and 0 for samples that stay.
    ones : bool
        Whether the column of ones stands behind B.
    rows : array or None
        Mask of the columns of B among those of X, where it matters.
    """

    columns: Design
    h: Array
    ones: bool
    rows: Array | None = None

    @cached_property
    def matrix(self) -> Array:
        """E'HE, as computed."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.columns.bordered_gram(self.h) if self.ones else self.columns.gram(self.h)

    @cached_property
    def dense(self) -> Array:
        """E, in memory."""
        E = self.columns.dense()
        return np.column_stack([E, np.ones(len(E))]) if self.ones else E

    @cached_property
    def _factors(self) -> tuple[Array, Array, Array]:
        """Q and R of as many columns of sqrt(H) E as are independent, and their order."""
        K = np.sqrt(in_memory(self.h))[:, None] * self.dense
        Q, R, order = linalg.qr(K, mode="economic", pivoting=True, check_finite=False)
        k = int(np.sum(np.abs(np.diag(R)) > EPS * abs(R[0, 0])))
        return Q[:, :k], R[:k, :k], order[:k]

    def shortest(self, missed: Array) -> Array:
        """About the shortest x with E'(sqrt(h) x) = -missed."""
        Q, R, order = self._factors
        t = linalg.solve_triangular(R, missed[order], trans="T", check_finite=False)
        return np.asarray(-Q @ t)

    @np.errstate(over="ignore", invalid="ignore")
    def combination(self, residual: Array, total: float) -> Array:
        """E (E'HE)^-1 (residual, total), in units that make the columns of E equal; or 0."""
        residual = np.append(residual, total) if self.ones else residual
        unit, gram = self._scaled
        try:
            t = unit * linalg.lstsq(gram, residual * unit, cond=1e-14)[0]
        except (ValueError, linalg.LinAlgError):  # an overflow, or an SVD that does not converge
            t = np.zeros_like(residual)
        return self.columns.matvec(t[:-1]) + t[-1] if self.ones else self.columns.matvec(t)

    @cached_property
    def _scaled(self) -> tuple[Array, Array]:
        size = np.sqrt(np.maximum(np.diag(self.matrix), 0.0))
        unit = 1.0 / np.where(size > 0.0, size, 1.0)
        return unit, self.matrix * unit[:, None] * unit

    @cached_property
    def regularity(self) -> tuple[Array, float]:
        """(s, sigma): sigma_min(sqrt(H) E diag(s)) >= sigma, s powers of two; 0 if not known."""
        n, k = self.columns.shape[0], len(self.matrix)
        units = powers(np.sqrt(np.maximum(np.diag(self.matrix), 0.0)))
        sigma = from_gram(self.matrix * units * units[:, None], n + ROUNDED)
        if sigma > 0.0 or not n * k <= FACTORED:
            return units, sigma
        samples = np.flatnonzero(self.h)
        root = np.sqrt(in_memory(self.h[samples]))
        K = root[:, None] * self.columns.rows(samples).dense()
        K = (np.column_stack([K, root]) if self.ones else K) * units
        sigma = least_singular_value(K) - 4.0 * EPS * length(K.ravel())
        return units, max(sigma, 0.0)


# Rows of the dual that no shrinking restores: 1'u = 0, (X'u)_j = 0, and signs of (X'u)_j.


ROUNDS = 25
"""Alternations of clipping to the box and restoring the equalities before giving up."""


@once
def held_rows(objective: Objective) -> Array:
    """Mask of the rows of dom Omega* that ask for v_j = 0 or for a sign, (d,)."""
    penalty, ones = objective.penalty, np.ones(objective.d)
    return (penalty.outside(ones) != 0.0) | (penalty.outside(-ones) != 0.0)


@dataclass(frozen=True)
class Restored:
    """A u with 1'u = 0 and the rows of dom Omega* restored, and what was found on the way."""

    u: Array
    v: Array | None = None
    start: Array | None = None
    gram: ColumnGram | None = None


def restore_rows(objective: Objective, u: Array, lo: Any, hi: Any) -> Restored:
    """Restore 1'u = 0 and the rows of dom Omega* that no shrinking can restore, within the box."""
    penalty, d = objective.penalty, objective.d
    rows = np.flatnonzero(held_rows(objective))
    columns = objective.design
    if 0 < rows.size < d:
        columns = columns.columns(rows)
    equalities = penalty.free(d)[rows]
    v, start, gram, h = None, None, None, objective.c
    for _ in range(ROUNDS):
        total = u.sum() if objective.fit_intercept else 0.0
        done = abs(total) <= 0.5 * ROUNDING * np.abs(u).sum()
        v, outside = np.zeros(d), np.zeros(rows.size)
        if rows.size:
            v[rows] = -columns.rmatvec(u)
            outside = np.abs(penalty.outside(v)[rows])
        start = v if start is None else start
        if np.any(outside):
            broken = outside > 0.5 * ROUNDING * objective.product_sizes(u)[rows]
            done, more = done and not np.any(broken), equalities | broken
            gram, equalities = gram if np.array_equal(more, equalities) else None, more
        if done:
            break
        if gram is None:
            h = room_of(objective, u, lo, hi)
            if equalities.any():
                mask = np.isin(np.arange(d), rows[equalities])
                part = columns if equalities.all() else columns.columns(equalities)
                gram = ColumnGram(part, h, objective.fit_intercept, mask)
        if gram is not None:
            shift = gram.combination(-v[rows[equalities]], total)
        elif h.sum() > 0.0:
            shift = total / h.sum()
        else:
            break
        there = u - h * shift
        u, v = np.clip(there, lo, hi), None
        if not np.array_equal(u, there):
            gram = None  # other samples are to carry what is left
    known = rows.size == d
    return Restored(u, v if known else None, start if known else None, gram)


def room_of(objective: Objective, u: Array, lo: Any, hi: Any) -> Array:
    """How far each u_i is inside of its box; c_i where there is none."""
    if objective.is_unbounded:
        return objective.c
    room = np.minimum(u - lo, hi - u)
    return np.where(np.isfinite(room), room, objective.c)


TINY = 1e-300


@dataclass(frozen=True)
class DualPoint:
    """A dual feasible u, its value D(u), v = -X'u, and how far it was moved to become feasible.

    1'u = 0 holds exactly, the rows of dom Omega* down to rounding: see ``dual_margin``.
    """

    u: Array
    value: float
    v: Array
    moved: float
    source: str
    error: Array
    """What v may be off by, (d,)."""
    conjugates: Array | None = None
    """l*(y_i, u_i / c_i), where they are known."""
    start: Array | None = None
    """-X'u of the u that was repaired, where it is known."""
    gram: ColumnGram | None = None
    """The Gram matrix that the rows of dom Omega* were restored with."""


def repair_dual(objective: Objective, u: Array, source: str = "constructed") -> DualPoint:
    """Clip u to dom F*, restore 1'u = 0 and (X'u)_j = 0, shrink it into dom Omega*.

    Residuals are removed by u <- u - H E (E'HE)^-1 E'u, where the columns E are 1, the unpenalised
    features, and those that break the sign which a one-sided bound asks for. The metric H is
    the distance to the ends of dom F*, so that the samples in the interior carry the correction.
    Where that fails the answer is u = 0, which is always dual feasible. The last answer is its own.
    """
    known: list[DualPoint] = objective.__dict__.setdefault("_last_repaired", [])
    if known and np.array_equal(known[0].u, u):
        return replace(known[0], moved=0.0, source=source, start=known[0].v)
    known[:] = [_repaired(objective, u, source)]
    return known[0]


def _repaired(objective: Objective, u: Array, source: str) -> DualPoint:
    lo, hi = box_inside(objective)
    passed = u
    if not all_finite(u):
        u = np.where(np.isfinite(u), u, 0.0)
    u = u if objective.is_unbounded else np.clip(u, lo, hi)
    as_passed = u is passed or bool((u == passed).all())
    if isinstance(objective, MulticlassObjective):
        found = Restored(restore_probabilities(objective, u))
    else:
        found = restore_rows(objective, u, lo, hi)
    traces = (found.u != 0.0) & (np.abs(found.u) < TINY)  # subnormal numbers carry no digits
    u = np.where(traces, 0.0, found.u) if traces.any() else found.u
    u, slack = balance(objective, u, lo, hi), None
    v, error = _product(objective, u, found)
    scale = objective.penalty.domain_scale(v)
    if scale < 1.0:
        slack = ROUNDING * objective.product_sizes(u)
        scale = objective.penalty.domain_scale(v, slack)
        if scale < 1.0:
            u, v, error = scaled(objective, u, v, error, scale)
            slack = scale * slack
    value, conjugates = dual_value(objective, u, v, slack)
    if not value > -np.inf:  # nan after an overflow
        u, v, error = np.zeros_like(u), np.zeros_like(v), np.zeros_like(v)
        value, conjugates = dual_value(objective, u, v)
    with np.errstate(invalid="ignore"):
        moved = float(np.abs(u - passed).max(initial=0.0))
    start = found.start if as_passed else None
    return DualPoint(u, value, v, moved, source, error, conjugates, start, found.gram)


def drift_of_multiples(objective: Objective, u: Array) -> Array:
    """What t u is rounded by moves v, (d,): room for it is left at once."""
    return (3.0 * UNIT) * math.sqrt(len(u)) * float(np.abs(u).max()) * objective.column_norms


def outermost(v: Array, error: Array) -> Array:
    """The largest that v may be, with what norms of it are rounded by."""
    return np.copysign((np.abs(v) + error) * (1.0 + gamma(len(v) + 32)), v)


def dual_value(
    objective: Objective, u: Array, v: Array, slack: Array | None = None
) -> tuple[float, Array]:
    """D(u) for a u in the box of F* with 1'u = 0, and the l*(y_i, u_i / c_i)."""
    terms = objective.loss.conjugate(objective.y, objective.slopes_inside(u))
    return -float(objective.c @ terms) - objective.penalty_conjugate(u, v, slack), terms


def product_error(objective: Objective, u: Array) -> Array:
    """What X'u may be off by: gamma |X_j|_2 |u|_2, shape (d,)."""
    if not u.any():
        return np.zeros(objective.d)
    return gamma(getattr(objective.design, "chain", objective.n)) * objective.column_reach(u)


def scaled(
    objective: Objective, u: Array, v: Array, error: Array, t: float
) -> tuple[Array, Array, Array]:
    """t (u, v), with 1'u = 0 exact again, and what the new v may be off by."""
    if t == 0.0:
        return np.zeros_like(u), np.zeros_like(v), np.zeros_like(v)
    whole = t * u
    new = balance(objective, whole, *box_inside(objective))
    drift = objective.column_reach(np.abs(new - whole) + UNIT * np.abs(whole))
    return new, t * v, (t * error + drift + 2.0 * EPS * np.abs(t * v)) * (1.0 + 4.0 * EPS)


def balance(objective: Objective, u: Array, lo: Array | float, hi: Array | float) -> Array:
    """U with 1'u = 0 exactly, where there is an intercept; 0 where that cannot be."""
    if isinstance(objective, MulticlassObjective):
        found = balanced_rows(objective, u)
    elif not objective.fit_intercept:
        return u if objective.is_unbounded else np.clip(u, lo, hi)
    else:
        found = balanced(u, lo, hi)
    return np.zeros_like(u) if found is None else found


@once
def box_inside(objective: Objective) -> tuple[Any, Any]:
    """dom F* as floats inside of it: products c_i l that were rounded outward are taken back.

    Two numbers where it is the whole space.
    """
    if objective.is_unbounded:
        return -np.inf, np.inf
    lo, hi = objective.dual_bounds()
    if objective.loss.labels not in ("real", "count"):
        return lo, hi  # ends at 0 or +-c_i
    return _inward(lo, np.inf), _inward(hi, -np.inf)


def _inward(end: Array, side: float) -> Array:
    """Two digits inward: an end such as 1 - tau is rounded, and so is its product with c_i."""
    rounded = (end != 0.0) & np.isfinite(end)
    if not rounded.any():
        return end
    return np.where(rounded, np.nextafter(np.nextafter(end, side), side), end)


def _product(objective: Objective, u: Array, found: Restored) -> tuple[Array, Array]:
    """-X'u and what it may be off by: that of ``found``, or of the last one, where u is near it.

    Or a multiple of that: another frame has another unit of u, and u was scaled into the domain.
    """
    error = product_error(objective, u)
    if found.v is not None:
        drift = objective.column_reach(u - found.u)
        if (drift <= error).all():
            return found.v, (product_error(objective, found.u) + drift) * (1.0 + 4.0 * EPS)
    base, units = unscaled(objective.design)
    known: list[tuple[Array, Array]] = base.__dict__.setdefault("_last_product", [])
    for before, v in known:
        square = float(np.vdot(before, before))
        ratio = float(np.vdot(before, u)) / square if square > TINY else 0.0
        for times, rounded in ((power_between(before, u), 0.0), (ratio, UNIT)):
            there = times * before
            away = u - there
            np.abs(away, out=away)
            if rounded:
                away += rounded * np.abs(there)
            found_v = units * (times * v)
            if not away.any():
                return found_v, error
            drift = objective.column_reach(away)
            if (drift <= error).all():
                drift = product_error(objective, there) + drift + 4.0 * rounded * np.abs(found_v)
                return found_v, drift * (1.0 + 4.0 * EPS)
    v = -base.rmatvec(u)
    known[:] = [(u.copy(), v)] if all_finite(v) else []  # u may be written to
    return units * v, error

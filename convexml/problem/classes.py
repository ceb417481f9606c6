"""Objectives of K classes: Newton steps, and the refit of what is not penalised."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import xlog1py, xlogy

from ..data import BlockArray, Design, by_blocks, cached_rows, in_blocks, together
from ..data.array import blockwise
from ..data.scaled import StackedDesign
from ..losses.softmax import hessian_of_shares, log_sum_exp, one_hot, shares
from ..numerics import EPS, Array
from ..penalties.base import Manifold
from .objective import Objective, conjugate_gradients, solve_symmetric

# The Hessian of the loss of K classes: a sum over the rows, for one visit of these.


def class_sums(base: Any, u: Array, c: Array, p: Array, ones: bool) -> tuple[Array, Array]:
    """X'u, as a vector row by row, and the Hessian of the loss: of blocks of rows in one visit.

    sum_i c_i (diag p_i - p_i p_i') x (x_i x_i'), shape (m, K, m, K), ``ones`` behind x_i.
    """
    found = _noted(base, c, p, ones)
    if not base.shape[1]:
        return np.zeros(0), _added(found) if isinstance(found, BlockArray) else found
    if not isinstance(found, BlockArray):
        return base.rmatvec(u).ravel(), found
    pull = by_blocks(_pull, base, u)
    together(pull, found)
    return _added(pull).ravel(), _added(found)


def both_pulls(base: Any, u: Array) -> tuple[Array, Array]:
    """X'u and |X|'|u|, as vectors row by row: of blocks of rows in one visit."""
    found = by_blocks(_pulls, base, u) if in_blocks(base) else None
    pull, size = _pulls(base, u) if found is None else _added(found)
    return pull.ravel(), size.ravel()


def _added(found: BlockArray) -> Array:
    return found.executor.total(found.parts)


def _noted(base: Any, c: Array, p: Array, ones: bool) -> Any:
    """The Hessian; noted down where rows lie in blocks, which are not read for no columns."""
    if not in_blocks(base):
        return _of_rows(base, c, p, ones) if base.shape[1] else _of_shares(c, p, ones)
    if base.shape[1]:
        return by_blocks(_of_rows, base, c, p, ones)
    return blockwise(_of_shares, c, p, ones)


def _pull(rows: Design, u: Array) -> Array:
    return rows.rmatvec(u)


def _pulls(rows: Design, u: Array) -> Array:
    return np.stack([rows.rmatvec(u), rows.abs_rmatvec(u)])


def _of_shares(c: Array, p: Array, ones: bool) -> Array:
    """That of the intercepts alone."""
    if not ones:
        return np.zeros((0, p.shape[1]) * 2)
    weighed = c[:, None] * p
    return (np.diag(weighed.sum(axis=0)) - weighed.T @ p)[None, :, None, :]


def _of_rows(rows: Design, c: Array, p: Array, ones: bool) -> Array:
    """Of rows that are in memory: dense ones are brought to the cache once for all pairs."""
    K, m = p.shape[1], rows.shape[1]
    blocks = np.zeros((m + ones, K, m + ones, K))
    if rows.is_sparse:
        parts = iter([(slice(None), rows)])
    else:
        parts = rows.row_blocks(cached_rows(m))
    for some, part in parts:
        for k in range(K):
            for other in range(k + 1):
                _add_pair(blocks, part, c[some], p[some], k, other, ones)
    for k in range(K):
        for other in range(k):
            blocks[:, other, :, k] = blocks[:, k, :, other]
    return blocks


def _add_pair(
    blocks: Array, rows: Design, c: Array, p: Array, k: int, other: int, ones: bool
) -> None:
    """Add X'diag(h) X for h = c p_k (1 - p_k), or minus that for h = c p_k p_other."""
    same = k == other
    h = c * p[:, k] * (1.0 - p[:, k] if same else p[:, other])
    gram = rows.bordered_gram(h) if ones else rows.gram(h)
    blocks[:, k, :, other] += gram if same else -gram


# Newton steps for K classes, and the refit of what is not penalised.


LARGEST_SYSTEM = 2000
"""Above this many unknowns the system is solved by conjugate gradients."""


@np.errstate(over="ignore", invalid="ignore")
def multiclass_step(
    objective: MulticlassObjective,
    w: Array,
    b: Array,
    manifold: Manifold,
    offset: Array | float = 0.0,
    known: Any = None,
) -> tuple[Array, Array] | None:
    """The Newton step (dw, db) from (w, b) on the manifold; None where it is not finite.

    The Hessian of the loss is sum_i c_i (diag p_i - p_i p_i') x (x_i x_i'). It does not change
    where a constant is added to b, or to an unpenalised row of W: gg' is added there, g_k^2 the
    diagonal, so that rare classes keep their digits, and the step is moved to mean 0. ``known``
    is the model of the loss, where that is known and all of w is active.
    """
    free, active = objective.fit_intercept, manifold.active
    size = len(manifold.gradient) + objective.classes * free
    if not size:
        return np.zeros(objective.d), np.zeros(objective.classes)
    every = active.reshape(objective.w_shape)
    rows, small = np.flatnonzero(every.any(axis=1)), known is not None or size <= LARGEST_SYSTEM
    if known is not None:
        pull, total, blocks = known.pull, known.total, known.hessian.copy()
    else:
        z = objective.predict(np.where(active, w, manifold.fixed), b) + offset
        u, p = objective.loss_derivative(z), shares(z)
        total = u.sum(axis=0)
    if known is None and small:
        base = objective.design.base
        base = base if rows.size == len(every) else base.columns(rows)
        pull, blocks = class_sums(base, u, objective.c, p, free)
        pull = pull[every[rows].ravel()]
    elif known is None:
        pull = objective.design.rmatvec(u)[active]
    right_w = -(manifold.gradient + pull)
    right = np.concatenate([right_w, -total if free else np.zeros(0)])
    if not np.all(np.isfinite(right)):
        return None
    if small:
        step = _by_factoring(objective, blocks, rows, manifold, right)
    else:
        step = _by_conjugate_gradients(objective, p, manifold, right)
    if not np.all(np.isfinite(step)):
        return None
    dw = np.zeros(objective.d)
    dw[active] = step[: right_w.size]
    return dw, step[right_w.size :] if free else np.zeros(objective.classes)


def damped_step(
    objective: MulticlassObjective, w: Array, b: Array, manifold: Manifold
) -> tuple[Array, Array] | None:
    """The first of the points at 1, 1/4, 1/16, 1/64 of a Newton step at which P is not larger."""
    found = multiclass_step(objective, w, b, manifold)
    if found is None:
        return None
    start = np.where(manifold.active, w, manifold.fixed)
    value = objective.primal(start, b)
    for size in (1.0, 0.25, 0.0625, 0.015625):
        point = start + size * found[0], b + size * found[1]
        if objective.primal(*point) <= value:
            return point
    return start + found[0], b + found[1]


def _by_factoring(
    objective: MulticlassObjective, blocks: Array, rows: Array, manifold: Manifold, right: Array
) -> Array:
    """With the Hessian of the loss for these rows of W, which is written to."""
    K, active = objective.classes, manifold.active.reshape(objective.w_shape)
    m = len(rows)
    size = m + int(objective.fit_intercept)
    diagonal = blocks.reshape(size * K, size * K).diagonal()
    gauge = _gauge(objective, rows)
    for j in gauge:
        unit = np.sqrt(np.maximum(diagonal[j * K : (j + 1) * K], 1e-300))
        blocks[j, :, j, :] += np.outer(unit, unit)
    kept = np.append(active[rows].ravel(), np.full((size - m) * K, True))
    matrix = blocks.reshape(size * K, size * K)[np.ix_(kept, kept)]
    inside = len(manifold.gradient)
    curved = manifold.hessian
    matrix[:inside, :inside] += np.diag(curved) if curved.ndim == 1 else curved
    step = np.zeros((size, K))
    step.ravel()[kept] = solve_symmetric(matrix, right)
    step[gauge] -= step[gauge].mean(axis=1, keepdims=True)
    return step.ravel()[kept]


def _gauge(objective: MulticlassObjective, rows: Array) -> list[int]:
    """The intercept and the unpenalised rows: there a constant may be added."""
    free = _free_rows(objective)
    found = [j for j, row in enumerate(rows) if free[row]]
    return found + [len(rows)] * int(objective.fit_intercept)


def _free_rows(objective: MulticlassObjective) -> Array:
    """Mask of the rows of W that are not penalised at all, shape (d,)."""
    free = objective.penalty.free(objective.d).reshape(objective.w_shape)
    return np.array([bool(row.all()) for row in free])


def _by_conjugate_gradients(
    objective: MulticlassObjective, p: Array, manifold: Manifold, right: Array
) -> Array:
    active, curved, c = manifold.active, manifold.hessian, objective.coefficients
    inside, free = len(manifold.gradient), _free_rows(objective)
    h, curve = c * p * (1.0 - p), hessian_of_shares(p, c)
    squares = objective.design.column_squares(h)
    level = squares.reshape(objective.w_shape).mean(axis=1) * free

    def product(step: Array) -> Array:
        w = np.zeros(objective.d)
        w[active] = step[:inside]
        shift = step[inside:] if objective.fit_intercept else 0.0
        dz = objective.predict(w, shift)
        t = curve(dz)
        head = curved * step[:inside] if curved.ndim == 1 else curved @ step[:inside]
        sums = level * w.reshape(objective.w_shape).sum(axis=1)  # as in the other form
        slope = objective.design.rmatvec(t) + np.repeat(sums, objective.classes)
        head = head + slope[active]
        if not objective.fit_intercept:
            return head
        return np.append(head, t.sum(axis=0) + h.mean() * np.sum(shift))

    diagonal = squares[active]
    diagonal = diagonal + (curved if curved.ndim == 1 else np.diag(curved))
    if objective.fit_intercept:
        diagonal = np.append(diagonal, h.sum(axis=0))
    return conjugate_gradients(product, diagonal, right, 1e-12)


# The refit of what is not penalised: it makes slopes of the loss of K classes dual feasible.


STEPS, FEW_STEPS = (60, 1e-9), (6, 0.2)
"""Newton steps of a refit, and the shortest of each that is tried; where blocks are read for it."""
SLOW = 0.5
"""A step that leaves more of the slope is far from quadratic: blocks are not read for more."""
SETTLED = 1e-11
"""A slope, of its terms, below which no shorter step is tried."""


@np.errstate(over="ignore", invalid="ignore")
def refit(
    objective: MulticlassObjective, z: Array, intercept_only: bool = False
) -> tuple[Array, Array]:
    """Return (V, t) minimising F(z + X V + 1 t') over the unpenalised part: t, and rows of V.

    At the minimum the derivative of the loss is dual feasible: 1'u = 0, and X'u = 0 on these rows.
    Entries of z may be -inf: classes of probability 0, which stay so.
    """
    free = objective.penalty.free(objective.d) & (not intercept_only)
    count = int(free.sum())
    manifold = Manifold(free, np.zeros(objective.d), np.zeros(count), np.zeros(count))
    w, b = np.zeros(objective.d), _scaled_intercept(objective, z)
    value, slope = _merit(objective, z, objective.predict(w, b), free)
    rounding = EPS * float(objective.c.sum())  # of logsumexp, although its value may be near 0
    reads = free.any() and in_blocks(objective.design)
    steps, shortest = FEW_STEPS if reads else STEPS
    for _ in range(steps):
        if slope <= 2.0 * EPS:
            break
        found = multiclass_step(objective, w, b, manifold, z)
        if found is None:
            break
        size = 1.0
        while size > shortest:
            new_w, new_b = w + size * found[0], b + size * found[1]
            trial, steepness = _merit(objective, z, objective.predict(new_w, new_b), free)
            room = 1e-14 * abs(value) + rounding
            if trial < value - room or (trial <= value + room and steepness < slope):
                break
            size = 0.0 if trial <= value + room and slope <= SETTLED else 0.25 * size
        else:
            break
        w, b, value, before, slope = new_w, new_b, trial, slope, steepness
        if reads and slope > SLOW * before:
            break
    return w, b


def _scaled_intercept(objective: MulticlassObjective, z: Array) -> Array:
    """t_k = log(c'e_k / c'p_k), which scales what is expected of a class to what there is of it.

    F(z + 1 t') <= F(z), the minimum where all rows of z are alike (Darroch and Ratcliff, 1972,
    https://doi.org/10.1214/aoms/1177692379).
    """
    if not objective.fit_intercept:
        return np.zeros(objective.classes)
    weight = objective.c[:, None]
    found, expected = (np.sum(weight * x, axis=0) for x in (objective.labels, shares(z)))
    with np.errstate(divide="ignore", invalid="ignore"):
        t: Array = np.log(found) - np.log(expected)
    return t - t.mean() if np.all(np.isfinite(t)) else np.zeros(objective.classes)


def _merit(
    objective: MulticlassObjective, z: Array, shift: Array, free: Array
) -> tuple[float, float]:
    """F(z + shift) - F(z) up to a constant; 1'u and X'u, the largest, relative to their terms."""
    u, slope = objective.loss_derivative(z + shift), 0.0
    if free.any():
        rows, sizes = both_pulls(objective.design.base, u)
        slope = float(np.max(np.abs(rows[free]) / np.maximum(sizes[free], 1e-300)))
    at_label = (objective.labels * shift).sum(axis=1)
    value = float(objective.c @ (log_sum_exp(z + shift) - at_label))
    if objective.fit_intercept:
        size = np.maximum(np.abs(u).sum(axis=0), 1e-300)
        slope = max(slope, float(np.max(np.abs(u.sum(axis=0)) / size)))
    return value, slope


# P and D of a learning problem with one prediction for each of K classes.


@dataclass(frozen=True, eq=False)
class MulticlassObjective(Objective):
    """A learning objective with predictions Z = X W + 1 b' of shape (n, K).

    W, of shape (d, K), is passed as a vector row by row, so that penalties see a vector of d K
    coefficients; b has shape (K,), u has shape (n, K). ``design`` is a ``StackedDesign``, y holds
    the classes 0 ... K-1. D(u) = -sum_i c_i l*(y_i, u_i / c_i) - Omega*(-X'u), 1'u = 0 by column.
    """

    design: StackedDesign

    @cached_property
    def classes(self) -> int:
        """K."""
        return self.design.classes

    @property
    def w_shape(self) -> tuple[int, ...]:
        return self.design.base.shape[1], self.design.classes

    @property
    def zero_scores(self) -> Array:
        return np.zeros_like(self.y, dtype=float)[:, None] * np.ones(self.classes)

    @property
    def coefficients(self) -> Array:
        return self.c[:, None]

    @cached_property
    def labels(self) -> Array:
        """Rows e_{y_i}, shape (n, K)."""
        return one_hot(self.y, self.classes)

    def best_intercept(self, z: Array) -> Any:
        """The shift t, (K,), minimising F(z + 1 t'); 0 without an intercept."""
        if not self.fit_intercept:
            return np.zeros(self.classes)
        return refit(self, z, intercept_only=True)[1]

    # -- dual --------------------------------------------------------------------------------

    @cached_property
    def slope_bounds(self) -> tuple[Array, Array]:
        """The box of the entries of u / c: 0 <= u / c + e_y <= 1."""
        return -self.labels, 1.0 - self.labels

    def log_probabilities(self, u: Array) -> Array:
        """Log of p = u / c + e_y, clipped to [0, 1], -inf at 0; accurate also where p is near 1."""
        v = self.slopes_inside(u)
        with np.errstate(divide="ignore"):
            return np.where(self.labels > 0.0, np.log1p(v), np.log(np.where(v > 0.0, v, 0.0)))

    def dual_formula(self, u: Array, v: Array) -> float:
        """D with all constraints left out, u clipped to its box; for v = -X'u."""
        p = self.slopes_inside(u)
        entropy = np.where(self.labels > 0.0, xlog1py(1.0 + p, p), xlogy(p, p)).sum(axis=1)
        return -float(self.c @ entropy) - self.penalty.conjugate(v, np.inf)

    def sample_terms(self, z: Array, u: Array) -> Array:
        """The Fenchel-Young terms c_i l(y_i, z_i) + c_i l*(y_i, u_i/c_i) - u_i.z_i, (n,)."""
        conjugate = self.loss.conjugate(self.y, u / self.coefficients)
        return self.c * (self.loss.value(self.y, z) + conjugate) - (u * z).sum(axis=1)

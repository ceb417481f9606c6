"""Newton steps for K classes, and the refit of what is not penalised."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from ...design.stacked import StackedDesign
from ...losses.softmax import shares
from ...numerics import Array
from ...penalties.base import Manifold, Penalty
from ..symmetric import solve_symmetric
from .class_hessian import class_sums

LARGEST_SYSTEM = 2000
"""Above this many unknowns the system is solved by conjugate gradients."""


class ClassScores(Protocol):
    """What a Newton step reads of an objective with K classes."""

    @property
    def fit_intercept(self) -> bool: ...
    @property
    def design(self) -> StackedDesign: ...
    @property
    def penalty(self) -> Penalty: ...
    @property
    def c(self) -> Array: ...
    @property
    def coefficients(self) -> Array: ...
    @property
    def labels(self) -> Array: ...
    @property
    def classes(self) -> int: ...
    @property
    def d(self) -> int: ...
    @property
    def w_shape(self) -> tuple[int, ...]: ...
    def predict(self, w: Array, b: Any = 0.0) -> Array: ...
    def loss_derivative(self, z: Array) -> Array: ...
    def primal(self, w: Array, b: Any = 0.0) -> float: ...


@np.errstate(over="ignore", invalid="ignore")
def multiclass_step(
    objective: ClassScores,
    w: Array,
    b: Array,
    manifold: Manifold,
    offset: Array | float = 0.0,
) -> tuple[Array, Array] | None:
    """Take one Newton step from (w, b) on the manifold; None where it is not finite.

    The Hessian of the loss is sum_i c_i (diag p_i - p_i p_i') x (x_i x_i'). It does not change
    where a constant is added to b, or to an unpenalised row of W: gg' is added there, g_k^2 the
    diagonal, so that rare classes keep their digits, and the step is moved to mean 0.
    """
    w0 = np.where(manifold.active, w, manifold.fixed)
    z = objective.predict(w0, b) + offset
    u = objective.loss_derivative(z)
    p, free = shares(z), objective.fit_intercept
    size = len(manifold.gradient) + objective.classes * free
    if not size:
        return w0, b
    if small := size <= LARGEST_SYSTEM:
        active = manifold.active.reshape(objective.w_shape)
        rows = np.flatnonzero(active.any(axis=1))
        base = objective.design.base
        base = base if rows.size == len(active) else base.columns(rows)
        pull, blocks = class_sums(base, u, objective.c, p, free)
        pull = pull[active[rows].ravel()]
    else:
        pull = objective.design.rmatvec(u)[manifold.active]
    right_w = -(manifold.gradient + pull)
    right = np.concatenate([right_w, -u.sum(axis=0) if free else np.zeros(0)])
    if not np.all(np.isfinite(right)):
        return None
    if small:
        step = _by_factoring(objective, blocks, rows, manifold, right)
    else:
        step = _by_conjugate_gradients(objective, p, manifold, right)
    if not np.all(np.isfinite(step)):
        return None
    new_w = w0.copy()
    new_w[manifold.active] += step[: right_w.size]
    return new_w, b + step[right_w.size :] if objective.fit_intercept else b


def known_step(
    objective: ClassScores, manifold: Manifold, pull: Array, total: Array, hessian: Array
) -> tuple[Array, Array] | None:
    """The Newton step (dw, db) where all of w is active and the sums over the rows are known."""
    K, free = objective.classes, objective.fit_intercept
    right = np.concatenate([-(manifold.gradient + pull), -total if free else np.zeros(0)])
    rows = np.arange(objective.w_shape[0])
    step = _by_factoring(objective, hessian.copy(), rows, manifold, right)
    if not np.all(np.isfinite(step)):
        return None
    return step[: objective.d], step[objective.d :] if free else np.zeros(K)


def damped_step(
    objective: ClassScores, w: Array, b: Array, manifold: Manifold
) -> tuple[Array, Array] | None:
    """The first of the points at 1, 1/4, 1/16, 1/64 of a Newton step at which P is not larger."""
    found = multiclass_step(objective, w, b, manifold)
    if found is None:
        return None
    start = np.where(manifold.active, w, manifold.fixed)
    value = objective.primal(start, b)
    for size in (1.0, 0.25, 0.0625, 0.015625):
        point = start + size * (found[0] - start), b + size * (found[1] - b)
        if objective.primal(*point) <= value:
            return point
    return found


def _by_factoring(
    objective: ClassScores, blocks: Array, rows: Array, manifold: Manifold, right: Array
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


def _gauge(objective: ClassScores, rows: Array) -> list[int]:
    """The intercept and the unpenalised rows: there a constant may be added."""
    free = _free_rows(objective)
    found = [j for j, row in enumerate(rows) if free[row]]
    return found + [len(rows)] * int(objective.fit_intercept)


def _free_rows(objective: ClassScores) -> Array:
    """Mask of the rows of W that are not penalised at all, shape (d,)."""
    free = objective.penalty.free(objective.d).reshape(objective.w_shape)
    return np.array([bool(row.all()) for row in free])


def _by_conjugate_gradients(
    objective: ClassScores, p: Array, manifold: Manifold, right: Array
) -> Array:
    active, curved, c = manifold.active, manifold.hessian, objective.coefficients
    inside, free = len(manifold.gradient), _free_rows(objective)
    h = c * p * (1.0 - p)
    squares = objective.design.column_squares(h)
    level = squares.reshape(objective.w_shape).mean(axis=1) * free

    def product(step: Array) -> Array:
        w = np.zeros(objective.d)
        w[active] = step[:inside]
        shift = step[inside:] if objective.fit_intercept else 0.0
        dz = objective.predict(w, shift)
        t = p * dz
        t = c * (t - p * t.sum(axis=1)[:, None])
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
    inverse = 1.0 / np.where(diagonal > 0.0, diagonal, 1.0)
    system = LinearOperator((right.size, right.size), matvec=product, dtype=float)
    scaling = LinearOperator((right.size, right.size), matvec=lambda x: inverse * x, dtype=float)
    return cg(system, right, rtol=1e-12, maxiter=2000, M=scaling)[0]

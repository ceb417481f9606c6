"""One Newton step on the surface where the objective is smooth: primal and dual at once.

Near a solution the penalty is smooth on a surface (the support of w, a face of a ball), and the
loss is smooth off its kinks. There the optimality conditions are a linear system in the step
(dw, db), the dual values u_E of the samples at a kink, and the multipliers of the surface's rows A:

    [ X_A' H X_A + hess   X_A' H 1   X_E'   A'] [ dw   ]      [ grad + X_A' u_N ]
    [ 1' H X_A            1' H 1     1'     0 ] [ db   ]  = - [ 1' u_N          ]
    [ X_E                 1          0      0 ] [ u_E  ]      [ z_E - kink_E    ]
    [ A                   0          0      0 ] [ dmu  ]      [ residual        ]

Its solution moves w by a Newton step and yields u = u_N + H (X dw + db), dual feasible to second
order on the active coordinates. Certificates use the u, solvers and the polish use the w.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data import DenseDesign, Design, ahead, in_memory, remember_scores
from ..losses.softmax import hessian_of_shares, shares
from ..numerics import Array, all_finite
from ..penalties.base import Manifold
from . import classes
from .classes import MulticlassObjective, class_sums, damped_step, multiclass_step
from .objective import Objective, conjugate_gradients, solve_symmetric

# A loss as Newton's method sees it at some predictions: all of it in one visit of the rows.


LARGEST_SYSTEM = 3000
"""Above this many unknowns the system is solved by conjugate gradients, where it is definite."""


@dataclass(frozen=True)
class LossModel:
    """The loss at predictions z: its slopes u, their pull (X'u, 1'u), and its curvatures h.

    Of K classes also its Hessian in (W, b), as ``class_sums`` has it, where that is not too
    large.
    """

    u: Array
    pull: Array
    total: Any
    h: Array
    hessian: Array | None = None


def loss_model(objective: Objective, z: Array) -> LossModel:
    """The model of the loss at z, for one pass."""
    u, h, design = objective.loss_derivative(z), objective.loss_curvature(z), objective.design
    if isinstance(objective, MulticlassObjective) and objective.d <= classes.LARGEST_SYSTEM:
        p, free = shares(z), objective.fit_intercept
        pull, hessian = class_sums(objective.design.base, u, objective.c, p, free)
        return LossModel(u, pull, u.sum(axis=0), h, hessian)
    factored = h if objective.d <= LARGEST_SYSTEM and z.ndim == 1 else None
    ahead(design, [u], factored, objective.fit_intercept, sums=[u])
    return LossModel(u, design.rmatvec(u), u.sum(axis=0), h)


@dataclass(frozen=True)
class NewtonPoint:
    """The point reached by a Newton step, the dual point that belongs to it, and its X dw + db."""

    w: Array
    b: Any
    u: Array
    active: Array
    dz: Array | None = None


@dataclass(frozen=True)
class Kinks:
    """Samples held at a kink of the loss: a mask, and the kink (n,) at which each is held."""

    mask: Array
    at: Array


def loss_hessian(objective: Objective, z: Array) -> Callable[[Array], Array]:
    """The product dz -> F''(z) dz: by h = c l''(z), or c_i (diag(p_i) - p_i p_i') for K classes."""
    if z.ndim == 1:
        h = objective.loss_curvature(z)
        return lambda dz: h * dz
    return hessian_of_shares(shares(z), objective.coefficients)


def newton_point(
    objective: Objective,
    w: Array,
    b: float,
    manifold: Manifold,
    kinks: Kinks | None = None,
    known: LossModel | None = None,
) -> NewtonPoint | None:
    """Take one Newton step from (w, b) on the manifold; None where the system has no use.

    ``known`` is the model of the loss at (w, b), where it is known and nothing is held.
    """
    if isinstance(objective, MulticlassObjective):
        return _of_classes(objective, w, np.asarray(b), manifold, known)
    free, held, excess = manifold.active, np.zeros(0, dtype=int), np.zeros(0)
    w0 = np.where(free, w, manifold.fixed)
    design = objective.design if free.all() else objective.design.columns(free)
    if known is None:
        z = objective.predict(w0, b)
        u, h = objective.loss_derivative(z), objective.loss_curvature(z)
        if kinks is not None:
            held = np.flatnonzero(kinks.mask)
            excess = in_memory((z - kinks.at)[held])
            u, h = (np.where(kinks.mask, 0.0, each) for each in (u, h))
        if not (all_finite(u) and all_finite(h)):
            return None
        known = LossModel(u, design.rmatvec(u), u.sum(), h)
    elif not (all_finite(known.u) and all_finite(known.h)):
        return None
    if int(free.sum()) + held.size > LARGEST_SYSTEM:
        if held.size or manifold.normal is not None:
            return None
        slope, has_b = manifold.gradient + known.pull, objective.fit_intercept
        step, shift = by_products(design, manifold.hessian, known.h, slope, known.total, has_b)
        u_held = excess
    else:
        step, shift, u_held = _by_factoring(objective, design, manifold, known, held, excess)
    if not (all_finite(step) and all_finite(u_held)):
        return None
    dz = design.matvec(step) + shift
    new_u = known.u + known.h * dz
    if held.size:
        new_u[held] = u_held
    new_w = w0.copy()
    new_w[free] += step
    return NewtonPoint(new_w, b + shift, new_u, free, dz if free.all() else None)


def _of_classes(
    objective: MulticlassObjective, w: Array, b: Array, manifold: Manifold, known: LossModel | None
) -> NewtonPoint | None:
    """The point for K classes, and the slopes of the loss there; damped unless a model is known."""
    step = None
    if known is None or known.hessian is None or not manifold.active.all():
        found = damped_step(objective, w, b, manifold)
    else:
        step = multiclass_step(objective, w, b, manifold, known=known)
        found = None if step is None else (w + step[0], b + step[1])
    if found is None:
        return None
    u = objective.loss_derivative(objective.predict(*found))
    dz = None if step is None else objective.predict(*step)
    return NewtonPoint(*found, u, manifold.active, dz)


def _by_factoring(
    objective: Objective,
    design: Design,
    manifold: Manifold,
    loss: LossModel,
    held: Array,
    excess: Array,
) -> tuple[Array, float, Array]:
    k, h, hessian = design.shape[1], loss.h, manifold.hessian
    if 0 < held.size < k and not np.any(h) and hessian.ndim == 1 and np.all(hessian > 0.0):
        slope = manifold.gradient + loss.pull
        return _by_elimination(objective, design.rows(held), hessian, slope, loss.total, excess)
    has_b = int(objective.fit_intercept)
    count = 0 if manifold.normal is None else len(manifold.normal)
    inner = k + has_b
    size = inner + held.size + count
    matrix, right = np.zeros((size, size)), np.zeros(size)
    if np.any(h):
        matrix[:inner, :inner] = design.bordered_gram(h) if has_b else design.gram(h)
    if hessian.ndim == 1:
        matrix.flat[: k * size : size + 1] += hessian
    else:
        matrix[:k, :k] += hessian
    right[:k] = -(manifold.gradient + loss.pull)
    right[k:inner] = -loss.total
    at = slice(inner, inner + held.size)
    if held.size:
        matrix[at, :k] = design.rows(held).dense()
        matrix[at, k:inner] = 1.0
        matrix[:inner, at] = matrix[at, :inner].T
        right[at] = -excess
    if manifold.normal is not None and manifold.residual is not None:
        matrix[-count:, :k], matrix[:k, -count:] = manifold.normal, manifold.normal.T
        right[-count:] = -manifold.residual
    solution = solve_symmetric(matrix, right)
    shift = float(solution[k]) if has_b else 0.0
    return solution[:k], shift, solution[at]


def _by_elimination(
    objective: Objective, held: Design, hessian: Array, slope: Array, total: Any, excess: Array
) -> tuple[Array, float, Array]:
    """Eliminate the step through a diagonal Hessian D: (J D^-1 J') u_held - b 1 = ..., 1'u = 0."""
    inverse, rows, m = 1.0 / hessian, held.dense(), held.shape[0]
    size = m + int(objective.fit_intercept)
    matrix, right = np.zeros((size, size)), np.zeros(size)
    matrix[:m, :m] = (rows * inverse) @ rows.T
    right[:m] = excess - held.matvec(inverse * slope)
    if objective.fit_intercept:
        matrix[:m, m] = matrix[m, :m] = -1.0
        right[m] = total
    solution = solve_symmetric(matrix, right)
    shift = float(solution[m]) if objective.fit_intercept else 0.0
    return -inverse * (slope + held.rmatvec(solution[:m])), shift, solution[:m]


def by_products(
    rows: Design,
    hessian: Array,
    h: Array,
    slope: Array,
    total: float,
    free_b: bool,
    rtol: float = 1e-10,
    most: int = 2000,
) -> tuple[Array, float]:
    """(dw, db) with (hess + R'H R) dw + R'H 1 db = -slope, 1'H (R dw + db) = -total, about."""
    k = rows.shape[1]

    def product(x: Array) -> Array:
        t = h * (rows.matvec(x[:k]) + (x[k] if free_b else 0.0))
        head = rows.rmatvec(t) + (hessian * x[:k] if hessian.ndim == 1 else hessian @ x[:k])
        return np.append(head, t.sum()) if free_b else head

    diagonal = rows.column_squares(h) + (hessian if hessian.ndim == 1 else np.diag(hessian))
    right = -slope
    if free_b:
        diagonal, right = np.append(diagonal, h.sum()), np.append(right, -total)
    x = conjugate_gradients(product, diagonal, right, rtol, most)
    return x[:k], float(x[k]) if free_b else 0.0


# A pair of products, there and back, for which X is read once.


ENTRIES = 100_000
"""Of a block of rows, which stays in the cache between the two products."""


def slopes_at(objective: Objective, w: Array, b: float) -> tuple[Array, Array, Array]:
    """(z, u, X'u) for z = X w + b 1 and u = c l'(z), of one prediction a sample."""
    design, n = objective.design, objective.n
    size = ENTRIES // max(objective.d, 1)
    if not isinstance(design, DenseDesign) or n <= size or not size:
        z = objective.predict(w, b)
        u = objective.loss_derivative(z)
        return z, u, design.rmatvec(u)
    scores, u, pull = np.empty(n), np.empty(n), np.zeros(objective.d)
    loss, y, c = objective.loss, objective.y, objective.c
    for start in range(0, n, size):
        part = slice(start, start + size)
        rows = design.array[part]
        scores[part] = rows @ w
        u[part] = c[part] * loss.derivative(y[part], scores[part] + b)
        pull += rows.T @ u[part]
    remember_scores(design, w, scores)
    return scores + b, u, pull

"""Newton's method for multinomial logistic regression, on the surface where Omega is smooth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg
from scipy.special import softmax

from ..numerics import EPS, Array

if TYPE_CHECKING:
    from .softmax import Point, SoftmaxPart

STEPS = 30
JITTER = 1e-11
"""Added to the unit diagonal of a singular Newton system."""
LARGEST_SYSTEM = 1500
"""Above this many unknowns no Newton step is taken, and the bound is of first order only."""


def polish(part: SoftmaxPart, point: Point) -> Point:
    """Return the point that damped Newton steps lead to; never a worse one."""
    d, K = part.w.shape
    if (d + 1) * K > LARGEST_SYSTEM:
        return point
    value = part.value_at(point)
    scales = (1.0,) if part.penalty.is_smooth else (1.0, 30.0, 0.03)
    for _ in range(STEPS):
        for scale in scales:
            step = _step(part, point, scale)
            found = _search(part, point, step, value)
            if found is not None:
                break
        else:
            return point
        gain = value - found[1]
        point, value = found
        if gain <= EPS * abs(value):
            return point
    return point


def _search(
    part: SoftmaxPart, point: Point, target: Point, value: float
) -> tuple[Point, float] | None:
    """The first of the points half as far, and half of that, that is better; None if none is."""
    size = 1.0
    while size > 1e-6:
        w = point[0] + size * (target[0] - point[0])
        b = point[1] + size * (target[1] - point[1])
        reached = part.value_at((w, b))
        if reached < value:
            return (w, b), reached
        size *= 0.25
    return None


def _step(part: SoftmaxPart, point: Point, scale: float) -> Point:
    """The point that one full Newton step leads to, inactive entries of W at their kink."""
    d, K = part.w.shape
    X = part.design.dense()
    w = point[0].ravel()
    P = softmax(part.predict(point), axis=1)
    V = -part.design.rmatvec(part.derivative(point)).ravel()
    squares = 0.25 * np.repeat(part.design.column_squares(part.c), K)
    length = scale / np.maximum(squares, 1e-12 * squares.max(initial=1e-300))
    manifold = part.penalty.manifold(w, V, length)
    start = np.where(manifold.active, w, manifold.fixed).reshape(d, K)
    if not manifold.active.all():
        P = softmax(part.predict((start, point[1])), axis=1)
    U = part.c[:, None] * (P - part.onehot)
    E = np.column_stack([X, np.ones(len(X))])
    hessian = _hessian(E, P, part.c)
    right = -(E.T @ U).ravel()
    active = np.append(manifold.active, np.full(K, part.fit_intercept))
    inside = np.flatnonzero(manifold.active)
    curved = manifold.hessian
    hessian[np.ix_(inside, inside)] += np.diag(curved) if curved.ndim == 1 else curved
    right[inside] -= manifold.gradient
    move = np.zeros((d + 1) * K)
    move[active] = _solve(hessian[np.ix_(active, active)], right[active])
    return start + move[: d * K].reshape(d, K), point[1] + move[d * K :]


def _solve(matrix: Array, right: Array) -> Array:
    """Solve M x = r, M positive semidefinite: a constant added to all rows of b changes nothing."""
    size = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    scaled = matrix / size[:, None] / size + JITTER * np.eye(len(right))
    try:
        return linalg.cho_solve(linalg.cho_factor(scaled), right / size) / size
    except linalg.LinAlgError:
        return linalg.lstsq(scaled, right / size, cond=1e-13)[0] / size


def _hessian(E: Array, P: Array, c: Array) -> Array:
    """sum_i c_i (e_i e_i') kron (diag p_i - p_i p_i'), of size (d + 1) K."""
    m, K = E.shape[1], P.shape[1]
    blocks = np.empty((m, K, m, K))
    for k in range(K):
        for other in range(K):
            h = c * P[:, k] * ((k == other) - P[:, other])
            blocks[:, k, :, other] = E.T @ (h[:, None] * E)
    return blocks.reshape(m * K, m * K)

"""The smallest ball around points, by an active set that grows by the farthest point.

The dual maximises D(alpha) = sum alpha_i |x_i|^2 - |sum alpha_i x_i|^2 over the simplex. On the
affine hull of a few points its maximum is the ball through them. Each step adds the point farthest
from the centre and walks to that maximum, dropping points whose weights would become negative, as
Lawson and Hanson do for least squares: D rises in every step, so that no active set comes back.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...numerics import EPS, Array

DEPENDENT = 1e-10
"""Points whose differences have a singular value below this share of the largest are dependent."""


def enclosing_balls(X: Array) -> Iterator[Array]:
    """Yield alpha, (n,), the start at the point farthest from the mean; the last one is the best.

    Parameters
    ----------
    X : array, shape (n, d)
        Points; their mean is best near 0, their sizes near 1.
    """
    n = len(X)
    alpha, before = np.zeros(n), -1.0
    alpha[np.argmax(np.square(X - X.mean(axis=0)).sum(axis=1))] = 1.0
    while True:
        yield alpha
        centre = alpha @ X
        squares = np.square(X - centre).sum(axis=1)
        value, far = float(alpha @ squares), int(np.argmax(squares))
        if squares[far] <= value * (1.0 + 4.0 * EPS) or value <= before or alpha[far] > 0.0:
            return
        alpha, before = grown(X, alpha, far), value


def grown(X: Array, alpha: Array, far: int) -> Array:
    """The weights of the best ball on the active points and ``far``, as far as signs allow."""
    active = np.append(np.flatnonzero(alpha), far)
    weights = alpha[active]
    while True:
        step, is_ray = ascent(X[active], weights)
        falling = np.flatnonzero(step < 0.0)
        limits = weights[falling] / -step[falling]
        reach = float(limits.min()) if falling.size else 0.0
        if (not is_ray and (reach >= 1.0 or not falling.size)) or (is_ray and not falling.size):
            weights = weights if is_ray else weights + step
            break
        weights = weights + reach * step
        weights[falling[int(np.argmin(limits))]] = 0.0
        kept = weights > 0.0
        active, weights = active[kept], weights[kept]
    weights = np.maximum(weights, 0.0)
    found = np.zeros(len(X))
    found[active] = weights / weights.sum()
    return found


def ascent(points: Array, weights: Array) -> tuple[Array, bool]:
    """The way to the largest D on the affine hull, or a ray along which D grows without end.

    With differences B to the first point, |B mu - c|^2 is to be the same for all: B B' mu is half
    of the diagonal. Where B B' is singular a null vector n has sum n = 0, B' n = 0: D is linear
    along it.
    """
    origin = points[0]
    B = points[1:] - origin
    if not len(B):
        return np.zeros(1), False
    U, sizes, _ = np.linalg.svd(B)
    squares = np.square(B).sum(axis=1)
    rank = int(np.count_nonzero(sizes > DEPENDENT * sizes[0]))
    if rank < len(B):
        null = U[:, rank:]
        ray = null @ (null.T @ squares)
        if np.linalg.norm(ray) > DEPENDENT * np.linalg.norm(squares):
            return np.append(-ray.sum(), ray), True
    goal = U[:, :rank] @ ((U[:, :rank].T @ (0.5 * squares)) / sizes[:rank] ** 2)
    return np.append(1.0 - goal.sum(), goal) - weights, False

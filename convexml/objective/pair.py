"""A pair of products, there and back, for which X is read once."""

from __future__ import annotations

import numpy as np

from ..design import DenseDesign, remember_scores
from ..numerics import Array
from .objective import Objective

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

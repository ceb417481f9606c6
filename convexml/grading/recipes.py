"""Methods of the lasso that are no gradient steps, with the mistakes that are made in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from ..numerics import Array, soft_threshold
from ..solvers.printed import Printed, level


@dataclass(frozen=True)
class Recipe:
    """The next point, or all that are right, from those before; ``options`` make mistakes.

    b is the student's own: the certificate alone judges it.
    """

    move: Callable[..., Array]
    page: Printed
    step: Callable[[int], float]
    options: Mapping[str, Any] = field(default_factory=dict)
    hessian: ClassVar[None] = None
    is_sampled: ClassVar[bool] = False

    def next(self, xs: Sequence[Array], k: int) -> Array:
        """x_{k+1}, or a row for each coordinate that may have been taken."""
        X, y, _ = self.page.centred()
        if "raw" in self.options:
            X, y = self.page.X[:, :-1], self.page.objective.y
        lam, ws = level(self.page.objective), [x[:-1] for x in xs]
        found = np.atleast_2d(self.move(X, y, lam, self.step(k), ws, k, self.options))
        return np.column_stack([found, np.full(len(found), xs[k + 1][-1])])


def coordinate_descent(
    X: Array, y: Array, lam: float, step: float, ws: Sequence[Array], k: int, o: Any
) -> Array:
    """w after each single coordinate, or after all of them in turn."""
    n, d = X.shape
    sizes, w = np.sum(X * X, axis=0) / n, ws[k]
    t = lam * o.get("threshold", 1.0) / (n if "sum" in o else 1)
    start = w if "sweep" in o else ws[k - k % d]

    def taken(w: Array, j: int) -> Array:
        size = 1.0 if "undivided" in o else sizes[j]
        c = X[:, j] @ (y - X @ (start if "stale" in o else w)) / n
        c = c if "alone" in o else c + sizes[j] * w[j]
        value = soft_threshold(c / size, t) if "inside" in o else soft_threshold(c, t) / size
        return np.where(np.arange(d) == j, value, w)

    return reduce(taken, range(d), w) if "sweep" in o else np.array([taken(w, j) for j in range(d)])


def admm(X: Array, y: Array, lam: float, rho: float, ws: Sequence[Array], k: int, o: Any) -> Array:
    """v (or w) after k + 1 steps from 0, v that of the student where it is shown."""
    m, d = o.get("m", len(y)), X.shape[1]
    v, q, H = np.zeros(d), np.zeros(d), X.T @ X / m + rho * np.eye(d)
    for t in range(k + 1):
        v = v if "shows w" in o else ws[t]
        drawn = rho ** o.get("weight", 1.0) * (v - o.get("pull", 1.0) * q)
        w = np.linalg.solve(H, X.T @ y / m + drawn)
        level = lam * o.get("threshold", 1.0) * rho ** o.get("power", -1.0)
        v = soft_threshold(w if "alone" in o else w + q, level)
        q = q + o.get("sign", 1.0) * (w - (v if "shows w" in o or t == k else ws[t + 1]))
    return w if "shows w" in o else v

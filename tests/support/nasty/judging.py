"""An independent eye: P in long doubles from the textbook, and a better point by plain search."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from convexml.errors import ConvexmlError
from support.nasty.draws import Call
from support.nasty.textbook import LONG, Array, kernel_matrix, parts_of

TINY = 1e-306
"""Below this P is no number of float64, or one of few digits."""
SURE = 1e-14
"""A share that two roundings of the same number may differ by."""


class Eye:
    """P of a call, where it is written here; of any other model what the model itself says."""

    def __init__(self, call: Call, problem: Any) -> None:
        self.problem, self.parts = problem, parts_of(call)
        if self.parts is None:
            return
        X = call.arguments["X"]
        X = np.asarray(X.toarray() if sparse.issparse(X) else X).astype(LONG)
        s = call.arguments.get("sample_weight")
        s = np.ones(len(X), LONG) if s is None else np.asarray(s).astype(LONG).ravel()
        y = np.asarray(call.arguments["y"]).ravel()
        if problem.classes is not None:
            y = np.where(y == problem.classes[1], 1, -1)
        used = s > 0
        self.X, self.y, s = X[used], y[used].astype(LONG), s[used]
        self.weights = s / s.sum() if self.parts[2] == "mean" else LONG(self.parts[2]) * s
        if "kernel" in call.arguments:
            self._in_functions(kernel_matrix(call.arguments["kernel"], self.X), used)

    def _in_functions(self, K: Array | None, used: Array) -> None:
        """Predictions are K q, and the penalty is that of q'K q."""
        loss, penalty, scale = self.parts
        self.parts = None
        if K is not None and used.all():
            self.X, half = K, penalty(np.ones((1, 1), LONG))[0]
            self.parts = loss, lambda q: half * np.maximum(((q @ K) * q).sum(-1), 0), scale

    def values(self, w: Array, b: Array) -> Array:
        """P at points (m, d) and (m,)."""
        if self.parts is None:
            return np.array([self._own(v, c) for v, c in zip(w, b, strict=True)])
        loss, penalty, _ = self.parts
        with np.errstate(all="ignore"):
            z = w @ self.X.T + b[:, None]
            found = (self.weights * loss(self.y, z)).sum(-1) + penalty(w)
        return np.where(np.isnan(found), np.inf, found)

    def _own(self, w: Array, b: Array) -> float:
        shape = self.problem.coefficients_shape
        try:
            return self.problem.objective(w.reshape(shape).astype(float), b.astype(float))
        except ConvexmlError:  # not a point
            return np.inf

    def rounding(self, w: Array, b: Any) -> Any:
        """What P may be off by where w and b are off by one rounding each: by differences."""
        if self.parts is None:
            near = [LONG(1), 1 - LONG(2.0**-50), 1 + LONG(2.0**-50)]
            found = self.values(np.array([t * w for t in near]), np.array([b] * 3))
            return np.ptp(found) if np.all(np.isfinite(found)) else np.inf
        loss = self.parts[0]
        with np.errstate(all="ignore"):
            z, size = self.X @ w + b, np.abs(self.X) @ np.abs(w) + abs(b)
            apart = [np.abs(loss(self.y, z + e * size) - loss(self.y, z)) for e in (-1e-18, 1e-18)]
            total = (self.weights * np.nan_to_num(np.maximum(*apart))).sum()
        return total

    def better(self, w: Array, b: Any, value: Any) -> tuple[Any, Array, Any]:
        """The lowest P that is found near (w, b), along coordinates, to 0 and down the slopes."""
        shape, w, b = np.shape(b), np.ravel(w).astype(LONG), np.asarray(b).astype(LONG)
        best = value, w, b
        free = self.problem.objective_parts.fit_intercept
        for _ in range(2):
            before = best[0]
            for j in range(len(w) + (b.size if free else 0)):
                at = best[1][j] if j < len(w) else best[2].ravel()[j - len(w)]
                moved = at + _steps(at, self._unit(j, len(w)))
                many = np.repeat(best[1][None], len(moved), 0)
                shifts = np.repeat(best[2].ravel()[None], len(moved), 0)
                if j < len(w):
                    many[:, j] = moved
                else:
                    shifts[:, j - len(w)] = moved
                own = shifts.reshape(len(moved), *shape)
                found = self.values(many, own)
                k = int(np.argmin(found))
                if found[k] < best[0]:
                    best = found[k], many[k], own[k]
            if not best[0] < before:
                break
        return best

    def _unit(self, j: int, d: int) -> Any:
        """The step that moves predictions by the size of the targets."""
        if self.parts is None:
            return LONG(1)
        size = np.abs(self.X[:, j]).max() if j < d else LONG(1)
        return max(np.abs(self.y).max(initial=0), LONG(1e-300)) / size if size else LONG(1)


TIMES = np.concatenate([[1.0], 10.0 ** -np.arange(1.0, 11.0)]).astype(LONG)


def _steps(at: Any, unit: Any) -> Array:
    """Moves by shares of the number itself and of a unit, in both directions."""
    sizes = np.concatenate([abs(at) * TIMES, unit * TIMES])
    return np.concatenate([sizes, -sizes])


def refutes(eye: Eye, w: Array, b: Any, tol: float) -> str:
    """Why (w, b) is not optimal to a relative tol; nothing where it may be."""
    w, b = np.ravel(w).astype(LONG), np.asarray(b).astype(LONG)
    value = eye.values(w[None], b[None])[0]
    null = np.zeros_like(w)
    centre = [0.0] if eye.parts is None else [0.0, *np.unique(eye.y)[:3], np.mean(eye.y)]
    shifts = [np.zeros_like(b) + LONG(c) for c in centre]
    if not eye.problem.objective_parts.fit_intercept:
        shifts = shifts[:1]
    at_null = eye.values(np.repeat(null[None], len(shifts), 0), np.array(shifts))
    floor = 1e-6 * min(v for v in [*at_null, np.inf])
    room = tol * max(abs(value), floor if np.isfinite(floor) else 0.0) + TINY
    loose = eye.rounding(w, b)
    if not np.isfinite(value):
        return ""  # feasible to the tolerance of its rows alone
    best, at, shift = eye.better(w, b, value)
    if at_null.min() < best:
        best, at, shift = at_null.min(), null, shifts[int(np.argmin(at_null))]
    if best < value - room * (1 + SURE) - loose - eye.rounding(at, shift):
        return f"P = {value:.12g}, but {best:.12g} at w = {at}, b = {shift}"
    return ""

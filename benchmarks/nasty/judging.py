"""An independent eye: P in long doubles from the textbook, and a better point by plain search.

Long doubles reach to 1e4932, so that nothing that float64 holds overflows here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from convexml.errors import ConvexmlError
from nasty.draws import Call

LONG = np.longdouble
Array = np.ndarray
TINY = 1e-306
"""Below this P is no number of float64, or one of few digits."""
SURE = 1e-14
"""A share that two roundings of the same number may differ by."""


def _logistic(_: Any, y: Array, z: Array) -> Array:
    return np.maximum(-y * z, 0) + np.log1p(np.exp(-np.abs(z)))


def _poisson(_: Any, y: Array, z: Array) -> Array:
    t = np.where(y > 0, z - np.log(np.where(y > 0, y, 1)), 0)
    # All but t^2 / 2 cancels near t = 0, also in long doubles.
    return np.where(y > 0, y * (np.expm1(t) - t), np.exp(z))


def _huber(loss: Any, y: Array, z: Array) -> Array:
    near = np.minimum(np.abs(z - y), LONG(loss.delta))
    return near * (np.abs(z - y) - near / 2)


def _tube(loss: Any, y: Array, z: Array) -> Array:
    return np.maximum(np.abs(z - y) - LONG(loss.epsilon), 0)


def _pinball(loss: Any, y: Array, z: Array) -> Array:
    tau = LONG(loss.tau)
    return np.maximum(tau * (y - z), (1 - tau) * (z - y))


LOSSES: dict[str, Callable[[Any, Array, Array], Array]] = {
    "Squared": lambda loss, y, z: (y - z) ** 2 / 2,
    "Absolute": lambda loss, y, z: np.abs(z - y),
    "Pinball": _pinball,
    "Huber": _huber,
    "EpsilonInsensitive": _tube,
    "SquaredEpsilonInsensitive": lambda loss, y, z: _tube(loss, y, z) ** 2 / 2,
    "Logistic": _logistic,
    "Hinge": lambda loss, y, z: np.maximum(1 - y * z, 0),
    "SquaredHinge": lambda loss, y, z: np.maximum(1 - y * z, 0) ** 2 / 2,
    "Exponential": lambda loss, y, z: np.exp(-y * z),
    "Poisson": _poisson,
    "Linex": lambda loss, y, z: np.expm1(y - z) - (y - z),
    "HardMargin": lambda loss, y, z: np.where(y * z >= 1, 0, np.inf),
    "Interpolation": lambda loss, y, z: np.where(z == y, 0, np.inf),
}


def _l1(w: Array) -> Array:
    return np.abs(w).sum(-1)


def _squares(w: Array) -> Array:
    return (w * w).sum(-1)


def _net(p: Any, w: Array) -> Array:
    rho = LONG(p.l1_ratio)
    return LONG(p.lam) * (rho * _l1(w) + (1 - rho) / 2 * _squares(w))


def _groups(p: Any, w: Array) -> Array:
    masks = [p.groups == label for label in np.unique(p.groups)]
    return LONG(p.lam) * sum(np.sqrt(LONG(m.sum()) * _squares(w[..., m])) for m in masks)


PENALTIES: dict[str, Callable[[Any, Array], Array]] = {
    "Zero": lambda p, w: 0 * w.sum(-1),
    "L2": lambda p, w: LONG(p.lam) / 2 * _squares(w),
    "L1": lambda p, w: LONG(p.lam) * _l1(w),
    "ElasticNet": _net,
    "GroupL2": _groups,
    "L1Ball": lambda p, w: np.where(_l1(w) <= LONG(p.t), 0, np.inf),
    "L2Ball": lambda p, w: np.where(_squares(w) <= LONG(p.t) ** 2, 0, np.inf),
    "Box": lambda p, w: np.where(((p.lo <= w) & (w <= p.hi)).all(-1), 0, np.inf),
    "Nonnegative": lambda p, w: np.where((w >= 0).all(-1), 0, np.inf),
    "NonnegativeElasticNet": lambda p, w: np.where((w >= 0).all(-1), _net(p, w), np.inf),
}


def kernel_matrix(kernel: Any, X: Array) -> Array | None:
    """K of the samples; None where it is not written here."""
    inner = X @ X.T
    apart = _squares(X[:, None] - X)
    match type(kernel).__name__:
        case "Linear":
            return inner
        case "Polynomial":
            return (LONG(kernel.gamma) * inner + LONG(kernel.coef0)) ** int(kernel.degree)
        case "Gaussian":
            return np.exp(-apart / (2 * LONG(kernel.sigma) ** 2))
        case "Laplacian":
            return np.exp(-np.sqrt(apart) / LONG(kernel.sigma))
        case "Scaled" if type(kernel.kernel).__name__ == "Linear":
            return LONG(kernel.factor) * inner
    return None


class Eye:
    """P of a call, where it is written here; of any other model what the model itself says."""

    def __init__(self, call: Call, problem: Any) -> None:
        self.problem = problem
        kernel = call.arguments.get("kernel")
        own = problem.objective_parts if kernel is None else problem.kernel_parts
        loss, penalty = (
            table.get(type(getattr(own, name, None)).__name__)
            for name, table in (("loss", LOSSES), ("penalty", PENALTIES))
        )
        self.known = None not in (loss, penalty) and np.ndim(call.arguments.get("y")) == 1
        if not self.known:
            return
        X, y = call.arguments["X"], np.asarray(call.arguments["y"]).ravel()
        X = np.asarray(X.toarray() if sparse.issparse(X) else X).astype(LONG)
        s = call.arguments.get("sample_weight")
        used = np.ones(len(X), bool) if s is None else np.asarray(s).astype(float).ravel() > 0
        if problem.classes is not None:
            y = np.where(y == problem.classes[1], 1, -1)
        self.X, self.y, self.c = X[used], y[used].astype(LONG), own.c.astype(LONG)
        self.loss = lambda y, z: loss(own.loss, y, z)
        self.penalty = lambda w: penalty(own.penalty, w)
        if kernel is not None:  # predictions are K q, and the penalty is that of q'K q
            K, half = kernel_matrix(kernel, self.X), LONG(own.penalty.lam) / 2
            self.known = K is not None and bool(used.all())
            self.X, self.penalty = K, lambda q: half * np.maximum(((q @ K) * q).sum(-1), 0)

    def values(self, w: Array, b: Array) -> Array:
        """P at points (m, d) and (m,)."""
        if not self.known:
            return np.array([self._own(v, c) for v, c in zip(w, b, strict=True)])
        with np.errstate(all="ignore"):
            z = w @ self.X.T + b[:, None]
            found = (self.c * self.loss(self.y, z)).sum(-1) + self.penalty(w)
        return np.where(np.isnan(found), np.inf, found)

    def _own(self, w: Array, b: Array) -> float:
        shape = self.problem.coefficients_shape
        try:
            return self.problem.objective(w.reshape(shape).astype(float), b.astype(float))
        except ConvexmlError:  # not a point
            return np.inf

    def rounding(self, w: Array, b: Any) -> Any:
        """What P may be off by where w and b are off by one rounding each: by differences."""
        if not self.known:
            near = [LONG(1), 1 - LONG(2.0**-50), 1 + LONG(2.0**-50)]
            found = self.values(np.array([t * w for t in near]), np.array([b] * 3))
            return np.ptp(found) if np.all(np.isfinite(found)) else np.inf
        with np.errstate(all="ignore"):
            z, size = self.X @ w + b, np.abs(self.X) @ np.abs(w) + abs(b)
            at = self.loss(self.y, z)
            apart = [np.abs(self.loss(self.y, z + e * size) - at) for e in (-1e-18, 1e-18)]
            return (self.c * np.nan_to_num(np.maximum(*apart))).sum()

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
        if not self.known:
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
    centre = [0.0] if not eye.known else [0.0, *np.unique(eye.y)[:3], np.mean(eye.y)]
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

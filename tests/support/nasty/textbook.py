"""Losses and penalties of the models from the textbook, in long doubles.

Long doubles reach to 1e4932, so that nothing that float64 holds overflows here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from support.nasty.draws import Call

LONG = np.longdouble
Array = np.ndarray
Loss = Callable[[Array, Array], Array]


def _hinge(y: Array, z: Array) -> Array:
    return np.maximum(1 - y * z, 0)


def _logistic(y: Array, z: Array) -> Array:
    return np.maximum(-y * z, 0) + np.log1p(np.exp(-np.abs(z)))


def _poisson(y: Array, z: Array) -> Array:
    t = np.where(y > 0, z - np.log(np.where(y > 0, y, 1)), 0)
    # All but t^2 / 2 cancels near t = 0, also in long doubles.
    return np.where(y > 0, y * (np.expm1(t) - t), np.exp(z))


def _huber(delta: Any) -> Loss:
    def value(y: Array, z: Array) -> Array:
        near = np.minimum(np.abs(z - y), LONG(delta))
        return near * (np.abs(z - y) - near / 2)

    return value


def _tube(epsilon: Any) -> Loss:
    return lambda y, z: np.maximum(np.abs(z - y) - LONG(epsilon), 0)


def _pinball(tau: Any) -> Loss:
    return lambda y, z: np.maximum(LONG(tau) * (y - z), (1 - LONG(tau)) * (z - y))


def _squared(y: Array, z: Array) -> Array:
    return (y - z) ** 2 / 2


def _must(holds: Callable[[Array, Array], Array]) -> Loss:
    return lambda y, z: np.where(holds(y, z), 0, np.inf)


LOSSES: dict[str, Callable[[Any], Loss]] = {
    "Squared": lambda loss: _squared,
    "Absolute": lambda loss: _tube(0.0),
    "Pinball": lambda loss: _pinball(loss.tau),
    "Huber": lambda loss: _huber(loss.delta),
    "EpsilonInsensitive": lambda loss: _tube(loss.epsilon),
    "SquaredEpsilonInsensitive": lambda loss: lambda y, z: _tube(loss.epsilon)(y, z) ** 2 / 2,
    "Logistic": lambda loss: _logistic,
    "Hinge": lambda loss: _hinge,
    "SquaredHinge": lambda loss: lambda y, z: _hinge(y, z) ** 2 / 2,
    "Exponential": lambda loss: lambda y, z: np.exp(-y * z),
    "Poisson": lambda loss: _poisson,
    "Linex": lambda loss: lambda y, z: np.expm1(y - z) - (y - z),
    "HardMargin": lambda loss: _must(lambda y, z: y * z >= 1),
    "Interpolation": lambda loss: _must(lambda y, z: z == y),
}


def _l2(lam: Any) -> Callable[[Array], Array]:
    return lambda w: LONG(lam) / 2 * (w * w).sum(-1)


def _l1(lam: Any) -> Callable[[Array], Array]:
    return lambda w: LONG(lam) * np.abs(w).sum(-1)


def _net(lam: Any, share: Any) -> Callable[[Array], Array]:
    rho = LONG(share)
    return lambda w: LONG(lam) * (rho * np.abs(w).sum(-1) + (1 - rho) / 2 * (w * w).sum(-1))


def _groups(lam: Any, labels: Any) -> Callable[[Array], Array]:
    masks = [np.asarray(labels) == label for label in np.unique(labels)]
    return lambda w: (
        LONG(lam) * sum(np.sqrt(LONG(mask.sum()) * (w[..., mask] ** 2).sum(-1)) for mask in masks)
    )


def _within(inside: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda w: np.where(inside(w), 0, np.inf)


PENALTIES: dict[str, Callable[[Any], Callable[[Array], Array]]] = {
    "Zero": lambda p: lambda w: 0 * w.sum(-1),
    "L2": lambda p: _l2(p.lam),
    "L1": lambda p: _l1(p.lam),
    "ElasticNet": lambda p: _net(p.lam, p.l1_ratio),
    "L1Ball": lambda p: _within(lambda w: np.abs(w).sum(-1) <= LONG(p.t)),
    "L2Ball": lambda p: _within(lambda w: (w * w).sum(-1) <= LONG(p.t) ** 2),
    "Box": lambda p: _within(lambda w: ((p.lo <= w) & (w <= p.hi)).all(-1)),
    "Nonnegative": lambda p: _within(lambda w: (w >= 0).all(-1)),
    "NonnegativeElasticNet": lambda p: (
        lambda w: np.where((w >= 0).all(-1), _net(p.lam, p.l1_ratio)(w), np.inf)
    ),
}


def parts_of(call: Call) -> tuple[Loss, Callable[[Array], Array], Any] | None:
    """Loss, penalty and the factor of the loss, "mean" or a number; None where not written here."""
    told = {"lam": 0.0, "C": 1.0} | call.arguments
    lam, C = told["lam"], told["C"]
    squared = {
        "LeastSquares": lambda: _l2(0.0),
        "Ridge": lambda: _l2(lam),
        "Lasso": lambda: _l1(lam),
        "ElasticNet": lambda: _net(lam, told["l1_ratio"]),
        "GroupLasso": lambda: _groups(lam, told["groups"]),
        "ConstrainedRidge": lambda: _within(lambda w: (w * w).sum(-1) <= LONG(told["radius"]) ** 2),
        "ConstrainedLasso": lambda: _within(lambda w: np.abs(w).sum(-1) <= LONG(told["radius"])),
    }
    if call.model in squared:
        return _squared, squared[call.model](), "mean"
    match call.model:
        case "LearningProblem":
            loss = LOSSES.get(type(told["loss"]).__name__)
            penalty = PENALTIES[type(told["penalty"]).__name__](told["penalty"])
            scale = told.get("loss_scale", "mean")
            return loss and (loss(told["loss"]), penalty, 1.0 if scale == "sum" else scale)
        case "LogisticRegression":
            kind = {"l2": _l2(lam), "l1": _l1(lam), None: _l2(0.0)}
            return _logistic, kind[told.get("penalty", "l2")], "mean"
        case "HuberRegression":
            return _huber(told["delta"]), _l2(lam), "mean"
        case "PoissonRegression":
            return _poisson, _l2(lam), "mean"
        case "QuantileRegression":
            return _pinball(told["tau"]), _l1(lam), "mean"
        case "KernelRidge":
            return _squared, _l2(lam), "mean"
        case "KernelProblem":
            loss, scale = LOSSES.get(type(told["loss"]).__name__), told.get("loss_scale", "mean")
            return loss and (loss(told["loss"]), _l2(lam), 1.0 if scale == "sum" else scale)
        case "KernelLogistic":
            return _logistic, _l2(lam), "mean"
        case "SoftMarginSVM" | "KernelSVM":
            return _hinge, _l2(1.0), C
        case "SVR" | "KernelSVR":
            return _tube(told["epsilon"]), _l2(1.0), C
        case "HardMarginSVM":
            return _must(lambda y, z: y * z >= 1), _l2(1.0), 1.0
        case "MinimumNorm":
            return _must(lambda y, z: z == y), _l2(1.0), 1.0
    return None


def kernel_matrix(kernel: Any, X: Array) -> Array | None:
    """K of the samples; None where it is not written here."""
    inner = X @ X.T
    apart = ((X[:, None] - X) ** 2).sum(-1)
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

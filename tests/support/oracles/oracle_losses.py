"""The losses by formulas of their own: values, conjugates, CVXPY atoms. See ``oracle.py``."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from scipy.special import xlogy

from convexml.losses import Loss
from convexml.numerics import Array


def loss_values(loss: Loss, y: Array, z: Array) -> Array:
    """l(y, z); 0 for indicators, whose constraint is judged by ``off_margin``."""
    r = z - y
    with np.errstate(over="ignore"):
        match loss.name:
            case "squared":
                return r**2 / 2
            case "absolute":
                return abs(r)
            case "pinball":
                return np.where(r < 0, -loss.tau * r, (1 - loss.tau) * r)
            case "huber":
                far = loss.delta * abs(r) - loss.delta**2 / 2
                return np.where(abs(r) <= loss.delta, r**2 / 2, far)
            case "epsilon_insensitive":
                return np.maximum(abs(r) - loss.epsilon, 0)
            case "squared_epsilon_insensitive":
                return np.maximum(abs(r) - loss.epsilon, 0) ** 2 / 2
            case "logistic":
                return np.logaddexp(0, -y * z)
            case "hinge":
                return np.maximum(1 - y * z, 0)
            case "squared_hinge":
                return np.maximum(1 - y * z, 0) ** 2 / 2
            case "exponential":
                return np.exp(-y * z)
            case "poisson":
                return np.exp(z) - y * z + xlogy(y, y) - y
            case "linex":
                return np.exp(-r) + r - 1
    return np.zeros_like(z)


def off_margin(loss: Loss, y: Array, z: Array) -> Array:
    """How far the predictions miss the constraint of an indicator."""
    match loss.name:
        case "hard_margin":
            return np.maximum(1 - y * z, 0)
        case "interpolation":
            return abs(z - y)
    return np.zeros_like(z)


def conjugate_box(loss: Loss, y: Array) -> tuple[Array, Array]:
    """The interval of v on which l*(y, v) is finite."""
    one, inf = np.ones_like(y), np.full_like(y, np.inf)
    match loss.name:
        case "absolute" | "epsilon_insensitive":
            return -one, one
        case "pinball":
            return -loss.tau * one, (1 - loss.tau) * one
        case "huber":
            return -loss.delta * one, loss.delta * one
        case "logistic" | "hinge":
            return np.where(y > 0, -one, 0), np.where(y > 0, 0, one)
        case "squared_hinge" | "exponential" | "hard_margin":
            return np.where(y > 0, -inf, 0), np.where(y > 0, 0, inf)
        case "poisson":
            return -y, inf
        case "linex":
            return -inf, one
    return -inf, inf


def conjugate_values(loss: Loss, y: Array, v: Array) -> Array:
    """l*(y, v) for v in ``conjugate_box``."""
    p = -y * v
    match loss.name:
        case "squared" | "huber":
            return v**2 / 2 + v * y
        case "epsilon_insensitive":
            return v * y + loss.epsilon * abs(v)
        case "squared_epsilon_insensitive":
            return v * y + loss.epsilon * abs(v) + v**2 / 2
        case "logistic":
            return xlogy(p, p) + xlogy(1 - p, 1 - p)
        case "squared_hinge":
            return y * v + v**2 / 2
        case "exponential":
            return xlogy(p, p) - p
        case "poisson":
            return xlogy(v + y, v + y) - (v + y) - (xlogy(y, y) - y)
        case "linex":
            return xlogy(1 - v, 1 - v) + v + v * y
    return v * y


def loss_expression(loss: Loss, y: Array, z: cp.Expression) -> cp.Expression:
    """l(y, z) as CVXPY atoms."""
    r, margin = z - y, cp.multiply(y, z)
    match loss.name:
        case "squared":
            return cp.square(r) / 2
        case "absolute":
            return cp.abs(r)
        case "pinball":
            return cp.maximum(-loss.tau * r, (1 - loss.tau) * r)
        case "huber":
            return cp.huber(r, loss.delta) / 2
        case "epsilon_insensitive":
            return cp.pos(cp.abs(r) - loss.epsilon)
        case "squared_epsilon_insensitive":
            return cp.square(cp.pos(cp.abs(r) - loss.epsilon)) / 2
        case "logistic":
            return cp.logistic(-margin)
        case "hinge":
            return cp.pos(1 - margin)
        case "squared_hinge":
            return cp.square(cp.pos(1 - margin)) / 2
        case "exponential":
            return cp.exp(-margin)
        case "poisson":
            return cp.exp(z) - cp.multiply(y, z) + (xlogy(y, y) - y)
        case "linex":
            return cp.exp(-r) + r - 1
    raise LookupError(f"tests/support/oracles/oracle_losses.py does not know the loss {loss!r}")

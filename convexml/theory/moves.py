"""Whether the iterates moved as the algorithm says: its steps, recomputed from the points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..numerics import ROUNDING, Array
from ..objective import Objective
from .claim import Claim
from .trajectory import Trajectory, Visited

ALIKE = 1e-9
"""Two ways to compute one move agree to this share of it."""

Step = Callable[[Array, float], Array]
"""(x, gamma) -> the next point."""


def pack(point: Visited) -> Array:
    """x = (w, b)."""
    return np.append(point.w, point.b)


def split(objective: Objective, x: Array) -> tuple[Array, Any]:
    """(w, b) of x; b is a number, or an array of K intercepts."""
    d = objective.d
    return x[:d], float(x[d]) if len(x) == d + 1 else x[d:]


def loss_gradient(objective: Objective, x: Array) -> Array:
    """The gradient of F(X w + b 1) in (w, b)."""
    w, b = split(objective, x)
    u = objective.loss_derivative(objective.predict(w, b))
    shift = u.sum(axis=0) if objective.fit_intercept else np.zeros_like(b)
    return np.append(objective.design.rmatvec(u), shift)


def gradient(objective: Objective, x: Array) -> Array:
    """The gradient of P in (w, b)."""
    return np.append(*objective.gradient(*split(objective, x)))


def subgradient(objective: Objective, x: Array) -> Array:
    """The subgradient of P that the subgradient method takes."""
    slope = loss_gradient(objective, x)
    slope[: objective.d] += objective.penalty.subgradient(x[: objective.d])
    return slope


def prox(objective: Objective, x: Array, step: float) -> Array:
    """argmin over x' of step Omega(w') + |x' - x|^2 / 2."""
    return np.append(objective.penalty.prox(x[: objective.d], step), x[objective.d :])


def descent_step(objective: Objective) -> Step:
    """x - gamma grad P(x)."""
    return lambda x, gamma: x - gamma * gradient(objective, x)


def proximal_step(objective: Objective) -> Step:
    """prox(x - gamma grad f(x))."""
    return lambda x, gamma: prox(objective, x - gamma * loss_gradient(objective, x), gamma)


def room(*points: Array) -> float:
    """The rounding of a move between points: relative to the move (first to last), and to them."""
    sizes = sum(float(np.linalg.norm(each)) for each in points)
    return ALIKE * float(np.linalg.norm(points[-1] - points[0])) + ROUNDING * sizes


def deviations(statement: str, rows: Sequence[tuple[float, float]]) -> Claim:
    """The claim that points lie where they should: (distance, room) for each iteration."""
    measured, allowed = np.array(rows, dtype=float).reshape(-1, 2).T
    at = np.arange(1, len(measured) + 1)
    return Claim(statement, measured, np.zeros(len(at)), allowed, at, is_rate=False)


def follows(statement: str, run: Trajectory, step: Step) -> Claim:
    """The claim that each iterate is one ``step`` of the length told from the one before."""

    def rows() -> Iterator[tuple[float, float]]:
        for before, after in pairwise(run.replay()):
            x, reached = pack(before), pack(after)
            goal = step(x, float(after.facts.get("step", np.nan)))
            yield float(np.linalg.norm(reached - goal)), room(x, goal, reached)

    return deviations(statement, list(rows()))

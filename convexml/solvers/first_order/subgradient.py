"""The projected subgradient method with a constant step, averaged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...numerics import Array
from ...objective import Objective
from ...theory.constants import lipschitz
from ...validation import positive_number
from ..composite import Composite
from ..driver import Iterate
from ..steps import constant


def subgradient(
    objective: Objective,
    w: Array,
    b: float,
    *,
    step: float | None = None,
    reach: float | None = None,
    horizon: int = 10_000,
) -> Iterator[Iterate]:
    """Iterate x <- project(x - step * v), v in dP(x), and yield the mean of all x so far.

    For every T, P(mean of T) - P* <= |x_0 - x*|^2 / (2 step T) + step rho^2 / 2. The default step
    B / (rho sqrt(horizon)) makes that B rho / sqrt(T) at T = horizon, B = ``reach`` >= |x_0 - x*|.
    Without a better guess B is the radius of the ball that is projected onto, or P(x_0) / rho.

    The projection is that of the penalty's constraint; where the penalty is mu-strongly convex, it
    is onto |w| <= sqrt(2 P(x_0) / mu), which holds the solution and keeps the subgradients bounded.
    """
    P = Composite(objective)
    x = P.pack(objective.penalty.project(w), b)
    ball = _ball(objective, P.value(x))
    rho = lipschitz(objective, ball)
    if reach is None:
        reach = (ball if np.isfinite(ball) else P.value(x) / (rho or 1.0)) or 1.0
    reach = positive_number(reach, "subgradient", "reach")
    eta = constant(step, "subgradient", lambda: reach / ((rho or 1.0) * np.sqrt(horizon)))
    mean, count = x, 1
    while True:
        yield P.iterate(mean, step=eta, ball=ball)
        x = _project(objective, x - eta * P.subgradient(x), ball)
        count += 1
        mean = mean + (x - mean) / count


def _ball(objective: Objective, value: float) -> float:
    """The radius of a ball around 0 that contains w*: mu |w*|^2 / 2 <= P* <= value."""
    mu = objective.penalty.strong_convexity
    return float(np.sqrt(2.0 * value / mu)) if mu > 0.0 else np.inf


def _project(objective: Objective, x: Array, ball: float) -> Array:
    d = objective.d
    w = objective.penalty.project(x[:d])
    norm = float(np.linalg.norm(w))
    return Composite.pack(w * min(1.0, ball / norm) if norm > 0.0 else w, x[d:])

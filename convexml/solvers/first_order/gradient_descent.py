"""Gradient descent: constant step, Armijo's backtracking, or the Barzilai-Borwein step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...numerics import Array
from ...objective import Objective
from ...theory.constants import smoothness
from ..composite import Composite
from ..driver import Iterate
from ..steps import Backtracking, Schedule, StepRule, step_rule


def gradient_descent(
    objective: Objective, w: Array, b: float, *, step: float | str | StepRule | None = None
) -> Iterator[Iterate]:
    """Iterate x <- x - step * grad P(x), x = (w, b).

    ``step`` is a number, "backtracking", "barzilai_borwein", or a rule from ``solvers.steps``. The
    default is 1/L where the curvature is bounded, else backtracking. With a step of at most 1/L,
    |x_T - x*|^2 <= (1 - step mu)^T |x_0 - x*|^2 and P(x_T) - P* <= |x_0 - x*|^2 / (2 step T); with
    a search, P does not increase.
    """
    P = Composite(objective)
    x = P.pack(w, b)
    rule = _rule(objective, step)
    choose = rule.start(P.value)
    searched = not isinstance(rule, Schedule)
    gamma = rule(0) if isinstance(rule, Schedule) else np.nan
    while True:
        gradient = P.gradient(x)
        yield P.iterate(x, step=gamma, searched=searched)
        gamma = choose(x, gradient)
        if gamma == 0.0:
            return
        x = x - gamma * gradient


def _rule(objective: Objective, step: float | str | StepRule | None) -> StepRule:
    L = smoothness(objective)
    if step is None and not np.isfinite(L):
        return Backtracking()
    return step_rule(step, "gradient_descent", lambda: 1.0 / L if 0.0 < L < np.inf else 1.0)

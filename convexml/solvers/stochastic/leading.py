"""The rounds of regularised leaders, in Euclid's geometry and in that of the simplex."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...compiled import compiled
from ...numerics import Array
from ...objective import Objective
from ...validation import positive_integer
from ..composite import Composite
from ..driver import Iterate
from .online_gradient_descent import project_onto
from .sample_steps import add, decay, penalty_value, predict, slope
from .samples import STEP, PlainSamples


def root(objective: Objective, horizon: int | None, owner: str) -> float:
    """The square root of the number of rounds that the step is made for."""
    rounds = 100 * objective.n if horizon is None else positive_integer(horizon, owner, "horizon")
    return float(np.sqrt(rounds))


def follow(
    objective: Objective, S: Any, x: Array, step: float, ball: float, *, entropic: bool
) -> Iterator[Iterate]:
    """The means of the leaders, pass after pass."""
    P, goal, n = Composite(objective), np.zeros_like(x) if entropic else x.copy(), objective.n
    mean, T, suffered = x.copy(), 0, 0.0
    while True:
        yield P.iterate(mean.copy(), step=step, steps=T, suffered=suffered, ball=ball)
        scores, paid = leading_rounds(S, x, goal, mean, T + 1, step, ball, entropic)
        losses = objective.loss.value(objective.y, scores)
        suffered += float(np.sum(n * objective.c * losses)) + paid
        T += n
        P.passes += 2.0


@compiled(work=lambda S, *others: (STEP + len(S.l1)) * len(S.y))
def leading_rounds(
    S: PlainSamples,
    x: Array,
    goal: Array,
    mean: Array,
    count: int,
    step: float,
    ball: float,
    entropic: bool,
) -> Any:
    """Play every sample once, ``goal`` = x_0 - step (v_1 + ...); predictions and sum of Omega."""
    scores, paid = np.empty(len(S.y)), 0.0
    for i in range(len(S.y)):
        scores[i] = predict(S, i, x)
        paid += penalty_value(S, x)
        goal -= x
        decay(S, x, step)
        goal += x
        add(S, i, goal, -step * slope(S, i, scores[i]))
        x[:] = goal
        if entropic:
            spread_over_corners(x, ball)
        else:
            project_onto(x, ball, False)
        mean += (x - mean) / (count + i + 1)
    return scores, paid


@compiled
def spread_over_corners(x: Array, t: float) -> None:
    """w_j = t sinh(t x_j) / sum_k cosh(t x_k), in exponentials of numbers <= 0."""
    total, most = 0.0, t * np.max(np.abs(x[:-1]))
    for j in range(len(x) - 1):
        up, down = np.exp(t * x[j] - most), np.exp(-t * x[j] - most)
        x[j] = up - down
        total += up + down
    x[:-1] *= t / total

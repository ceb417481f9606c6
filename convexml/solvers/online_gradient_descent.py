"""Online gradient descent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import InputError
from ..numerics import Array
from ..objective import Objective
from ..theory import round_slope, strong_convexity
from ..validation import positive_integer, positive_number
from .compiled import compiled
from .composite import Composite
from .driver import Iterate
from .sample_steps import add, decay, penalty_value, predict, project, slope
from .samples import Samples, samples
from .steps import Constant, step_rule


def online_gradient_descent(
    objective: Objective,
    w: Array,
    b: float,
    *,
    step: float | None = None,
    ball: float | None = None,
    horizon: int | None = None,
) -> Iterator[Iterate]:
    """Meet the samples in their order, pass after pass: suffer f_i(x), then x <- proj(x - step v).

    v is a subgradient of f_i = n c_i l(y_i, .) + Omega. Against the best fixed point, which the
    convex problem finds, the regret after T rounds is at most B^2 / (2 step) + step G^2 T / 2: with
    the default step B / (G sqrt(horizon)) that is B G sqrt(T) at T = horizon, 100 n by default.

    The projection is that of the penalty's constraint and onto |(w, b)| <= B = ``ball``. Where it
    is not given, B follows from strong convexity, P* >= 0; without it there is none, and the step
    takes P(x_0) / G for B. One iterate for each pass: the mean of all points so far.
    """
    P, S, n, owner = (
        Composite(objective),
        samples(objective),
        objective.n,
        "online_gradient_descent",
    )
    x = P.pack(objective.penalty.project(w), b)
    ball = _ball(objective, P, x) if ball is None else positive_number(ball, owner, "ball")
    horizon = 100 * n if horizon is None else positive_integer(horizon, owner, "horizon")
    x *= min(1.0, ball / (float(np.linalg.norm(x)) or 1.0))
    G = round_slope(objective, ball)
    if not np.isfinite(G):
        raise InputError(f"{owner}: the slope of the loss is unbounded; pass ball >= |(w*, b*)|.")
    reach = ball if np.isfinite(ball) else P.value(x) / G
    rule = step_rule(step, owner, lambda: reach / (G * float(np.sqrt(horizon))))
    if not isinstance(rule, Constant):
        raise InputError(f"{owner}: the theorem is for a constant step, got {rule!r}.")
    mean, T, suffered = x.copy(), 0, 0.0
    while True:
        yield P.iterate(mean.copy(), step=rule.step, steps=T, suffered=suffered, ball=ball)
        scores, charges = rounds(S, x, mean, T + 1, rule.step, ball)
        losses = objective.loss.value(objective.y, scores)
        suffered += float(np.sum(n * objective.c * losses + charges))
        T += n
        P.passes += 2.0


def _ball(objective: Objective, P: Composite, x: Array) -> float:
    """A bound on |x*|: mu |x_0 - x*|^2 / 2 <= P(x_0) - P* <= P(x_0)."""
    mu = strong_convexity(objective)
    if mu == 0.0:
        return np.inf
    return float(np.linalg.norm(x) + np.sqrt(2.0 * P.value(x) / mu))


@compiled
def rounds(S: Samples, x: Array, mean: Array, count: int, step: float, ball: float) -> Any:
    """Play every sample once; returns the predictions made and the penalties Omega(x) paid."""
    scores, charges = np.empty(len(S.y)), np.empty(len(S.y))
    for i in range(len(S.y)):
        scores[i], charges[i] = predict(S, i, x), penalty_value(S, x)
        s = slope(S, i, scores[i])
        decay(S, x, step)
        add(S, i, x, -step * s)
        project(S, x)
        norm = np.sqrt(x @ x)
        if norm > ball:
            x *= ball / norm
        mean += (x - mean) / (count + i + 1)
    return scores, charges

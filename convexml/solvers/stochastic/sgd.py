"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...compiled import compiled
from ...numerics import Array
from ...objective import Objective
from ...theory.constants import sample_smoothness
from ...validation import positive_integer
from ..composite import Composite
from ..driver import Iterate
from ..steps import Constant, Schedule, schedule
from .lazy_steps import HIGH, LOW, is_scalable, product, push, settle
from .sample_steps import add, decay, predict, slope
from .samples import STEP, PlainSamples, samples


def sgd(
    objective: Objective,
    w: Array,
    b: float,
    *,
    step: Any = None,
    batch: int = 1,
    average: bool = False,
    every: int | None = None,
    seed: int = 0,
) -> Iterator[Iterate]:
    """Step along the gradient of f_i, for i drawn at random with replacement: P = mean of f_i.

    With a constant step <= 1 / (2 L_max), the default, E|x_T - x*|^2 falls at a linear rate to a
    floor, 2 (step / mu) sigma*^2 / batch, and no further. Smaller and smaller steps,
    ``steps.InverseTime`` or ``steps.InverseSqrt``, have no floor; ``average`` yields the mean of
    all points so far (Polyak and Ruppert). One iterate for ``every`` steps, n / batch by default.
    """
    P, S, rng = Composite(objective), samples(objective), np.random.default_rng(seed)
    batch = positive_integer(batch, "sgd", "batch")
    every = positive_integer(-(-objective.n // batch) if every is None else every, "sgd", "every")
    rule = schedule(step, "sgd", lambda: 0.5 / (sample_smoothness(objective) or 1.0))
    move = scaled_steps if is_scalable(S) else stochastic_steps
    x, T = P.pack(w, b), 0
    mean = x.copy()
    while True:
        yield P.iterate((mean if average else x).copy(), step=rule(T), steps=T, batch=batch)
        draws = rng.integers(objective.n, size=(every, batch))
        move(S, x, mean, T + 1 if average else 0, draws, step_sizes(rule, T, every))
        T += every
        P.passes += 2.0 * every * batch / objective.n


@compiled(work=lambda S, x, mean, count, draws, steps: STEP * draws.size)
def stochastic_steps(
    S: PlainSamples, x: Array, mean: Array, count: int, draws: Array, steps: Array
) -> None:
    """Move x once for each row of ``draws``; ``mean`` stays that of the ``count`` points so far."""
    slopes = np.empty(draws.shape[1])
    for t in range(len(draws)):
        for k, i in enumerate(draws[t]):
            slopes[k] = slope(S, i, predict(S, i, x))
        decay(S, x, steps[t])
        for k, i in enumerate(draws[t]):
            add(S, i, x, -steps[t] * slopes[k] / len(slopes))
        if count > 0:
            mean += (x - mean) / (count + t + 1)


@compiled(work=lambda S, x, mean, count, draws, steps: STEP * draws.size)
def scaled_steps(
    S: PlainSamples, x: Array, mean: Array, count: int, draws: Array, steps: Array
) -> None:
    """The same in the nonzeros of the rows drawn: w = a v, and its sum is A v + r."""
    slopes = np.empty(draws.shape[1])
    v, r, a, A = x[:-1], mean[:-1], 1.0, 0.0
    mean *= count
    for t in range(len(draws)):
        for k, i in enumerate(draws[t]):
            slopes[k] = slope(S, i, a * product(S, i, v) + x[-1])
        a *= 1.0 - steps[t] * S.l2[0]
        if not LOW <= abs(a) <= HIGH:
            settle(v, r, a, A)
            a, A = 1.0, 0.0
        for k, i in enumerate(draws[t]):
            move = -steps[t] * slopes[k] / len(slopes)
            push(S, i, v, r, A, move / a)
            if S.intercept:
                x[-1] += move
        if count > 0:
            A += a
            mean[-1] += x[-1]
    settle(v, r, a, A)
    mean /= count + len(draws)


def step_sizes(rule: Schedule, start: int, count: int) -> Array:
    """The steps of iterations start, ..., start + count - 1."""
    if isinstance(rule, Constant):
        return np.full(count, rule.step)
    return np.array([rule(t) for t in range(start, start + count)], dtype=float)

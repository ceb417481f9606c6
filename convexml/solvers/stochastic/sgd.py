"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...compiled import compiled
from ...errors import InputError
from ...numerics import Array
from ...problem import Objective
from ...theory import pegasos_slope, round_slope
from ...theory.constants import sample_smoothness
from ...validation import positive_integer
from ..composite import Composite
from ..driver import Iterate
from ..steps import Constant, InverseTime, Schedule, constant, schedule
from .samples import (
    HIGH,
    LOW,
    STEP,
    PlainSamples,
    add,
    decay,
    is_scalable,
    predict,
    product,
    push,
    samples,
    settle,
    slope,
)


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


# Stochastic subgradients.


def stochastic_subgradient(
    objective: Objective,
    w: Array,
    b: float,
    *,
    step: float | None = None,
    horizon: int | None = None,
    seed: int = 0,
) -> Iterator[Iterate]:
    """Step along a subgradient of f_i, i drawn at random: P is the mean of f_i = n c_i l_i + Omega.

    E P(mean of T points) - P* <= |x_0 - x*|^2 / (2 step T) + step G^2 / 2, G the longest
    subgradient of an f_i: online gradient descent on samples that are drawn. The default step
    B / (G sqrt(horizon)), 100 n by default, takes P(x_0) / G for B. One iterate for each n steps.
    """
    owner, n = "stochastic_subgradient", objective.n
    P, S, rng = Composite(objective), samples(objective), np.random.default_rng(seed)
    horizon = 100 * n if horizon is None else positive_integer(horizon, owner, "horizon")
    G = round_slope(objective) or 1.0
    B = objective.primal(w, b) / G or 1.0
    rule = Constant(constant(step, owner, lambda: B / (G * float(np.sqrt(horizon)))))
    x, T = P.pack(w, b), 1
    mean, move = x.copy(), scaled_steps if is_scalable(S) else stochastic_steps
    while True:
        yield P.iterate(mean.copy(), step=rule.step, steps=T)
        draws = rng.integers(n, size=(n, 1))
        move(S, x, mean, T, draws, step_sizes(rule, T - 1, n))
        T += n
        P.passes += 2.0


# Pegasos.


def pegasos(objective: Objective, w: Array, b: float, *, seed: int = 0) -> Iterator[Iterate]:
    """Stochastic subgradient steps 1 / (lam t) on loss + (lam/2)|w|^2, averaged: one pass each.

    E P(mean of T points) - P* <= rho^2 (1 + log T) / (2 lam T), rho = 2 max_i n c_i |x_i| for
    the hinge (Shalev-Shwartz et al., 2011, https://doi.org/10.1007/s10107-010-0420-4). The start is
    projected onto |w| <= rho / (2 lam), where all later points lie, w* included.
    """
    P, S, rng = Composite(objective), samples(objective), np.random.default_rng(seed)
    n, lam = objective.n, objective.penalty.strong_convexity
    rule, far = InverseTime(1.0 / lam), 0.5 * pegasos_slope(objective) / lam
    norm = float(np.linalg.norm(w))
    x, T = P.pack(w * min(1.0, far / norm) if norm > 0.0 else w, 0.0), 1
    mean, move = x.copy(), scaled_steps if is_scalable(S) else stochastic_steps
    while True:
        yield P.iterate(mean.copy(), steps=T)
        draws = rng.integers(n, size=(n, 1))
        move(S, x, mean, T, draws, step_sizes(rule, T - 1, n))
        T += n
        P.passes += 2.0


# The perceptron.


def perceptron(
    objective: Objective, w: Array, b: float, *, max_passes: int = 1000
) -> Iterator[Iterate]:
    """Add y_i (x_i, 1) wherever y_i (w.x_i + b) <= 0, from 0, until there is no mistake.

    On separable data that takes at most (max|x_i|^2 + 1)(|w|^2 + b^2) updates, for any (w, b) with
    y_i (w.x_i + b) >= 1 (Novikoff, 1962). One iterate for each update; the last one, without a
    mistake, is scaled to margin 1. After ``max_passes`` over the data with a mistake in each the
    data are taken for inseparable: the model then looks for multipliers that prove it.
    """
    if np.any(w):
        raise InputError("perceptron: it starts from 0, do not pass w0.")
    max_passes = positive_integer(max_passes, "perceptron", "max_passes")
    P, S, n = Composite(objective), samples(objective), objective.n
    x, seen, updates = np.zeros(objective.d + 1), 0, 0
    yield P.iterate(x.copy(), updates=0)
    correct = next_mistake(S, x, 0)
    while correct < n and seen < max_passes * n:
        seen += correct + 1
        i = (seen - 1) % n
        add(S, i, x, objective.y[i])
        updates += 1
        correct = next_mistake(S, x, seen % n)
        P.passes += (correct + 1.0) / n
        if correct == n:
            w, b = P.split(x)
            yield P.iterate(x / np.min(objective.y * objective.predict(w, b)), updates=updates)
            return
        yield P.iterate(x.copy(), updates=updates)


@compiled(work=lambda S, x, start: 5.0 * len(S.y))
def next_mistake(S: PlainSamples, x: Array, start: int) -> int:
    """How many samples from ``start`` on, round the data, are right before the first mistake."""
    n = len(S.y)
    for k in range(n):
        i = (start + k) % n
        if S.y[i] * predict(S, i, x) <= 0.0:
            return k
    return n

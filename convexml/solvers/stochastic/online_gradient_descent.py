"""Online gradient descent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...compiled import compiled
from ...numerics import Array
from ...objective import Objective
from ...theory import round_slope, strong_convexity
from ...theory.constants.slopes import has_bounded_slope
from ...validation import positive_integer, positive_number
from ..composite import Composite
from ..driver import Iterate
from ..steps import constant
from .lazy_steps import HIGH, LOW, is_scalable, is_sinkable, product, push, settle, sunk
from .sample_steps import add, decay, penalty_value, predict, project, slope
from .samples import ENTRY, STEP, PlainSamples, samples


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

    The projection is that of the penalty's constraint and onto |w| <= B = ``ball``; onto
    |(w, b)| <= B where the slope of the loss is unbounded. By default B follows from strong
    convexity and P* >= 0; where there is none nothing is projected, and the step takes P(x_0) / G
    for B. One iterate for each pass: the mean of all points so far.
    """
    P, S, n, owner = (
        Composite(objective),
        samples(objective),
        objective.n,
        "online_gradient_descent",
    )
    x, whole = P.pack(objective.penalty.project(w), b), not has_bounded_slope(objective)
    ball = reach(objective, x) if ball is None else positive_number(ball, owner, "ball")
    horizon = 100 * n if horizon is None else positive_integer(horizon, owner, "horizon")
    G = round_slope(objective, ball)
    G = G or 1.0
    B = (ball if np.isfinite(ball) else objective.primal(w, b) / G) or 1.0
    eta = constant(step, owner, lambda: B / (G * float(np.sqrt(horizon))))
    project_onto(x, ball, whole)
    mean, T, suffered = x.copy(), 0, 0.0
    play = scaled_rounds if is_scalable(S, ball) else rounds
    if is_sinkable(S, ball):
        play = sunk_rounds
    while True:
        yield P.iterate(mean.copy(), step=eta, steps=T, suffered=suffered, ball=ball)
        scores, paid = play(S, x, mean, T + 1, eta, ball, whole)
        losses = objective.loss.value(objective.y, scores)
        suffered += float(np.sum(n * objective.c * losses)) + paid
        T += n
        P.passes += 2.0


def reach(objective: Objective, x: Array) -> float:
    """A ball around 0 with the solution in it: mu |x_0 - x*|^2 / 2 <= P(x_0) - P* <= P(x_0)."""
    value = objective.primal(x[:-1], x[-1])
    if has_bounded_slope(objective):  # a bound on w* alone will do: mu |w*|^2 / 2 <= P*
        mu, start = objective.penalty.strong_convexity, 0.0
    else:
        mu, start = strong_convexity(objective), float(np.linalg.norm(x))
    return start + float(np.sqrt(2.0 * value / mu)) if mu > 0.0 else np.inf


@compiled(work=lambda S, *others: STEP * len(S.y))
def rounds(
    S: PlainSamples, x: Array, mean: Array, count: int, step: float, ball: float, whole: bool
) -> Any:
    """Play every sample once; returns the predictions, and the sum of the penalties Omega(x)."""
    scores, paid = np.empty(len(S.y)), 0.0
    for i in range(len(S.y)):
        scores[i] = predict(S, i, x)
        paid += penalty_value(S, x)
        s = slope(S, i, scores[i])
        decay(S, x, step)
        add(S, i, x, -step * s)
        project(S, x)
        project_onto(x, ball, whole)
        mean += (x - mean) / (count + i + 1)
    return scores, paid


@compiled(work=lambda S, *others: STEP * len(S.y))
def scaled_rounds(
    S: PlainSamples, x: Array, mean: Array, count: int, step: float, ball: float, whole: bool
) -> Any:
    """The same in the nonzeros of each row: w = a v, and its sum is A v + r."""
    scores, paid = np.empty(len(S.y)), 0.0
    v, r, a, A = x[:-1], mean[:-1], 1.0, 0.0
    square = float(v @ v)
    mean *= count
    for i in range(len(S.y)):
        scores[i] = a * product(S, i, v) + x[-1]
        paid += 0.5 * S.l2[0] * a * a * square
        s = slope(S, i, scores[i])
        a *= 1.0 - step * S.l2[0]
        if not LOW <= abs(a) <= HIGH:
            settle(v, r, a, A)
            a, A, square = 1.0, 0.0, float(v @ v)
        square += push(S, i, v, r, A, -step * s / a)
        if S.intercept:
            x[-1] -= step * s
        norm = abs(a) * np.sqrt(max(square, 0.0))
        if norm > S.radius:
            a *= S.radius / norm
            norm = S.radius
        size = np.sqrt(norm * norm + x[-1] * x[-1]) if whole else norm
        if size > ball:
            a *= ball / size
            if whole:
                x[-1] *= ball / size
        A += a
        mean[-1] += x[-1]
    settle(v, r, a, A)
    mean /= count + len(S.y)
    return scores, paid


@compiled(work=lambda S, *others: STEP * len(S.y) + ENTRY * len(S.values))
def sunk_rounds(
    S: PlainSamples, x: Array, mean: Array, count: int, step: float, ball: float, whole: bool
) -> Any:
    """The same with an l1 norm: w_j makes the steps towards 0 that it owes when it is met."""
    scores, paid, made = np.empty(len(S.y)), 0.0, np.zeros(len(x) - 1, np.int64)
    starts, columns, values, l1 = S.starts, S.columns, S.values, S.l1
    mean *= count
    for i in range(len(S.y)):
        score = x[-1]
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            x[j], total, sizes = sunk(x[j], i - made[j], step * l1[j])
            mean[j] += total
            paid += l1[j] * sizes
            score += values[k] * x[j]
        scores[i] = score
        s = slope(S, i, score)
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            paid += l1[j] * abs(x[j])
            x[j] -= step * (l1[j] * np.sign(x[j]) + s * values[k])
            mean[j] += x[j]
            made[j] = i + 1
        if S.intercept:
            x[-1] -= step * s
        mean[-1] += x[-1]
    for j in range(len(made)):
        x[j], total, sizes = sunk(x[j], len(S.y) - made[j], step * l1[j])
        mean[j] += total
        paid += l1[j] * sizes
    mean /= count + len(S.y)
    return scores, paid


@compiled
def project_onto(x: Array, ball: float, whole: bool) -> None:
    """The nearest (w, b) with |w| <= ball, or with |(w, b)| <= ball for the whole of x."""
    part = x if whole else x[:-1]
    norm = np.sqrt(part @ part)
    if norm > ball:
        part *= ball / norm

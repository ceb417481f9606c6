"""Online gradient descent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...compiled import compiled
from ...numerics import Array
from ...penalties import L2Ball, Zero
from ...problem import Objective
from ...theory import corner_slope, round_slope, strong_convexity
from ...theory.constants import has_bounded_slope
from ...validation import positive_integer, positive_number
from ..composite import Composite
from ..driver import Iterate
from ..steps import constant
from .samples import (
    ENTRY,
    HIGH,
    LOW,
    STEP,
    PlainSamples,
    add,
    decay,
    is_scalable,
    is_sinkable,
    penalty_value,
    predict,
    product,
    project,
    push,
    samples,
    settle,
    slope,
    sunk,
)


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


# The rounds of regularised leaders, in Euclid's geometry and in that of the simplex.


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


# Exponentiated gradients: the regularised leader of the simplex.


def exponentiated_gradient(
    objective: Objective,
    w: Array,
    b: float,
    *,
    step: float | None = None,
    horizon: int | None = None,
) -> Iterator[Iterate]:
    """Meet the samples in their order: suffer f_i(w), then multiply the weights of the corners.

    The ball |w|_1 <= t is the hull of its 2 d corners t e_j, -t e_j: w = t (p - q) with (p, q) in
    the simplex. A round with slope v multiplies p_j by exp(-step t v_j) and q_j by
    exp(step t v_j): the regularised leader for the entropy of (p, q). It starts at w = 0, where all
    weights are equal, whatever w0. The regret after T rounds is at most
    log(2 d) / step + step G^2 T / 2, G = t max |v_j|: with the default step
    sqrt(2 log(2 d) / horizon) / G that is G sqrt(2 T log(2 d)) at T = horizon, 100 n by default.

    One iterate for each pass: the mean of all points so far (Kivinen and Warmuth, 1997,
    https://doi.org/10.1006/inco.1996.2612).
    """
    owner, t = "exponentiated_gradient", objective.penalty.t  # type: ignore[attr-defined]
    G, corners = corner_slope(objective) or 1.0, 2.0 * objective.d
    scale = float(np.sqrt(2.0 * np.log(corners))) / G
    eta = constant(step, owner, lambda: scale / root(objective, horizon, owner))
    plain = samples(replace(objective, penalty=Zero()))
    yield from follow(objective, plain, np.zeros(objective.d + 1), eta, t, entropic=True)


# Follow the regularised leader.


def follow_the_regularized_leader(
    objective: Objective,
    w: Array,
    b: float,
    *,
    step: float | None = None,
    ball: float | None = None,
    horizon: int | None = None,
) -> Iterator[Iterate]:
    """Meet the samples in their order: suffer f_i(w), then be the best against all slopes so far.

    w = argmin v_1.w + ... + v_t.w + |w - w_0|^2 / (2 step) over |w| <= B: the projection of
    w_0 - step (v_1 + ... + v_t), which, unlike that of online gradient descent, never forgets what
    was cut off. The regret after T rounds is at most |w_0 - w*|^2 / (2 step) + step G^2 T / 2: with
    the default step B / (G sqrt(horizon)) that is B G sqrt(T) at T = horizon, 100 n by default.

    B is the radius of the penalty where it is a ball, else ``ball``, else it follows from strong
    convexity and P* >= 0; where there is none nothing is projected, and the step takes P(w_0) / G
    for B. One iterate for each pass: the mean of all points so far.
    """
    owner, penalty = "follow_the_regularized_leader", objective.penalty
    x = np.append(penalty.project(w), 0.0)
    ball = reach(objective, x) if ball is None else positive_number(ball, owner, "ball")
    if isinstance(penalty, L2Ball):
        ball = min(ball, penalty.t)
    G = round_slope(objective, ball) or 1.0
    B = (ball if np.isfinite(ball) else objective.primal(w, 0.0) / G) or 1.0
    eta = constant(step, owner, lambda: B / (G * root(objective, horizon, owner)))
    project_onto(x, ball, False)
    yield from follow(objective, samples(objective), x, eta, ball, entropic=False)

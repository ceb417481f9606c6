"""Gradient descent, proximal gradients, their acceleration, and subgradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ...numerics import Array
from ...problem import Objective
from ...theory.constants import lipschitz, loss_smoothness, smoothness
from ...validation import positive_number, yes_or_no
from ..composite import Composite
from ..driver import Iterate
from ..steps import Backtracking, Schedule, StepRule, constant, step_rule

# Gradient descent: constant step, Armijo's backtracking, or the Barzilai-Borwein step.


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


# Nesterov's accelerated gradient method.


def accelerated_gradient(
    objective: Objective, w: Array, b: float, *, step: float | None = None, restart: bool = True
) -> Iterator[Iterate]:
    """Take gradient steps from points extrapolated along the last move.

        x_{k+1} = y_k - step * grad P(y_k),   y_{k+1} = x_{k+1} + (t_k - 1)/t_{k+1} (x_{k+1} - x_k)

    With step = 1/L, P(x_T) - P* <= 2 L |x_0 - x*|^2 / (T+1)^2. ``restart`` forgets the momentum
    where it points uphill (O'Donoghue and Candes, 2015, https://doi.org/10.1007/s10208-013-9150-3);
    the bound then counts from the last restart.
    """
    P = Composite(objective)
    gamma = constant(step, "accelerated_gradient", lambda: 1.0 / (smoothness(objective) or 1.0))
    restart = yes_or_no(restart, "accelerated_gradient", "restart")
    yield from accelerated(P, P.pack(w, b), gamma, restart, lambda y: y - gamma * P.gradient(y))


def accelerated(
    P: Composite, x: Array, gamma: float, restart: bool, moved: Callable[[Array], Array]
) -> Iterator[Iterate]:
    """The points x; ``moved`` makes a step of length gamma."""
    y, t, k, restarted_at = x, 1.0, 0, 0
    while True:
        yield P.iterate(x, step=gamma, restarted_at=restarted_at)
        ahead = moved(y)
        k += 1
        if restart and np.vdot(y - ahead, ahead - x) > 0.0:
            y, t, restarted_at = ahead, 1.0, k
        else:
            weight, t = next_weight(t)
            y = ahead + weight * (ahead - x)
        x = ahead


def next_weight(t: float) -> tuple[float, float]:
    """Return ((t - 1) / t', t') with t' = (1 + sqrt(1 + 4 t^2)) / 2; t = 1 at the start."""
    following = 0.5 * (1.0 + (1.0 + 4.0 * t * t) ** 0.5)
    return (t - 1.0) / following, following


# Proximal gradient descent (forward-backward splitting, ISTA).


def proximal_gradient(
    objective: Objective, w: Array, b: float, *, step: float | None = None
) -> Iterator[Iterate]:
    """Iterate x <- prox_{step g}(x - step * grad f(x)): f the loss part, g the penalty.

    The default step is 1/L, L of the loss part. Then |x_T - x*|^2 <= q^T |x_0 - x*|^2 with
    q = (1 - step mu_f) / (1 + step mu_g), and P does not increase.
    """
    P = Composite(objective)
    gamma = constant(step, "proximal_gradient", lambda: 1.0 / (loss_smoothness(objective) or 1.0))
    x = P.pack(objective.penalty.project(w), b)
    while True:
        yield P.iterate(x, step=gamma)
        x = P.prox(x - gamma * P.loss_gradient(x), gamma)


# FISTA: accelerated proximal gradient descent.


def fista(
    objective: Objective, w: Array, b: float, *, step: float | None = None, restart: bool = True
) -> Iterator[Iterate]:
    """Take proximal gradient steps from points extrapolated along the last move.

    With step = 1/L, L of the loss part, P(x_T) - P* <= 2 L |x_0 - x*|^2 / (T+1)^2 (Beck and
    Teboulle, 2009, https://doi.org/10.1137/080716542). ``restart`` forgets the momentum where it
    points uphill; the bound then counts from the last restart.
    """
    P = Composite(objective)
    gamma = constant(step, "fista", lambda: 1.0 / (loss_smoothness(objective) or 1.0))
    restart, x = yes_or_no(restart, "fista", "restart"), P.pack(objective.penalty.project(w), b)
    yield from accelerated(
        P, x, gamma, restart, lambda y: P.prox(y - gamma * P.loss_gradient(y), gamma)
    )


# The projected subgradient method with a constant step, averaged.


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

"""Descent along gradients and Newton's method, as printed: generators of x_0, x_1, ..."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..numerics import Array

Function = Callable[[Array], float]
Field = Callable[[Array], Array]
Step = float | Callable[[int], float]
"""A number, or the step of iteration t = 0, 1, ..."""


def step_at(step: Step, t: int) -> float:
    """The step of iteration t."""
    return step(t) if callable(step) else step


def gradient_descent(gradient: Field, x: Array, step: Step) -> Iterator[Array]:
    """Gradient descent: x_{t+1} = x_t - gamma_t grad f(x_t).

    With f convex and L-smooth and gamma = 1/L: f(x_T) - f* <= L |x_0 - x*|^2 / (2 T).
    Source: [G] 4.2.2, [P] 13.

    Parameters
    ----------
    gradient : callable
        x -> grad f(x).
    x : array
        x_0.
    step : float or callable
        gamma, or t -> gamma_t.

    Yields
    ------
    array
        x_0, x_1, ...
    """
    t = 0
    while True:
        yield x
        x = x - step_at(step, t) * gradient(x)
        t += 1


def subgradient(
    subgradient: Field, x: Array, step: Step, project: Field | None = None, average: bool = False
) -> Iterator[Array]:
    """Projected subgradient descent: x_{t+1} = Pi(x_t - eta_t v_t), v_t in the subdifferential.

    With |v_t| <= rho, |x*| <= B, x_0 = 0 and eta = B / (rho sqrt T), the mean of x_0 ... x_{T-1}
    has f - f* <= B rho / sqrt T. Source: [E] 1.10.

    Parameters
    ----------
    subgradient : callable
        x -> one subgradient of f at x.
    x : array
        x_0.
    step : float or callable
        eta, or t -> eta_t.
    project : callable, optional
        Pi, the projection on the feasible set.
    average : bool
        Whether the means of the points so far are yielded.

    Yields
    ------
    array
        x_0, x_1, ..., or (x_0 + ... + x_t) / (t + 1).
    """
    t, total = 0, np.zeros_like(x)
    while True:
        total = total + x
        yield total / (t + 1) if average else x
        x = x - step_at(step, t) * subgradient(x)
        x = x if project is None else project(x)
        t += 1


def accelerated_gradient(gradient: Field, x: Array, step: float) -> Iterator[Array]:
    """Nesterov's method: x_{t+1} = y_t - gamma grad f(y_t), then a step of momentum.

    theta_0 = 1, theta_{t+1} = (1 + sqrt(1 + 4 theta_t^2)) / 2 and
    y_{t+1} = x_{t+1} + (theta_t - 1) / theta_{t+1} (x_{t+1} - x_t).
    With gamma = 1/L: f(x_T) - f* <= 2 L |x_0 - x*|^2 / (T + 1)^2.
    Source: Nesterov, 1983; Beck and Teboulle, 2009, https://doi.org/10.1137/080716542.

    Parameters
    ----------
    gradient : callable
        x -> grad f(x).
    x : array
        x_0.
    step : float
        gamma.

    Yields
    ------
    array
        x_0, x_1, ...
    """
    yield from fista(gradient, lambda v, _: v, x, step)


def proximal_gradient(
    gradient: Field, prox: Callable[[Array, float], Array], x: Array, step: Step
) -> Iterator[Array]:
    """Proximal gradient: x_{t+1} = prox_{gamma g}(x_t - gamma grad f(x_t)), for f + g.

    For g = lam |.|_1 the prox is soft thresholding: ISTA. For the indicator of a set it is the
    projection: projected gradient. Source: Beck and Teboulle, 2009,
    https://doi.org/10.1137/080716542.

    Parameters
    ----------
    gradient : callable
        x -> grad f(x).
    prox : callable
        (v, gamma) -> argmin over x of gamma g(x) + |x - v|^2 / 2.
    x : array
        x_0.
    step : float or callable
        gamma <= 1/L, or t -> gamma_t.

    Yields
    ------
    array
        x_0, x_1, ...
    """
    t = 0
    while True:
        yield x
        gamma = step_at(step, t)
        x = prox(x - gamma * gradient(x), gamma)
        t += 1


def fista(
    gradient: Field, prox: Callable[[Array, float], Array], x: Array, step: float
) -> Iterator[Array]:
    """FISTA: the proximal gradient step from y_t, then a step of momentum.

    x_{t+1} = prox_{gamma g}(y_t - gamma grad f(y_t)), y_0 = x_0, theta_0 = 1,
    theta_{t+1} = (1 + sqrt(1 + 4 theta_t^2)) / 2,
    y_{t+1} = x_{t+1} + (theta_t - 1) / theta_{t+1} (x_{t+1} - x_t).
    Source: Beck and Teboulle, 2009, https://doi.org/10.1137/080716542.

    Parameters
    ----------
    gradient : callable
        x -> grad f(x).
    prox : callable
        (v, gamma) -> argmin over x of gamma g(x) + |x - v|^2 / 2.
    x : array
        x_0.
    step : float
        gamma <= 1/L.

    Yields
    ------
    array
        x_0, x_1, ...
    """
    y, theta = x, 1.0
    while True:
        yield x
        before, x = x, prox(y - step * gradient(y), step)
        momentum, theta = theta - 1.0, (1.0 + np.sqrt(1.0 + 4.0 * theta**2)) / 2.0
        y = x + momentum / theta * (x - before)


def newton(gradient: Field, hessian: Field, x: Array) -> Iterator[Array]:
    """Newton's method, pure (t = 1): x_{t+1} = x_t - (Hess f(x_t))^-1 grad f(x_t).

    It may diverge where it starts far from the minimiser: see ``damped_newton``.
    Source: [G] 3.1.3, [H] 3.3, [BV] 9.5.

    Parameters
    ----------
    gradient, hessian : callable
        x -> grad f(x), (d,); x -> Hess f(x), (d, d).
    x : array, shape (d,)
        x_0.

    Yields
    ------
    array
        x_0, x_1, ...
    """
    while True:
        yield x
        x = x - np.linalg.solve(hessian(x), gradient(x))


def damped_newton(
    value: Function,
    gradient: Field,
    hessian: Field,
    x: Array,
    alpha: float = 0.25,
    beta: float = 0.5,
) -> Iterator[Array]:
    """Newton's method with backtracking: x_{t+1} = x_t + s dx, dx = -(Hess f)^-1 grad f.

    s = 1 is multiplied by beta until f(x + s dx) <= f(x) + alpha s <grad f(x), dx>.
    Source: [BV] 9.5.2 and algorithm 9.2.

    Parameters
    ----------
    value, gradient, hessian : callable
        f, its gradient (d,) and its Hessian (d, d).
    x : array, shape (d,)
        x_0.
    alpha, beta : float
        0 < alpha < 1/2, 0 < beta < 1.

    Yields
    ------
    array
        x_0, x_1, ...
    """
    while True:
        yield x
        g = gradient(x)
        dx, s = -np.linalg.solve(hessian(x), g), 1.0
        while s > 1e-16 and not value(x + s * dx) <= value(x) + alpha * s * g @ dx:
            s = beta * s
        x = x + s * dx

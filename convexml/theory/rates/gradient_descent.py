"""Gradient descent with a constant step on a smooth convex function."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...numerics import Array
from ..claim import Claim
from ..constants import smoothness, strong_convexity
from ..domains import NONNEGATIVE, POSITIVE, domains
from ..monotone import never_increases
from ..moves import descent_step, follows
from ..theorem import Theorem
from ..trajectory import Trajectory

MARGIN = 1.0 + 1e-9


@domains(t=NONNEGATIVE, step=POSITIVE, mu=NONNEGATIVE, distance=NONNEGATIVE)
def gradient_descent_distance(
    t: Array | float, *, step: float, mu: float, distance: float
) -> Array:
    """Bound on |x_t - x*|^2: (1 - step mu)^t |x_0 - x*|^2, for step <= 1/L.

    Parameters
    ----------
    t : float or array
        Number of steps.
    step : float
        Constant step, at most 1/L.
    mu : float
        Strong convexity, >= 0.
    distance : float
        |x_0 - x*|^2.

    Returns
    -------
    float or array

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Groudiev, *Introduction to Machine Learning*, section 4.2.2 (the number of steps corrected).
    """
    return np.maximum(1.0 - step * mu, 0.0) ** np.asarray(t, dtype=float) * distance


@domains(t=NONNEGATIVE, step=POSITIVE, distance=NONNEGATIVE)
def gradient_descent_value(t: Array | float, *, step: Array | float, distance: float) -> Array:
    """Bound on f(x_t) - f*: |x_0 - x*|^2 / (2 step t), for step <= 1/L; inf at t = 0.

    Parameters
    ----------
    t : float or array
        Number of steps.
    step : float or array
        The mean of the steps, each at most 1/L.
    distance : float
        |x_0 - x*|^2.

    Returns
    -------
    float or array

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Nesterov, *Lectures on Convex Optimization*, section 2.1.5.
    """
    with np.errstate(divide="ignore"):
        return np.divide(distance, 2.0 * step * np.asarray(t, dtype=float))


@domains(step=POSITIVE, L=POSITIVE, square=NONNEGATIVE)
def descent_decrease(*, step: float, L: float, square: float) -> float:
    """What a gradient step of an L-smooth f decreases it by, at least: step (1 - L step / 2) |g|^2.

    Negative for a step above 2/L: then f may rise.

    Parameters
    ----------
    step : float
        gamma of x - gamma grad f(x).
    L : float
        The gradient is L-Lipschitz.
    square : float
        |grad f(x)|^2.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Nesterov, *Lectures on Convex Optimization*, section 1.2.3 (the descent lemma).
    """
    return step * (1.0 - L * step / 2.0) * square


@domains(eps=POSITIVE, step=POSITIVE, mu=POSITIVE, distance=NONNEGATIVE)
def gradient_descent_steps(*, eps: float, step: float, mu: float, distance: float) -> int:
    """Steps after which |x_T - x*|^2 <= eps: T = log(|x_0 - x*|^2 / eps) / (step mu), step <= 1/L.

    Parameters
    ----------
    eps : float
        Of the squared distance, > 0.
    step : float
        Constant step, at most 1/L.
    mu : float
        Strong convexity, > 0.
    distance : float
        |x_0 - x*|^2.

    Returns
    -------
    int
        Rounded up; 0 where the start is near enough.

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Groudiev, *Introduction to Machine Learning*, section 4.2.2 (the number of steps corrected).
    """
    return math.ceil(math.log(distance / eps) / (step * mu)) if distance > eps else 0


def accumulated(factors: Array, drifts: Array) -> tuple[Array, Array]:
    """(prod q_k, e_T) for each T = 1, 2, ...: e_{T+1} = q_T e_T + drift_T, from e_0 = 0."""
    decay, drift = np.empty(len(factors)), np.empty(len(factors))
    q, e = 1.0, 0.0
    for k, (factor, each) in enumerate(zip(factors, drifts, strict=True)):
        q, e = factor * q, factor * e + each
        decay[k], drift[k] = q, e
    return decay, drift


def too_long(run: Trajectory, L: float, name: str, share: float = 1.0) -> Iterator[str]:
    """That every step is at most share / L, in words where one is not; L = 0 allows all."""
    step = run.fact("step")
    if L > 0.0 and not step * L <= MARGIN * share:
        yield f"the step {step:.10g} exceeds 1/{name} = {share / L:.10g}"


def varying(run: Trajectory, *names: str) -> Iterator[str]:
    """Which of these facts is not constant over the run, in words."""
    yield from (f"the {name} is not constant" for name in names if run.varies(name))


def value_ahead(run: Trajectory, t: float, factor: float) -> float:
    """The bound of f(x_t) - f* of a constant step: from x_0, or a step from x_{t-1} near x*."""
    step, D0 = run.fact("step"), run.start_distance
    if run.varies("step") or t < 1.0:
        return np.inf
    near = max(factor, 0.0) ** (t - 1.0) * run.far_distance
    return float(min(gradient_descent_value(t, step=step, distance=D0), near / (2.0 * step)))


class GradientDescentRate(Theorem):
    """The three statements on gradient descent with steps of at most 1/L.

    L and mu are computed here, from the data; the steps told are held against the iterates. Steps
    that vary count one by one: prod (1 - gamma_k mu), and sum gamma_k for gamma T.
    """

    statement = (
        "gamma <= 1/L: |x_T - x*|^2 <= (1 - gamma mu)^T |x_0 - x*|^2, f does not increase, "
        "f - f* <= |x_0 - x*|^2 / (2 gamma T)"
    )
    source = "Groudiev 4.2.2; Nesterov 2.1.5"

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That gamma <= 1/L, at every step."""
        yield from too_long(run, smoothness(run.objective), "L")

    def ahead(self, run: Trajectory, t: Any) -> Any:
        """Of a constant step."""
        return value_ahead(run, t, 1.0 - run.fact("step") * strong_convexity(run.objective))

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The moves, distance, value and descent."""
        (run,) = runs
        yield follows("x_{T+1} = x_T - gamma grad f(x_T)", run, descent_step(run.objective))
        mu = strong_convexity(run.objective)
        taken = run.facts["step"][1:]
        yield from rates(
            run, taken, np.maximum(1.0 - taken * mu, 0.0), 2.0 * taken, "(1 - gamma mu)^T"
        )
        yield never_increases("f(x_{T+1}) <= f(x_T)", run.values)


def rates(
    run: Trajectory, taken: Array, factors: Array, drifts: Array, name: str
) -> Iterator[Claim]:
    """Distance and value after steps ``taken``, each a contraction by its factor.

    For any y with f(y) <= f* + e a step gives |x_+ - y|^2 <= q |x - y|^2 + drift e, so that the
    reference need not be x* itself.
    """
    at, D0 = np.arange(1, len(run.values)), run.start_distance
    decay, drift = accumulated(factors, drifts)
    yield Claim(
        f"|x_T - x*|^2 <= {name} |x_0 - x*|^2",
        run.distances[1:],
        decay * D0,
        drift * run.doubt + run.distance_rounding,
        at,
    )
    yield Claim(
        "f(x_T) - f* <= |x_0 - x*|^2 / (2 gamma T)",
        run.gaps[1:],
        gradient_descent_value(1.0, step=np.cumsum(taken), distance=D0),
        run.value_room,
        at,
    )


class SearchedDescent(GradientDescentRate):
    """Constant steps are held to their rate, searched ones to: f does not increase."""

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That gamma <= 1/L, at every step, where none is searched."""
        if not run.facts["searched"].any():
            yield from super().preconditions(run)

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The rate, or the descent."""
        (run,) = runs
        if run.facts["searched"].any():
            yield never_increases("f(x_{T+1}) <= f(x_T)", run.values)
        else:
            yield from super().claims(runs)

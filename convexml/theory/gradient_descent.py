"""Gradient descent with a constant step on a smooth convex function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..numerics import Array
from .claim import Claim
from .constants import smoothness, strong_convexity
from .monotone import never_increases
from .theorem import Theorem
from .trajectory import Trajectory

MARGIN = 1.0 + 1e-9


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

    References
    ----------
    Groudiev, *Introduction to Machine Learning*, section 4.2.2 (the number of steps corrected).
    """
    return np.maximum(1.0 - step * mu, 0.0) ** np.asarray(t, dtype=float) * distance


def gradient_descent_value(t: Array | float, *, step: float, distance: float) -> Array:
    """Bound on f(x_t) - f*: |x_0 - x*|^2 / (2 step t), for step <= 1/L; inf at t = 0.

    Parameters
    ----------
    t : float or array
        Number of steps.
    step : float
        Constant step, at most 1/L.
    distance : float
        |x_0 - x*|^2.

    Returns
    -------
    float or array

    References
    ----------
    Nesterov, *Lectures on Convex Optimization*, section 2.1.5.
    """
    with np.errstate(divide="ignore"):
        return np.divide(distance, 2.0 * step * np.asarray(t, dtype=float))


class GradientDescentRate(Theorem):
    """The three statements on gradient descent with a constant step of at most 1/L.

    L and mu are computed here, from the data; the step is what the algorithm says it took.
    """

    statement = (
        "gamma <= 1/L: |x_T - x*|^2 <= (1 - gamma mu)^T |x_0 - x*|^2, f does not increase, "
        "f - f* <= |x_0 - x*|^2 / (2 gamma T)"
    )
    source = "Groudiev 4.2.2; Nesterov 2.1.5"

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That gamma <= 1/L."""
        step, L = run.fact("step"), smoothness(run.objective)
        if not step <= MARGIN / L:
            yield f"the step {step:.4g} exceeds 1/L = {1.0 / L:.4g}"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """Distance, value and descent."""
        (run,) = runs
        step, T, D0 = run.fact("step"), run.steps, run.start_distance
        mu = strong_convexity(run.objective)
        bound = gradient_descent_distance(T, step=step, mu=mu, distance=D0)
        yield Claim(
            "|x_T - x*|^2 <= (1 - gamma mu)^T |x_0 - x*|^2",
            run.distances[1:],
            bound[1:],
            run.distance_room(bound[1:]),
            np.arange(1, len(T)),
        )
        yield Claim(
            "f(x_T) - f* <= |x_0 - x*|^2 / (2 gamma T)",
            run.gaps[1:],
            gradient_descent_value(T[1:], step=step, distance=D0),
            run.value_room,
            np.arange(1, len(T)),
        )
        yield never_increases("f(x_{T+1}) <= f(x_T)", run.values)


class SearchedDescent(GradientDescentRate):
    """Constant steps are held to their rate, searched ones to: f does not increase."""

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That of the rate, where the step is constant."""
        if not run.facts["searched"].any():
            yield from super().preconditions(run)

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The rate, or the descent."""
        (run,) = runs
        if run.facts["searched"].any():
            yield never_increases("f(x_{T+1}) <= f(x_T)", run.values)
        else:
            yield from super().claims(runs)

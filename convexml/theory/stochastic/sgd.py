"""Stochastic gradient descent with a constant step: a linear rate down to a noise floor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...numerics import Array
from ..claim import Claim
from ..constants import gradient_noise, sample_smoothness, smoothness, strong_convexity
from ..domains import NONNEGATIVE, POSITIVE, domains
from ..rates.gradient_descent import too_long, varying
from ..theorem import Theorem
from ..trajectory import Trajectory
from .expectation import checkpoints, upper_limit


@domains(t=NONNEGATIVE, step=POSITIVE, mu=POSITIVE, noise=NONNEGATIVE, distance=NONNEGATIVE)
def sgd_distance(
    t: Array | float, *, step: float, mu: float, noise: float, distance: float
) -> Array:
    """Bound on E |x_t - x*|^2: (1 - step mu)^t |x_0 - x*|^2 + 2 (step / mu) noise.

    Parameters
    ----------
    t : float or array
        Number of stochastic steps.
    step : float
        Constant step, at most 1 / (2 L_max).
    mu : float
        Strong convexity, > 0.
    noise : float
        The variance of the stochastic gradient at x*, divided by the size of a mini-batch.
    distance : float
        |x_0 - x*|^2.

    Returns
    -------
    float or array
        It does not go to 0: a constant step stops short of x*.

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Garrigos and Gower, 2023, theorem 5.8, https://arxiv.org/abs/2301.11235; Groudiev 4.2.3 (his
    corollary, which drops the floor, is wrong).
    """
    return (1.0 - step * mu) ** np.asarray(t, dtype=float) * distance + 2.0 * step / mu * noise


class SgdRate(Theorem):
    """The mean over seeds of |x_T - x*|^2, for a constant step and uniform sampling.

    Facts: "step", "steps", and "batch" where more than one sample is drawn, with replacement.
    """

    statement = "E|x_T - x*|^2 <= (1 - gamma mu)^T |x_0 - x*|^2 + 2 (gamma / mu) sigma*^2"
    source = "Garrigos and Gower 2023, theorem 5.8"
    seeds = 64

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That gamma is constant and <= 1 / (2 L_max)."""
        L = sample_smoothness(run.objective)
        if np.isfinite(L):
            yield from varying(run, "step")
            yield from too_long(run, L, "(2 L_max)", 0.5)

    def silences(self, run: Trajectory) -> Iterator[str]:
        """That mu = 0, that the f_i are not smooth, or that means of the points are yielded."""
        if not np.isfinite(sample_smoothness(run.objective)):
            yield "the gradients of samples are not Lipschitz"
        if run.fact("averaged") == 1.0:
            yield "means of the points are yielded"
        if strong_convexity(run.objective) <= 0.0:
            yield "the objective is not known to be strongly convex in (w, b): mu = 0"

    def ahead(self, run: Trajectory, t: Any) -> Any:
        """f - f* <= L |x - x*|^2 / 2."""
        mu, x = strong_convexity(run.objective), run.reference
        noise = gradient_noise(run.objective, x.w, x.b)
        known = {"step": run.fact("step"), "mu": mu, "noise": noise, "distance": run.far_distance}
        return 0.5 * smoothness(run.objective) * sgd_distance(t, **known)

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The one inequality, at checkpoints."""
        run, at = runs[0], checkpoints(len(runs[0].values))
        mu, reference = strong_convexity(run.objective), run.reference
        noise = gradient_noise(run.objective, reference.w, reference.b)
        bound = sgd_distance(
            run.steps[at],
            step=run.fact("step"),
            mu=mu,
            noise=noise / float(np.nan_to_num(run.fact("batch"), nan=1.0)),
            distance=run.far_distance,
        )
        measured = upper_limit([each.distances for each in runs], at)
        yield Claim(self.statement, measured, bound, run.distance_room(bound), at)

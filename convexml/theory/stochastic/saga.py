"""SAGA: a linear rate in expectation, down to x* itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...design import rows_in_blocks
from ...numerics import Array
from ..claim import Claim
from ..constants import (
    loss_smoothness,
    loss_strong_convexity,
    penalty_slope,
    penalty_strong_convexity,
    sample_loss_smoothness,
)
from ..domains import COUNT, NONNEGATIVE, POSITIVE, domains
from ..moves import loss_gradient
from ..rates.gradient_descent import too_long, varying
from ..theorem import Theorem
from ..trajectory import Trajectory
from .expectation import checkpoints, upper_limit


@domains(step=POSITIVE, n=COUNT, mu_f=NONNEGATIVE, mu_g=NONNEGATIVE)
def saga_factor(*, step: float, n: int, mu_f: float, mu_g: float = 0.0) -> float:
    """Factor of the error of one SAGA step in expectation, for a step <= 1 / (4 L_max).

    Parameters
    ----------
    step : float
        Constant step gamma.
    n : int
        Number of samples.
    mu_f, mu_g : float
        Strong convexity of the smooth part and of the penalty in (w, b), >= 0.

    Returns
    -------
    float
        max(q - (3/4) (2q - 1) step mu_f, 1 - 1/(3n)), q = max((1 + step mu_g)^-2, 1/2). Without a
        penalty and at step = 1 / (4 L_max) it is 1 - min(3 mu / (16 L_max), 1 / (3n)).

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Bach, *Learning Theory from First Principles*, section 5.4.4. With a penalty, the prox contracts
    squared distances by q, and the same Lyapunov function |x - x*|^2 + 3 n step^2 B decreases, B
    the mean of |table_i - grad f_i(x*)|^2.
    """
    q = max((1.0 + step * mu_g) ** -2, 0.5)
    return max(q - 0.75 * (2.0 * q - 1.0) * step * mu_f, 1.0 - 1.0 / (3.0 * n))


@domains(t=NONNEGATIVE, factor=NONNEGATIVE, start=NONNEGATIVE)
def saga_distance(t: Array | float, *, factor: float, start: float) -> Array:
    """Bound on E |x_t - x*|^2: factor^t start.

    Parameters
    ----------
    t : float or array
        Number of stochastic steps.
    factor : float
        ``saga_factor``.
    start : float
        |x_0 - x*|^2 + 3 n step^2 B_0, at most (1 + 3 n step^2 L_max L_f) |x_0 - x*|^2 where the
        table starts with the gradients at x_0; L_f is the smoothness of the whole smooth part.

    Returns
    -------
    float or array

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Bach, *Learning Theory from First Principles*, section 5.4.4.
    """
    return factor ** np.asarray(t, dtype=float) * start


class SagaRate(Theorem):
    """The mean over seeds of |x_T - x*|^2, the table filled at x_0. Facts: "step", "steps".

    q is ``saga_factor``: 1 - min(3 mu_f / (16 L_max), 1 / (3 n)) for gamma = 1 / (4 L_max) without
    a penalty.
    """

    statement = "E|x_T - x*|^2 <= q^T (1 + 3 n gamma^2 L_max L_f) |x_0 - x*|^2"
    source = "Bach, Learning Theory from First Principles, section 5.4.4"
    seeds = 64

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That gamma is constant and <= 1 / (4 L_max)."""
        yield from varying(run, "step")
        yield from too_long(run, sample_loss_smoothness(run.objective), "(4 L_max)", 0.25)

    def silences(self, run: Trajectory) -> Iterator[str]:
        """That mu = 0, or that samples are drawn from one block of rows after the other."""
        if rows_in_blocks(run.objective):
            yield "the rows lie in blocks: samples are not drawn from all of them each time"
        mu = max(loss_strong_convexity(run.objective), penalty_strong_convexity(run.objective))
        if mu <= 0.0:
            yield "neither loss nor penalty is known to be strongly convex in (w, b): mu = 0"

    def ahead(self, run: Trajectory, t: Any) -> Any:
        """f - f* <= 2 K r + L r^2 / 2 at r = |x - x*|, K a slope at x* of what is not smooth."""
        objective, x = run.objective, run.reference
        penalty = objective.penalty
        bent = penalty.curvature_bound if penalty.is_smooth else penalty.strong_convexity
        K = penalty_slope(objective, 0.0)
        if penalty.is_constraint:
            K = 0.5 * float(np.linalg.norm(loss_gradient(objective, np.append(x.w, x.b))))
        square = self._distance(run, t)
        return 2.0 * K * square**0.5 + 0.5 * (loss_smoothness(objective) + bent) * square

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The one inequality, at checkpoints."""
        run, at = runs[0], checkpoints(len(runs[0].values))
        bound = self._distance(run, run.steps[at])
        measured = upper_limit([each.distances for each in runs], at)
        yield Claim(self.statement, measured, bound, run.distance_room(bound), at)

    def _distance(self, run: Trajectory, steps: Any) -> Any:
        """What E |x_t - x*|^2 is at most."""
        step, objective = run.fact("step"), run.objective
        mu_f, mu_g = loss_strong_convexity(objective), penalty_strong_convexity(objective)
        factor = saga_factor(step=step, n=objective.n, mu_f=mu_f, mu_g=mu_g)
        L_max, L_f = sample_loss_smoothness(objective), loss_smoothness(objective)
        start = run.far_distance * (1.0 + 3.0 * objective.n * step**2 * L_max * L_f)
        return saga_distance(steps, factor=factor, start=start)

"""Proximal gradient descent with a constant step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..numerics import Array
from .claim import Claim
from .constants import loss_smoothness, loss_strong_convexity, penalty_strong_convexity
from .gradient_descent import MARGIN, gradient_descent_value
from .monotone import never_increases
from .theorem import Theorem
from .trajectory import Trajectory


def proximal_gradient_rate(*, step: float, mu_f: float, mu_g: float) -> float:
    """Factor q of |x_{t+1} - x*|^2 <= q |x_t - x*|^2: (1 - step mu_f) / (1 + step mu_g).

    Parameters
    ----------
    step : float
        Constant step, at most 1/L_f.
    mu_f, mu_g : float
        Strong convexity of the smooth part and of the penalty, >= 0.

    Returns
    -------
    float

    References
    ----------
    Bach, *Learning Theory from First Principles*, section 5.2.5; the factor of the penalty is the
    contraction of its prox.
    """
    return max(1.0 - step * mu_f, 0.0) / (1.0 + step * mu_g)


class ProximalGradientRate(Theorem):
    """The factor q of |x - x*|^2, no increase of f, and f - f* <= |x_0 - x*|^2 / (2 gamma T)."""

    statement = (
        "gamma <= 1/L_f: |x_T - x*|^2 <= q^T |x_0 - x*|^2, q = (1 - gamma mu_f) / (1 + gamma mu_g)"
    )
    source = "Beck and Teboulle 2009, theorem 3.1, for the value"

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That gamma <= 1/L_f."""
        L = loss_smoothness(run.objective)
        if not run.fact("step") <= MARGIN / L:
            yield f"the step {run.fact('step'):.4g} exceeds 1/L_f = {1.0 / L:.4g}"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """Distance, value and descent."""
        (run,) = runs
        step, T, D0 = run.fact("step"), run.steps, run.start_distance
        q = proximal_gradient_rate(
            step=step,
            mu_f=loss_strong_convexity(run.objective),
            mu_g=penalty_strong_convexity(run.objective),
        )
        bound: Array = q**T * D0
        yield Claim(
            "|x_T - x*|^2 <= q^T |x_0 - x*|^2",
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
        # x_0 may violate the penalty's constraint: P is then infinite there.
        yield never_increases("f(x_{T+1}) <= f(x_T)", run.values)

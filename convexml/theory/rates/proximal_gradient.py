"""Proximal gradient descent with a constant step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..claim import Claim
from ..constants import loss_smoothness, loss_strong_convexity, penalty_strong_convexity
from ..domains import NONNEGATIVE, POSITIVE, domains
from ..monotone import never_increases
from ..moves import follows, proximal_step
from ..theorem import Theorem
from ..trajectory import Trajectory
from .gradient_descent import rates, too_long, value_ahead


@domains(step=POSITIVE, mu_f=NONNEGATIVE, mu_g=NONNEGATIVE)
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

    Raises
    ------
    InputError
        For an argument outside its domain.

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
        """That gamma <= 1/L_f, at every step."""
        yield from too_long(run, loss_smoothness(run.objective), "L_f")

    def ahead(self, run: Trajectory, t: Any) -> Any:
        """Of a constant step."""
        mu_f, mu_g = loss_strong_convexity(run.objective), penalty_strong_convexity(run.objective)
        factor = proximal_gradient_rate(step=run.fact("step"), mu_f=mu_f, mu_g=mu_g)
        return value_ahead(run, t, factor)

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The moves, distance, value and descent."""
        (run,) = runs
        yield follows("x_{T+1} = prox(x_T - gamma grad f(x_T))", run, proximal_step(run.objective))
        mu_f, mu_g = loss_strong_convexity(run.objective), penalty_strong_convexity(run.objective)
        taken = run.facts["step"][1:]
        factors = np.array([proximal_gradient_rate(step=s, mu_f=mu_f, mu_g=mu_g) for s in taken])
        yield from rates(run, taken, factors, 2.0 * taken / (1.0 + taken * mu_g), "q^T")
        yield never_increases("f(x_{T+1}) <= f(x_T)", run.values)

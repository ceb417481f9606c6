"""The subgradient method with a constant step, averaged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..numerics import Array
from .claim import Claim
from .constants import lipschitz
from .gradient_descent import MARGIN
from .theorem import Theorem
from .trajectory import Trajectory


def subgradient_value(t: Array | float, *, step: float, rho: float, distance: float) -> Array:
    """Bound on f(mean of x_0 ... x_{t-1}) - f*: |x_0 - x*|^2 / (2 step t) + step rho^2 / 2.

    Parameters
    ----------
    t : float or array
        Number of iterates averaged; the bound at t = 0 is infinite.
    step : float
        The constant step eta.
    rho : float
        The longest subgradient met.
    distance : float
        |x_0 - x*|^2, at most B^2 from 0.

    Returns
    -------
    float or array
        With step = B / (rho sqrt(T)) this is B rho / sqrt(T) at t = T.

    References
    ----------
    Shalev-Shwartz and Ben-David, *Understanding Machine Learning*, lemma 14.1.
    """
    with np.errstate(divide="ignore"):
        return np.divide(distance, 2.0 * step * np.asarray(t, dtype=float)) + step * rho**2 / 2.0


class SubgradientRate(Theorem):
    """The averaged iterate of the (projected) subgradient method."""

    statement = "f(mean_T) - f* <= |x_0 - x*|^2 / (2 eta T) + eta rho^2 / 2"
    source = "Shalev-Shwartz and Ben-David, lemma 14.1"

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """The minimiser lies in the ball that is projected onto."""
        ball, norm = run.fact("ball"), float(np.linalg.norm(run.reference.w))
        if not norm <= MARGIN * ball:
            yield f"|w*| = {norm:.4g} lies outside the ball of radius {ball:.4g}"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The value of the average of the first T iterates; one fewer than the steps taken."""
        (run,) = runs
        rho = lipschitz(run.objective, run.fact("ball"))
        bound = subgradient_value(
            run.steps + 1.0, step=run.fact("step"), rho=rho, distance=run.start_distance
        )
        yield Claim(self.statement, run.gaps, bound, run.value_room)

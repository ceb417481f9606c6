"""Nesterov's acceleration, with and without a prox (FISTA)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..numerics import Array
from .claim import Claim
from .constants import loss_smoothness, smoothness
from .gradient_descent import MARGIN
from .theorem import Theorem
from .trajectory import Trajectory


def accelerated_value(t: Array | float, *, L: float, distance: float) -> Array:
    """Bound on f(x_t) - f*: 2 L |x_0 - x*|^2 / (t + 1)^2, for the step 1/L.

    Parameters
    ----------
    t : float or array
        Number of steps since the start, or since a restart at x_0.
    L : float
        Lipschitz constant of the gradient (of the smooth part); 1/step.
    distance : float
        |x_0 - x*|^2.

    Returns
    -------
    float or array

    References
    ----------
    Beck and Teboulle, 2009, theorem 4.4, https://doi.org/10.1137/080716542
    """
    return 2.0 * L * distance / (np.asarray(t, dtype=float) + 1.0) ** 2


class AcceleratedRate(Theorem):
    """The accelerated rate f - f* <= 2 L |x_0 - x*|^2 / (T+1)^2, counted from the last restart.

    Parameters
    ----------
    composite : bool
        Whether the penalty is handled by its prox: L is then that of the loss alone.
    """

    statement = "gamma <= 1/L: f(x_T) - f* <= 2 |x_0 - x*|^2 / (gamma (T+1)^2)"
    source = "Beck and Teboulle 2009, theorem 4.4"

    def __init__(self, composite: bool) -> None:
        self.composite = composite

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That gamma <= 1/L."""
        L = loss_smoothness(run.objective) if self.composite else smoothness(run.objective)
        if not run.fact("step") <= MARGIN / L:
            yield f"the step {run.fact('step'):.4g} exceeds 1/L = {1.0 / L:.4g}"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The value, from the last restart."""
        (run,) = runs
        origin = run.facts["restarted_at"].astype(int)
        since = run.steps - origin
        counted = np.flatnonzero(since > 0.0)
        distance = (np.sqrt(run.distances[origin]) + run.reference.radius) ** 2
        bound = accelerated_value(since, L=1.0 / run.fact("step"), distance=distance)
        yield Claim(self.statement, run.gaps[counted], bound[counted], run.value_room, counted)

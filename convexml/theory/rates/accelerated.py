"""Nesterov's acceleration, with and without a prox (FISTA)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...numerics import Array
from ..claim import Claim
from ..constants import loss_smoothness, smoothness
from ..domains import NONNEGATIVE, domains
from ..moves import descent_step, deviations, pack, proximal_step, room
from ..theorem import Theorem
from ..trajectory import Trajectory
from .gradient_descent import too_long, varying


@domains(t=NONNEGATIVE, L=NONNEGATIVE, distance=NONNEGATIVE)
def accelerated_value(t: Array | float, *, L: float, distance: Array | float) -> Array:
    """Bound on f(x_t) - f*: 2 L |x_0 - x*|^2 / (t + 1)^2, for the step 1/L.

    Parameters
    ----------
    t : float or array
        Number of steps since the start, or since a restart at x_0.
    L : float
        Lipschitz constant of the gradient (of the smooth part); 1/step.
    distance : float or array
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
    Beck and Teboulle, 2009, theorem 4.4, https://doi.org/10.1137/080716542
    """
    return 2.0 * L * distance / (np.asarray(t, dtype=float) + 1.0) ** 2


class AcceleratedRate(Theorem):
    """The rate f - f* <= 2 L |x_0 - x*|^2 / (T+1)^2, counted from the last restart before T.

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
        """That gamma is constant and <= 1/L."""
        yield from varying(run, "step")
        L = loss_smoothness(run.objective) if self.composite else smoothness(run.objective)
        yield from too_long(run, L, "L")

    def ahead(self, run: Trajectory, t: Any) -> Any:
        """Without restarts."""
        return accelerated_value(t, L=1.0 / run.fact("step"), distance=run.start_distance)

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The moves, the restarts, and the value from the origin that the last step had."""
        (run,) = runs
        yield from self._moves(run)
        if "restarted_at" not in run.facts:
            return
        origin = run.facts["restarted_at"].astype(int)[:-1]  # a restart at T begins after it
        at = np.arange(1, len(run.values))
        bound = accelerated_value(
            at - origin, L=1.0 / run.fact("step"), distance=run.distances[origin]
        )
        yield Claim(self.statement, run.gaps[1:], bound, run.value_room, at)

    def _moves(self, run: Trajectory) -> Iterator[Claim]:
        """That iterates follow from one another, and that only uphill moves restart."""
        objective, rows, uphill, at = run.objective, [], [], []
        step = proximal_step(objective) if self.composite else descent_step(objective)
        x = y = np.empty(0)
        t, origin = 1.0, 0.0
        for k, point in enumerate(run.replay()):
            ahead, told = pack(point), point.facts.get("restarted_at", np.nan)
            if k == 0:
                x = y = ahead
                continue
            goal = step(y, float(point.facts.get("step", np.nan)))
            away = float(np.linalg.norm(ahead - goal))
            rows.append((away if told in (origin, k) else np.inf, room(y, goal, ahead)))
            if told == k:
                slope = y - ahead
                allowed = room(y, ahead, x) * (_norm(slope) + _norm(ahead - x))
                uphill.append((-float(slope @ (ahead - x)), allowed))
                at.append(k)
                y, t, origin = ahead, 1.0, told
            else:
                following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
                y, t = ahead + (t - 1.0) / following * (ahead - x), following
            x = ahead
        yield deviations("x_{T+1} is a step of gamma from y_T", rows)
        yield replace(deviations("only uphill moves restart", uphill), iterations=np.array(at, int))


def _norm(x: Array) -> float:
    return float(np.linalg.norm(x))

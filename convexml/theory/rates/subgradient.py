"""The subgradient method with a constant step, averaged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...numerics import ROUNDING, Array
from ...objective import Objective
from ..claim import Claim
from ..constants import lipschitz
from ..constants.slopes import has_bounded_slope
from ..domains import AT_LEAST_ONE, NONNEGATIVE, POSITIVE, domains
from ..moves import deviations, pack, room, subgradient
from ..theorem import Theorem
from ..trajectory import Trajectory
from .gradient_descent import MARGIN, varying


@domains(t=NONNEGATIVE, step=POSITIVE, rho=NONNEGATIVE, distance=NONNEGATIVE)
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

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Shalev-Shwartz and Ben-David, *Understanding Machine Learning*, lemma 14.1.
    """
    with np.errstate(divide="ignore"):
        return np.divide(distance, 2.0 * step * np.asarray(t, dtype=float)) + step * rho**2 / 2.0


@domains(t=AT_LEAST_ONE, scale=POSITIVE, rho=NONNEGATIVE, distance=NONNEGATIVE)
def decreasing_subgradient_value(
    t: Array | float, *, scale: float, rho: float, distance: float
) -> Array:
    """Bound on f(mean of x_0 ... x_{t-1}) - f* with steps scale / sqrt(s + 1).

    It is (distance / scale + scale rho^2 (3 + log t)) / (2 sqrt(t)).

    Parameters
    ----------
    t : float or array
        Number of points averaged, >= 1.
    scale : float
        The first step.
    rho : float
        The longest subgradient met.
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
    Shalev-Shwartz and Ben-David, *Understanding Machine Learning*, lemma 14.1, summed by parts with
    |x_t - x*|^2 <= distance + rho^2 (sum of the squared steps).
    """
    t = np.asarray(t, dtype=float)
    return (distance / scale + scale * rho**2 * (3.0 + np.log(t))) / (2.0 * np.sqrt(t))


class SubgradientRate(Theorem):
    """The averaged iterate of the (projected) subgradient method."""

    statement = "f(mean_T) - f* <= |x_0 - x*|^2 / (2 eta T) + eta rho^2 / 2"
    source = "Shalev-Shwartz and Ben-David, lemma 14.1"

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That the step is constant, and that the reference lies in the ball projected onto."""
        yield from varying(run, "step", "ball")
        ball, norm = run.fact("ball"), float(np.linalg.norm(run.reference.w))
        if not norm <= MARGIN * ball:
            yield f"|w*| = {norm:.6g} lies outside the ball of radius {ball:.6g}"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The moves; the value of the average of the first T iterates, one more than the steps."""
        (run,) = runs
        yield self._moves(run)
        rho = lipschitz(run.objective, run.fact("ball"))
        bound = subgradient_value(
            run.steps + 1.0, step=run.fact("step"), rho=rho, distance=run.start_distance
        )
        yield Claim(self.statement, run.gaps, bound, run.value_room)

    def _moves(self, run: Trajectory) -> Claim:
        """That x_{T+1} = project(x_T - eta v), the points x recovered from their means.

        A point at a kink, where rounding decides which subgradient was met, is passed over.
        """
        rng = np.random.default_rng(0)
        x, mean, objective = np.empty(0), np.empty(0), run.objective
        rows = []
        for T, point in enumerate(run.replay()):
            fresh = pack(point)
            ahead = (T + 1.0) * fresh - T * mean if T else fresh
            if T:
                step, ball = (float(point.facts.get(name, np.nan)) for name in ("step", "ball"))
                slope = subgradient(objective, x)
                nudge = KINK * (1.0 + np.abs(x)) * rng.normal(size=len(x))
                others = [subgradient(objective, x + sign * nudge) - slope for sign in (-1.0, 1.0)]
                goal = project(objective, x - step * slope, ball)
                away = float(np.linalg.norm(ahead - goal))
                allowed = room(x, goal, ahead) + (T + 1.0) * room(mean, mean, fresh) * KINK
                allowed += ROUNDING * T * float(np.linalg.norm(fresh) + np.linalg.norm(mean))
                smooth = max(map(np.linalg.norm, others)) <= 1e-3 * np.linalg.norm(slope)
                rows.append((away, allowed) if smooth else (0.0, np.inf))
            x, mean = ahead, fresh
        return deviations("x_{T+1} = project(x_T - eta v_T)", rows)


class DecreasingSubgradientRate(Theorem):
    """The mean of the points of subgradient steps scale / sqrt(t + 1), from 0."""

    statement = "f(mean_T) - f* <= (|x_0 - x*|^2 / c + c rho^2 (3 + log T)) / (2 sqrt T)"
    source = "Shalev-Shwartz and Ben-David, lemma 14.1, summed by parts"

    def silences(self, run: Trajectory) -> Iterator[str]:
        """Other points, other steps, or subgradients that have no bound."""
        if run.fact("averaged") != 1.0:
            yield "the points are yielded, not their means"
        steps = run.facts["step"] * np.sqrt(run.steps + 1.0)
        if not np.allclose(steps, steps[0]):
            yield "the steps are not c / sqrt(t + 1)"
        if not np.isfinite(self._slope(run)):
            yield "no bound of the subgradients is known"

    def ahead(self, run: Trajectory, t: Any) -> Any:
        """After t points."""
        scale, distance = float(run.facts["step"][0]), run.start_distance
        return decreasing_subgradient_value(t, scale=scale, rho=self._slope(run), distance=distance)

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The value of the mean."""
        (run,) = runs
        yield Claim(self.statement, run.gaps, self.ahead(run, run.steps + 1.0), run.value_room)

    def _slope(self, run: Trajectory) -> float:
        """Rho; steps of at most 1/mu keep |w| <= max(|w_0|, G / mu), mu that of the penalty."""
        objective, penalty = run.objective, run.objective.penalty
        mu, step = penalty.strong_convexity, float(run.facts["step"][0])
        bent = penalty.curvature_bound if penalty.is_smooth else mu
        if mu == 0.0 or step * bent > 1.0 or not has_bounded_slope(objective):
            return lipschitz(objective)
        start = float(np.linalg.norm(next(run.replay()).w))
        return lipschitz(objective, max(start, lipschitz(objective, 0.0) / mu))


KINK = 1e-7
"""A subgradient that changes over this distance is one of several."""


def project(objective: Objective, x: Array, ball: float) -> Array:
    """The nearest point within the penalty's constraint, and with |w| <= ball."""
    w = objective.penalty.project(x[: objective.d])
    norm = float(np.linalg.norm(w))
    return np.append(w * min(1.0, ball / norm) if norm > 0.0 else w, x[objective.d :])

"""Online gradient descent: regret against the best fixed point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..numerics import Array
from ..objective import Objective
from .claim import Claim
from .constants import penalty_slope
from .spectrum import row_squares
from .theorem import Theorem
from .trajectory import Trajectory


def online_regret(t: Array | float, *, step: float, slope: float, distance: float) -> Array:
    """Bound on sum_{s<t} f_s(x_s) - f_s(x*): |x_0 - x*|^2 / (2 step) + step slope^2 t / 2.

    Parameters
    ----------
    t : float or array
        Number of rounds.
    step : float
        The constant step eta; with eta = B / (G sqrt(T)) the bound is B G sqrt(T) at T.
    slope : float
        G, the longest (sub)gradient of a round.
    distance : float
        |x_0 - x*|^2, at most B^2.

    Returns
    -------
    float or array

    References
    ----------
    Zinkevich, 2003; Hazan, *Introduction to Online Convex Optimization*, theorem 3.1.
    """
    return distance / (2.0 * step) + 0.5 * step * slope**2 * np.asarray(t, dtype=float)


def round_slope(objective: Objective, ball: float = np.inf) -> float:
    """The longest subgradient G of a round f_i = n c_i l(y_i, x_i.w + b) + Omega(w).

    Parameters
    ----------
    objective : Objective
        Design, loss, penalty and coefficients.
    ball : float
        The iterates stay in |w| <= ball, which bounds the slope of the penalty; in |(w, b)| <= ball
        where the slope of the loss is unbounded.

    Returns
    -------
    float
    """
    r = np.sqrt(row_squares(objective))
    slope = np.max(np.abs(np.stack(objective.loss.domain(objective.y))), axis=0)
    if not np.all(np.isfinite(slope)):
        if not np.isfinite(ball):
            return np.inf
        ends = [objective.loss.derivative(objective.y, sign * ball * r) for sign in (-1.0, 1.0)]
        slope = np.maximum(*np.abs(ends))
    largest = float(np.max(objective.n * objective.c * slope * r, initial=0.0))
    return largest + penalty_slope(objective, ball)


def has_bounded_slope(objective: Objective) -> bool:
    """Whether the loss is Lipschitz: dom l* is bounded."""
    return all(bool(np.all(np.isfinite(end))) for end in objective.loss.domain(objective.y))


class OnlineRegret(Theorem):
    """Regret after whole passes, where the best fixed point is the problem's own solution.

    Facts: "step", "steps" (rounds T), "suffered" (sum of f_s(x_s)), "ball" (inf where the iterates
    are not projected onto a ball).
    """

    statement = "sum_t f_t(x_t) - T f* <= |x_0 - x*|^2 / (2 eta) + eta G^2 T / 2"
    source = "Zinkevich 2003"

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That the solution lies in the ball that is projected onto."""
        ball, reference = run.fact("ball"), run.reference
        b = 0.0 if has_bounded_slope(run.objective) else reference.b
        size = float(np.hypot(np.linalg.norm(reference.w), np.linalg.norm(b)))
        if not size <= ball * (1.0 + 1e-9):
            yield f"the solution, of size {size:.4g}, lies outside the ball of radius {ball:.4g}"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The regret after each whole pass."""
        (run,) = runs
        T, n = run.steps, run.objective.n
        at = np.flatnonzero((T > 0) & (T % n == 0))
        regret = run.facts["suffered"][at] - T[at] * run.reference.floor
        bound = online_regret(
            T[at],
            step=run.fact("step"),
            slope=round_slope(run.objective, run.fact("ball")),
            distance=run.start_distance,
        )
        yield Claim(self.statement, regret, bound, T[at] * run.value_room, at)

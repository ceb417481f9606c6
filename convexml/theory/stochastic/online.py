"""Online gradient descent: regret against the best fixed point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from ...numerics import Array
from ...objective import Objective
from ..claim import Claim
from ..constants import penalty_slope
from ..constants.slopes import has_bounded_slope, steepest
from ..domains import NONNEGATIVE, POSITIVE, domains
from ..moves import deviations, pack
from ..rates.gradient_descent import varying
from ..spectrum import row_squares
from ..theorem import Theorem
from ..trajectory import Trajectory


@domains(t=NONNEGATIVE, step=POSITIVE, slope=NONNEGATIVE, distance=NONNEGATIVE)
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

    Raises
    ------
    InputError
        For an argument outside its domain.

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
    slope = steepest(objective, r, ball)
    if not np.all(np.isfinite(slope)):
        return np.inf
    largest = float(np.max(objective.n * objective.c * slope * r, initial=0.0))
    return largest + penalty_slope(objective, ball)


class OnlineRegret(Theorem):
    """Regret after whole passes, where the best fixed point is the problem's own solution.

    The rounds are played again, from x_0 with the step and the ball told: the means of their
    points are to be the iterates, and what they suffer is counted here. ``ROUNDS`` of them.
    eta = B / (G sqrt(T)) makes it B G sqrt(T) for every x* in the ball of radius B.
    """

    statement = "sum_t f_t(x_t) - T f* <= |x_0 - x*|^2 / (2 eta) + eta G^2 T / 2"
    source = "Zinkevich 2003"

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That the step is constant, and the reference lies in the ball projected onto."""
        yield from self.constants(run)
        ball, reference = run.fact("ball"), run.reference
        b = 0.0 if has_bounded_slope(run.objective) else reference.b
        size = float(np.hypot(np.linalg.norm(reference.w), np.linalg.norm(b)))
        if not size <= ball * (1.0 + 1e-9):
            yield f"the solution, of size {size:.6g}, lies outside the ball of radius {ball:.6g}"

    @staticmethod
    def constants(run: Trajectory) -> Iterator[str]:
        """That the step is constant, and the ball."""
        yield from varying(run, "step", "ball")

    def game(self, run: Trajectory, x: Array) -> Iterator[tuple[Array, float]]:
        """(mean of all points, losses suffered) after each pass from x."""
        return rounds(run.objective, x, run.fact("step"), run.fact("ball"))

    def bound(self, run: Trajectory, played: Array) -> Array:
        """The right side after so many rounds."""
        slope = round_slope(run.objective, run.fact("ball"))
        distance = run.start_distance
        return online_regret(played, step=run.fact("step"), slope=slope, distance=distance)

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The means of the points, and the regret after each whole pass."""
        (run,) = runs
        objective = run.objective
        rows, suffered, T = [], [], []
        points = run.replay()
        game = self.game(run, pack(next(points)))
        passes = max(ROUNDS // objective.n, 1)
        for point, (mean, loss) in zip(islice(points, passes), game, strict=False):
            shown = pack(point)
            size = float(np.linalg.norm(mean) + np.linalg.norm(shown))
            rows.append((float(np.linalg.norm(shown - mean)), SAME * size))
            suffered.append(loss)
            T.append(float(objective.n * len(rows)))
        at = np.arange(1, len(rows) + 1)
        yield deviations("the iterates are the means of the points played", rows)
        played = np.array(T)
        bound = self.bound(run, played)
        regret = np.array(suffered) - played * run.reference.floor
        yield Claim(self.statement, regret, bound, played * run.value_room, at)


ROUNDS = 50_000
"""Rounds that an audit plays again."""
SAME = 1e-6
"""Two runs of the rounds agree to this share: kinks met may be decided by rounding."""


def rounds(
    objective: Objective, x: Array, step: float, ball: float
) -> Iterator[tuple[Array, float]]:
    """(mean of all points, losses suffered) after each pass over the samples in their order."""
    X, y, loss, penalty = objective.design, objective.y, objective.loss, objective.penalty
    d, whole, free = objective.d, not has_bounded_slope(objective), objective.fit_intercept
    scale = objective.n * objective.c
    rows = X.dense()
    x = _into(np.append(penalty.project(x[:d]), x[d:]), ball, whole)
    mean, count, suffered = x.copy(), 1, 0.0
    while True:
        scores = np.empty(objective.n)
        for i, row in enumerate(rows):
            w, b = x[:d], x[d]
            scores[i] = row @ w + b
            suffered += penalty.value(w)
            slope = scale[i] * loss.derivative(y[i : i + 1], scores[i : i + 1])[0]
            moved = w - step * (slope * row + penalty.subgradient(w))
            moved = np.append(penalty.project(moved), b - step * slope * free)
            x = _into(moved, ball, whole)
            count += 1
            mean = mean + (x - mean) / count
        suffered += float(np.sum(scale * loss.value(y, scores)))
        yield mean, suffered


def _into(x: Array, ball: float, whole: bool) -> Array:
    """The nearest (w, b) with |w| <= ball, or with |(w, b)| <= ball."""
    norm = float(np.linalg.norm(x if whole else x[:-1]))
    if norm <= ball:
        return x
    return x * (ball / norm) if whole else np.append(x[:-1] * (ball / norm), x[-1])

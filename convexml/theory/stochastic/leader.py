"""The regularised leader: regret against the best fixed point, in two geometries."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import softmax

from ...numerics import Array
from ...objective import Objective
from ..constants.slopes import steepest
from ..domains import NONNEGATIVE, POSITIVE, domains
from ..trajectory import Trajectory
from .online import OnlineRegret, round_slope


@domains(t=NONNEGATIVE, step=POSITIVE, slope=NONNEGATIVE, spread=NONNEGATIVE)
def leader_regret(t: Array | float, *, step: float, slope: float, spread: float) -> Array:
    """Bound on sum_{s<t} f_s(x_s) - f_s(x*): spread / step + step slope^2 t / 2.

    Parameters
    ----------
    t : float or array
        Number of rounds.
    step : float
        The constant step eta of x = argmin (v_1 + ... + v_t).x + R(x) / eta, R strongly convex
        with constant 1.
    slope : float
        G, the longest (sub)gradient of a round in the dual norm of that of R.
    spread : float
        R(x*) - min R: |x_0 - x*|^2 / 2 for R = |x - x_0|^2 / 2, at most log(d) for the negative
        entropy of the simplex, whose norm is l1 and whose dual norm is the largest entry.

    Returns
    -------
    float or array
        With eta = sqrt(2 spread / T) / G that is G sqrt(2 T spread) at T: B G sqrt(T) in a ball
        around x_0, G sqrt(2 T log(d)) on the simplex.

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Shalev-Shwartz, *Online Learning and Online Convex Optimization*, theorems 2.11 and 2.22, with
    the half that the smoothness of the conjugate of R gives.
    """
    return spread / step + 0.5 * step * slope**2 * np.asarray(t, dtype=float)


def corner_slope(objective: Objective) -> float:
    """G = t max |v_j| over the slopes v of rounds f_i(w) = n c_i l(y_i, x_i.w) on |w|_1 <= t.

    Parameters
    ----------
    objective : Objective
        Design, loss and coefficients; its penalty is the l1 ball of radius t.

    Returns
    -------
    float
        inf where the slope of the loss is unbounded on the ball.
    """
    t = objective.penalty.t  # type: ignore[attr-defined]
    blocks = [np.abs(part.dense()) for _, part in objective.design.row_blocks(BLOCK)]
    largest = np.concatenate([np.max(block, axis=1, initial=0.0) for block in blocks])
    slope = steepest(objective, largest, t)
    return float(t * np.max(objective.n * objective.c * slope * largest, initial=0.0))


BLOCK = 1024
"""Rows whose largest entries are looked for at once."""


class LeaderRegret(OnlineRegret):
    """Regret after whole passes of the leader for |w - w_0|^2 / 2, played again.

    w is the best against all slopes so far, with |w - w_0|^2 / (2 eta) added; eta = B / (G sqrt(T))
    makes it B G sqrt(T) for every x* in the ball of radius B.
    """

    statement = "sum_t f_t(x_t) - T f* <= |x_0 - x*|^2 / (2 eta) + eta G^2 T / 2"
    source = "Shalev-Shwartz 2012, theorem 2.11"

    def game(self, run: Trajectory, x: Array) -> Iterator[tuple[Array, float]]:
        """(mean, losses suffered) after each pass."""
        ball, start = run.fact("ball"), x
        return leaders(run.objective, x, run.fact("step"), lambda s: nearest(start - s, ball))

    def bound(self, run: Trajectory, played: Array) -> Array:
        """The right side after so many rounds."""
        slope = round_slope(run.objective, run.fact("ball"))
        spread = 0.5 * run.start_distance
        return leader_regret(played, step=run.fact("step"), slope=slope, spread=spread)


class CornerRegret(OnlineRegret):
    """Regret after whole passes of exponentiated gradients on the corners of |w|_1 <= t.

    A slope v multiplies the weights of the 2 d corners by exp(-eta v) at each;
    eta = sqrt(2 log(2 d) / T) / G makes it G sqrt(2 T log(2 d)).
    """

    statement = "sum_t f_t(w_t) - T f* <= log(2 d) / eta + eta G^2 T / 2, G = t max |v_j|"
    source = "Kivinen and Warmuth 1997; Shalev-Shwartz 2012, theorem 2.22"

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That step and ball are constant; the solution lies in the ball of the problem itself."""
        yield from self.constants(run)

    def game(self, run: Trajectory, x: Array) -> Iterator[tuple[Array, float]]:
        """(mean, losses suffered) after each pass, from weights that are equal."""
        t = run.objective.penalty.t  # type: ignore[attr-defined]
        return leaders(run.objective, np.zeros_like(x), run.fact("step"), lambda s: weighted(s, t))

    def bound(self, run: Trajectory, played: Array) -> Array:
        """The right side after so many rounds."""
        spread = float(np.log(2.0 * run.objective.d))
        slope = corner_slope(run.objective)
        return leader_regret(played, step=run.fact("step"), slope=slope, spread=spread)


def leaders(
    objective: Objective, x: Array, step: float, lead: Callable[[Array], Array]
) -> Iterator[tuple[Array, float]]:
    """(mean of all points, losses suffered) after each pass, x = lead(step (v_1 + ... + v_t))."""
    y, loss, penalty = objective.y, objective.loss, objective.penalty
    scale = objective.n * objective.c
    X, total = objective.design.dense(), np.zeros_like(x)
    x = lead(total)
    mean, count, suffered = x.copy(), 1, 0.0
    while True:
        for i, row in enumerate(X):
            w, z = x[:-1], np.array([row @ x[:-1]])
            suffered += penalty.value(w) + float(scale[i] * loss.value(y[i : i + 1], z)[0])
            slope = float(scale[i] * loss.derivative(y[i : i + 1], z)[0])
            total = total + step * np.append(slope * row + penalty.subgradient(w), 0.0)
            x = lead(total)
            count += 1
            mean = mean + (x - mean) / count
        yield mean, suffered


def nearest(x: Array, ball: float) -> Array:
    """The point of |x| <= ball that is nearest to x."""
    norm = float(np.linalg.norm(x))
    return x if norm <= ball else x * (ball / norm)


def weighted(total: Array, t: float) -> Array:
    """w = t (p - q), (p, q) the softmax of (-t total, t total); b = 0."""
    corners = softmax(t * np.concatenate([-total[:-1], total[:-1]]))
    p, q = np.split(corners, 2)
    return np.append(t * (p - q), 0.0)

"""Certificates between two points of a path, and of many points at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...numerics import EPS, Array, gamma
from ...penalties import Penalty
from ...problem import Objective
from ..certificate import Certificate
from ..scale import NULL_SHARE, learning_scale, relative
from .repair import balance, drift_of_multiples, outermost, product_error, scaled
from .rounding import LOOSE

# What two certified points say of every parameter between theirs.
#
# Where a parameter t (lam, C, nu) enters P linearly, P*(t) is a minimum of lines, hence concave: it
# lies above the chord of lower bounds at two values of t. A point (w, b) that is kept while t moves
# has P on a line. The better of two such lines less the chord bounds the gap of the better point.


ROUNDED = 16.0 * EPS
"""Of the values that a difference is formed of: what forming it may be off by."""


@dataclass(frozen=True)
class Tangent:
    """P of one point as the parameter moves, and a lower bound of P* at the point's own.

    Attributes
    ----------
    at : float
        The parameter t_0 that the point was certified at.
    value, lower : float
        An upper bound of P at the point, a lower bound of P*, both at t_0.
    slope, error : float
        dP/dt at the point, and what it may be off by.
    null : float
        P_0 of the null model at t_0.
    """

    at: float
    value: float
    lower: float
    slope: float
    error: float
    null: float

    @classmethod
    def of(
        cls, certificate: Certificate, at: float, slope: float, error: float, null: float
    ) -> Tangent:
        """That of a certified point; a bound that holds only near to it is none."""
        value = certificate.primal_objective + certificate.rounding
        lower = certificate.primal_objective - certificate.gap
        if certificate.within is not None or np.isnan(lower):
            lower = -np.inf
        return cls(at, value, lower, slope, error, null)

    def upper(self, t: float) -> float:
        """P at the point for the parameter t, up to what the slope may be off by."""
        return self.value + self.slope * (t - self.at)


def chord(first: Tangent, second: Tangent, t: float) -> float:
    """A lower bound of P*(t), for t between those of two points."""
    if first.at == second.at:
        return max(first.lower, second.lower)
    share = (t - first.at) / (second.at - first.at)
    return (1.0 - share) * first.lower + share * second.lower


def gap_between(first: Tangent, second: Tangent, t: float) -> float:
    """A bound of P - P* at t, of the point whose line is lower there."""
    upper, lower = min(first.upper(t), second.upper(t)), chord(first, second, t)
    off = max(first.error, second.error) * abs(first.at - second.at)
    gap = upper - lower + off + ROUNDED * (abs(upper) + abs(lower))
    return max(gap, 0.0) if np.isfinite(gap) else np.inf


def crossing(first: Tangent, second: Tangent) -> float:
    """The parameter between two at which their lines cross: there the gap is largest."""
    low, high = sorted((first.at, second.at))
    fall = first.slope - second.slope
    if fall == 0.0:
        return 0.5 * (low + high)
    ahead = second.value - second.slope * second.at - (first.value - first.slope * first.at)
    return float(np.clip(ahead / fall, low, high))


def relative_gap_at(first: Tangent, second: Tangent, t: float) -> float:
    """A bound of the relative gap at t, of the point whose line is lower there."""
    upper = min(first.upper(t), second.upper(t))
    # Where P is negative it is farther from 0 than its bound, and P* farther still.
    scale = max(abs(upper), NULL_SHARE * min(first.null, second.null))
    gap = gap_between(first, second, t)
    if gap == 0.0:
        return 0.0
    return gap / scale if scale > 0.0 else np.inf


def worst_between(first: Tangent, second: Tangent) -> float:
    """A bound of the relative gap at every parameter between two.

    The gap is concave and linear on both sides of the crossing, and so is P: their ratio is largest
    at an end or at the crossing. So is the gap itself, which the share of P_0 divides.
    """
    places = (first.at, crossing(first, second), second.at)
    gaps = [gap_between(first, second, t) for t in places]
    uppers = [min(first.upper(t), second.upper(t)) for t in places]
    if max(gaps) == 0.0:
        return 0.0
    null = NULL_SHARE * min(first.null, second.null)
    by_value = np.inf
    if min(uppers) > 0.0 or max(uppers) < 0.0:
        by_value = max(gap / abs(upper) for gap, upper in zip(gaps, uppers, strict=True))
    return min(by_value, max(gaps) / null if null > 0.0 else np.inf)


# Many points of one problem, each with a penalty of its own, judged by products for all at once:
# a point that these do not verify is to be judged alone.


ENTRIES = 1 << 20
"""Predictions that are held at a time."""


@np.errstate(over="ignore", invalid="ignore")
def relative_gaps(objective: Objective, penalties: Sequence[Penalty], W: Array, b: Array) -> Array:
    """A bound of the relative gap of each (w, b), with rounding accounted for.

    Parameters
    ----------
    objective : Objective
        Of a loss whose dual is unbounded; its own penalty does not count.
    penalties : sequence of Penalty
        One for each point.
    W, b : array, shapes (m, d) and (m,)

    Returns
    -------
    array, shape (m,)
        inf where no bound is known, as where a penalty leaves a column free.
    """
    y, c, loss, design = objective.y, objective.c, objective.loss, objective.design
    size, found, share = max(1, ENTRIES // max(objective.n, 1)), [], gamma(objective.d + 4) * LOOSE
    for i in range(0, len(W), size):
        own, at, some = W[i : i + size], b[i : i + size, None], penalties[i : i + size]
        Z, reach = design.matvec(own.T).T + at, (np.abs(own) @ objective.column_norms)[:, None]
        E = np.broadcast_to(np.where(reach > 0.0, share * (reach + np.abs(at)), 0.0), Z.shape)
        slopes = c * loss.derivative(y, Z)
        U = np.array([balance(objective, u, -np.inf, np.inf) for u in slopes])
        V = -design.rmatvec(U.T).T
        near = [_inside(objective, *each) for each in zip(some, U, V, strict=True)]
        U = np.array([u for u, _, _ in near])
        gaps = loss.excess(y, c, Z, E, U, np.zeros_like(U)).sum(axis=1)
        values = loss.value(y, Z) @ c
        for penalty, w, (_, v, h), gap, value in zip(some, own, near, gaps, values, strict=True):
            gap = gap + float(np.sum(penalty.excess(w, np.zeros_like(w), v, h)))
            gap = gap * (1.0 + gamma(objective.n + objective.d)) if penalty.contains(w) else np.inf
            primal = value + penalty.value(w)
            scale = learning_scale(primal, primal - gap, objective.null_value)
            found.append(relative(gap, scale))
    return np.array(found)


def _inside(
    objective: Objective, penalty: Penalty, u: Array, v: Array
) -> tuple[Array, Array, Array]:
    """(u, -X'u, what that may be off by) shrunk until it is in dom Omega* for certain."""
    error = product_error(objective, u)
    t = penalty.domain_scale(outermost(v, error + drift_of_multiples(objective, u)))
    return scaled(objective, u, v, error, t * (1.0 - 16.0 * EPS)) if t < 1.0 else (u, v, error)

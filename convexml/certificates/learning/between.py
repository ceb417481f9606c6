"""What two certified points say of every parameter between theirs.

Where a parameter t (lam, C, nu) enters P linearly, P*(t) is a minimum of lines, hence concave: it
lies above the chord of lower bounds at two values of t. A point (w, b) that is kept while t moves
has P on a line. The better of two such lines less the chord bounds the gap of the better point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics import EPS
from ..certificate import Certificate
from ..scale import NULL_SHARE

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

"""Certificates between two points of a path, and of many points at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...numerics import EPS, UNIT, Array, gamma, lengths
from ...penalties import NonnegativeElasticNet, Penalty
from ...problem import MulticlassObjective, Objective
from ..certificate import Certificate
from ..rounding import balanced_rows_of
from ..scale import NULL_SHARE, learning_scale, relative
from .repair import outermost
from .rounding import LOOSE, sum_rounding

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


# Many points of one problem, each with a penalty of its own, judged by products for all at once.
#
# P, D and the account of their rounding are those of ``evaluation``, on the data as they are: a
# point
# that they do not verify is to be judged alone.


ENTRIES = 1 << 20
"""Predictions that are held at a time."""

COARSE = 16.0 * UNIT
"""Of max |u_i|: more than what balancing a multiple of u moves its entries by."""


def takes_many(objective: Objective) -> bool:
    """Whether dom F* is the whole space, so that the slopes at any point are dual feasible there.

    Then what is left is 1'u = 0 and the domain of Omega*.
    """
    several = isinstance(objective, MulticlassObjective)
    return objective.is_unbounded and not several and not objective.loss.is_indicator


def relative_gaps(objective: Objective, penalties: Sequence[Penalty], W: Array, b: Array) -> Array:
    """A bound of the relative gap of each (w, b), with rounding accounted for.

    Parameters
    ----------
    objective : Objective
        One that ``takes_many``; its own penalty does not count.
    penalties : sequence of Penalty
        One for each point.
    W, b : array, shapes (m, d) and (m,)

    Returns
    -------
    array, shape (m,)
        inf where no bound is known, as where a penalty leaves a column free.
    """
    size = max(1, ENTRIES // max(objective.n, 1))
    found = [
        _some(objective, penalties[i : i + size], W[i : i + size], b[i : i + size])
        for i in range(0, len(W), size)
    ]
    return np.concatenate(found)


def _some(objective: Objective, penalties: Sequence[Penalty], W: Array, b: Array) -> Array:
    y, c, loss, design, norms = (
        objective.y,
        objective.c,
        objective.loss,
        objective.design,
        objective.column_norms,
    )
    with np.errstate(over="ignore", invalid="ignore"):
        Z = design.matvec(W.T).T + b[:, None]
        losses = loss.value(y, Z)
        omega = np.array([penalty.value(w) for penalty, w in zip(penalties, W, strict=True)])
        primal = losses @ c + omega
        sizes = (np.abs(W) @ norms) * LOOSE
        share = gamma(objective.d + 4)
        reach = np.where(sizes > 0.0, share * (sizes + np.abs(b)), 0.0)
        slopes = c * loss.slope_bound(y, Z, float(reach.max(initial=0.0)))
        above = np.array(
            [p.value_rounding(w, v) for p, w, v in zip(penalties, W, omega, strict=True)]
        )
        above += 4.0 * EPS * np.abs(primal) + sum_rounding(
            objective, losses, loss.value_rounding, Z
        )
        long = lengths(slopes, 1)
        above += np.where(sizes > 0.0, share * (sizes * long + np.abs(b) * slopes.sum(axis=1)), 0.0)

        U = objective.coefficients * loss.derivative(y, Z)
        if objective.fit_intercept:
            U = balanced_rows_of(U)
        U, V, errors = _inside(objective, penalties, U)
        at = U / c
        terms = loss.conjugate(y, at)
        conjugates = terms @ c
        bounds = [p.conjugate_bound(v, e) for p, v, e in zip(penalties, V, errors, strict=True)]
        # Omega* is taken at its largest near v, so that no value of it is left to be off.
        dual = -conjugates - np.array(bounds)
        below = sum_rounding(objective, terms, loss.conjugate_rounding, at)
        below += 8.0 * EPS * (np.abs(conjugates) + np.abs(bounds))
        rounding = LOOSE * (above + below) + 4.0 * EPS * (np.abs(primal) + np.abs(dual))
        gaps = np.maximum(primal - dual + rounding, 0.0) * (1.0 + 4.0 * EPS)
    null = objective.null_value
    shares = [
        relative(gap, learning_scale(p, q, null))
        for gap, p, q in zip(gaps.tolist(), primal.tolist(), dual.tolist(), strict=True)
    ]
    is_free = [_has_rows(penalty, w) for penalty, w in zip(penalties, W, strict=True)]
    return np.where(is_free, np.inf, shares)


def _has_rows(penalty: Penalty, w: Array) -> bool:
    """Whether dom Omega* has rows that no shrinking restores, or w may be outside dom Omega."""
    inside = isinstance(penalty, NonnegativeElasticNet) and bool(np.all(w >= 0.0))
    if (penalty.restricts and not inside) or type(penalty).outside is not Penalty.outside:
        return True
    return bool(penalty.free(len(w)).any())


def _inside(
    objective: Objective, penalties: Sequence[Penalty], U: Array
) -> tuple[Array, Array, Array]:
    """(u, -X'u, what that may be off by) shrunk until it is in dom Omega* for certain, for each."""
    n, norms = objective.n, objective.column_norms
    V = -objective.design.rmatvec(U.T).T
    long = lengths(U, 1) * LOOSE
    errors = gamma(n) * long[:, None] * norms
    drift = COARSE * np.sqrt(n) * np.abs(U).max(axis=1, initial=0.0)
    reached = errors + drift[:, None] * norms
    t = np.array(
        [
            penalty.domain_scale(outermost(v, error))
            for penalty, v, error in zip(penalties, V, reached, strict=True)
        ]
    )
    t = np.where(t < 1.0, t * (1.0 - 16.0 * EPS), 1.0)
    shrunk = np.flatnonzero(t < 1.0)
    if shrunk.size:
        whole = t[shrunk, None] * U[shrunk]
        new = balanced_rows_of(whole) if objective.fit_intercept else whole
        moved = np.abs(new - whole) + UNIT * np.abs(whole)
        long = lengths(moved, 1) * LOOSE
        U, V, share = U.copy(), V.copy(), t[shrunk, None]
        U[shrunk], V[shrunk] = new, share * V[shrunk]
        more = long[:, None] * norms + 2.0 * EPS * np.abs(V[shrunk])
        errors[shrunk] = (share * errors[shrunk] + more) * (1.0 + 4.0 * EPS)
    return U, V, errors

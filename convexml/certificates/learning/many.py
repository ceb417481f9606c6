"""Many points of one problem, each with a penalty of its own, judged by products for all at once.

P, D and the account of their rounding are those of ``evaluation``, on the data as they are: a point
that they do not verify is to be judged alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...numerics import EPS, UNIT, Array, gamma, lengths
from ...objective import MulticlassObjective, Objective
from ...penalties import NonnegativeElasticNet, Penalty
from ..rounding import balanced_rows_of
from ..scale import learning_scale, relative
from .account import LOOSE, sum_rounding
from .points.dual_repair import outermost

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

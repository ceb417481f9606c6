"""Dual feasible points of problems with K classes: rows in the simplex, columns that sum to 0."""

from __future__ import annotations

import numpy as np

from ....blocks import rowwise
from ....numerics import ROUNDING, Array
from ....objective.outputs.class_refit import refit
from ....objective.outputs.multiclass import MulticlassObjective
from ...algebra.rationals import DIGITS, exact_sum
from ...rounding import spread


def restore_probabilities(objective: MulticlassObjective, u: Array) -> Array:
    """Return a u near to the one passed, with p_i = u_i / c_i + e_{y_i} in the simplex.

    Then p_ik <- p_ik exp(x_i.v_k + t_k) / Z_i, the nearest point in the sense of Kullback and
    Leibler with 1'u = 0, and with X'u = 0 on unpenalised rows: a refit with offset log p.
    """
    u = _onto_simplex(objective, u)
    if _is_balanced(objective, u):
        return u
    z = objective.log_probabilities(u)
    w, b = refit(objective, z)
    return objective.loss_derivative(z + objective.predict(w, b))


def _is_balanced(objective: MulticlassObjective, u: Array) -> bool:
    if objective.fit_intercept:
        total, size = np.abs(u.sum(axis=0)), np.abs(u).sum(axis=0)
        if np.any(total > 0.5 * ROUNDING * size):
            return False
    free = objective.penalty.free(objective.d)
    if not free.any():
        return True
    rows, size = objective.design.rmatvec(u)[free], objective.design.abs_rmatvec(u)[free]
    return bool(np.all(np.abs(rows) <= 0.5 * ROUNDING * size))


def _onto_simplex(objective: MulticlassObjective, u: Array) -> Array:
    """The nearest u whose rows are in the simplex (Euclidean, row by row)."""
    sums = np.abs(u.sum(axis=1)) <= ROUNDING * objective.c
    lo, hi = objective.dual_bounds()
    if np.all(sums) and np.all((u >= lo) & (u <= hi)):
        return u
    p = u / objective.coefficients + objective.labels
    p = _nearest_shares(np.where(np.isfinite(p), p, 0.0))
    others = np.where(objective.labels > 0.0, 0.0, p)
    own = -others.sum(axis=1)[:, None]  # p - 1, without cancellation
    return objective.coefficients * np.where(objective.labels > 0.0, own, others)


@rowwise
def _nearest_shares(p: Array) -> Array:
    """The nearest rows >= 0 with sum 1."""
    descending = -np.sort(-p, axis=1)
    excess = (np.cumsum(descending, axis=1) - 1.0) / np.arange(1, p.shape[1] + 1)
    count = np.sum(descending > excess, axis=1)
    return np.maximum(p - np.take_along_axis(excess, count[:, None] - 1, axis=1), 0.0)


def balanced_rows(objective: MulticlassObjective, u: Array) -> Array | None:
    """U on a grid of a power of two, with p_i exactly in the simplex and columns that sum to 0.

    The entry of the sample's own class is minus the sum of the others. With an intercept the grid
    is one for all samples, and what a column lacks is moved within rows. None where it cannot be.
    """
    own = objective.labels > 0.0
    others = np.where(own, 0.0, np.maximum(u, 0.0))
    sizes = others.sum(axis=1)[:, None]
    largest = sizes.max(initial=0.0) if objective.fit_intercept else sizes
    if not np.any(largest):
        return np.zeros_like(u)
    # A digit less than there are: rounding makes sums larger.
    grid = np.ldexp(1.0, np.where(largest > 0.0, np.frexp(largest)[1] - DIGITS + 1, 0))
    with np.errstate(over="ignore"):
        room = np.minimum(np.floor(objective.coefficients / grid), 2.0**DIGITS).astype(np.int64)
    k = _no_more_than(np.rint(others / grid).astype(np.int64), room)
    k = np.where(own, -k.sum(axis=1)[:, None], k)
    if objective.fit_intercept and not _balance_columns(k, np.where(own, room, 0)):
        return None
    return k * grid


@rowwise
def _no_more_than(k: Array, room: Array) -> Array:
    """Rows of whole numbers, the largest of them lowered until their sum is at most ``room``."""
    while np.any(over := np.maximum(k.sum(axis=1) - room[:, 0], 0)):
        at = np.arange(len(k)), k.argmax(axis=1)
        k[at] -= np.minimum(k[at], over)
    return k


def _balance_columns(k: Array, room: Array) -> bool:
    """Move whole numbers within the rows of k until its columns sum to 0; k + room stays >= 0."""
    sums = [exact_sum(k[:, j]) for j in range(k.shape[1])]
    while any(sums):
        more, less = int(np.argmax(sums)), int(np.argmin(sums))
        amount = min(sums[more], -sums[less])
        step = spread(k[:, more] + room[:, more], amount)
        k[:, more] -= step
        k[:, less] += step
        if exact_sum(step) != amount:
            return False
        sums[more], sums[less] = sums[more] - amount, sums[less] + amount
    return True

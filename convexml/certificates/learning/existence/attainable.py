"""Whether a constraint on the predictions, which floats meet nearly, is met exactly nearby."""

from __future__ import annotations

import numpy as np

from ....numerics import EPS, Array, length
from ....objective import Objective
from ...algebra.rationals import as_integers, eliminate
from ...algebra.singular import least_singular_value
from ...algebra.sums import exact_residual
from ..points.primal_repair import PrimalPoint, scales
from .evidence import consistent, with_ones

LARGEST = 4_000_000
"""Entries of X up to which that is looked into."""
EXACTLY = 20_000
"""Entries of X up to which a point is tested without rounding."""


def not_met_near(objective: Objective, w: Array, residual: Array, rounding: float) -> str:
    """Why no exactly feasible point is known near to w; "" where there is one.

    A margin is met by a multiple of (w, b), which its price has found. For X w + b = y the rows of
    [X, 1] are independent, or the equations consistent in integers, and a solution lies within
    |residual| / sigma_min; a constraint on w must have that much room.

    Parameters
    ----------
    objective : Objective
        With a constraint on the predictions.
    w : array, shape (d,)
    residual : array, shape (n,)
        Bounds on what the predictions miss it by, rounding included.
    rounding : float
        The price of the point: inf where no multiple of it has a margin of 1.
    """
    if scales(objective):
        unknown = "The margins are met down to rounding only, and no w that has them is known."
        return unknown if objective.penalty.is_constraint and not np.isfinite(rounding) else ""
    if not np.any(residual):
        return ""
    unknown = "Xw = y is met down to rounding only, and no exact solution near to w is known."
    if objective.n * objective.d > LARGEST:
        return unknown
    if _of_rows(objective)[0] and not objective.penalty.restricts:
        return ""
    return "" if np.isfinite(_away(objective, w, residual)) else unknown


def met_exactly(objective: Objective, w: Array, b: float) -> bool:
    """Whether (w, b) itself is feasible, decided without rounding; False where X is large."""
    if objective.n * objective.d > EXACTLY or not objective.penalty.contains(w):
        return False
    E = with_ones(objective, objective.design.dense())
    x = np.append(w, b) if objective.fit_intercept else w
    if scales(objective):
        return bool(np.all(exact_residual(objective.y[:, None] * E, x, np.ones(len(E))) >= 0.0))
    return bool(np.all(exact_residual(E, x, objective.y) == 0.0))


def met_within(objective: Objective, w: Array, b: float, room: float) -> tuple[Array, Array] | None:
    """(z, slack) of X w + b = y summed without rounding, where it is met within ``room``.

    None where it is not, for other losses, and where X is large.
    """
    if scales(objective) or objective.n * objective.d > EXACTLY:
        return None
    E = with_ones(objective, objective.design.dense())
    x = np.append(w, b) if objective.fit_intercept else w
    missed = exact_residual(E, x, objective.y)
    if not np.all(np.abs(missed) <= room):
        return None
    z = objective.y + missed
    return z, 2.0 * EPS * (np.abs(missed) + np.abs(z))


def price_of_meeting(objective: Objective, point: PrimalPoint) -> float:
    """By how much P may rise on the way to the nearest point with X w + b = y exactly.

    inf where none is known to be near; 0 for other losses, whose points are repaired.
    """
    if not objective.loss.is_indicator or scales(objective):
        return 0.0
    w, penalty = point.w, objective.penalty
    missed = objective.loss.violation(objective.y, point.z)
    missed = missed + objective.prediction_slack(w, point.b)
    if objective.n * objective.d > LARGEST:
        return np.inf
    away = _away(objective, w, missed)
    if penalty.is_constraint and np.isfinite(away):
        return 0.0
    return max(penalty.rise(w, away), 0.0) if np.isfinite(away) else np.inf


def _away(objective: Objective, w: Array, missed: Array) -> float:
    """How far from (w, b) X w + b = y has a solution that Omega takes; inf where none is known.

    Where Omega is a constraint that w = 0 may be an end of, entries that are 0 are left as they
    are, if the other columns have rows that are independent.
    """
    penalty, size = objective.penalty, length(missed) * (1.0 + 1e-9)
    least, free = _of_rows(objective)[1], w != 0.0
    if least > 0.0 and size / least <= penalty.room(w):
        return size / least
    if penalty.restricts and not free.all():
        E = with_ones(objective, objective.design.columns(free).dense())
        least = least_singular_value(E.T) if E.shape[0] <= E.shape[1] else 0.0
        if least > 0.0 and size / least <= penalty.room(w, free):
            return size / least
    return np.inf


def _of_rows(objective: Objective) -> tuple[bool, float]:
    """Whether X w + b = y is known to have a solution, and how regular the rows of [X, 1] are.

    A bound of sigma_min of independent rows that imply the others, 0 where none is known. Both are
    those of the data, which keep them.
    """
    known = objective.__dict__.setdefault("_rows", [])
    if not known:
        E = with_ones(objective, objective.design.dense())
        solvable = consistent(E, objective.y)
        least = least_singular_value(E.T) if E.shape[0] <= E.shape[1] else 0.0
        if least == 0.0 and solvable:
            echelon = eliminate(as_integers(E))
            least = least_singular_value(E[echelon.origins[: echelon.rank]].T)
        known.append((solvable, least))
    return known[0]

"""Evidence that the constraint of a learning problem contradicts itself: priced, or exact."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import linalg

from ...formulas import Condition, worst
from ...numerics import EPS, ROUNDING, Array, length
from ...problem import Objective, frame_of, once
from ..algebra.definite import least_singular_value, unit_columns
from ..algebra.rationals import as_integers, eliminate, solve_exactly
from ..algebra.sums import exact_residual
from .repair import PrimalPoint, product_error, scales
from .unpenalised import ColumnRows

SMALL_ENOUGH = 4_000_000
"""Entries of X up to which the linear programs below are posed."""
OPERATIONS = 300_000
"""Products of long integers up to which a rank is decided exactly."""


@dataclass(frozen=True)
class Evidence:
    """Verified arrays, the rows that they meet, and why they prove the claim.

    Attributes
    ----------
    arrays : dict of arrays
    conditions : tuple of Condition
        Measured at the arrays as they are: what is left of them is rounding, and priced.
    reason : str
    """

    arrays: dict[str, Any]
    conditions: tuple[Condition, ...] = field(default=())
    reason: str = ""


def inconsistent(objective: Objective) -> Evidence | None:
    """Return nu proving X w (+ b) = y infeasible: X'nu = 0, 1'nu = 0 (with b) and y'nu = 1.

    Decided in integers where these are few: the rank of [X, 1, y] against that of [X, 1]. Else what
    least squares leave of y is priced: an exact nu'' has |nu'' - nu| <= |E'nu| / sigma_min(E), and
    must keep y'nu'' > 0. None if there is a solution, or none is excluded.
    """
    frame = frame_of(objective)  # the same equations, with differences taken exactly
    inner = frame.objective
    if inner.n * inner.d > SMALL_ENOUGH:
        return None
    E = with_ones(inner, inner.design.dense())
    if few(*E.shape):
        nu = _contradiction(E, inner.y)
        return None if nu is None else _of_nu(objective, nu / frame.target_unit, "exactly")
    basis = orthonormal(E)[0]
    nu = inner.y - basis @ (basis.T @ inner.y)
    nu = nu - basis @ (basis.T @ nu)
    largest = float(np.max(np.abs(nu), initial=0.0))
    all_, error = np.ones(inner.d, dtype=bool), product_error(inner, nu)
    rows = ColumnRows.at_dual(inner, nu, -inner.design.rmatvec(nu), all_, error)
    step = rows.distance(rows.metric(np.ones_like(nu)))
    product = float(inner.y @ nu)
    offset = inner.y - inner.y.mean() if inner.fit_intercept else inner.y
    lost = (1.0 + 1e-9) * length(offset) * step
    lost += ROUNDING * float(np.abs(inner.y) @ np.abs(nu))
    if product > lost and largest > 1e-9 * float(np.max(np.abs(inner.y))):
        reason = "to more than their rounding can explain"
        return _of_nu(objective, nu / product / frame.target_unit, reason)
    part = np.flatnonzero(np.abs(nu) > 1e-9 * largest)
    some = _contradiction(E[part], inner.y[part]) if few(part.size, E.shape[1]) else None
    if some is None:
        return None
    nu = np.zeros(inner.n)
    nu[part] = some
    return _of_nu(objective, nu / frame.target_unit, "exactly")


def _of_nu(objective: Objective, nu: Array, how: str) -> Evidence:
    measured = nu
    with np.errstate(over="ignore"):
        overflows = not np.isfinite(objective.design.abs_rmatvec(nu)).all()
    if overflows:  # then of the multiple whose largest entry is about 1
        measured = np.ldexp(nu, -int(np.frexp(np.max(np.abs(nu)))[1]))
    rows = rows_of_multipliers(objective, ("X'nu = 0", "1'nu = 0"), measured)
    least = 1.0 / float(np.abs(nu).sum())  # of max |r|, as nu'r = y'nu = 1 for r = y - X w - b
    reason = f"The multipliers in .evidence prove, {how}, that X w + b = y contradicts itself: "
    reason += f"every w misses some y_i by about {least:.3g} or more."
    return Evidence({"nu": nu}, rows, reason)


def rows_of_multipliers(
    objective: Objective, names: tuple[str, str], u: Array, missed: Array | None = None
) -> tuple[Condition, ...]:
    """What X'u and 1'u are off by, of X'u all where it is not told; of classes alpha = y u."""
    missed = objective.design.rmatvec(u) if missed is None else missed
    rows = [worst(names[0], "dual_feasibility", missed, objective.design.abs_rmatvec(u))]
    if objective.fit_intercept:
        rows.append(worst(names[1], "dual_feasibility", u.sum(), np.abs(u).sum()))
    if scales(objective):
        negative = np.maximum(-objective.y * u, 0.0)
        rows.append(worst("alpha >= 0", "dual_feasibility", negative))
    return tuple(rows)


def _contradiction(E: Array, y: Array) -> Array | None:
    """Nu with E'nu = 0 and y'nu = 1 in rationals, rounded at the end; None if E w = y holds."""
    exact = solve_exactly(np.vstack([E.T, y]), np.eye(1, E.shape[1] + 1, E.shape[1]).ravel())
    return None if exact is None else np.array([float(value) for value in exact])


def orthonormal(E: Array) -> tuple[Array, Array]:
    """(Q, S) with Q = E S about orthonormal: columns that are nearly dependent told apart."""
    E, units = unit_columns(E)
    Q, R, order = linalg.qr(E, mode="economic", pivoting=True, check_finite=False)
    size = np.abs(np.diag(R))
    rank = int(np.sum(size > 4.0 * EPS * size.max(initial=0.0)))
    S = np.zeros((E.shape[1], rank))
    S[order[:rank]] = linalg.solve_triangular(R[:rank, :rank], np.eye(rank))
    return Q[:, :rank], S * units[:, None]


def with_ones(objective: Objective, X: Array) -> Array:
    """E = [X, 1] where there is an intercept, else X."""
    return np.column_stack([X, np.ones(len(X))]) if objective.fit_intercept else X


def few(n: int, k: int) -> bool:
    """Whether the rank of a matrix is decided exactly: it takes few products of integers."""
    return n * k * min(n, k) <= OPERATIONS


# Whether a constraint on the predictions, which floats meet nearly, is met exactly nearby.


LARGEST = 4_000_000
"""Entries of X up to which that is looked into."""
EXACTLY = 20_000
"""Entries of X up to which a point is tested without rounding."""


def not_met_near(objective: Objective, point: PrimalPoint, rounding: float) -> str:
    """Why no exactly feasible point is known near to this one; "" where there is one.

    A margin is met by a multiple of (w, b), which its price has found. For X w + b = y the rows of
    [X, 1] are independent, or the equations consistent in integers, and a solution lies within
    |residual| / sigma_min; a constraint on w must have that much room.

    Parameters
    ----------
    objective : Objective
        With a constraint on the predictions.
    point : PrimalPoint
    rounding : float
        The price of the point: inf where no multiple of it has a margin of 1.
    """
    restricts = objective.penalty.restricts
    if scales(objective):
        unknown = "The margins are met down to rounding only, and no w that has them is known."
        return unknown if objective.penalty.is_constraint and not np.isfinite(rounding) else ""
    if np.isfinite(_away(objective, point)) or (not restricts and _of_rows(objective)[0]):
        return ""
    return "Xw = y is met down to rounding only, and no exact solution near to w is known."


def _missed(objective: Objective, w: Array, b: float) -> Array | None:
    """X w + b - y, or what margins are above 1, without rounding; None where X is large."""
    if objective.n * objective.d > EXACTLY:
        return None
    E, y = with_ones(objective, objective.design.dense()), objective.y
    x = np.append(w, b) if objective.fit_intercept else w
    if scales(objective):
        return exact_residual(y[:, None] * E, x, np.ones_like(y))
    return exact_residual(E, x, y)


def met_exactly(objective: Objective, w: Array, b: float) -> bool:
    """Whether (w, b) itself is feasible, decided without rounding; False where X is large."""
    missed = _missed(objective, w, b) if objective.penalty.contains(w) else None
    if missed is None:
        return False
    return bool(np.all(missed >= 0.0 if scales(objective) else missed == 0.0))


def met_within(objective: Objective, w: Array, b: float, room: float) -> tuple[Array, Array] | None:
    """(z, slack) of X w + b = y summed without rounding, where it is met within ``room``.

    None where it is not, for other losses, and where X is large.
    """
    missed = None if scales(objective) else _missed(objective, w, b)
    if missed is None or not np.all(np.abs(missed) <= room):
        return None
    z = objective.y + missed
    return z, 2.0 * EPS * (np.abs(missed) + np.abs(z))


def price_of_meeting(objective: Objective, point: PrimalPoint) -> float:
    """By how much P may rise on the way to the nearest point with X w + b = y exactly.

    inf where none is known to be near; 0 for other losses, whose points are repaired.
    """
    if not objective.loss.is_indicator or scales(objective):
        return 0.0
    away, penalty = _away(objective, point), objective.penalty
    if not np.isfinite(away):
        return np.inf
    return 0.0 if penalty.is_constraint else max(penalty.rise(point.w, away), 0.0)


def _away(objective: Objective, point: PrimalPoint) -> float:
    """How far from (w, b) X w + b = y has a solution that Omega takes; inf where none is known.

    Where Omega is a constraint that w = 0 may be an end of, entries that are 0 are left as they
    are, if the other columns have rows that are independent.
    """
    w, penalty = point.w, objective.penalty
    missed = objective.loss.violation(objective.y, point.z)
    size = length(missed + objective.prediction_slack(w, point.b)) * (1.0 + 1e-9)
    if size == 0.0:
        return 0.0
    least, free = _of_rows(objective)[1], w != 0.0
    if least > 0.0 and size / least <= penalty.room(w):
        return size / least
    if penalty.restricts and not free.all() and objective.n * objective.d <= LARGEST:
        least = _sigma_of_rows(with_ones(objective, objective.design.columns(free).dense()))
        if least > 0.0 and size / least <= penalty.room(w, free):
            return size / least
    return np.inf


def _sigma_of_rows(E: Array) -> float:
    """A bound of sigma_min of rows that are independent, else 0."""
    return least_singular_value(E.T) if E.shape[0] <= E.shape[1] else 0.0


@once
def _of_rows(objective: Objective) -> tuple[bool, float]:
    """Whether X w + b = y is known to have a solution, and how regular the rows of [X, 1] are.

    A bound of sigma_min of independent rows that imply the others, 0 where none is known.
    """
    if objective.n * objective.d > LARGEST:
        return False, 0.0
    E = with_ones(objective, objective.design.dense())
    solvable = few(*E.shape) and solve_exactly(E, objective.y) is not None
    least = _sigma_of_rows(E)
    if least == 0.0 and solvable:
        echelon = eliminate(as_integers(E))
        least = least_singular_value(E[echelon.origins[: echelon.rank]].T)
    return solvable, least

"""The one account of rounding: what P and D of a learning problem may be off by.

A sum of k terms is off by gamma_k sum |terms| in any order, an elementary function by
``ELEMENTARY`` of its result, and a convex loss is as steep as at the ends of where z may be. The
bounds are rigorous for the losses and penalties of the library, the data taken as exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from ...numerics import EPS, Array, gamma, length, outward
from ...objective import Objective
from ...objective.outputs.multiclass import MulticlassObjective
from ..rounding import compensated_error, compensated_matvec
from .points.columns import ColumnPrice, price_of_columns
from .points.dual_repair import DualPoint
from .points.dual_rows import held_rows
from .points.primal_repair import PrimalPoint, scales, stretches

LOOSE = 1.0 + 1e-6
"""Covers the rounding of the account itself."""
SMALL = 4.0 * EPS
"""A share of P that a rounding of b may cost before its slopes are asked whether they cancel."""


def unproved(objective: Objective) -> str:
    """Why the account is not rigorous, of first order or a rule of thumb somewhere; "" if it is."""
    loss, penalty = objective.loss, objective.penalty
    if isinstance(objective, MulticlassObjective) and held_rows(objective).any():
        return "Not proved: X'u = 0 on the rows of W without a penalty is met only nearly."
    if loss.is_indicator and not scales(objective):
        return "Not proved: the constraint on the predictions is met only down to rounding."
    pairs = [(loss, "conjugate", "conjugate_rounding"), (penalty, "conjugate", "conjugate_bound")]
    if not loss.is_indicator:
        pairs.append((loss, "value", "value_rounding"))
    bare = ("violation", "shrinkage") if penalty.is_constraint else ("value", "value_rounding")
    for part, formula, bound in [*pairs, (penalty, *bare)]:
        if not _states(type(part), formula, bound):
            return f"Not proved: {part!r} does not state its rounding in {bound}."
    return ""


@cache
def _states(kind: type, formula: str, bound: str) -> bool:
    """Whether the class that has the formula, or one derived from it, has the bound."""
    owners = [next(k for k in kind.__mro__ if name in vars(k)) for name in (bound, formula)]
    return issubclass(owners[0], owners[1])


def primal_rounding(
    objective: Objective, point: PrimalPoint, u: Array, shift_error: float = 0.0
) -> float:
    """What P may be off by at the point, where the intercept may be off by ``shift_error``.

    Where a margin is missed, (w, b) / (min y_i z_i - error) is the point that counts, with what the
    division rounded in the error: it moves predictions, which columns of large entries magnify;
    what X w + b = y is missed by is weighed with u.
    """
    w, penalty, loss = point.w, objective.penalty, objective.loss
    if not math.isfinite(point.value):
        return np.inf
    omega = penalty.value(w)
    rounding = penalty.value_rounding(w, omega) + 4.0 * EPS * abs(point.value)
    if loss.is_indicator:
        reach = _reach(point, _terms(objective, point)) + shift_error
        if not scales(objective):
            return LOOSE * (rounding + float(np.sum(np.abs(u) * reach)))
        margin = float(np.min(objective.y * point.z - reach))
        if not stretches(objective, w, margin):
            return np.inf
        margin = min(1.0, margin)
        return LOOSE * (rounding + max(penalty.value(w / margin) - omega, 0.0))
    value = loss.value(objective.y, point.z) if point.losses is None else point.losses
    rounding += float(sum_rounding(objective, value, loss.value_rounding, point.z))
    terms = _terms(objective, point) if point.error is None else (0.0, 0.0)
    reach = _reach(point, terms)
    reach = (reach if isinstance(reach, float) else float(reach.max(initial=0.0))) + shift_error
    slopes = objective.coefficients * loss.slope_bound(objective.y, point.z, reach)
    rounding += _weighed(point, slopes, terms)
    if shift_error > 0.0:
        moved = shift_error * float(slopes.sum())
        if moved > SMALL * abs(point.value):
            moved = shift_error * _slope_of_shift(objective, point.z, slopes, reach)
        rounding += moved
    return LOOSE * rounding if math.isfinite(rounding) else np.inf


def sum_rounding(objective: Objective, terms: Array, own: Callable[..., Array], at: Array) -> Array:
    """What sum_i c_i terms_i may be off by, for terms off by ``own(y, at, terms)``.

    ``terms`` of several points have one row each.
    """
    errors = own(objective.y, at, terms) @ objective.c
    found: Array = errors + gamma(objective.n + 8) * (np.abs(terms) @ objective.c)
    return found


def _terms(objective: Objective, point: PrimalPoint) -> tuple[float, float]:
    """The share of its terms that a prediction may be off by, and sum_j |X_j|_2 |w_j|."""
    count = objective.d // max(1, np.size(point.b)) + 4
    share = gamma(count) + objective.penalty.shrinkage(point.w) + point.divided
    return share, float(objective.column_norms @ np.abs(point.w)) * LOOSE


def _reach(point: PrimalPoint, terms: tuple[float, float]) -> Array | float:
    """What predictions may be off by: entry by entry, or all of them."""
    if point.error is not None:
        return point.error
    share, size = terms
    # With w = 0 the prediction is b itself.
    return share * (size + float(np.abs(point.b).max())) if size > 0.0 else 0.0


def _weighed(point: PrimalPoint, slopes: Array, terms: tuple[float, float]) -> float:
    """sum_i slopes_i |error of z_i|."""
    if point.error is not None:
        return float(np.sum(slopes * point.error))
    share, size = terms
    if size == 0.0:
        return 0.0
    shifts = float((slopes * np.abs(point.b)).sum())
    return share * (size * length(slopes) + shifts)


def _slope_of_shift(objective: Objective, z: Array, slopes: Array, reach: float) -> float:
    """A bound of |d F(z + t 1) / dt| for |t| <= reach: the slopes cancel near an optimum."""
    if isinstance(objective, MulticlassObjective):
        return float(slopes.sum())
    far = outward(z, reach)
    ends = [abs(float(objective.loss_derivative(end).sum())) for end in (z - far, z + far)]
    return max(ends) + (gamma(objective.n) + 32.0 * EPS) * float(slopes.sum())


def dual_rounding(
    objective: Objective, point: PrimalPoint | None, dual: DualPoint, room: float = 0.0
) -> ColumnPrice:
    """By how much D may be below ``dual.value`` at an exactly feasible point near ``dual.u``.

    Where unpenalised columns cost more than ``room``, the bound with that much charged to them
    holds ``within`` a distance.
    """
    y, c, u, loss = objective.y, objective.c, dual.u, objective.loss
    if not math.isfinite(dual.value):
        return ColumnPrice(np.inf)
    many = isinstance(objective, MulticlassObjective)
    slopes = u / objective.coefficients if many else objective.slopes_inside(u)
    terms = loss.conjugate(y, slopes) if dual.conjugates is None else dual.conjugates
    error = dual.errors
    columns = _columns(objective, point, dual, error, room)
    rounding = float(sum_rounding(objective, terms, loss.conjugate_rounding, slopes))
    rounding += 8.0 * EPS * abs(dual.value)
    above = objective.penalty.conjugate_bound(dual.v, error)
    loose = dual.value + float(c @ terms) + above  # D as it was evaluated, less a lower bound of it
    charged = columns.price if columns.within is None else room
    found = LOOSE * (rounding + charged) + max(loose, 0.0)
    return ColumnPrice(found if math.isfinite(found) else np.inf, *columns[1:])


def _columns(
    objective: Objective, point: PrimalPoint | None, dual: DualPoint, error: Array, room: float
) -> ColumnPrice:
    """The price of rows of v that must vanish, or have a sign that v may just miss."""
    penalty, v = objective.penalty, dual.v
    if not held_rows(objective).any():
        return ColumnPrice(0.0)
    above, below = penalty.outside(v + error), penalty.outside(v - error)
    if isinstance(objective, MulticlassObjective):
        assert point is not None
        missed = float(np.maximum(np.abs(above), np.abs(below)) @ np.abs(point.w))
        return ColumnPrice(missed)
    if not (np.any(above) or np.any(below)):
        return ColumnPrice(0.0)
    return price_of_columns(objective, dual.u, v, point, room, error, dual)


def refine_primal(objective: Objective, point: PrimalPoint) -> PrimalPoint:
    """The point with predictions from products in twice the digits."""
    product = compensated_matvec(objective.design, point.w)
    z = product + point.b
    _, size = _terms(objective, point)
    error = compensated_error(product, objective.d, size)
    error = error + (EPS * np.abs(z) if size > 0.0 else 0.0)
    error = error + objective.penalty.shrinkage(point.w) * size
    error = error + point.divided * (size + float(np.abs(point.b).max()))
    value, losses = objective.penalty.value(point.w), None
    if not objective.loss.is_indicator:
        losses = objective.loss.value(objective.y, z)
        value += float(objective.c @ losses)
    return replace(point, z=z, value=value, error=error, losses=losses)

"""Active sets of a linear program, and the vertex and multipliers that belong to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import EPS, Array, length
from ...objective.linear.data import LinearData
from ..algebra.least_change import LeastChange
from ..algebra.sums import exact_residual
from .bound import equilibrated
from .conditions import sizes
from .multipliers import LinearMultipliers
from .units import linear_units

ACTIVE = 1e-7
"""A slack counts as 0 below this size, relative to its row."""


@dataclass(frozen=True)
class ActiveSet:
    """Which inequalities hold with equality: boolean masks over rows and coordinates."""

    rows: Array
    at_lower: Array
    at_upper: Array

    @property
    def interior(self) -> Array:
        """Coordinates at neither bound, where the reduced cost is 0."""
        return ~(self.at_lower | self.at_upper)


def active_at(data: LinearData, x: Array) -> ActiveSet:
    """Constraints that are tight at x."""
    rows, near = _spread(data, x)
    slack = -exact_residual(data.A_ub, x, data.b_ub)
    near = ACTIVE * near
    return ActiveSet(slack <= ACTIVE * rows, x - data.lower <= near, data.upper - x <= near)


def _spread(data: LinearData, x: Array) -> tuple[Array, Array]:
    """The sizes of rows and of entries at x: those of the data or of the point."""
    rows, _, columns = sizes(data, x)
    terms = (data.terms @ np.abs(x))[: rows.size]
    return np.maximum(rows, terms), np.maximum(np.abs(x), columns)


def active_by_slackness(data: LinearData, x: Array, point: LinearMultipliers) -> ActiveSet:
    """Constraints whose multiplier is larger than their slack, both in units of their size."""
    rows, near = _spread(data, x)
    y = np.concatenate([point.lambda_ub, point.nu])
    levels, costs = linear_units(data).of_multipliers(y)
    slack = -exact_residual(data.A_ub, x, data.b_ub)
    return ActiveSet(
        _ratio(point.lambda_ub, levels[: slack.size]) > _ratio(slack, rows),
        _ratio(point.lambda_lower, costs) > _ratio(x - data.lower, near),
        _ratio(point.lambda_upper, costs) > _ratio(data.upper - x, near),
    )


def _ratio(value: Array, size: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(value / np.maximum(size, np.finfo(float).tiny))


def solve_vertex(data: LinearData, active: ActiveSet, x: Array) -> Array:
    """The point nearest to x at which the active constraints hold with equality."""
    scaled = equilibrated(data)
    if scaled is not None:
        found = _vertex(scaled.data, active, scaled.inside(x))
        return np.clip(scaled.point(found), data.lower, data.upper) + 0.0  # no -0.0
    return np.clip(_vertex(data, active, x), data.lower, data.upper) + 0.0


def _vertex(data: LinearData, active: ActiveSet, x: Array) -> Array:
    fixed = np.where(active.at_lower, data.lower, np.where(active.at_upper, data.upper, x))
    matrix = _stack(data.A_ub[active.rows], data.A_eq)
    side = np.concatenate([data.b_ub[active.rows], data.b_eq])
    movable = active.interior.astype(float) * _spread(data, x)[1]
    change = LeastChange(matrix, movable)
    for _ in range(2):  # once more, for the rounding of the first
        left = exact_residual(matrix, fixed, side)
        if length(left) <= EPS * length(side):
            break
        fixed = fixed + change(-left)
    return np.asarray(fixed)


def solve_multipliers(
    data: LinearData,
    active: ActiveSet,
    near: LinearMultipliers | None = None,
) -> tuple[Array, Array]:
    """(lambda_ub, nu) with zero reduced cost off the bounds and zeros on inactive rows."""
    start = np.zeros(data.b_ub.size + data.b_eq.size)
    if near is not None:
        start = np.concatenate([near.lambda_ub, near.nu])
    scaled, m = equilibrated(data), data.b_ub.size
    if scaled is None:
        found = _stationary(data, active, start, near is not None)
        return found[:m], found[m:]
    factors = scaled.cost * np.concatenate([scaled.ub, scaled.eq])
    found = factors * _stationary(scaled.data, active, start / factors, near is not None)
    return found[:m], found[m:]


def _stationary(data: LinearData, active: ActiveSet, start: Array, near: bool) -> Array:
    """The multipliers of rows nearest to ``start``, in proportion where that is known."""
    m, p = data.b_ub.size, data.b_eq.size
    start = np.where(np.concatenate([active.rows, np.ones(p, dtype=bool)]), start, 0.0)
    weights = np.concatenate([active.rows.astype(float), np.ones(p)])
    if near:  # positive multipliers move in proportion
        units, _ = linear_units(data).of_multipliers(start)
        level = np.maximum(np.abs(start), units)
        weights *= np.where(np.arange(m + p) < m, np.maximum(np.abs(start), 1e-6 * level), level)
    matrix = data.columns[active.interior]
    change = LeastChange(matrix, weights)
    for _ in range(2):
        start = start + change(-exact_residual(matrix, start, -data.c[active.interior]))
    return np.asarray(start)


def _stack(top: Any, bottom: Any) -> Any:
    if sparse.issparse(top) or sparse.issparse(bottom):
        return sparse.vstack([sparse.csr_array(top), sparse.csr_array(bottom)], format="csr")
    return np.vstack([top, bottom])

"""Active sets of a linear program, and the vertex and multipliers that belong to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import Array
from ..objective.linear_data import LinearData
from .least_change import least_change
from .linear_conditions import row_scale, unit
from .multipliers import Multipliers

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
    floor = unit(x, data.typical)
    scale = ACTIVE * row_scale(data.A_ub, x, data.b_ub, floor)
    near = ACTIVE * np.maximum(np.abs(x), floor)
    return ActiveSet(
        data.b_ub - data.A_ub @ x <= scale, x - data.lower <= near, data.upper - x <= near
    )


def active_by_slackness(data: LinearData, x: Array, point: Multipliers) -> ActiveSet:
    """Constraints whose multiplier is larger than their slack, both in units of their size."""
    floor = unit(x, data.typical)
    every = np.concatenate(list(point.as_dict().values()))
    level = unit(every, data.typical_multiplier)
    slack = (data.b_ub - data.A_ub @ x) / np.maximum(
        row_scale(data.A_ub, x, data.b_ub, floor), np.finfo(float).tiny
    )
    size = np.maximum(np.abs(x), floor)
    return ActiveSet(
        point.lambda_ub / level > slack,
        point.lambda_lower / level > (x - data.lower) / size,
        point.lambda_upper / level > (data.upper - x) / size,
    )


def solve_vertex(data: LinearData, active: ActiveSet, x: Array) -> Array:
    """The point nearest to x at which the active constraints hold with equality."""
    fixed = np.where(active.at_lower, data.lower, np.where(active.at_upper, data.upper, x))
    matrix = _stack(data.A_ub[active.rows], data.A_eq)
    side = np.concatenate([data.b_ub[active.rows], data.b_eq])
    movable = active.interior.astype(float) * np.maximum(np.abs(x), unit(x, data.typical))
    for _ in range(2):  # once more, for the rounding of the first
        fixed = fixed + least_change(matrix, side - matrix @ fixed, movable)
    return np.clip(fixed, data.lower, data.upper) + 0.0  # no -0.0


def solve_multipliers(
    data: LinearData,
    active: ActiveSet,
    near: Multipliers | None = None,
) -> tuple[Array, Array]:
    """(lambda_ub, nu) with zero reduced cost off the bounds and zeros on inactive rows."""
    m, p = data.b_ub.size, data.b_eq.size
    start = np.zeros(m + p) if near is None else np.concatenate([near.lambda_ub, near.nu])
    start[:m][~active.rows] = 0.0
    weights = np.concatenate([active.rows.astype(float), np.ones(p)])
    if near is not None:  # positive multipliers move in proportion
        level = max(float(np.max(np.abs(start), initial=0.0)), data.typical_multiplier) or 1.0
        weights[:m] *= np.maximum(np.abs(start[:m]), 1e-6 * level)
        weights[m:] *= level
    matrix = _stack(data.A_ub, data.A_eq).T[active.interior]
    for _ in range(2):
        left = -data.c[active.interior] - matrix @ start
        start = start + least_change(matrix, left, weights)
    return start[:m], start[m:]


def _stack(top: Any, bottom: Any) -> Any:
    if sparse.issparse(top) or sparse.issparse(bottom):
        return sparse.vstack([sparse.csr_array(top), sparse.csr_array(bottom)], format="csr")
    return np.vstack([top, bottom])

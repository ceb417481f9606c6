"""The optimality conditions of a linear program, row by row, under their textbook names."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numerics import Array
from ..objective.linear_data import LinearData, row_maxima
from .certificate import Condition, worst
from .multipliers import Multipliers

STATIONARITY = "c + A_ub' lambda_ub + A_eq' nu - lambda_lower + lambda_upper = 0"


def unit(point: Array, typical: float) -> float:
    """The size below which an entry is small: that of the point or of the data, at most 1.

    Data without a size (all right-hand sides 0) say nothing: then it is 1.
    """
    if typical == 0.0:
        return 1.0
    return min(1.0, max(float(np.max(np.abs(point), initial=0.0)), typical))


def row_scale(matrix: Any, point: Array, side: Array, floor: float) -> Array:
    """abs(M) abs(x) + abs(b), at least ``floor`` times the largest entry of the row."""
    terms = abs(matrix) @ np.abs(point) + np.abs(side)
    return np.maximum(terms, floor * row_maxima(matrix))


def primal_rows(data: LinearData, x: Array) -> list[Condition]:
    """The feasibility of x, one row for each kind of constraint that is there."""
    floor, kind = unit(x, data.typical), "primal_feasibility"
    rows = []
    if data.b_ub.size:
        violated = np.maximum(data.A_ub @ x - data.b_ub, 0.0)
        rows.append(
            worst("A_ub x <= b_ub", kind, violated, row_scale(data.A_ub, x, data.b_ub, floor))
        )
    if data.b_eq.size:
        violated = data.A_eq @ x - data.b_eq
        rows.append(
            worst("A_eq x = b_eq", kind, violated, row_scale(data.A_eq, x, data.b_eq, floor))
        )
    # A bound counts at the size of x that the rows ask for: an upper bound of 1 is no measure of
    # how far a coordinate of size 1e-8 may fall below 0.
    near = unit(x, data.row_typical or data.typical)
    for name, bound, sign in (("x >= lower", data.lower, 1.0), ("x <= upper", data.upper, -1.0)):
        finite = np.isfinite(bound)
        if finite.any():
            limit = np.where(finite, bound, 0.0)
            violated = np.where(finite, np.maximum(sign * (limit - x), 0.0), 0.0)
            scale = np.maximum(np.maximum(np.abs(x), np.abs(limit)), near)
            rows.append(worst(name, kind, violated, scale))
    return rows


def dual_rows(data: LinearData, point: Multipliers) -> list[Condition]:
    """Signs of the multipliers, and stationarity (which is also the dual's equality)."""
    every = np.concatenate(list(point.as_dict().values()))
    floor, kind = unit(every, data.typical_multiplier), "dual_feasibility"
    rows = []
    if data.b_ub.size:
        value = point.lambda_ub
        scale = np.maximum(np.abs(value), floor)
        rows.append(worst("lambda_ub >= 0", kind, np.maximum(-value, 0.0), scale))
    for name, value, bound in (
        ("lambda_lower >= 0", point.lambda_lower, data.lower),
        ("lambda_upper >= 0", point.lambda_upper, data.upper),
    ):
        finite = np.isfinite(bound)
        if finite.any() or np.any(value):  # the multiplier of no bound is 0
            wrong = np.where(finite, np.maximum(-value, 0.0), np.abs(value))
            rows.append(worst(name, kind, wrong, np.maximum(np.abs(value), floor)))
    columns = np.maximum(row_maxima(data.A_ub.T), row_maxima(data.A_eq.T))
    scale = point.size(data) + np.abs(point.lambda_lower) + np.abs(point.lambda_upper)
    scale = np.maximum(scale, floor * columns)
    left = point.stationarity(data)
    rows.append(worst(STATIONARITY, "stationarity", left, scale))
    rows.append(worst("dual equality: the same, as a constraint of the dual", kind, left, scale))
    return rows


def slackness_rows(data: LinearData, x: Array, point: Multipliers) -> list[Condition]:
    """The products of multipliers and slacks."""
    kind = "complementary_slackness"
    rows = []
    if data.b_ub.size:
        product = point.lambda_ub * (data.b_ub - data.A_ub @ x)
        scale = np.abs(point.lambda_ub) * (abs(data.A_ub) @ np.abs(x) + np.abs(data.b_ub))
        rows.append(worst("lambda_ub (b_ub - A_ub x) = 0", kind, product, scale))
    for name, value, bound in (
        ("lambda_lower (x - lower) = 0", point.lambda_lower, data.lower),
        ("lambda_upper (upper - x) = 0", point.lambda_upper, data.upper),
    ):
        finite = np.isfinite(bound)
        if finite.any():
            limit = np.where(finite, bound, x)
            scale = np.abs(value) * (np.abs(x) + np.abs(limit))
            rows.append(worst(name, kind, value * (x - limit), scale))
    return rows

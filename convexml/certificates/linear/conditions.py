"""The optimality conditions of a linear program, row by row, under their textbook names."""

from __future__ import annotations

import numpy as np

from ...conditions import Condition, worst
from ...numerics import EPS, ROUNDING, UNIT, Array
from ...objective.linear.data import LinearData
from ..algebra.sums import exact_residual
from .multipliers import LinearMultipliers
from .units import linear_units


def residual(data: LinearData, x: Array) -> Array:
    """A_ub x - b_ub and A_eq x - b_eq, each entry rounded once."""
    return exact_residual(data.rows, x, np.concatenate([data.b_ub, data.b_eq]))


def violations(
    data: LinearData, x: Array, known: Array | None = None
) -> tuple[Array, Array, Array, Array]:
    """How far x breaks A_ub x <= b_ub, A_eq x = b_eq (signed), x >= lower and x <= upper.

    The residual may be ``known``.
    """
    left = residual(data, x) if known is None else known
    ub, eq = np.split(left, [data.b_ub.size])
    below, above = np.maximum(data.lower - x, 0.0), np.maximum(x - data.upper, 0.0)
    return np.maximum(ub, 0.0), eq, below, above


def sizes(data: LinearData, x: Array) -> tuple[Array, Array, Array]:
    """What violations count against: rows of A_ub, of A_eq, and entries of x.

    The right-hand side or the size that the data suggest for the row, whichever is larger; never
    the point, but where all right-hand sides are 0 and nothing else has a size.
    """
    rows, columns = linear_units(data).of_point(x)
    ub, eq = np.split(rows, [data.b_ub.size])
    return np.maximum(np.abs(data.b_ub), ub), np.maximum(np.abs(data.b_eq), eq), columns


def primal_rows(data: LinearData, x: Array) -> list[Condition]:
    """The feasibility of x, one row for each kind of constraint that is there."""
    kind = "primal_feasibility"
    ub, eq, below, above = violations(data, x)
    size_ub, size_eq, columns = sizes(data, x)
    rows = []
    if data.b_ub.size:
        rows.append(worst("A_ub x <= b_ub", kind, ub, size_ub, EPS * ub))
    if data.b_eq.size:
        rows.append(worst("A_eq x = b_eq", kind, eq, size_eq, EPS * np.abs(eq)))
    for name, bound, violated in (
        ("x >= lower", data.lower, below),
        ("x <= upper", data.upper, above),
    ):
        finite = np.isfinite(bound)
        if finite.any():
            scale = np.maximum(np.where(finite, np.abs(bound), 0.0), columns)
            rows.append(worst(name, kind, violated, scale, EPS * violated))
    return rows


def meets_rows(data: LinearData, x: Array, known: Array | None = None) -> bool:
    """Whether x meets every constraint up to the rounding of its terms."""
    ub, eq, below, above = violations(data, x, known)
    size_ub, size_eq, columns = sizes(data, x)
    rows = np.split(data.terms @ np.abs(x), [data.b_ub.size])
    pairs = (
        (ub, np.maximum(rows[0], np.abs(data.b_ub)), size_ub),
        (np.abs(eq), np.maximum(rows[1], np.abs(data.b_eq)), size_eq),
        (np.maximum(below, above), np.abs(x), columns),
    )
    # Rounding grows with the point; what counts as feasible does not.
    return all(
        bool(np.all(wrong <= np.minimum(ROUNDING * np.maximum(terms, size), 1e-9 * size)))
        for wrong, terms, size in pairs
    )


def rounding_of_rows(data: LinearData, x: Array) -> tuple[Array, Array]:
    """What right-hand sides A_ub x and A_eq x in floats are off by: k terms by (k + 2) UNIT.

    Neither a far point nor a far bound makes the terms larger than the data suggest for the row.
    """
    size_ub, size_eq, _ = sizes(data, x)
    b = np.abs(np.concatenate([data.b_ub, data.b_eq]))
    terms = b + np.minimum(data.terms @ np.abs(x), np.concatenate([size_ub, size_eq]))
    ub, eq = np.split((np.diff(data.rows.indptr) + 2.0) * UNIT * terms, [data.b_ub.size])
    return ub, eq


def dual_rows(data: LinearData, point: LinearMultipliers) -> list[Condition]:
    """Signs of the multipliers that are there, and stationarity, which is the dual's equality."""
    kind = "dual_feasibility"
    units, costs = linear_units(data).of_multipliers(np.concatenate([point.lambda_ub, point.nu]))
    rows = []
    if data.b_ub.size:
        wrong = np.maximum(-point.lambda_ub, 0.0)
        rows.append(worst("lambda_ub >= 0", kind, wrong, units[: data.b_ub.size]))
    costs, gradient = np.maximum(np.abs(data.c), costs), "c"
    gradient += " + A_ub' lambda_ub" * bool(data.b_ub.size) + " + A_eq' nu" * bool(data.b_eq.size)
    for name, sign, value, bound in (
        ("lambda_lower", "-", point.lambda_lower, data.lower),
        ("lambda_upper", "+", point.lambda_upper, data.upper),
    ):
        finite = np.isfinite(bound)
        if finite.any() or np.any(value):  # the multiplier of no bound is 0
            wrong = np.where(finite, np.maximum(-value, 0.0), np.abs(value))
            rows.append(worst(f"{name} >= 0", kind, wrong, costs))
            gradient += f" {sign} {name}"
    rows.append(worst(f"{gradient} = 0", kind, point.stationarity(data), costs))
    return rows


def slackness_rows(data: LinearData, x: Array, point: LinearMultipliers) -> list[Condition]:
    """The products of multipliers and slacks."""
    kind = "complementary_slackness"
    rows = []
    if data.b_ub.size:
        product = -point.lambda_ub * exact_residual(data.A_ub, x, data.b_ub)
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

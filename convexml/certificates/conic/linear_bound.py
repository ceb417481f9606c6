"""Lower bounds of a linear program that hold exactly: reduced costs are carried or priced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from ...errors import InputError, nearest
from ...formulas import Condition, worst
from ...numerics import EPS, ROUNDING, UNIT, Array
from ...problem.linear_program import MULTIPLIERS, LinearData
from ...validation import finite_array
from ..algebra.dual_points import (
    Priced,
    bounded_prices,
    carried_costs,
    dual_interior,
    dual_residual,
    priced_inside,
    rational_prices,
    rounding,
    unpriced,
)
from ..algebra.polyhedron import Interior, least_change
from ..algebra.sums import exact_dot, exact_residual
from ..scale import ProgramUnits, program_units
from .program import InUnits, diagonal, equilibrate_cone, fitted, share

# The sizes of a linear program's rows, variables and multipliers, from its data.


def linear_units(data: LinearData) -> ProgramUnits:
    """The units of the program, kept with its data; finite bounds count as rows."""
    if "units" not in data.memo:
        (A, b), k = data.constraints, data.sides.size
        told = (np.arange(b.size) < k) | (b != 0.0)  # a bound of 0 has the size of x
        rows = sparse.coo_array(A[told])
        rows.eliminate_zeros()
        found = program_units(rows, b[told], data.c)
        data.memo["units"] = replace(found, rows=_with_bounds(data, found.rows[:k], found.columns))
    units: ProgramUnits = data.memo["units"]
    return units


def _with_bounds(data: LinearData, rows: Array, columns: Array) -> Array:
    """Sizes of rows, and of bounds those of their variables."""
    return np.concatenate([rows, data.terms[rows.size :] @ columns])


def sizes_of_point(data: LinearData, x: Array) -> tuple[Array, Array]:
    """The sizes of constraints and entries of x; without a right-hand side x itself fixes them."""
    units = linear_units(data)
    told = bool(np.any(data.constraints[1]))
    factor = 1.0 if told else float(np.max(np.abs(x) / units.columns, initial=0.0))
    return factor * units.rows, factor * units.columns


def sizes_of_multipliers(data: LinearData, y: Array) -> tuple[Array, Array]:
    """The sizes of multipliers and of reduced costs; where c is 0 those of rows fix them."""
    units, k = linear_units(data), data.sides.size
    told = bool(np.any(data.c))
    factor = units.objective if told else float(np.max(np.abs(y[:k]) * units.rows[:k], initial=0.0))
    return share(factor, units.rows), factor / units.columns


ROOM = 1e-3
"""What a bound over a box is charged, as a share of tol: the box is made to fit."""


def lower_bound(data: LinearData, y: Array, x: Array, spare: float) -> tuple[Priced, float | None]:
    """D at multipliers of the right signs, Jansson's way, priced where a reduced cost is left.

    Parameters
    ----------
    data : LinearData
    y : array
        Those of bounds are the reduced costs that these can carry.
    x : array, shape (n,)
        The middle of the box where no price is known.
    spare : float
        What a bound over a box may be charged.

    Returns
    -------
    tuple
        What is ``left`` are reduced costs that no bound carries. The price is inf nowhere: where
        none is known the bound holds for points within this distance of x, and else for all.

    References
    ----------
    C. Jansson, *Rigorous lower and upper bounds in linear programming*, SIAM J. Optim. 14 (2004).
    """
    program, none = data.as_cones, np.zeros(data.n)
    pair = unpriced(program, none, y)
    costs = carried_costs(program, none, y, pair.left)
    # What bounds carry, rounded once.
    carried = np.isfinite(costs) & (np.abs(pair.left) <= EPS * program.stationarity_size(none, y))
    left = np.where(carried, 0.0, pair.left)
    value, error = pair.value, rounding(pair.value) + float(np.sum(costs[carried]))
    if not np.any(left):
        return Priced(none, y, value, error, left), None
    price = (value - _nearby(data, y)) * (1.0 + 4.0 * EPS)
    if price < np.inf:
        return Priced(none, y, value, rounding(value) + max(price, 0.0), left), None
    value += float(left @ x)  # c'z >= D + left'z, and z is near x
    error += 2.0 * EPS * left.size * float(np.abs(left) @ np.abs(x)) + EPS * abs(value)
    return Priced(none, y, value, error + spare, left), spare / float(np.abs(left).sum())


def _nearby(data: LinearData, y: Array) -> float:
    """What exactly feasible multipliers nearby bound, as those of a cone program; -inf without."""
    scaled, none = equilibrated(data), np.zeros(data.n)
    program = scaled.program.as_cones
    y = split_reduced_cost(scaled.program, scaled.y_in(y[: data.sides.size]))
    if "dual interior" not in data.memo:
        data.memo["dual interior"] = dual_interior(program)
    interior: Interior | None = data.memo["dual interior"]
    inside = () if interior is None else (priced_inside(program, interior, none, y),)
    found = chain(inside, rational_prices(program, none, y), bounded_prices(program, none, y))
    best = next((pair.bound for pair in found if pair.bound > -np.inf), -np.inf)
    return scaled.worth * best


# A linear program in units that make its rows, columns and right-hand sides of size 1.


def equilibrated(data: LinearData) -> InUnits[LinearData]:
    """The program in units of size 1, kept with its data; in its own where float64 has no others.

    It starts from the units that the data suggest: then it is the same in whatever units. All
    factors are powers of two, so that scaling and its inverse round nothing; bounds have no rows.
    """
    if "equilibrated" not in data.memo:
        data.memo["equilibrated"] = _equilibrated(data)
    found: InUnits[LinearData] = data.memo["equilibrated"]
    return found


def as_it_is(data: LinearData) -> InUnits[LinearData]:
    """The program in its own units."""
    return InUnits(data, np.ones(data.n), diagonal(np.ones(data.sides.size)), 1.0, 1.0)


def _equilibrated(data: LinearData) -> InUnits[LinearData]:
    units, m, k = linear_units(data), data.b_ub.size, data.sides.size
    fit = fitted(data.as_cones, units).scaled
    inner = equilibrate_cone(fit.program)
    A, b = inner.program.A_by_row, inner.program.b
    column = fit.columns * inner.columns / inner.unit
    row = inner.unit * (fit.rows.data * inner.rows.data)[:k]
    bounds = data.lower / column, data.upper / column
    scaled = LinearData(inner.program.q, A[:m], b[:m], A[m:k], b[m:k], *bounds)
    cost = fit.cost * inner.worth
    entries = (scaled.c, b, inner.program.A.data, column, 1.0 / column, row)
    if not all(bool(np.all(np.isfinite(values))) for values in entries):
        return as_it_is(data)
    columns = units.columns / column
    rows = _with_bounds(scaled, units.rows[:k] * row, columns)
    scaled.memo["units"] = ProgramUnits(units.size / cost, rows, columns, units.objective / cost)
    return InUnits(scaled, column, diagonal(row), 1.0, cost)


# The multipliers of a linear program: read, completed from reduced costs, repaired, evaluated.
#
# L = c'x + lambda_ub'(A_ub x - b_ub) + nu'(A_eq x - b_eq)
# - lambda_lower'(x - lower) + lambda_upper'(x - upper), all but nu >= 0. They are given by name,
# or in the order of ``LinearData.constraints``.


Named = Mapping[str, Array]


def by_row(data: LinearData, given: Named) -> Array:
    """The multipliers of ``data.constraints``: the inverse of ``LinearData.by_name``."""
    ub, eq, lower, upper = (given[name] for name in MULTIPLIERS)
    bounds = lower[np.isfinite(data.lower)], upper[np.isfinite(data.upper)]
    return np.concatenate([ub, eq, *bounds])


def reduced_cost(data: LinearData, y: Array) -> Array:
    """c + A_ub' lambda_ub + A_eq' nu, shape (n,), each entry rounded once."""
    return exact_residual(data.columns, y[: data.sides.size], -data.c)


def dual_sum(data: LinearData, y: Array) -> float:
    """D = -b_ub'lambda_ub - b_eq'nu + lower'lambda_lower - upper'lambda_upper, rounded once."""
    return exact_dot(data.constraints[1], -y)


def dual_value(data: LinearData, given: Named) -> float:
    """D, or -inf where a sign or stationarity is violated by more than rounding."""
    y = by_row(data, given)
    there = all(np.array_equal(own, given[name]) for name, own in data.by_name(y).items())
    signed = np.all(y[~data.equal] >= 0.0)
    return dual_sum(data, y) if there and signed and not np.any(_left(data, y)) else -np.inf


def _left(data: LinearData, y: Array) -> Array:
    """What multipliers leave of stationarity, but for rounding."""
    program, none = data.as_cones, np.zeros(data.n)
    left = dual_residual(program, none, y)
    size = program.stationarity_size(none, y)
    return np.where(np.abs(left) <= ROUNDING * size, 0.0, left)


def read_multipliers(
    data: LinearData, passed: Mapping[str, Any] | None, owner: str
) -> dict[str, Array]:
    """Return the multipliers that were passed, checked; raises InputError."""
    sizes = {name: part.size for name, part in data.by_name(data.constraints[1]).items()}
    read: dict[str, Array] = {}
    if not isinstance(passed, Mapping | None):
        raise InputError(
            f"{owner}: multipliers must be a dict by name ({', '.join(MULTIPLIERS)}), got "
            f"{type(passed).__name__}."
        )
    for name, value in (passed or {}).items():
        if name not in sizes:
            known = ", ".join(MULTIPLIERS)
            raise InputError(
                f"{owner}: no multiplier is called {name!r}.{nearest(name, MULTIPLIERS)} "
                f"The names are {known}."
            )
        if value is None:
            continue
        array = np.atleast_1d(finite_array(value, owner, f"multiplier {name}"))
        if array.shape != (sizes[name],):
            raise InputError(
                f"{owner}: multiplier {name} must have shape ({sizes[name]},), got {array.shape}."
            )
        read[name] = array
    return read


def split_reduced_cost(data: LinearData, y: Array, common: Array | float = 0.0) -> Array:
    """y of rows, and of bounds the reduced costs that these can carry: the best multipliers.

    ``common`` is added to both multipliers of a coordinate with two bounds: it leaves the
    Lagrangian stationary and lowers D.
    """
    cost = reduced_cost(data, y)
    # What floats cannot hold nobody carries: it is left over, and then there is no bound.
    cost = np.where(np.isnan(cost), 0.0, cost)
    sides = np.isfinite(data.lower), np.isfinite(data.upper)
    more = np.where(sides[0] & sides[1], common, 0.0)
    carried = (np.maximum(s, 0.0) + more for s in (cost, -cost))
    bounds = (own[there] for own, there in zip(carried, sides, strict=True))
    return np.concatenate([y[: data.sides.size], *bounds])


def completed(data: LinearData, read: Named) -> dict[str, Array]:
    """Those that were read; of the others, 0 for rows and the reduced costs for bounds."""
    sides = {"lambda_ub": data.b_ub, "nu": data.b_eq}
    y = np.concatenate([read.get(name, np.zeros(side.size)) for name, side in sides.items()])
    return {**data.by_name(split_reduced_cost(data, y)), **read}


def repair_multipliers(data: LinearData, y: Array, common: Array | float = 0.0) -> Array:
    """Return multipliers near these that are dual feasible up to rounding, where there are any.

    Negative entries are clipped; a reduced cost that no bound can carry is removed by the least
    change of nu and of the positive lambda_ub. What is left has its price (``lower_bound``).
    """
    y = y[: data.sides.size]
    point = split_reduced_cost(data, np.where(data.signed, np.maximum(y, 0.0), y), common)
    if not np.any(_left(data, point)):
        return point
    scaled = equilibrated(data)
    found = scaled.y_out(_repaired(scaled.program, scaled.y_in(y)))
    return split_reduced_cost(data, found, common)


def _repaired(data: LinearData, y: Array) -> Array:
    y = np.where(data.signed, np.maximum(y, 0.0), y)
    target, free = np.zeros(data.n, dtype=bool), _levels(data, y)
    for _ in range(10):
        left = _left(data, split_reduced_cost(data, y))
        if not np.any(left):
            break
        target |= left != 0.0
        cost = reduced_cost(data, y)[target]
        step = least_change(data.columns[target], -cost, np.where(data.signed, y, free))
        if not np.any(step):
            break
        y = np.where(data.signed, np.maximum(y + step, 0.0), y + step)
    return y


def _levels(data: LinearData, y: Array) -> Array:
    """How far each nu may move, relative to lambda_ub: the size of the largest multiplier."""
    units, m = sizes_of_multipliers(data, y)[0][: y.size], data.b_ub.size
    level = np.max(y[:m], initial=0.0, where=np.isfinite(y[:m]))
    return np.maximum(np.maximum(np.abs(y), units), 0.0 if np.any(units[m:]) else level)


# The optimality conditions of a linear program, row by row, under their textbook names.


def residual(data: LinearData, x: Array) -> Array:
    """A x - b of all constraints, each entry rounded once."""
    A, b = data.constraints
    return exact_residual(A, x, b)


def violations(data: LinearData, x: Array, known: Array | None = None) -> Array:
    """How far x breaks each constraint, signed of equations. The residual may be ``known``."""
    left = residual(data, x) if known is None else known
    return np.where(data.equal, left, np.maximum(left, 0.0))


def sizes(data: LinearData, x: Array) -> Array:
    """What violations count against.

    The right-hand side or the size that the data suggest for the row, whichever is larger; never
    the point, but where all right-hand sides are 0 and nothing else has a size.
    """
    return np.maximum(np.abs(data.constraints[1]), sizes_of_point(data, x)[0])


ROWS = {
    "lambda_ub": "A_ub x <= b_ub",
    "nu": "A_eq x = b_eq",
    "lambda_lower": "x >= lower",
    "lambda_upper": "x <= upper",
}
SLACK = {
    "lambda_ub": "lambda_ub (b_ub - A_ub x) = 0",
    "lambda_lower": "lambda_lower (x - lower) = 0",
    "lambda_upper": "lambda_upper (upper - x) = 0",
}


def rows_of(
    data: LinearData, names: Mapping[str, str], kind: str, values: Array, *more: Array
) -> list[Condition]:
    """One row for each kind of constraint that is there and has a name: its worst value."""
    there = data.by_name(np.ones(values.size, dtype=bool))
    parts = [data.by_name(each) for each in (values, *more)]
    return [
        worst(name, kind, *(part[key] for part in parts))
        for key, name in names.items()
        if there[key].any()
    ]


def primal_rows(data: LinearData, x: Array) -> list[Condition]:
    """The feasibility of x, one row for each kind of constraint that is there."""
    wrong = violations(data, x)
    return rows_of(data, ROWS, "primal_feasibility", wrong, sizes(data, x), EPS * np.abs(wrong))


def meets_rows(data: LinearData, x: Array, known: Array | None = None) -> bool:
    """Whether x meets every constraint up to the rounding of its terms."""
    size = sizes(data, x)
    # Rounding grows with the point; what counts as feasible does not.
    most = np.minimum(ROUNDING * np.maximum(data.terms @ np.abs(x), size), 1e-9 * size)
    return bool(np.all(np.abs(violations(data, x, known)) <= most))


def rounding_of_rows(data: LinearData, x: Array) -> Array:
    """What right-hand sides A_ub x and A_eq x in floats are off by: k terms by (k + 2) UNIT.

    Neither a far point nor a far bound makes the terms larger than the data suggest for the row.
    """
    k, sides = data.sides.size, np.abs(data.sides)
    terms = sides + np.minimum((data.terms @ np.abs(x))[:k], sizes(data, x)[:k])
    return np.asarray((np.diff(data.rows.indptr) + 2.0) * UNIT * terms)


GRADIENT = (" + A_ub' lambda_ub", " + A_eq' nu", " - lambda_lower", " + lambda_upper")


def dual_rows(data: LinearData, given: Named) -> list[Condition]:
    """Signs of the multipliers that are there, and stationarity, which is the dual's equality."""
    kind, y = "dual_feasibility", by_row(data, given)
    units, costs = sizes_of_multipliers(data, y)
    costs = np.maximum(np.abs(data.c), costs)
    size = {"lambda_ub": units[: data.b_ub.size], "lambda_lower": costs, "lambda_upper": costs}
    there, rows, gradient = data.by_name(np.ones(y.size, dtype=bool)), [], "c"
    for name, term in zip(MULTIPLIERS, GRADIENT, strict=True):
        value = given[name]
        if not (there[name].any() or np.any(value)):  # the multiplier of no bound is 0
            continue
        gradient += term
        if name in size:
            wrong = np.where(there[name], np.maximum(-value, 0.0), np.abs(value))
            rows.append(worst(f"{name} >= 0", kind, wrong, size[name]))
    left = reduced_cost(data, y) - given["lambda_lower"] + given["lambda_upper"]
    rows.append(worst(f"{gradient} = 0", kind, left, costs))
    return rows


def slackness_rows(data: LinearData, x: Array, y: Array) -> list[Condition]:
    """The products of multipliers and slacks."""
    return rows_of(data, SLACK, "complementary_slackness", y * residual(data, x))

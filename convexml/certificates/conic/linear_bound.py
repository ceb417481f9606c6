"""Lower bounds of a linear program that hold exactly: reduced costs are carried or priced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
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
    bounded_prices,
    carried_costs,
    dual_interior,
    priced_inside,
    rational_prices,
    rounding,
    unpriced,
)
from ..algebra.polyhedron import Interior, least_change
from ..algebra.sums import exact_dot, exact_residual
from ..scale import ProgramUnits, program_units
from .program import equilibrate_cone, fitted

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
    """The sizes of multipliers of rows and of reduced costs; y fixes them where c is 0."""
    units = linear_units(data)
    told = bool(np.any(data.c))
    own = units.rows[: y.size]
    factor = units.objective if told else float(np.max(np.abs(y) * own, initial=0.0))
    return np.divide(factor, own, np.zeros(y.size), where=own > 0.0), factor / units.columns


ROOM = 1e-3
"""What a bound over a box is charged, as a share of tol: the box is made to fit."""


@dataclass(frozen=True)
class LinearBound:
    """D at multipliers, and what makes it a bound of all points.

    Attributes
    ----------
    value : float
        D, what is left of reduced costs that no bound carries left out.
    rounding : float
        Its error, and the price of what is left.
    residual : array, shape (n,)
        Reduced costs that no bound carries.
    within : float or None
        Where no price is known: the bound holds for points within this distance.
    """

    value: float
    rounding: float
    residual: Array
    within: float | None = None


def lower_bound(data: LinearData, point: LinearMultipliers, x: Array, spare: float) -> LinearBound:
    """D at multipliers of the right signs, Jansson's way, priced where a reduced cost is left.

    Parameters
    ----------
    data : LinearData
    point : LinearMultipliers
        Those of bounds are the reduced costs that these can carry.
    x : array, shape (n,)
        The middle of the box where no price is known.
    spare : float
        What a bound over a box may be charged.

    References
    ----------
    C. Jansson, *Rigorous lower and upper bounds in linear programming*, SIAM J. Optim. 14 (2004).
    """
    program, none, y = data.as_cones, np.zeros(data.n), point.by_row(data)
    pair = unpriced(program, none, y)
    costs = carried_costs(program, none, y, pair.left)
    own = point.lambda_lower + point.lambda_upper  # what bounds carry, rounded once
    carried = np.isfinite(costs) & (np.abs(pair.left) <= EPS * own)
    residual = np.where(carried, 0.0, pair.left)
    value, error = pair.value, rounding(pair.value) + float(np.sum(costs[carried]))
    if not np.any(residual):
        return LinearBound(value, error, residual)
    price = (value - _nearby(data, point)) * (1.0 + 4.0 * EPS)
    if price < np.inf:
        return LinearBound(value, rounding(value) + max(price, 0.0), residual)
    value += float(residual @ x)  # c'z >= D + residual'z, and z is near x
    error += 2.0 * EPS * residual.size * float(np.abs(residual) @ np.abs(x)) + EPS * abs(value)
    return LinearBound(value, error + spare, residual, spare / float(np.abs(residual).sum()))


def _nearby(data: LinearData, point: LinearMultipliers) -> float:
    """What exactly feasible multipliers nearby bound, as those of a cone program; -inf without."""
    scaled, none = equilibrated(data), np.zeros(data.n)
    program = scaled.data.as_cones
    y = split_reduced_cost(scaled.data, scaled.y_in(point.y)).by_row(scaled.data)
    if "dual interior" not in data.memo:
        data.memo["dual interior"] = dual_interior(program)
    interior: Interior | None = data.memo["dual interior"]
    inside = () if interior is None else (priced_inside(program, interior, none, y),)
    found = chain(inside, rational_prices(program, none, y), bounded_prices(program, none, y))
    best = next((pair.bound for pair in found if pair.bound > -np.inf), -np.inf)
    return scaled.cost * best


# A linear program in units that make its rows, columns and right-hand sides of size 1.


@dataclass(frozen=True)
class ScaledProgram:
    """The program in x' = x / column, its rows [A_ub; A_eq] multiplied by ``row``.

    All factors are powers of two, so that scaling and its inverse round nothing.

    Attributes
    ----------
    data : LinearData
        The scaled program.
    column : array, shape (n,)
    row : array, shape (m + p,)
    cost : float
        The unit of c'x'.
    """

    data: LinearData
    column: Array
    row: Array
    cost: float

    @classmethod
    def plain(cls, data: LinearData) -> ScaledProgram:
        """The program in its own units."""
        return cls(data, np.ones(data.n), np.ones(data.sides.size), 1.0)

    def x_out(self, x: Array) -> Array:
        """x of the program itself."""
        return self.column * x

    def x_in(self, x: Array) -> Array:
        """The inverse of ``x_out``."""
        return np.asarray(x / self.column)

    def y_out(self, y: Array) -> Array:
        """Multipliers of rows, of the program itself."""
        return self.cost * self.row * y

    def y_in(self, y: Array) -> Array:
        """The inverse of ``y_out``."""
        return np.asarray(y / (self.cost * self.row))


def equilibrated(data: LinearData) -> ScaledProgram:
    """The program in units of size 1, kept with its data; in its own where float64 has no others.

    It starts from the units that the data suggest: then it is the same in whatever units.
    """
    if "equilibrated" not in data.memo:
        data.memo["equilibrated"] = _equilibrated(data)
    found: ScaledProgram = data.memo["equilibrated"]
    return found


def _equilibrated(data: LinearData) -> ScaledProgram:
    units, m, k = linear_units(data), data.b_ub.size, data.sides.size
    fit = fitted(data.as_cones, units).scaled
    if fit.program is data.as_cones:
        return ScaledProgram.plain(data)
    inner = equilibrate_cone(fit.program)
    A, b = inner.program.A_by_row, inner.program.b
    column = fit.columns * inner.columns / inner.unit
    row = inner.unit * (fit.rows.data * inner.rows.data)[:k]
    bounds = data.lower / column, data.upper / column
    scaled = LinearData(inner.program.q, A[:m], b[:m], A[m:k], b[m:k], *bounds)
    cost = fit.cost * inner.worth
    entries = (scaled.c, b, inner.program.A.data, column, 1.0 / column, row)
    if not all(bool(np.all(np.isfinite(values))) for values in entries):
        return ScaledProgram.plain(data)
    columns = units.columns / column
    rows = _with_bounds(scaled, units.rows[:k] * row, columns)
    scaled.memo["units"] = ProgramUnits(units.size / cost, rows, columns, units.objective / cost)
    return ScaledProgram(scaled, column, row, cost)


# The multipliers of a linear program: read, completed from reduced costs, repaired, evaluated.


@dataclass(frozen=True)
class LinearMultipliers:
    """The multipliers of A_ub x <= b_ub, A_eq x = b_eq, x >= lower and x <= upper.

    L = c'x + lambda_ub'(A_ub x - b_ub) + nu'(A_eq x - b_eq)
    - lambda_lower'(x - lower) + lambda_upper'(x - upper), all but nu >= 0.
    """

    lambda_ub: Array
    nu: Array
    lambda_lower: Array
    lambda_upper: Array

    def as_dict(self) -> dict[str, Array]:
        """The four arrays by name."""
        return {name: getattr(self, name) for name in MULTIPLIERS}

    def by_row(self, data: LinearData) -> Array:
        """Those of ``data.constraints``: the inverse of ``LinearData.by_name``."""
        lower = self.lambda_lower[np.isfinite(data.lower)]
        upper = self.lambda_upper[np.isfinite(data.upper)]
        return np.concatenate([self.lambda_ub, self.nu, lower, upper])

    @property
    def y(self) -> Array:
        """(lambda_ub, nu)."""
        return np.concatenate([self.lambda_ub, self.nu])

    def reduced_cost(self, data: LinearData) -> Array:
        """c + A_ub' lambda_ub + A_eq' nu, shape (n,), each entry rounded once."""
        return exact_residual(data.columns, self.y, -data.c)

    def size(self, data: LinearData) -> Array:
        """Absolute products of the reduced cost, shape (n,): what rounding is relative to."""
        return np.asarray(np.abs(data.c) + abs(data.columns) @ np.abs(self.y))

    def stationarity(self, data: LinearData) -> Array:
        """The gradient of L with respect to x, shape (n,)."""
        return self.reduced_cost(data) - self.lambda_lower + self.lambda_upper

    def dual_sum(self, data: LinearData) -> float:
        """D = -b_ub'lambda_ub - b_eq'nu + lower'lambda_lower - upper'lambda_upper, rounded once."""
        return exact_dot(data.constraints[1], -self.by_row(data))

    def dual_value(self, data: LinearData) -> float:
        """D, or -inf where a sign or stationarity is violated by more than rounding."""
        signed = (self.lambda_ub, self.lambda_lower, self.lambda_upper)
        absent = np.concatenate(
            [
                self.lambda_lower[~np.isfinite(data.lower)],
                self.lambda_upper[~np.isfinite(data.upper)],
            ]
        )
        size = self.size(data) + np.abs(self.lambda_lower) + np.abs(self.lambda_upper)
        stationary = np.all(np.abs(self.stationarity(data)) <= ROUNDING * size)
        if np.any(absent) or any(np.any(v < 0.0) for v in signed) or not stationary:
            return -np.inf
        return self.dual_sum(data)

    def distance(self, other: LinearMultipliers) -> float:
        """The largest coordinate of the difference."""
        pairs = zip(self.as_dict().values(), other.as_dict().values(), strict=True)
        return max(float(np.max(np.abs(a - b), initial=0.0)) for a, b in pairs)


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


def split_reduced_cost(
    data: LinearData, y: Array, common: Array | float = 0.0
) -> LinearMultipliers:
    """Give the reduced costs to the bounds that can carry them: the best bound multipliers.

    ``common`` is added to both multipliers of a coordinate with two bounds: it leaves the
    Lagrangian stationary and lowers D.
    """
    cost = exact_residual(data.columns, y, -data.c)
    # What floats cannot hold nobody carries: it is left over, and then there is no bound.
    cost = np.where(np.isnan(cost), 0.0, cost)
    has_lower, has_upper = np.isfinite(data.lower), np.isfinite(data.upper)
    common = np.where(has_lower & has_upper, common, 0.0)
    lower = np.where(has_lower, np.maximum(cost, 0.0), 0.0) + common
    upper = np.where(has_upper, np.maximum(-cost, 0.0), 0.0) + common
    m = data.b_ub.size
    return LinearMultipliers(y[:m], y[m:], lower, upper)


def completed(data: LinearData, read: Mapping[str, Array]) -> LinearMultipliers:
    """Those that were read; of the others, 0 for rows and the reduced costs for bounds."""
    sides = {"lambda_ub": data.b_ub, "nu": data.b_eq}
    y = np.concatenate([read.get(name, np.zeros(side.size)) for name, side in sides.items()])
    return LinearMultipliers(**{**split_reduced_cost(data, y).as_dict(), **read})


def repair_multipliers(
    data: LinearData, y: Array, common: Array | float = 0.0
) -> LinearMultipliers:
    """Return multipliers near these that are dual feasible up to rounding, where there are any.

    Negative entries are clipped; a reduced cost that no bound can carry is removed by the least
    change of nu and of the positive lambda_ub. What is left has its price (``lower_bound``).
    """
    point = split_reduced_cost(data, np.where(data.signed, np.maximum(y, 0.0), y), common)
    if not np.any(_uncarried(data, point)):
        return point
    scaled = equilibrated(data)
    found = scaled.y_out(_repaired(scaled.data, scaled.y_in(y)))
    return split_reduced_cost(data, found, common)


def _uncarried(data: LinearData, point: LinearMultipliers) -> Array:
    """What is left of reduced costs, but for rounding."""
    left = point.stationarity(data)
    return np.where(np.abs(left) <= ROUNDING * point.size(data), 0.0, left)


def _repaired(data: LinearData, y: Array) -> Array:
    y = np.where(data.signed, np.maximum(y, 0.0), y)
    target, free = np.zeros(data.n, dtype=bool), _levels(data, y)
    for _ in range(10):
        point = split_reduced_cost(data, y)
        residual = _uncarried(data, point)
        if not np.any(residual):
            break
        target |= residual != 0.0
        cost = point.reduced_cost(data)[target]
        step = least_change(data.columns[target], -cost, np.where(data.signed, y, free))
        if not np.any(step):
            break
        y = np.where(data.signed, np.maximum(y + step, 0.0), y + step)
    return y


def _levels(data: LinearData, y: Array) -> Array:
    """How far each nu may move, relative to lambda_ub: the size of the largest multiplier."""
    (units, _), m = sizes_of_multipliers(data, y), data.b_ub.size
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


def dual_rows(data: LinearData, point: LinearMultipliers) -> list[Condition]:
    """Signs of the multipliers that are there, and stationarity, which is the dual's equality."""
    kind = "dual_feasibility"
    units, costs = sizes_of_multipliers(data, point.y)
    costs = np.maximum(np.abs(data.c), costs)
    size = {"lambda_ub": units[: data.b_ub.size], "lambda_lower": costs, "lambda_upper": costs}
    there, rows, gradient = data.by_name(np.ones(data.constraints[1].size, dtype=bool)), [], "c"
    for (name, value), term in zip(point.as_dict().items(), GRADIENT, strict=True):
        if not (there[name].any() or np.any(value)):  # the multiplier of no bound is 0
            continue
        gradient += term
        if name in size:
            wrong = np.where(there[name], np.maximum(-value, 0.0), np.abs(value))
            rows.append(worst(f"{name} >= 0", kind, wrong, size[name]))
    rows.append(worst(f"{gradient} = 0", kind, point.stationarity(data), costs))
    return rows


def slackness_rows(data: LinearData, x: Array, point: LinearMultipliers) -> list[Condition]:
    """The products of multipliers and slacks."""
    terms = point.by_row(data) * residual(data, x)
    return rows_of(data, SLACK, "complementary_slackness", terms)

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
from ...problem.linear_program import LinearData
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
        m, eye = data.rows.shape[0], sparse.eye_array(data.n, format="csr")
        # A bound of 0 has the size of x: it says nothing.
        told = [np.isfinite(side) & (side != 0.0) for side in (data.lower, data.upper)]
        b = np.concatenate([data.sides, data.lower[told[0]], data.upper[told[1]]])
        A = sparse.coo_array(sparse.vstack([data.rows, eye[told[0]], eye[told[1]]]))
        A.eliminate_zeros()
        found = program_units(A, b, data.c)
        data.memo["units"] = replace(found, rows=found.rows[:m])
    units: ProgramUnits = data.memo["units"]
    return units


def sizes_of_point(data: LinearData, x: Array) -> tuple[Array, Array]:
    """The sizes of rows and of entries of x; without a right-hand side x itself fixes them."""
    units = linear_units(data)
    told = bool(np.any(data.constraints[1]))
    factor = 1.0 if told else float(np.max(np.abs(x) / units.columns, initial=0.0))
    return factor * units.rows, factor * units.columns


def sizes_of_multipliers(data: LinearData, y: Array) -> tuple[Array, Array]:
    """The sizes of multipliers of rows and of reduced costs; y fixes them where c is 0."""
    units = linear_units(data)
    told = bool(np.any(data.c))
    factor = units.objective if told else float(np.max(np.abs(y) * units.rows, initial=0.0))
    rows = np.divide(factor, units.rows, np.zeros(y.size), where=units.rows > 0.0)
    return rows, factor / units.columns


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
    units, m, p = linear_units(data), data.b_ub.size, data.b_eq.size
    ends = [units.columns[np.isfinite(side)] for side in (data.lower, data.upper)]
    sizes = np.concatenate([units.rows[m:], units.rows[:m], *ends])
    fit = fitted(data.as_cones, replace(units, rows=sizes)).scaled
    if fit.program is data.as_cones:
        return ScaledProgram.plain(data)
    inner = equilibrate_cone(fit.program)
    A, b = inner.program.A_by_row, inner.program.b
    column = fit.columns * inner.columns / inner.unit
    row = inner.unit * np.roll((fit.rows.data * inner.rows.data)[: m + p], -p)
    ub, eq = slice(p, p + m), slice(p)
    bounds = data.lower / column, data.upper / column
    scaled = LinearData(inner.program.q, A[ub], b[ub], A[eq], b[eq], *bounds)
    cost = fit.cost * inner.worth
    entries = (scaled.c, b, inner.program.A.data, column, 1.0 / column, row)
    if not all(bool(np.all(np.isfinite(values))) for values in entries):
        return ScaledProgram.plain(data)
    scaled.memo["units"] = ProgramUnits(
        units.size / cost, units.rows * row, units.columns / column, units.objective / cost
    )
    return ScaledProgram(scaled, column, row, cost)


# The multipliers of a linear program: read, completed from reduced costs, repaired, evaluated.


NAMES = ("lambda_ub", "nu", "lambda_lower", "lambda_upper")


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
        return {name: getattr(self, name) for name in NAMES}

    @classmethod
    def of_rows(cls, data: LinearData, y: Array) -> LinearMultipliers:
        """Those of ``data.constraints``, by name; 0 of no bound."""
        sides = [np.isfinite(side) for side in (data.lower, data.upper)]
        ends = np.cumsum([data.b_eq.size, data.b_ub.size, np.count_nonzero(sides[0])])
        nu, lambda_ub, *parts = np.split(y, ends)
        bounds = [np.zeros(data.n) for _ in sides]
        for bound, side, part in zip(bounds, sides, parts, strict=True):
            bound[side] = part
        return cls(lambda_ub, nu, *bounds)

    def by_row(self, data: LinearData) -> Array:
        """The inverse of ``of_rows``."""
        lower = self.lambda_lower[np.isfinite(data.lower)]
        upper = self.lambda_upper[np.isfinite(data.upper)]
        return np.concatenate([self.nu, self.lambda_ub, lower, upper])

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
    sizes = dict(zip(NAMES, (data.b_ub.size, data.b_eq.size, data.n, data.n), strict=True))
    read: dict[str, Array] = {}
    if not isinstance(passed, Mapping | None):
        raise InputError(
            f"{owner}: multipliers must be a dict by name ({', '.join(NAMES)}), got "
            f"{type(passed).__name__}."
        )
    for name, value in (passed or {}).items():
        if name not in sizes:
            known = ", ".join(NAMES)
            raise InputError(
                f"{owner}: no multiplier is called {name!r}.{nearest(name, NAMES)} "
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
    """A_ub x - b_ub and A_eq x - b_eq, each entry rounded once."""
    return exact_residual(data.rows, x, data.sides)


def violations(
    data: LinearData, x: Array, known: Array | None = None
) -> tuple[Array, Array, Array]:
    """How far x breaks its rows, those of A_ub and then of A_eq (signed), and its two bounds.

    The residual may be ``known``.
    """
    left = residual(data, x) if known is None else known
    below, above = np.maximum(data.lower - x, 0.0), np.maximum(x - data.upper, 0.0)
    return np.where(data.signed, np.maximum(left, 0.0), left), below, above


def sizes(data: LinearData, x: Array) -> tuple[Array, Array]:
    """What violations count against: rows of A_ub and A_eq, and entries of x.

    The right-hand side or the size that the data suggest for the row, whichever is larger; never
    the point, but where all right-hand sides are 0 and nothing else has a size.
    """
    rows, columns = sizes_of_point(data, x)
    return np.maximum(np.abs(data.sides), rows), columns


def primal_rows(data: LinearData, x: Array) -> list[Condition]:
    """The feasibility of x, one row for each kind of constraint that is there."""
    kind = "primal_feasibility"
    wrong, below, above = violations(data, x)
    (size, columns), rows = sizes(data, x), []
    ub, eq = slice(data.b_ub.size), slice(data.b_ub.size, None)
    for name, part in (("A_ub x <= b_ub", ub), ("A_eq x = b_eq", eq)):
        if wrong[part].size:
            rows.append(worst(name, kind, wrong[part], size[part], EPS * np.abs(wrong[part])))
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
    wrong, below, above = violations(data, x, known)
    size, columns = sizes(data, x)
    pairs = (
        (np.abs(wrong), np.maximum(data.terms @ np.abs(x), np.abs(data.sides)), size),
        (np.maximum(below, above), np.abs(x), columns),
    )
    # Rounding grows with the point; what counts as feasible does not.
    return all(
        bool(np.all(wrong <= np.minimum(ROUNDING * np.maximum(terms, size), 1e-9 * size)))
        for wrong, terms, size in pairs
    )


def rounding_of_rows(data: LinearData, x: Array) -> Array:
    """What right-hand sides A_ub x and A_eq x in floats are off by: k terms by (k + 2) UNIT.

    Neither a far point nor a far bound makes the terms larger than the data suggest for the row.
    """
    terms = np.abs(data.sides) + np.minimum(data.terms @ np.abs(x), sizes(data, x)[0])
    return np.asarray((np.diff(data.rows.indptr) + 2.0) * UNIT * terms)


def dual_rows(data: LinearData, point: LinearMultipliers) -> list[Condition]:
    """Signs of the multipliers that are there, and stationarity, which is the dual's equality."""
    kind = "dual_feasibility"
    units, costs = sizes_of_multipliers(data, point.y)
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

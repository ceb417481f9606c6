"""The multipliers of a linear program: read, completed from reduced costs, repaired, evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError, nearest
from ...numerics import ROUNDING, Array
from ...objective.linear.data import LinearData
from ...validation import finite_array
from ..algebra.least_change import least_change
from ..algebra.sums import exact_dot, exact_residual
from .bound import equilibrated
from .units import linear_units

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

    def reduced_cost(self, data: LinearData) -> Array:
        """c + A_ub' lambda_ub + A_eq' nu, shape (n,), each entry rounded once."""
        return exact_residual(data.columns, np.concatenate([self.lambda_ub, self.nu]), -data.c)

    def size(self, data: LinearData) -> Array:
        """Absolute products of the reduced cost, shape (n,): what rounding is relative to."""
        y = np.concatenate([self.lambda_ub, self.nu])
        return np.asarray(np.abs(data.c) + abs(data.columns) @ np.abs(y))

    def stationarity(self, data: LinearData) -> Array:
        """The gradient of L with respect to x, shape (n,)."""
        return self.reduced_cost(data) - self.lambda_lower + self.lambda_upper

    def dual_sum(self, data: LinearData) -> float:
        """D = -b_ub'lambda_ub - b_eq'nu + lower'lambda_lower - upper'lambda_upper, rounded once."""
        lower, upper = (np.where(np.isfinite(side), side, 0.0) for side in (data.lower, data.upper))
        sides = np.concatenate([-data.b_ub, -data.b_eq, lower, -upper])
        return exact_dot(sides, np.concatenate(list(self.as_dict().values())))

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

    def scaled(self, factor: float) -> LinearMultipliers:
        """All four arrays times ``factor``."""
        return LinearMultipliers(*(factor * value for value in self.as_dict().values()))


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
    data: LinearData, lambda_ub: Array, nu: Array, common: Array | float = 0.0
) -> LinearMultipliers:
    """Give the reduced costs to the bounds that can carry them: the best bound multipliers.

    ``common`` is added to both multipliers of a coordinate with two bounds: it leaves the
    Lagrangian stationary and lowers D.
    """
    zero = np.zeros(data.n)
    cost = LinearMultipliers(lambda_ub, nu, zero, zero).reduced_cost(data)
    # What floats cannot hold nobody carries: it is left over, and then there is no bound.
    cost = np.where(np.isnan(cost), 0.0, cost)
    has_lower, has_upper = np.isfinite(data.lower), np.isfinite(data.upper)
    common = np.where(has_lower & has_upper, common, 0.0)
    lower = np.where(has_lower, np.maximum(cost, 0.0), 0.0) + common
    upper = np.where(has_upper, np.maximum(-cost, 0.0), 0.0) + common
    return LinearMultipliers(lambda_ub, nu, lower, upper)


def complete_multipliers(
    data: LinearData, passed: Mapping[str, Any], owner: str
) -> LinearMultipliers:
    """Those passed; of the others, 0 for rows and the reduced costs for bounds."""
    read = read_multipliers(data, passed, owner)
    lambda_ub = read.get("lambda_ub", np.zeros(data.b_ub.size))
    nu = read.get("nu", np.zeros(data.b_eq.size))
    return LinearMultipliers(**{**split_reduced_cost(data, lambda_ub, nu).as_dict(), **read})


def repair_multipliers(
    data: LinearData, lambda_ub: Array, nu: Array, common: Array | float = 0.0
) -> LinearMultipliers:
    """Return multipliers near these that are dual feasible up to rounding, where there are any.

    Negative entries are clipped; a reduced cost that no bound can carry is removed by the least
    change of nu and of the positive lambda_ub. What is left has its price (``linear_bound``).
    """
    scaled = equilibrated(data)
    if scaled is None:
        return _repair(data, lambda_ub, nu, np.broadcast_to(common, data.n))
    passed = {"lambda_ub": lambda_ub, "nu": nu, "lambda_lower": np.broadcast_to(common, data.n)}
    inside = scaled.inside_multipliers(passed)
    found = _repair(scaled.data, inside["lambda_ub"], inside["nu"], inside["lambda_lower"])
    return LinearMultipliers(**scaled.multipliers(found.as_dict()))


def _repair(data: LinearData, lambda_ub: Array, nu: Array, common: Array) -> LinearMultipliers:
    lambda_ub, nu = np.maximum(lambda_ub, 0.0), np.array(nu)
    target = np.zeros(data.n, dtype=bool)
    free = _levels(data, lambda_ub, nu)
    for _ in range(10):
        point = split_reduced_cost(data, lambda_ub, nu, common)
        residual = point.stationarity(data)
        residual[np.abs(residual) <= ROUNDING * point.size(data)] = 0.0
        if not np.any(residual):
            break
        target |= residual != 0.0
        cost = point.reduced_cost(data)[target]
        step = least_change(data.columns[target], -cost, np.concatenate([lambda_ub, free]))
        if not np.any(step):
            break
        lambda_ub = np.maximum(lambda_ub + step[: lambda_ub.size], 0.0)
        nu = nu + step[lambda_ub.size :]
    return point


def _levels(data: LinearData, lambda_ub: Array, nu: Array) -> Array:
    """How far each nu may move, relative to lambda_ub: the size of the largest multiplier."""
    units, _ = linear_units(data).of_multipliers(np.concatenate([lambda_ub, nu]))
    level = np.max(np.abs(lambda_ub), initial=0.0, where=np.isfinite(lambda_ub))
    own = units[lambda_ub.size :]
    return np.maximum(np.maximum(np.abs(nu), own), level if not np.any(own) else 0.0)

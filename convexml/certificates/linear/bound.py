"""Lower bounds of a linear program that hold exactly: reduced costs are carried or priced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy import sparse

from ...numerics import EPS, Array, length
from ...objective.linear.data import LinearData
from ...objective.linear.scaling import ScaledProgram, equilibrate
from ..algebra.polyhedron import Interior, Nearby, nearby, relative_interior
from ..algebra.rational_dual import exact_dual
from ..algebra.singular import SAFE
from ..algebra.sums import exact_dot, exact_pair
from .units import linear_units

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


def lower_bound(
    data: LinearData, lambda_ub: Array, nu: Array, x: Array | None = None, spare: float = 0.0
) -> LinearBound:
    """D at nonnegative lambda_ub and any nu, Jansson's way, priced where a reduced cost is left.

    Parameters
    ----------
    data : LinearData
    lambda_ub, nu : array, shapes (m,) and (p,)
        Multipliers; lambda_ub >= 0.
    x : array, shape (n,), optional
        The middle of the box where no price is known; 0 by default.
    spare : float
        What a bound over a box may be charged.

    References
    ----------
    C. Jansson, *Rigorous lower and upper bounds in linear programming*, SIAM J. Optim. 14 (2004).
    """
    cost, rest = reduced_costs(data, lambda_ub, nu)
    bound, residual = _carriers(data, cost)
    sides = np.concatenate([-data.b_ub, -data.b_eq, bound, bound])
    value = exact_dot(sides, np.concatenate([lambda_ub, nu, cost, rest]))
    # cost + rest is exact to EPS^2, their sum is rounded once.
    error = EPS * abs(value) + EPS**2 * float(np.abs(cost) @ np.abs(bound))
    if not np.any(residual):
        return LinearBound(value, error, residual)
    price = _price(data, lambda_ub, nu)
    if price is None:
        price = _rational_price(data, lambda_ub, nu, cost, value)
    if price is not None:
        return LinearBound(value, error + price, residual)
    total = float(np.abs(residual).sum())
    if x is not None:  # c'z >= D + residual'z, and z is near x
        value += float(residual @ x)
        error += 2.0 * EPS * residual.size * float(np.abs(residual) @ np.abs(x)) + EPS * abs(value)
    return LinearBound(value, error + spare, residual, within=spare / total)


def reduced_costs(data: LinearData, lambda_ub: Array, nu: Array) -> tuple[Array, Array]:
    """c + A_ub' lambda_ub + A_eq' nu as the nearest floats and the rest that they leave."""
    return exact_pair(data.columns, np.concatenate([lambda_ub, nu]), -data.c)


def _carriers(data: LinearData, cost: Array) -> tuple[Array, Array]:
    """The bound at which each reduced cost is least, and the costs for which there is none.

    A variable with one bound keeps it whatever the sign: that extends D, still concave.
    """
    lower, upper = np.isfinite(data.lower), np.isfinite(data.upper)
    wanted = np.where(cost >= 0.0, data.lower, data.upper)
    other = np.where(lower, data.lower, np.where(upper, data.upper, 0.0))
    carried = np.isfinite(wanted) | (cost == 0.0)
    return np.where(np.isfinite(wanted), wanted, other), np.where(carried, 0.0, cost)


def _price(data: LinearData, lambda_ub: Array, nu: Array) -> float | None:
    """How much lower D is at exactly dual feasible multipliers nearby; None where unknown."""
    scaled = equilibrated(data)
    interior = dual_interior(data)
    if scaled is None or interior is None:
        return None
    y = np.concatenate([lambda_ub / scaled.ub, nu / scaled.eq]) / scaled.cost
    found = nearby(interior, y)
    if found is None:
        return None
    m, program = lambda_ub.size, scaled.data
    own, moved, there = (
        _dual_value(program, point[:m], point[m:]) for point in (y, found.point, interior.point)
    )
    # D is concave; a step d lowers it by at most the norm of its gradients times abs(d).
    price = (own - moved) + found.share * (moved - there) + found.step * _slope(program)
    noise = EPS * (abs(own) + abs(moved) + abs(there))
    return scaled.cost * scaled.size * max(SAFE * price, 0.0) + scaled.cost * scaled.size * noise


def _dual_value(data: LinearData, lambda_ub: Array, nu: Array) -> float:
    cost, rest = reduced_costs(data, lambda_ub, nu)
    bound, _ = _carriers(data, cost)
    sides = np.concatenate([-data.b_ub, -data.b_eq, bound, bound])
    return exact_dot(sides, np.concatenate([lambda_ub, nu, cost, rest]))


def _slope(data: LinearData) -> float:
    """A Lipschitz constant of D: abs(b) + sum_j abs(A_j) max(abs(bounds))."""
    bounds = [np.where(np.isfinite(s), np.abs(s), 0.0) for s in (data.lower, data.upper)]
    norms = np.sqrt(np.ravel(data.columns.multiply(data.columns).sum(axis=1)))
    side = length(np.concatenate([data.b_ub, data.b_eq]))
    return SAFE * (side + float(norms @ np.maximum(*bounds)))


def dual_polyhedron(data: LinearData) -> LinearData:
    """The multipliers whose reduced costs can all be carried, as a polyhedron in (lambda_ub, nu).

    c + A'y is 0 on free variables, >= 0 (<= 0) on those with a lower (an upper) bound only.
    """
    lower, upper = np.isfinite(data.lower), np.isfinite(data.upper)
    sign = np.where(lower, -1.0, 1.0)
    one, free = lower ^ upper, ~(lower | upper)
    m, p = data.b_ub.size, data.b_eq.size
    turned = (sparse.diags_array(sign) @ data.columns).tocsr()
    return LinearData(
        np.concatenate([data.b_ub, data.b_eq]),
        turned[one],
        -(sign * data.c)[one],
        data.columns[free],
        -data.c[free],
        np.concatenate([np.zeros(m), np.full(p, -np.inf)]),
        np.full(m + p, np.inf),
    )


def equilibrated(data: LinearData) -> ScaledProgram | None:
    """The program in units of size 1, kept with its data; None where float64 cannot hold it.

    It starts from the units that the data suggest: then it is the same in whatever units.
    """
    if "equilibrated" not in data.memo:
        units = linear_units(data)
        sides = np.abs(np.concatenate([data.b_ub, data.b_eq]))
        rows = np.where(units.rows > 0.0, units.rows, sides)  # without entries: b alone
        row = np.divide(1.0, rows, np.ones_like(rows), where=rows > 0.0)
        scaled = equilibrate(data, row, units.columns)
        part = scaled.data
        entries = (part.c, part.b_ub, part.b_eq, part.rows.data, scaled.column, 1.0 / scaled.column)
        fits = all(bool(np.all(np.isfinite(values))) for values in entries)
        rows, whole = np.concatenate([scaled.ub, scaled.eq]), scaled.cost * scaled.size
        part.memo["units"] = replace(
            units,
            size=units.size / whole,
            rows=units.rows * rows / scaled.size,
            columns=units.columns / (scaled.size * scaled.column),
            objective=units.objective / whole,
        )
        data.memo["equilibrated"] = scaled if fits else None
    found: ScaledProgram | None = data.memo["equilibrated"]
    return found


def dual_interior(data: LinearData) -> Interior | None:
    """A point inside of the dual polyhedron of the equilibrated program, kept with the data."""
    return _kept(data, "dual interior", dual_polyhedron)


def primal_interior(data: LinearData) -> Interior | None:
    """A point inside of the feasible set of the equilibrated program, kept with the data."""
    return _kept(data, "interior", lambda scaled: scaled)


def _kept(
    data: LinearData, name: str, polyhedron: Callable[[LinearData], LinearData]
) -> Interior | None:
    if name not in data.memo:
        scaled = equilibrated(data)
        data.memo[name] = None if scaled is None else relative_interior(polyhedron(scaled.data))
    found: Interior | None = data.memo[name]
    return found


def exact_objective(data: LinearData, x: Array) -> float | None:
    """An upper bound of c'x at an exactly feasible point near x; None where none is known."""
    scaled, interior = equilibrated(data), primal_interior(data)
    if scaled is None or interior is None:
        return None
    z = x / (scaled.size * scaled.column)
    found: Nearby | None = nearby(interior, z)
    if found is None:
        return None
    c = scaled.data.c
    own, there = exact_dot(c, found.point), exact_dot(c, interior.point)
    value = own + found.share * (there - own) + SAFE * found.step * length(c)
    value += 4.0 * EPS * (abs(own) + abs(there))
    return scaled.cost * scaled.size * value


def _rational_price(
    data: LinearData, lambda_ub: Array, nu: Array, cost: Array, value: float
) -> float | None:
    """How far ``value`` is above D at an exactly feasible dual point; None where none is found.

    Where dual points have no room to spare (two of its inequalities leave an interval of some
    units in the last place) only exact ones are. ``cost`` are the reduced costs.
    """
    lower, upper = np.isfinite(data.lower), np.isfinite(data.upper)
    eye, none = sparse.eye_array(data.n, format="csr"), sparse.csc_array((data.n, data.n))
    A = sparse.vstack([data.A_ub, data.A_eq, -eye[lower], eye[upper]], format="csr")
    b = np.concatenate([data.b_ub, data.b_eq, -data.lower[lower], data.upper[upper]])
    below, above = np.maximum(cost, 0.0)[lower], np.maximum(-cost, 0.0)[upper]
    y = np.concatenate([np.maximum(lambda_ub, 0.0), nu, below, above])
    signed = np.ones(y.size, dtype=bool)
    signed[lambda_ub.size :][: nu.size] = False
    found = exact_dual(none, data.c, A, b, signed, np.zeros(data.n), y)
    if found is None or not np.isfinite(value):
        return None
    return max(float(Fraction(value) - found[2]), 0.0) * (1.0 + 4.0 * EPS)

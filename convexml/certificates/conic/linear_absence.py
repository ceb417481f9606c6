"""Evidence that a linear program is infeasible or unbounded: Farkas multipliers and rays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ...errors import InputError
from ...formulas import Condition, worst
from ...numerics import EPS, Array, length
from ...problem.linear_program import LinearData, read_point
from ...validation import positive_number
from ..algebra.dual_points import alone
from ..algebra.polyhedron import at_bounds, least_change, moved_onto, relative_interior
from ..algebra.rationals import exact_farkas, has_exact_point
from ..algebra.searchers import Optimum, highs
from ..algebra.sums import exact_dot, exact_residual
from ..certificate import Certificate, Verdict
from ..judge import absent
from .linear_bound import (
    as_it_is,
    equilibrated,
    meets_rows,
    primal_rows,
    residual,
    rounding_of_rows,
    rows_of,
    sizes,
    sizes_of_multipliers,
    sizes_of_point,
    violations,
)
from .unbounded import judged_ray

# Farkas multipliers of rows, found by HiGHS or in rationals: to be verified by whoever asks.


def farkas_multipliers(data: LinearData) -> Iterator[Array]:
    """(lambda_ub, nu) of value -1, as small as possible; exact ones of a small program come last.

    Its bounds are rows, if it has any.
    """
    scaled, k, signed = equilibrated(data), data.sides.size, data.signed
    inner = scaled.program
    search = LinearData(
        signed.astype(float),
        sparse.csr_array((0, k)),
        np.zeros(0),
        sparse.vstack([inner.columns, sparse.csr_array(inner.sides[None, :])], format="csr"),
        np.concatenate([np.zeros(data.n), [-1.0]]),
        np.where(signed, 0.0, -np.inf),
        np.full(k, np.inf),
    )
    found = highs(search).x
    if found is not None:
        yield scaled.y_out(found)
    exact = exact_farkas(data)
    if exact is not None:
        yield exact


# Verified evidence that a linear program is unbounded: a feasible point and a ray.


def certify_unbounded(
    data: LinearData,
    ray: Any,
    point: Any,
    *,
    tol: float = 1e-6,
    owner: str = "LinearProgram",
) -> Certificate:
    """Verify that the objective falls without end along a ray from a feasible point.

    Parameters
    ----------
    data : LinearData
        The program.
    ray : array, shape (n,)
        A direction with c'ray < 0, A_ub ray <= 0, A_eq ray = 0 that never leaves the bounds.
    point : array, shape (n,)
        A feasible point, up to ``tol`` relative to each row.
    tol : float
        Of the rows; the objective must fall along an exact ray nearby.
    owner : str
        Who asks, for the messages.

    Returns
    -------
    Certificate
        Claim "unbounded", ``evidence`` {"ray", "point"}; the ray is scaled to largest entry 1.
    """
    tol = positive_number(tol, owner, "tol")
    point, ray = read_point(data, point, owner), read_point(data, ray, owner)
    size = float(np.max(np.abs(ray)))
    if size == 0.0:
        raise InputError(f"{owner}: the ray is 0; it must be a direction along which c'x falls.")
    passed = ray / size
    falls, to = exact_dot(data.c, passed), equilibrated(data)
    fall = worst("c'ray < 0", "primal_feasibility", max(falls, 0.0), abs(data.c) @ abs(passed))
    found = absent(
        "unbounded",
        (*primal_rows(data, point), *_ray_rows(recession_cone(data), passed), fall),
        tol,
        objective=-np.inf,
        dual_source="passed",
        evidence={"ray": passed, "point": point},
    )
    return judged_ray(found, to.program.as_cones, to.x_in(point), to.x_in(passed), falls)


def recession_cone(data: LinearData) -> LinearData:
    """Directions d with A_ub d <= 0, A_eq d = 0 and the signs that the bounds ask for."""
    lower = np.where(np.isfinite(data.lower), 0.0, -np.inf)
    upper = np.where(np.isfinite(data.upper), 0.0, np.inf)
    return replace(data, b_ub=0.0 * data.b_ub, b_eq=0.0 * data.b_eq, lower=lower, upper=upper)


RAY = {
    "lambda_ub": "A_ub ray <= 0",
    "nu": "A_eq ray = 0",
    "lambda_lower": "ray >= 0 where x >= lower",
    "lambda_upper": "ray <= 0 where x <= upper",
}


def _ray_rows(cone: LinearData, ray: Array) -> list[Condition]:
    terms = cone.terms @ np.abs(ray)
    terms[cone.sides.size :] = 1.0  # the largest entry of the ray
    return rows_of(cone, RAY, "primal_feasibility", violations(cone, ray), terms)


def rays(data: LinearData) -> Iterator[Array]:
    """Search boxes of the recession cone for the steepest descent, by HiGHS; not yet verified.

    First in units of size 1; in its own a slope may be large enough that is too small there.
    """
    for units in (equilibrated(data), as_it_is(data)):
        cone = recession_cone(units.program)
        box = replace(cone, lower=np.maximum(cone.lower, -1.0), upper=np.minimum(cone.upper, 1.0))
        ray = highs(box).x
        if ray is not None and float(cone.c @ ray) < 0.0:
            ray = units.x_out(np.where(np.abs(ray) <= 1e-9, 0.0, ray))
            yield ray / np.max(np.abs(ray))


def find_unboundedness(data: LinearData, tol: float = 1e-6) -> Certificate | None:
    """Search for a ray and a point."""
    still = data.with_cost(np.zeros(data.n))
    for ray in rays(data):
        point = optimum_of(still).x
        if point is not None and np.all(np.isfinite([ray, point])):
            certificate = certify_unbounded(data, ray, point, tol=tol)
            if certificate.verdict is Verdict.CERTIFIED:
                return certificate
    return None


# What HiGHS says of a linear program, in units of size 1: to be verified by us.


def optimum_of(data: LinearData) -> Optimum:
    """The optimum found, kept with the data."""
    if "optimum" not in data.memo:
        scaled = equilibrated(data)
        found = highs(scaled.program)
        if found.x is not None and found.y is not None:
            x = scaled.x_out(found.x).clip(data.lower, data.upper)
            found = Optimum(found.status, x, scaled.y_out(found.y))
        data.memo["optimum"] = found
    kept: Optimum = data.memo["optimum"]
    return kept


# Active sets of a linear program, and the vertex and multipliers that belong to one.


ACTIVE = 1e-7
"""A slack counts as 0 below this size, relative to its row."""


def active_at(data: LinearData, x: Array) -> Array:
    """Which constraints are tight at x, equations among them."""
    return data.equal | (-residual(data, x) <= ACTIVE * _spread(data, x))


def _spread(data: LinearData, x: Array) -> Array:
    """The sizes of constraints at x: those of the data or of the point."""
    return np.maximum(sizes(data, x), data.terms @ np.abs(x))


def active_by_slackness(data: LinearData, x: Array, y: Array) -> Array:
    """Constraints whose multiplier is larger than their slack, both in units of their size."""
    levels, slack = sizes_of_multipliers(data, y)[0], -residual(data, x)
    return data.equal | (_ratio(y, levels) > _ratio(slack, _spread(data, x)))


def _ratio(value: Array, size: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(value / np.maximum(size, np.finfo(float).tiny))


def solve_vertex(data: LinearData, active: Array, x: Array) -> Array:
    """The point nearest to x at which the active constraints hold with equality."""
    scaled = equilibrated(data)
    found = scaled.x_out(_vertex(scaled.program, active, scaled.x_in(x)))
    return np.clip(found, data.lower, data.upper) + 0.0  # no -0.0


def _vertex(data: LinearData, active: Array, x: Array) -> Array:
    held, (lower, upper) = active[: data.sides.size], at_bounds(data, active)
    fixed = np.where(lower, data.lower, np.where(upper, data.upper, x))
    matrix, side = data.rows[held], data.sides[held]
    movable = np.maximum(np.abs(x), sizes_of_point(data, x)[1])
    if length(exact_residual(matrix, fixed, side)) <= EPS * length(side):
        return np.asarray(fixed)
    return moved_onto(matrix, side, fixed, np.where(lower | upper, 0.0, movable))


def solve_multipliers(data: LinearData, active: Array, near: Array | None = None) -> Array:
    """Multipliers of rows with zero reduced cost off the bounds, and zeros on inactive rows.

    The nearest ones to those that are ``near``, in proportion.
    """
    scaled = equilibrated(data)
    start = None if near is None else scaled.y_in(near[: data.sides.size])
    return scaled.y_out(_stationary(scaled.program, active, start))


def _stationary(data: LinearData, active: Array, near: Array | None) -> Array:
    weights = active[: data.sides.size].astype(float)
    y = np.zeros(weights.size)
    if near is not None:  # positive multipliers move in proportion
        y = np.where(weights > 0.0, near, 0.0)
        level = np.maximum(np.abs(y), sizes_of_multipliers(data, y)[0][: y.size])
        weights *= np.where(data.signed, np.maximum(np.abs(y), 1e-6 * level), level)
    lower, upper = at_bounds(data, active)
    inside = ~(lower | upper)  # there the reduced cost is 0
    return moved_onto(data.columns[inside], -data.c[inside], y, weights)


# Whether a program that is met within tol is met by anything up to rounding.


ROUNDS = 4
"""Steps to a point that meets all."""
GROWN = 2.0
"""By so much a residual may grow from step to step, whose units change."""


def plausible(data: LinearData, x: Array) -> bool:
    """Whether some point, x or another, meets all constraints up to rounding.

    Where it is known that none meets them exactly, only the rounding of the data is an excuse.
    """
    left, off = residual(data, x), rounding_of_rows(data, x)
    rows, bounds = np.split(violations(data, x, left), [off.size])
    if np.all(np.abs(rows) <= off) and not np.any(bounds):
        return True
    if data.memo.get("exact point") is None:
        data.memo["exact point"] = has_exact_point(data, x)
    if data.memo["exact point"] is not None:
        return bool(data.memo["exact point"] or has_exact_point(_loosened(data, off), x))
    known = data.memo.get("plausible")  # of any x
    if not known:
        near = (
            meets_rows(data, x, left)
            or restored(data, x) is not None
            or meets_rows(data, solve_vertex(data, active_at(data, x), x))
        )
        known = data.memo["plausible"] = near or (known is None and _is_met(data))
    return bool(known)


def _is_met(data: LinearData) -> bool:
    """Whether a point that HiGHS finds meets all constraints, or there is one inside."""
    points = (optimum_of(each).x for each in (data, data.with_cost(np.zeros(data.n))))
    if any(x is not None and meets_rows(data, x) for x in points):
        return True
    return relative_interior(equilibrated(data).program) is not None


def restored(data: LinearData, x: Array) -> Array | None:
    """The nearest point that meets the equations and what x violates, in units of the room it has.

    So small steps leave no bound, also one posed as a row of one entry. None where these do not
    end at a point that meets all.
    """
    (A, b), (single, columns, entries) = data.constraints, alone(data.as_cones)
    with np.errstate(over="ignore"):
        ends = b[single] / entries
    upper = np.full(data.n, np.inf)
    lower = -upper
    np.maximum.at(lower, columns[entries < 0.0], ends[entries < 0.0])
    np.minimum.at(upper, columns[entries > 0.0], ends[entries > 0.0])
    if not np.all(lower <= upper):
        return None
    x = np.clip(x, lower, upper)
    units = np.maximum(np.abs(x), sizes_of_point(data, x)[1])
    pulled, before, residuals = data.equal.copy(), np.inf, residual(data, x)
    for _ in range(ROUNDS):
        pulled |= residuals > 0.0
        pulled[single] = False
        rows, left = A[np.flatnonzero(pulled)], -residuals[pulled]
        room = np.minimum(np.minimum(x - lower, upper - x), units)
        reach = np.sqrt(rows.power(2) @ room**2)
        unit = np.divide(1.0, reach, out=np.zeros(reach.size), where=reach > 0.0)
        size = length(unit * left)
        if not size < GROWN * before:  # bounds take away more than steps remove
            break
        before = size
        rows.data *= np.repeat(unit, np.diff(rows.indptr))
        x = np.clip(x + least_change(rows, unit * left, room), lower, upper)
        residuals = residual(data, x)
        if meets_rows(data, x, residuals):
            return x
    return None


def _loosened(data: LinearData, off: Array) -> LinearData:
    """The program whose rows have this much more room."""
    A = sparse.vstack([data.rows, -sparse.csr_array(data.A_eq)], format="csr")
    b = np.concatenate([data.sides + off, (off - data.sides)[data.b_ub.size :]])
    none = np.zeros((0, data.n)), np.zeros(0)
    return LinearData(data.c, A, b, *none, data.lower, data.upper)

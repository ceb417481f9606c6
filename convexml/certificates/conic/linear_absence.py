"""Evidence that a linear program is infeasible or unbounded: Farkas multipliers and rays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ...errors import InputError
from ...formulas import Condition, worst
from ...numerics import EPS, Array, length
from ...problem.linear_program import LinearData, read_point
from ...validation import positive_number
from ..algebra.polyhedron import LeastChange, least_change
from ..algebra.rationals import exact_farkas, has_exact_point
from ..algebra.searchers import Optimum, highs
from ..algebra.sums import exact_dot, exact_residual
from ..certificate import Certificate, Verdict
from ..judge import absent, judge, violated
from .linear_bound import (
    LinearMultipliers,
    ScaledProgram,
    equilibrated,
    meets_rows,
    plain,
    primal_rows,
    residual,
    rounding_of_rows,
    sizes,
    sizes_of_multipliers,
    violations,
)
from .ray import has_point_among, has_ray_among, rays_of

# Farkas multipliers of rows, found by HiGHS or in rationals: to be verified by whoever asks.


def farkas_multipliers(data: LinearData) -> Iterator[Array]:
    """(lambda_ub, nu) of value -1, as small as possible, in equilibrated units and its own.

    Exact ones of a small program come last. Its bounds are rows, if it has any.
    """
    m, p = data.b_ub.size, data.b_eq.size
    for scaled in reversed(_in_units(data)):
        inner = scaled.data
        value, signed = np.concatenate([inner.b_ub, inner.b_eq]), np.arange(m + p) < m
        search = LinearData(
            signed.astype(float),
            sparse.csr_array((0, m + p)),
            np.zeros(0),
            sparse.vstack([inner.columns, sparse.csr_array(value[None, :])], format="csr"),
            np.concatenate([np.zeros(data.n), [-1.0]]),
            np.where(signed, 0.0, -np.inf),
            np.full(m + p, np.inf),
        )
        found = highs(search).x
        if found is not None:
            evidence = scaled.multipliers({"lambda_ub": found[:m], "nu": found[m:]})
            yield np.concatenate([evidence["lambda_ub"], evidence["nu"]])
    exact = exact_farkas(data)
    if exact is not None:
        yield exact


def _in_units(data: LinearData) -> tuple[ScaledProgram, ...]:
    """The program in its own units, and in equilibrated ones."""
    own, scaled = plain(data), equilibrated(data)
    return (own,) if scaled.data is data else (own, scaled)


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
    cone = recession_cone(data)
    passed = ray / size
    feasible = primal_rows(data, point)
    rows = (*feasible, *_ray_rows(cone, passed))
    falls = exact_dot(data.c, passed)
    fall = worst("c'ray < 0", "primal_feasibility", max(falls, 0.0), abs(data.c) @ abs(passed))
    broken = [row for row in rows if not row.meets(tol)]
    scaled, proven = equilibrated(data), False
    program = scaled.data.as_cones
    if broken:
        where = "the point is not feasible" if broken[0] in feasible else "the ray leaves"
        reason = f"{where}: {violated(broken[0])}"
    elif not has_ray_among(rays_of(program), [scaled.inside(passed)]):
        reason = (
            f"the objective is not known to fall along an exact ray nearby: c'ray = {falls:.3g}"
        )
    elif not has_point_among(program, [scaled.inside(point)]):
        reason = "no exactly feasible point is known near the point"
    else:
        proven = True
        reason = f"the point is feasible and c'x falls by {-falls:.3g} per unit along the ray"
    certificate = absent(
        "unbounded",
        (*rows, fall),
        tol,
        objective=-np.inf,
        reason=reason,
        dual_source="passed",
        evidence={"ray": passed, "point": point},
    )
    return judge(certificate, proven=proven)


def recession_cone(data: LinearData) -> LinearData:
    """Directions d with A_ub d <= 0, A_eq d = 0 and the signs that the bounds ask for."""
    lower = np.where(np.isfinite(data.lower), 0.0, -np.inf)
    upper = np.where(np.isfinite(data.upper), 0.0, np.inf)
    zero_ub, zero_eq = np.zeros_like(data.b_ub), np.zeros_like(data.b_eq)
    return LinearData(data.c, data.A_ub, zero_ub, data.A_eq, zero_eq, lower, upper)


def _ray_rows(cone: LinearData, ray: Array) -> list[Condition]:
    kind = "primal_feasibility"
    ub, eq, below, above = violations(cone, ray)
    rows = [worst("ray within the directions of the bounds", kind, np.maximum(below, above))]
    if eq.size:
        rows.insert(0, worst("A_eq ray = 0", kind, eq, abs(cone.A_eq) @ np.abs(ray)))
    if ub.size:
        rows.insert(0, worst("A_ub ray <= 0", kind, ub, abs(cone.A_ub) @ np.abs(ray)))
    return rows


def find_ray(data: LinearData) -> Array | None:
    """Search a box of the recession cone for the steepest descent, by HiGHS; not yet verified."""
    cone = recession_cone(data)
    box = replace(cone, lower=np.maximum(cone.lower, -1.0), upper=np.minimum(cone.upper, 1.0))
    ray = highs(box).x
    if ray is None or not float(data.c @ ray) < 0.0:
        return None
    ray[np.abs(ray) <= 1e-9] = 0.0
    return ray


def find_unboundedness(data: LinearData, tol: float = 1e-6) -> Certificate | None:
    """Search for a ray and a point, in equilibrated units and in the program's own."""
    for ray in rays(data):
        for point in optima(data.with_cost(np.zeros(data.n))):
            if point.x is None or not np.all(np.isfinite([ray, point.x])):
                continue
            certificate = certify_unbounded(data, ray, point.x, tol=tol)
            if certificate.verdict is Verdict.CERTIFIED:
                return certificate
    return None


# What HiGHS says of a linear program, in equilibrated units first: to be verified by us.


def optima(data: LinearData) -> Iterator[Optimum]:
    """The optimum found in equilibrated units, and where that is none in its own; both kept."""
    for scaled in reversed(_in_units(data)):
        memo = scaled.data.memo
        if "optimum" not in memo:
            found = highs(scaled.data)
            if found.x is not None and found.lambda_ub is not None and found.nu is not None:
                duals = scaled.multipliers({"lambda_ub": found.lambda_ub, "nu": found.nu})
                x = scaled.point(found.x).clip(data.lower, data.upper)
                found = Optimum(found.status, x, **duals)
            memo["optimum"] = found
        yield memo["optimum"]
        if memo["optimum"].x is not None:
            return


def rays(data: LinearData) -> Iterator[Array]:
    """Directions of descent of the recession cone, found in equilibrated units and its own."""
    for scaled in reversed(_in_units(data)):
        if (ray := find_ray(scaled.data)) is not None:
            yield scaled.ray(ray)


# Active sets of a linear program, and the vertex and multipliers that belong to one.


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
    levels, costs = sizes_of_multipliers(data, y)
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
    found = scaled.point(_vertex(scaled.data, active, scaled.inside(x)))
    return np.clip(found, data.lower, data.upper) + 0.0  # no -0.0


def _vertex(data: LinearData, active: ActiveSet, x: Array) -> Array:
    fixed = np.where(active.at_lower, data.lower, np.where(active.at_upper, data.upper, x))
    kept = np.append(active.rows, np.ones(data.b_eq.size, dtype=bool))
    matrix, side = data.rows[kept], np.concatenate([data.b_ub, data.b_eq])[kept]
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
    factors = scaled.cost * scaled.row
    found = factors * _stationary(scaled.data, active, start / factors, near is not None)
    return found[:m], found[m:]


def _stationary(data: LinearData, active: ActiveSet, start: Array, near: bool) -> Array:
    """The multipliers of rows nearest to ``start``, in proportion where that is known."""
    m, p = data.b_ub.size, data.b_eq.size
    start = np.where(np.concatenate([active.rows, np.ones(p, dtype=bool)]), start, 0.0)
    weights = np.concatenate([active.rows.astype(float), np.ones(p)])
    if near:  # positive multipliers move in proportion
        units, _ = sizes_of_multipliers(data, start)
        level = np.maximum(np.abs(start), units)
        weights *= np.where(np.arange(m + p) < m, np.maximum(np.abs(start), 1e-6 * level), level)
    matrix = data.columns[active.interior]
    change = LeastChange(matrix, weights)
    for _ in range(2):
        start = start + change(-exact_residual(matrix, start, -data.c[active.interior]))
    return np.asarray(start)


# Whether a program that is met within tol is met by anything up to rounding.


ROUNDS = 4
"""Steps to a point that meets all."""
GROWN = 2.0
"""By so much a residual may grow from step to step, whose units change."""


def plausible(data: LinearData, x: Array) -> bool:
    """Whether some point, x or another, meets all constraints up to rounding.

    Where it is known that none meets them exactly, only the rounding of the data is an excuse.
    """
    left = residual(data, x)
    wrong = violations(data, x, left)
    if not any(np.any(part) for part in wrong):
        return True
    ub, eq, below, above = wrong
    off = rounding_of_rows(data, x)
    if all(np.all(part <= 0.0) for part in (ub - off[0], np.abs(eq) - off[1], below, above)):
        return True
    if data.memo.get("exact point") is None:
        data.memo["exact point"] = has_exact_point(data, x)
    if data.memo["exact point"] is not None:
        return bool(data.memo["exact point"] or has_exact_point(_loosened(data, *off), x))
    if meets_rows(data, x, left) or restored(data, x) is not None:
        return True
    if "plausible" not in data.memo:
        data.memo["plausible"] = any(
            found.x is not None and meets_rows(data, found.x)
            for program in (data, data.with_cost(np.zeros(data.n)))
            for found in optima(program)
        )
    return bool(data.memo["plausible"])


def restored(data: LinearData, x: Array) -> Array | None:
    """The nearest point that meets the equations and what x violates, in units of the room it has.

    So small steps leave no bound, also one posed as a row of one entry. None where these do not
    end at a point that meets all.
    """
    A, m = data.rows, data.b_ub.size
    single = np.flatnonzero(np.diff(A.indptr[: m + 1]) == 1)
    columns, entries = A.indices[A.indptr[single]], A.data[A.indptr[single]]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        ends = data.b_ub[single] / entries
    lower, upper = data.lower.copy(), data.upper.copy()
    np.maximum.at(lower, columns[entries < 0.0], ends[entries < 0.0])
    np.minimum.at(upper, columns[entries > 0.0], ends[entries > 0.0])
    if not np.all(lower <= upper):
        return None
    x = np.clip(x, lower, upper)
    units = np.maximum(np.abs(x), sizes(data, x)[2])
    pulled, before, residuals = np.arange(A.shape[0]) >= m, np.inf, residual(data, x)
    for _ in range(ROUNDS):
        pulled[:m] |= residuals[:m] > 0.0
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


def _loosened(data: LinearData, ub: Array, eq: Array) -> LinearData:
    """The program whose rows have this much more room."""
    A = sparse.vstack([data.rows, -sparse.csr_array(data.A_eq)], format="csr")
    b = np.concatenate([data.b_ub + ub, data.b_eq + eq, eq - data.b_eq])
    none = np.zeros((0, data.n)), np.zeros(0)
    return LinearData(data.c, A, b, *none, data.lower, data.upper)

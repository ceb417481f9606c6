"""Verified evidence that a linear program is unbounded: a feasible point and a ray."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InputError
from ..numerics import EPS, ROUNDING, Array
from ..objective.linear_data import LinearData, read_point
from .active_set import ActiveSet, solve_vertex
from .certificate import Certificate, Condition, Verdict, worst
from .farkas import without_optimum
from .highs import highs
from .linear_conditions import primal_rows, row_scale


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
        For the point; the ray is exact up to rounding or no evidence.
    owner : str
        Who asks, for the messages.

    Returns
    -------
    Certificate
        Claim "unbounded", ``evidence`` {"ray", "point"}; the ray is scaled to largest entry 1.
    """
    point, ray = read_point(data, point, owner), read_point(data, ray, owner)
    size = float(np.max(np.abs(ray)))
    if size == 0.0:
        raise InputError(f"{owner}: the ray is 0; it must be a direction along which c'x falls.")
    cone = recession_cone(data)
    passed = ray / size
    active = ActiveSet(
        cone.A_ub @ passed > -1e-7 * row_scale(cone.A_ub, passed, cone.b_ub, 1e-3),
        (cone.lower == 0.0) & (passed < 1e-9),
        (cone.upper == 0.0) & (passed > -1e-9),
    )
    ray = passed if _stays(cone, passed) else solve_vertex(cone, active, passed)
    slope, terms = float(data.c @ ray), float(np.abs(data.c) @ np.abs(ray))
    rows = (*primal_rows(data, point), *_ray_rows(cone, passed))
    moved = float(np.max(np.abs(ray - passed)))
    certificate = without_optimum("unbounded", -np.inf, rows, tol, moved)
    broken = [row for row in primal_rows(data, point) if row.relative > tol]
    if broken:
        reason = f"the point is not feasible: {broken[0].name} by {broken[0].residual:.3g}"
    elif moved > tol or not _stays(cone, ray):
        reason = "the ray leaves the feasible set, and no small change of it stays"
    elif not slope < -max(ROUNDING, EPS * data.n) * terms:
        reason = f"the objective does not fall along the ray: c'ray = {slope:.3g}"
    else:
        reason = f"the point is feasible and c'x falls by {-slope:.3g} per unit along the ray"
        evidence = {"ray": ray, "point": point}
        return replace(certificate, verdict=Verdict.CERTIFIED, reason=reason, evidence=evidence)
    return replace(certificate, reason=reason)


def recession_cone(data: LinearData) -> LinearData:
    """Directions d with A_ub d <= 0, A_eq d = 0 and the signs that the bounds ask for."""
    lower = np.where(np.isfinite(data.lower), 0.0, -np.inf)
    upper = np.where(np.isfinite(data.upper), 0.0, np.inf)
    zero_ub, zero_eq = np.zeros_like(data.b_ub), np.zeros_like(data.b_eq)
    return LinearData(data.c, data.A_ub, zero_ub, data.A_eq, zero_eq, lower, upper)


def _stays(cone: LinearData, ray: Array) -> bool:
    """Whether the ray is in the recession cone up to the rounding of each row."""
    return all(row.relative <= ROUNDING for row in _ray_rows(cone, ray))


def _ray_rows(cone: LinearData, ray: Array) -> list[Condition]:
    kind = "primal_feasibility"
    ub, eq = np.maximum(cone.A_ub @ ray, 0.0), cone.A_eq @ ray
    outside = np.maximum(np.maximum(cone.lower - ray, ray - cone.upper), 0.0)
    return [
        worst("A_ub ray <= 0", kind, ub, abs(cone.A_ub) @ np.abs(ray)),
        worst("A_eq ray = 0", kind, eq, abs(cone.A_eq) @ np.abs(ray)),
        worst("ray within the bounds' directions", kind, outside),
    ]


def find_ray(data: LinearData) -> Array | None:
    """Search a box of the recession cone for the steepest descent, by HiGHS; not yet verified."""
    cone = recession_cone(data)
    box = replace(cone, lower=np.maximum(cone.lower, -1.0), upper=np.minimum(cone.upper, 1.0))
    ray = highs(box).x
    return ray if ray is not None and float(data.c @ ray) < 0.0 else None


def find_unboundedness(data: LinearData, tol: float = 1e-6) -> Certificate | None:
    """Search for a ray and a feasible point; None where they cannot be verified."""
    point, ray = highs(data.with_cost(np.zeros(data.n))).x, find_ray(data)
    if point is None or ray is None:
        return None
    certificate = certify_unbounded(data, ray, point, tol=tol)
    return certificate if certificate.verdict is Verdict.CERTIFIED else None

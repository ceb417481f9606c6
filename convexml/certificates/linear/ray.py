"""Verified evidence that a linear program is unbounded: a feasible point and a ray."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...conditions import Condition, worst
from ...errors import InputError
from ...numerics import Array
from ...objective.linear.data import LinearData, read_point
from ...validation import positive_number
from ..algebra.highs import highs
from ..algebra.sums import exact_dot
from ..certificate import Certificate, Verdict
from ..judge import absent, judge, violated
from .bound import equilibrated, exact_objective
from .conditions import primal_rows, violations


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
    slope = _slope(cone, passed)
    feasible = primal_rows(data, point)
    rows = (*feasible, *_ray_rows(cone, passed))
    falls = exact_dot(data.c, passed)
    fall = worst("c'ray < 0", "primal_feasibility", max(falls, 0.0), abs(data.c) @ abs(passed))
    broken = [row for row in rows if not row.meets(tol)]
    proven = False
    if broken:
        where = "the point is not feasible" if broken[0] in feasible else "the ray leaves"
        reason = f"{where}: {violated(broken[0])}"
    elif not slope < 0.0:
        reason = (
            f"the objective is not known to fall along an exact ray nearby: c'ray = {falls:.3g}"
        )
    elif not is_feasible(data, point):
        reason = "no exactly feasible point is known near the point"
    else:
        proven = True
        reason = f"the point is feasible and c'x falls by {-slope:.3g} per unit along the ray"
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


def _slope(cone: LinearData, ray: Array) -> float:
    """An upper bound of c'd on an exact ray d near this one; inf where none is known."""
    slope = exact_dot(cone.c, ray)
    if not any(np.any(part) for part in violations(cone, ray)):
        return slope
    exact = exact_objective(cone, ray)
    return np.inf if exact is None else max(exact, slope)


def is_feasible(data: LinearData, point: Array) -> bool:
    """Whether the point meets every constraint exactly, or an exact point is known nearby."""
    inside = not any(np.any(part) for part in violations(data, point))
    return inside or exact_objective(data, point) is not None


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
    """Search for a ray and a point, in the program's own units and in equilibrated ones."""
    scaled = equilibrated(data)
    for program in (data, None if scaled is None else scaled.data):
        if program is None or (ray := find_ray(program)) is None:
            continue
        point = highs(program.with_cost(np.zeros(data.n))).x
        if point is None:
            continue
        if program is not data and scaled is not None:
            ray, point = scaled.ray(ray), scaled.point(point)
        if not np.all(np.isfinite([ray, point])):
            continue
        certificate = certify_unbounded(data, ray, point, tol=tol)
        if certificate.verdict is Verdict.CERTIFIED:
            return certificate
    return None

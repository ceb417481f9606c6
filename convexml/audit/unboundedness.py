"""Verified evidence that a CVXPY problem is unbounded: a feasible point and a ray."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..certificates.certificate import Certificate, Verdict
from ..certificates.farkas import without_optimum
from ..errors import SolverError
from ..numerics import ROUNDING, Array
from .labels import soft_rows
from .point import Posed, primal_rows, substituted
from .recession import find_ray, ray_rows
from .relaxation import relax


def unboundedness(posed: Posed, tol: float = 1e-6) -> Certificate:
    """A feasible point and a ray along which the objective falls (rises, under Maximize) for ever.

    Parameters
    ----------
    posed : Posed
    tol : float
        For the feasibility of the point, relative to its rows.

    Returns
    -------
    Certificate
        Claim "unbounded". ``evidence``: "ray" and "point", {variable name: array}.
    """
    program = posed.program
    sense = posed.canonical.sign
    empty = without_optimum("unbounded", -np.inf, (), tol, 0.0)
    empty = replace(empty, primal_objective=-sense * np.inf, dual_objective=-sense * np.inf)
    ray = find_ray(program)
    if ray is None:
        return replace(empty, reason="no ray of descent was found")
    try:
        x = relax(program, soft_rows(posed)).x
    except SolverError as error:
        return replace(empty, reason=str(error))
    values = posed.values(x)
    with substituted(values):
        rows = primal_rows(posed, x)
    certificate = replace(empty, conditions=(*rows, *ray_rows(program, ray)))
    broken = [row for row in rows if row.relative > tol]
    slope = float(program.q @ ray)
    if broken:
        reason = f"no feasible point was found: {broken[0].name} of {broken[0].residual:.3g}"
    elif any(row.relative > ROUNDING * max(1, program.q.size) for row in ray_rows(program, ray)):
        reason = "the ray leaves the feasible set"
    elif not slope < -ROUNDING * float(np.abs(program.q) @ np.abs(ray)):
        reason = f"the objective does not fall along the ray: slope {slope:.3g}"
    else:
        verb = "falls" if sense > 0.0 else "rises"
        reason = f"the point is feasible, and the objective {verb} by {-slope:.3g} per unit of ray"
        point = {posed.names[v.id]: value for v, value in values.items()}
        direction = {posed.names[v.id]: value for v, value in _direction(posed, ray).items()}
        evidence = {"ray": direction, "point": point}
        return replace(certificate, verdict=Verdict.CERTIFIED, reason=reason, evidence=evidence)
    return replace(certificate, reason=reason)


def _direction(posed: Posed, ray: Array) -> dict[Any, Array]:
    """The ray in the user's variables: values are linear in x where attributes do not cut."""
    return {variable: posed.expand(variable, ray) for variable in posed.problem.variables()}

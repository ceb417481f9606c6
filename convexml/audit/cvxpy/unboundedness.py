"""Verified evidence that a CVXPY problem is unbounded: a feasible point and a ray."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...certificates.certificate import Certificate
from ...certificates.conic.ray import has_point, is_ray
from ...certificates.conic.search.recession import find_ray, ray_rows
from ...certificates.conic.search.relaxation import relax
from ...certificates.judge import absent, judge
from ...errors import SolverError
from ...numerics import Array
from .reading.labels import soft_rows
from .reading.point import Posed, primal_rows, substituted


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
    program, sense = posed.program, posed.canonical.sign
    empty = absent("unbounded", (), tol, objective=-sense * np.inf)
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
    slope = float(program.q @ ray)
    broken = [row for row in rows if not row.meets(tol)]
    proven = False
    if broken:
        reason = f"no feasible point was found: {broken[0].name} of {broken[0].residual:.3g}"
    elif not is_ray(program, ray):
        reason = "no exact ray of descent was found near the one that a solver gave"
    elif not has_point(program, x):
        reason = "no exactly feasible point is known near the point"
    else:
        proven = True
        verb = "falls" if sense > 0.0 else "rises"
        reason = f"the point is feasible, and the objective {verb} by {-slope:.3g} per unit of ray"
    evidence = {
        "ray": {posed.names[v.id]: value for v, value in _direction(posed, ray).items()},
        "point": {posed.names[v.id]: value for v, value in values.items()},
    }
    certificate = absent(
        "unbounded",
        (*rows, *ray_rows(program, ray)),
        tol,
        objective=-sense * np.inf,
        reason=reason,
        evidence=evidence,
    )
    return judge(certificate, proven=proven)


def _direction(posed: Posed, ray: Array) -> dict[Any, Array]:
    """The ray in the user's variables: values are linear in x where attributes do not cut."""
    return {variable: posed.expand(variable, ray) for variable in posed.problem.variables()}

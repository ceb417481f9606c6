"""Verified evidence that a cone program is unbounded: a feasible point and a ray."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...conditions import Condition
from ...errors import SolverError
from ...numerics import Array
from ...objective.conic.program import ConeProgram
from ..certificate import Certificate
from ..judge import absent, judge
from .flat import flattened
from .growth import find_curve
from .ray import has_point, is_ray
from .search.recession import find_ray, ray_rows
from .search.relaxation import relax


def certify_unbounded(
    program: ConeProgram,
    soft: Array,
    rows_at: Callable[[Array], list[Condition]],
    tol: float,
    sign: float = 1.0,
) -> Certificate:
    """A feasible point and a ray along which the objective falls (rises, if sign = -1) for ever.

    Parameters
    ----------
    program : ConeProgram
    soft : mask, shape (m,)
        The rows that may be relaxed in the search for a point.
    rows_at : callable
        The feasibility of a point, as its owner says it.
    tol : float
        For that, relative to the rows.
    sign : float
        -1 where the owner maximises.

    Returns
    -------
    Certificate
        Claim "unbounded". ``evidence``: "ray" and "point".
    """
    empty = absent("unbounded", (), tol, objective=-sign * np.inf)
    flat = flattened(program)
    ray = find_ray(flat)
    try:
        x = relax(program, soft).x
    except SolverError as error:
        return replace(empty, reason=str(error))
    if ray is None:
        return _along_a_curve(program, x, rows_at(x), empty, sign)
    rows, slope, proven = rows_at(x), float(program.q @ ray), False
    broken = [row for row in rows if not row.meets(tol)]
    if broken:
        reason = f"no feasible point was found: {broken[0].name} of {broken[0].residual:.3g}"
    elif not is_ray(flat, ray):
        reason = "no exact ray of descent was found near the one that a solver gave"
    elif not has_point(program, x):
        reason = "no exactly feasible point is known near the point"
    else:
        proven = True
        verb = "falls" if sign > 0.0 else "rises"
        reason = f"the point is feasible, and the objective {verb} by {-slope:.3g} per unit of ray"
    rows, evidence = [*rows, *ray_rows(program, ray)], {"ray": ray, "point": x}
    found = replace(empty, conditions=tuple(rows), reason=reason, evidence=evidence)
    return judge(found, proven=proven)


def _along_a_curve(
    program: ConeProgram, x: Array, rows: list[Condition], empty: Certificate, sign: float
) -> Certificate:
    """As log x grows: past every number, and along no ray."""
    known = all(row.meets(empty.tol) for row in rows) and has_point(program, x)
    curve = find_curve(program, x) if known else None
    if curve is None:
        return replace(empty, reason="no ray of descent was found, and no curve like a logarithm")
    verb = "falls" if sign > 0.0 else "rises"
    reason = (
        f"the point is feasible, and the objective {verb} past every number along "
        "point + t ray + log(1 + t) turn, with a long ray and a short turn; along no ray that was "
        "found"
    )
    evidence = {"ray": curve.ray, "turn": curve.turn, "point": x}
    rows = [*rows, *ray_rows(program, curve.ray)]
    return judge(replace(empty, conditions=tuple(rows), reason=reason, evidence=evidence))

"""What is made of a linear program's points: evidence, polished vertices, shadow prices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...certificates.certificate import Certificate
from ...certificates.linear.farkas import find_infeasibility
from ...certificates.linear.multipliers import (
    LinearMultipliers,
    complete_multipliers,
    read_multipliers,
)
from ...certificates.linear.polish import polish_linear
from ...certificates.linear.program import certify_linear
from ...certificates.linear.ray import find_unboundedness
from ...numerics import Array
from ...objective.linear.data import LinearData, read_point
from ...validation import positive_number


def find_evidence(data: LinearData, tol: float, owner: str) -> Certificate | None:
    """Verified evidence that the program is infeasible or unbounded; None where not found."""
    tol = positive_number(tol, owner, "tol")
    infeasible = find_infeasibility(data, tol)
    if infeasible is not None and infeasible.within is None:
        data.memo["exact point"] = False  # no point is certified next to this
    return find_unboundedness(data, tol) if infeasible is None else infeasible


def polish(
    data: LinearData, x: Any, multipliers: Mapping[str, Any] | None, tol: float, owner: str
) -> tuple[Array, dict[str, Array]]:
    """Solve the active constraints exactly; what is passed comes back unless that is better."""
    tol = positive_number(tol, owner, "tol")
    x = read_point(data, x, owner)
    read = dict(read_multipliers(data, multipliers, owner))
    rows = [("lambda_ub", data.b_ub), ("nu", data.b_eq)]
    if any(side.size and name not in read for name, side in rows):
        built = certify_linear(data, x, read, tol=tol, owner=owner).dual
        read |= {name: built[name] for name, _ in rows}
    given = {name: read[name] for name, side in rows if side.size}
    if not all(np.all(np.isfinite(value)) for value in given.values()):
        return x, read
    point, polished = polish_linear(data, x, complete_multipliers(data, given, owner), tol)
    return point, polished.as_dict()


def shadow_prices(point: LinearMultipliers) -> dict[str, Array]:
    """The derivatives of p* by right-hand side, as SciPy's marginals."""
    return {
        "ub": 0.0 - point.lambda_ub,
        "eq": 0.0 - point.nu,
        "lower": point.lambda_lower,
        "upper": 0.0 - point.lambda_upper,
    }

"""Verified evidence that a linear program is infeasible: Farkas multipliers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ...conditions import Condition, worst
from ...numerics import Array
from ...objective.linear.data import LinearData
from ...validation import positive_number
from ..algebra.exact_feasibility import exact_farkas
from ..algebra.highs import highs
from ..certificate import Certificate, Verdict
from ..judge import absent, judge, violated
from .bound import equilibrated, lower_bound
from .conditions import dual_rows
from .multipliers import complete_multipliers, repair_multipliers


def certify_infeasible(
    data: LinearData,
    multipliers: Mapping[str, Any],
    *,
    tol: float = 1e-6,
    owner: str = "LinearProgram",
) -> Certificate:
    """Verify Farkas multipliers.

    Parameters
    ----------
    data : LinearData
        The program; its cost plays no part.
    multipliers : dict
        "lambda_ub", "nu", "lambda_lower", "lambda_upper" with A_ub'lambda_ub + A_eq'nu
        - lambda_lower + lambda_upper = 0 and b_ub'lambda_ub + b_eq'nu - lower'lambda_lower
        + upper'lambda_upper < 0. Missing ones of rows are 0; missing ones of bounds come from
        the others.
    tol : float
        Of the rows; the value is below 0 by more than every residual costs, or proves nothing.
    owner : str
        Who asks, for the messages.

    Returns
    -------
    Certificate
        Claim "infeasible". ``evidence`` holds the repaired multipliers, scaled to sum 1 (in
        absolute value), their ``value`` < 0 and a ``radius``: where it is finite, no point whose
        entries are all below it is feasible, and nothing is proved of others.
    """
    tol = positive_number(tol, owner, "tol")
    program = data.with_cost(np.zeros(data.n))
    given = complete_multipliers(program, multipliers, owner)
    total = sum(float(np.abs(value).sum()) for value in given.as_dict().values())
    if total > 0.0:
        given = given.scaled(1.0 / total)
    point = repair_multipliers(program, given.lambda_ub, given.nu)
    bound = lower_bound(program, point.lambda_ub, point.nu)
    value = -bound.value
    proven = bound.within is None and bool(value < -bound.rounding)
    missed = float(np.abs(bound.residual).sum())
    room = missed > 0.0 and value < -bound.rounding
    radius = np.inf if not missed > 0.0 or proven else max(-value - bound.rounding, 0.0) / missed
    rows = [_homogeneous(row) for row in dual_rows(program, given)]
    rows.append(worst(_value(data), "dual_feasibility", max(value, 0.0)))
    broken = [row for row in rows if row.kind == "dual_feasibility" and not row.meets(tol)]
    within = None
    if broken:
        reason = violated(broken[0])
    elif proven:
        reason = (
            f"these multipliers combine the constraints into 0 <= {value:.3g}, "
            "so no point satisfies them all"
        )
    elif room:
        within = radius
        reason = f"what the multipliers leave makes room for feasible points of size {radius:.3g}"
    else:
        reason = f"the multipliers prove nothing: their value {value:.3g} is not below 0"
    certificate = absent(
        "infeasible",
        rows,
        tol,
        reason=reason,
        within=within,
        repaired=given.distance(point),
        dual_source="passed",
        evidence={**point.as_dict(), "value": value, "radius": radius},
    )
    return judge(certificate, proven=proven)


def _value(data: LinearData) -> str:
    """The condition on b'y, in the terms that the program has."""
    terms = [
        ("+ b_ub' lambda_ub", data.b_ub.size > 0),
        ("+ b_eq' nu", data.b_eq.size > 0),
        ("- lower' lambda_lower", np.any(np.isfinite(data.lower))),
        ("+ upper' lambda_upper", np.any(np.isfinite(data.upper))),
    ]
    told = " ".join(term for term, there in terms if there)
    return f"{told.removeprefix('+ ') or '0'} < 0"


def _homogeneous(row: Condition) -> Condition:
    """The same condition without the cost."""
    return replace(row, name=row.name.removeprefix("c + "))


def find_infeasibility(data: LinearData, tol: float = 1e-6) -> Certificate | None:
    """Search for Farkas multipliers, in its own units, in equilibrated ones and in rationals."""
    scaled = equilibrated(data)
    for program in (data, None if scaled is None else scaled.data):
        for found in _search(program) if program is not None else ():
            parts = np.split(found, [data.b_ub.size])
            evidence = {"lambda_ub": parts[0], "nu": parts[1]}
            if program is not data and scaled is not None:
                evidence = scaled.multipliers(evidence)
            if not all(np.all(np.isfinite(part)) for part in evidence.values()):
                continue
            certificate = certify_infeasible(data, evidence, tol=tol)
            if certificate.verdict is Verdict.CERTIFIED:
                return certificate
    exact = exact_farkas(data)
    if exact is None:
        return None
    parts = np.split(exact, [data.b_ub.size])
    certificate = certify_infeasible(data, {"lambda_ub": parts[0], "nu": parts[1]}, tol=tol)
    return certificate if certificate.verdict is Verdict.CERTIFIED else None


def _search(data: LinearData) -> Iterator[Array]:
    """(lambda_ub, nu): of least value in a box, and the smallest of value -1, by HiGHS.

    The second is found where the constraints contradict one another by little.
    """
    sides = [np.isfinite(side) for side in (data.lower, data.upper)]
    m, p, n = data.b_ub.size, data.b_eq.size, data.n
    identity = sparse.eye_array(n, format="csr")
    matrix = sparse.hstack([data.columns, -identity, identity], format="csr")
    limits = [
        np.where(finite, side, 0.0) * sign
        for finite, side, sign in zip(sides, (data.lower, data.upper), (-1.0, 1.0), strict=True)
    ]
    value = np.concatenate([data.b_ub, data.b_eq, *limits])
    lower = np.concatenate([np.zeros(m), np.full(p, -1.0), np.zeros(2 * n)])
    upper = np.concatenate([np.ones(m + p), *sides]).astype(float)
    none = (sparse.csr_array((0, value.size)), np.zeros(0))
    box = LinearData(value, *none, matrix, np.zeros(n), lower, upper)
    cone = LinearData(
        np.ones(value.size) - (lower < 0.0),
        *none,
        sparse.vstack([matrix, value[None, :]], format="csr"),
        np.concatenate([np.zeros(n), [-1.0]]),
        np.where(lower < 0.0, -np.inf, 0.0),
        np.where(upper > 0.0, np.inf, 0.0),
    )
    for search in (box, cone):
        found = highs(search).x
        if found is not None:
            found[np.abs(found) <= 1e-9 * np.max(np.abs(found), initial=0.0)] = 0.0
            yield found[: m + p]

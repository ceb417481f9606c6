"""Verified evidence that a linear program is infeasible: Farkas multipliers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import EPS, ROUNDING
from ..objective.linear_data import LinearData
from .certificate import Certificate, Condition, Verdict, worst
from .highs import highs
from .linear_conditions import STATIONARITY, dual_rows
from .multipliers import Multipliers, complete_multipliers, repair_multipliers

FAR = 1e6
"""A residual within rounding may leave room for points this many times the size of the data."""

VALUE = "b_ub' lambda_ub + b_eq' nu - lower' lambda_lower + upper' lambda_upper < 0"


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
        Recorded; evidence is exact up to rounding or none.
    owner : str
        Who asks, for the messages.

    Returns
    -------
    Certificate
        Claim "infeasible". ``evidence`` holds the repaired multipliers, scaled to sum 1 (in
        absolute value), their ``value`` < 0 and a ``radius``: rounding included, no feasible
        point has all coordinates below it.
    """
    program = data.with_cost(np.zeros(data.n))
    shown = complete_multipliers(program, multipliers, owner)
    total = sum(float(np.abs(value).sum()) for value in shown.as_dict().values())
    if total > 0.0:
        shown = shown.scaled(1.0 / total)
    point, left = repair_multipliers(program, shown.lambda_ub, shown.nu)
    terms = -point.dual_terms(program)
    value = float(terms.sum())
    noise = max(ROUNDING, EPS * terms.size) * float(np.abs(terms).sum())
    radius = _radius(program, point, value)
    evidence = {**point.as_dict(), "value": value, "radius": radius}
    rows = [_homogeneous(row) for row in dual_rows(program, shown)]
    rows.append(worst(VALUE, "dual_feasibility", max(value, 0.0), np.abs(terms).sum()))
    certificate = without_optimum("infeasible", np.inf, tuple(rows), tol, shown.distance(point))
    broken = [row for row in rows if row.relative > tol]
    if broken:
        row = broken[0]
        reason = f"{row.name} is violated by {row.residual:.3g} at index {row.index}"
    elif np.any(left):
        j = int(np.argmax(np.abs(left)))
        reason = f"the multipliers leave {left[j]:.3g} on x[{j}], where no bound can carry it"
    elif total == 0.0 or not value < -noise:
        reason = f"the multipliers prove nothing: their value {value:.3g} is not below 0"
    elif radius < FAR * (data.typical or 1.0):
        reason = f"rounding leaves room for feasible points of size {radius:.3g}"
    else:
        reason = (
            f"these multipliers combine the constraints into 0 <= {value:.3g}, "
            "so no point satisfies them all"
        )
        return replace(certificate, verdict=Verdict.CERTIFIED, reason=reason, evidence=evidence)
    return replace(certificate, reason=reason)


def _homogeneous(row: Condition) -> Condition:
    """The same condition without the cost."""
    if row.name == STATIONARITY:
        return replace(row, name=STATIONARITY.removeprefix("c + "))
    return row


def _radius(program: LinearData, point: Multipliers, value: float) -> float:
    """No feasible point is smaller than this, given the residual that was taken for rounding."""
    left = float(np.abs(point.stationarity(program)).sum())
    return abs(value) / left if left > 0.0 else np.inf


def without_optimum(
    claim: str, objective: float, rows: tuple[Condition, ...], tol: float, repaired: float
) -> Certificate:
    """A certificate, undecided as yet, of a program without an optimal point."""
    return Certificate(
        claim=claim,
        primal_objective=objective,
        dual_objective=objective,
        gap=np.inf,
        relative_gap=np.inf,
        conditions=rows,
        verdict=Verdict.UNDECIDED,
        tol=tol,
        repaired=repaired,
        dual_source="passed",
    )


def find_infeasibility(data: LinearData, tol: float = 1e-6) -> Certificate | None:
    """Search for Farkas multipliers: the cone of multipliers cut by a box, minimised by HiGHS."""
    bounds = [np.where(np.isfinite(side), 1.0, 0.0) for side in (data.lower, data.upper)]
    m, p, n = data.b_ub.size, data.b_eq.size, data.n
    identity = sparse.eye_array(n, format="csr")
    ub, eq = sparse.csr_array(data.A_ub), sparse.csr_array(data.A_eq)
    parts = [part for part in (ub.T, eq.T) if part.shape[1]]
    matrix = sparse.hstack([*parts, -identity, identity], format="csr")
    limits = [
        np.where(np.isfinite(side), side, 0.0) * sign
        for side, sign in ((data.lower, -1.0), (data.upper, 1.0))
    ]
    search = LinearData(
        np.concatenate([data.b_ub, data.b_eq, *limits]),
        sparse.csr_array((0, m + p + 2 * n)),
        np.zeros(0),
        matrix,
        np.zeros(n),
        np.concatenate([np.zeros(m), -np.ones(p), np.zeros(2 * n)]),
        np.concatenate([np.ones(m + p), *bounds]),
    )
    found = highs(search).x
    if found is None:
        return None
    found[np.abs(found) <= 1e-9 * np.max(np.abs(found), initial=0.0)] = 0.0
    evidence = {"lambda_ub": found[:m], "nu": found[m : m + p]}
    certificate = certify_infeasible(data, evidence, tol=tol)
    return certificate if certificate.verdict is Verdict.CERTIFIED else None

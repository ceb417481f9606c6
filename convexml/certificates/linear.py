"""The certificate of a linear program: D at exactly feasible multipliers bounds P from below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..numerics import Array
from ..objective.linear_data import LinearData, read_point
from .active_set import active_at, solve_multipliers
from .certificate import Certificate, Condition, Verdict
from .highs import highs
from .linear_conditions import dual_rows, primal_rows, slackness_rows
from .multipliers import Multipliers, read_multipliers, repair_multipliers, split_reduced_cost
from .ray import find_ray
from .scale import learning_scale, relative


def certify_linear(
    data: LinearData,
    x: Any,
    multipliers: Mapping[str, Any] | None = None,
    *,
    tol: float = 1e-6,
    owner: str = "LinearProgram",
) -> Certificate:
    """Judge a point of a linear program.

    Parameters
    ----------
    data : LinearData
        The program.
    x : array, shape (n,)
        The point, judged as it is.
    multipliers : dict, optional
        Any of "lambda_ub", "nu", "lambda_lower", "lambda_upper". What is passed is judged as it
        is; bound multipliers that are missing come from the reduced costs, others from the
        active constraints or, where these do not close the gap, from HiGHS.
    tol : float
        For the relative gap and the feasibilities, relative to their rows.
    owner : str
        Who asks, for the messages.

    Returns
    -------
    Certificate
        ``gap`` = P - D is ``inf`` where the multipliers cannot be repaired to be dual feasible;
        its relative size is gap / max(|P|, |D|, 1e-6 S), S the sum of the absolute terms of
        P and D.
    """
    x = read_point(data, x, owner)
    passed = read_multipliers(data, multipliers, owner)
    missing_ub = bool(data.b_ub.size) and "lambda_ub" not in passed
    missing_nu = bool(data.b_eq.size) and "nu" not in passed
    lambda_ub = passed.get("lambda_ub", np.zeros(data.b_ub.size))
    nu = passed.get("nu", np.zeros(data.b_eq.size))
    constructed = missing_ub or missing_nu
    if constructed:
        lambda_ub, nu = _construct(data, x, lambda_ub, nu, missing_ub, missing_nu, tol)
    best = split_reduced_cost(data, lambda_ub, nu)
    shown = Multipliers(
        lambda_ub,
        nu,
        passed.get("lambda_lower", best.lambda_lower),
        passed.get("lambda_upper", best.lambda_upper),
    )
    certificate = judge(data, x, shown, tol, "constructed" if constructed else "passed")
    if certificate.verdict is Verdict.UNDECIDED:
        return _look_for_better(data, certificate)
    return certificate


def judge(data: LinearData, x: Array, shown: Multipliers, tol: float, source: str) -> Certificate:
    """The certificate of x with these multipliers; no search for better points."""
    common = np.maximum(np.minimum(shown.lambda_lower, shown.lambda_upper), 0.0)
    point, left = repair_multipliers(data, shown.lambda_ub, shown.nu, common)
    rows = (*primal_rows(data, x), *dual_rows(data, shown), *slackness_rows(data, x, shown))
    primal, terms = float(data.c @ x), point.dual_terms(data)
    solved = not np.any(left)
    dual = float(terms.sum()) if solved else -np.inf
    if source == "passed":  # the repair is not to make a passed point look better than it is
        dual = min(dual, float(shown.dual_terms(data).sum()))
    # P* = 0 is common here (a fair game): the gap is then judged by the size of its terms.
    size = np.abs(data.c) @ np.abs(x) + np.abs(terms).sum() + _activity(data, x, point)
    scale = learning_scale(primal, dual, float(size))
    certificate = Certificate(
        claim="optimal",
        primal_objective=primal,
        dual_objective=dual,
        gap=primal - dual,
        relative_gap=relative(primal - dual, scale),
        scale=scale,
        conditions=rows,
        verdict=Verdict.UNDECIDED,
        tol=tol,
        repaired=shown.distance(point) if solved else 0.0,
        dual_source=source,
        dual={**point.as_dict(), "x": x},
    )
    return _decide(certificate, left)


def _activity(data: LinearData, x: Array, point: Multipliers) -> float:
    ub = point.lambda_ub @ (abs(data.A_ub) @ np.abs(x))
    return float(ub + np.abs(point.nu) @ (abs(data.A_eq) @ np.abs(x)))


def _decide(certificate: Certificate, left: Array) -> Certificate:
    tol = certificate.tol
    violated = [row for row in certificate.conditions if row.relative > tol]
    primal = [row for row in violated if row.kind == "primal_feasibility"]
    dual = [row for row in violated if row.kind == "dual_feasibility"]
    if primal:
        return replace(certificate, verdict=Verdict.REFUTED, reason=_broken(primal[0]))
    if certificate.holds():
        return replace(certificate, verdict=Verdict.CERTIFIED)
    if np.any(left):
        j = int(np.argmax(np.abs(left)))
        reason = (
            f"no bound: the multipliers leave {left[j]:.3g} on x[{j}], where no bound can carry "
            "it, and no small change of them repairs it"
        )
    elif dual:
        reason = f"the multipliers are not dual feasible: {_broken(dual[0])}"
    else:
        reason = f"the gap is {certificate.gap:.3g}, and no better point is known"
    return replace(certificate, reason=reason)


def _broken(row: Condition) -> str:
    return f"{row.name} is violated by {row.residual:.3g} at index {row.index}"


def _look_for_better(data: LinearData, certificate: Certificate) -> Certificate:
    """Refute by a feasible point that is better by more than tol, where HiGHS knows one."""
    optimum, primal = highs(data), certificate.primal_objective
    witness = optimum.x
    if optimum.status == "unbounded" and (ray := find_ray(data)) is not None:
        witness = certificate.dual["x"] + max(1.0, abs(primal) / abs(data.c @ ray)) * ray
    if witness is None:
        return certificate
    if any(row.relative > 1e-3 * certificate.tol for row in primal_rows(data, witness)):
        return certificate
    value = float(data.c @ witness)
    if primal - value <= certificate.tol * max(abs(primal), abs(value)) or primal == value:
        return certificate
    return replace(
        certificate,
        verdict=Verdict.REFUTED,
        witness={"x": witness},
        reason=f"a feasible point has the objective {value:.10g}, lower by {primal - value:.3g}",
    )


def _construct(
    data: LinearData,
    x: Array,
    lambda_ub: Array,
    nu: Array,
    missing_ub: bool,
    missing_nu: bool,
    tol: float,
) -> tuple[Array, Array]:
    """Multipliers for x: complementary least squares first, then the dual solution of HiGHS."""
    cost = data.c + data.A_ub.T @ lambda_ub + data.A_eq.T @ nu
    rest = LinearData(
        cost,
        data.A_ub if missing_ub else np.zeros((0, data.n)),
        data.b_ub if missing_ub else np.zeros(0),
        data.A_eq if missing_nu else np.zeros((0, data.n)),
        data.b_eq if missing_nu else np.zeros(0),
        data.lower,
        data.upper,
    )

    def merge(part_ub: Array, part_nu: Array) -> tuple[Array, Array]:
        return (part_ub if missing_ub else lambda_ub), (part_nu if missing_nu else nu)

    found = merge(*complementary_multipliers(rest, x))
    if judge(data, x, split_reduced_cost(data, *found), 1e-3 * tol, "constructed").holds():
        return found
    optimum = highs(rest)
    if optimum.lambda_ub is None or optimum.nu is None:
        return found
    return merge(optimum.lambda_ub, optimum.nu)


def complementary_multipliers(data: LinearData, x: Array) -> tuple[Array, Array]:
    """Least squares for stationarity on the constraints that are active at x; not yet signed."""
    return solve_multipliers(data, active_at(data, x))

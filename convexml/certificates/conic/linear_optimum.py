"""The certificate of a linear program: D at exactly feasible multipliers bounds P from below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from ...numerics import EPS, ROUNDING, Array
from ...problem.linear_program import MULTIPLIERS, LinearData, read_point
from ...validation import positive_number
from ..algebra.dual_points import Priced
from ..algebra.sums import exact_dot
from ..certificate import Certificate, Verdict
from ..judge import bounded, dual_infeasibility, is_better, judge, refuted, violated, without_unit
from ..scale import program_scale
from .linear_absence import (
    active_at,
    active_by_slackness,
    optimum_of,
    plausible,
    rays,
    solve_multipliers,
    solve_vertex,
)
from .linear_bound import (
    ROOM,
    Named,
    by_row,
    completed,
    dual_rows,
    dual_sum,
    equilibrated,
    linear_units,
    lower_bound,
    primal_rows,
    read_multipliers,
    reduced_cost,
    repair_multipliers,
    sizes_of_multipliers,
    slackness_rows,
    violations,
)
from .optimum import way_to_exact

NEAR = 1e-3
"""A reduced cost that is left is priced up to this share of its size; above, it is no residual."""


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
        ``gap`` is max(P - D, 0), the price of reduced costs that no bound carries, and what
        violations of rows cost; inf where the multipliers cannot be repaired. Its relative size is
        gap / max(|P|, |D|, 1e-3 S), S the size of the objective that the data suggest.
    """
    tol = positive_number(tol, owner, "tol")
    x = read_point(data, x, owner)
    passed = read_multipliers(data, multipliers, owner)
    sides = {"lambda_ub": data.b_ub, "nu": data.b_eq}
    missing = [name for name, side in sides.items() if side.size and name not in passed]
    built = _construct(data, x, passed, missing, tol) if missing else {}
    given = completed(data, passed | built)
    certificate = assess(data, x, given, tol, "constructed" if missing else "passed")
    if missing and passed:
        moved = dual_infeasibility(certificate.conditions)
        certificate = judge(certificate.but(moved=moved))
    if certificate.verdict is Verdict.UNDECIDED:
        return _look_for_better(data, certificate)
    return certificate


def assess(data: LinearData, x: Array, given: Named, tol: float, source: str) -> Certificate:
    """The certificate of x with these multipliers; no search for better points."""
    y = by_row(data, given)
    common = np.maximum(np.minimum(given["lambda_lower"], given["lambda_upper"]), 0.0)
    point = repair_multipliers(data, y, common)
    rows = (*primal_rows(data, x), *dual_rows(data, given), *slackness_rows(data, x, y))
    primal, size = exact_dot(data.c, x), linear_units(data).size
    spare = ROOM * tol * program_scale(primal, np.nan, size)
    bound, within = lower_bound(data, point, x, spare)
    reason = _unusable(data, bound)
    dual = -np.inf if reason else bound.bound
    if source == "passed":  # the repair is not to make a passed point look better than it is
        dual = min(dual, dual_sum(data, y))
    # What the objective may gain from constraints that x does not quite meet.
    price = float(np.abs(point) @ np.abs(violations(data, x)))
    if not reason and not plausible(data, x):
        reason = (
            "the point is feasible only within tol, and no point is known that is feasible up to "
            "rounding: what its violations cost is not known"
        )
        price = np.inf
    if not reason and within is not None:
        j = _worst(bound.left)
        reason = (
            f"the multipliers leave {np.abs(bound.left[j]):.3g} on x[{j}], "
            f"where no bound can carry it: the bound holds for points within {within:.3g}"
        )
    broken = [row for row in rows if row.kind == "dual_feasibility" and not row.meets(tol)]
    if not reason and broken:
        reason = f"the multipliers are not dual feasible: {violated(broken[0])}"
    # Of P, and of the sums P - D + rounding; that of D is in the bound.
    size_of_sums = abs(primal) + abs(dual) + 2.0 * abs(primal - dual)
    error = EPS * size_of_sums if np.isfinite(dual) else 0.0
    named = data.by_name(point)
    certificate = bounded(
        primal,
        dual,
        rows,
        tol,
        scale=program_scale(primal, dual, size),
        rounding=price + error,
        within=within if np.isfinite(dual) else None,
        reason=reason,
        repaired=max(float(np.max(np.abs(given[k] - named[k]), initial=0.0)) for k in MULTIPLIERS),
        dual_source=source,
        dual={**named, "x": x},
    )
    certificate = without_unit(certificate, size, data.constraints[1])
    rigorous = certificate.within is None
    return judge(certificate.but(proved_gap=certificate.gap if rigorous else np.inf))


def _worst(residual: Array) -> int:
    return int(np.argmax(np.abs(residual)))


def _unusable(data: LinearData, bound: Priced) -> str:
    """Why what is left of the reduced costs is too much to be a residual; "" where it is not."""
    costs = np.maximum(np.abs(data.c), sizes_of_multipliers(data, bound.y)[1])
    terms = data.as_cones.stationarity_size(bound.w, bound.y)
    if np.all(np.abs(bound.left) <= np.maximum(NEAR * costs, ROUNDING * terms)):
        return ""
    j = _worst(bound.left)
    return (
        f"no bound: the multipliers leave {bound.left[j]:.3g} on x[{j}], where no bound can "
        "carry it, and no small change of them repairs it"
    )


def _look_for_better(data: LinearData, certificate: Certificate) -> Certificate:
    """Refute by a feasible point that is better by more than tol, where HiGHS knows one."""
    primal, scaled = certificate.primal_objective, equilibrated(data)
    for witness in _better_points(data, certificate):
        value = exact_dot(data.c, witness)
        rounding = EPS * (abs(primal) + abs(value))
        if not is_better(certificate, value, rounding):
            continue
        rounding += scaled.worth * way_to_exact(scaled.program.as_cones, scaled.x_in(witness))
        found = refuted(certificate, value, {"x": witness}, rounding)
        if found.verdict is Verdict.REFUTED:
            return found
    return certificate


def _better_points(data: LinearData, certificate: Certificate) -> Iterator[Array]:
    x, optimum = certificate.dual["x"], optimum_of(data)
    if optimum.x is not None:
        yield optimum.x
    goal = max(abs(certificate.primal_objective), certificate.scale) or 1.0
    ray = next(rays(data), None) if optimum.status == "unbounded" else None
    if ray is not None:
        far = np.exp2(np.ceil(np.log2(goal / abs(exact_dot(data.c, ray)))))
        if np.isfinite(far):
            yield x + far * ray


def _construct(
    data: LinearData, x: Array, passed: dict[str, Array], missing: list[str], tol: float
) -> dict[str, Array]:
    """Multipliers for x: complementary least squares first, then the dual solution of HiGHS."""
    rest, rows = data, {name: passed[name] for name in MULTIPLIERS[:2] if name in passed}
    if any(value.size for value in rows.values()):
        ub, eq = (slice(None if name in missing else 0) for name in MULTIPLIERS[:2])
        kept = (data.A_ub[ub], data.b_ub[ub], data.A_eq[eq], data.b_eq[eq])
        cost = reduced_cost(data, by_row(data, completed(data, rows)))
        rest = LinearData(cost, *kept, data.lower, data.upper)

    def candidates() -> Iterator[Array]:
        yield solve_multipliers(rest, active_at(rest, x))
        if (y := optimum_of(rest).y) is not None:
            yield y

    best, error = dict[str, Array](), np.inf
    for y in candidates():
        own = dict(zip(MULTIPLIERS, np.split(y, [rest.b_ub.size]), strict=False))
        built = {name: own[name] for name in missing}
        point = completed(data, rows | built)
        certificate = assess(data, x, point, tol, "constructed")
        if certificate.holds(1e-3 * tol):
            return built
        # The repair may close the gap of multipliers that are far from feasible.
        dual = [row.relative for row in certificate.conditions if row.kind == "dual_feasibility"]
        worse = max(certificate.relative_gap, *dual)
        if not best or worse < error:
            best, error = built, worse
    return best


# From an approximate solution of a linear program to a vertex and multipliers to full accuracy.


def polish_linear(
    data: LinearData, x: Array, given: Named, tol: float = 1e-6
) -> tuple[Array, Named]:
    """Solve the active constraints exactly; keep the result only where the certificate improves.

    Parameters
    ----------
    data : LinearData
        The program.
    x : array, shape (n,)
        An approximate solution.
    given : dict
        Its multipliers by name.
    tol : float
        As of the certificate.

    Returns
    -------
    x : array, shape (n,)
        The vertex (or the nearest point of the optimal face), or x itself.
    given : dict
        Exactly dual feasible multipliers, or those passed.
    """
    best, error = (x, given), _error(assess(data, x, given, tol, "passed"))
    for active in (active_by_slackness(data, x, by_row(data, given)), active_at(data, x)):
        if error <= ROUNDING:
            break
        vertex, near = solve_vertex(data, active, best[0]), by_row(data, best[1])
        exact = repair_multipliers(data, solve_multipliers(data, active, near))
        pairs = product((vertex, best[0]), (data.by_name(exact), best[1]))
        for candidate in list(pairs)[:-1]:
            found = _error(assess(data, *candidate, tol, "passed"))
            if found < error:
                best, error = candidate, found
    return best


def _error(certificate: Certificate) -> float:
    """The larger of the relative gap and the infeasibility."""
    return max(certificate.relative_gap, certificate.infeasibility)

"""A dual, solved through its primal: its variable and multipliers filled, certified as written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...certificates import Certificate
from ...certificates.scale import relative
from ...conditions import Condition
from ...numerics import EPS, Array, gamma
from ..comparing import as_written, rounding
from ..reading.declined import Declined
from ..running import Answer, fill, solved
from .posing import PosedDual
from .verifying import DualCrosscheck

EXCHANGED = {
    "primal_feasibility": "dual_feasibility",
    "dual_feasibility": "primal_feasibility",
}


def answer_dual(posed: PosedDual, tol: float) -> Answer | None:
    """The answer to the dual as written, its variable filled; None where there is none.

    Its objective is ``constant`` - D(u), and nothing is below ``constant`` - P(w, b).
    """
    solution = solved(posed.problem, int(np.prod(posed.X.shape)), tol)
    if solution is None or solution.certificate.claim != "optimal":
        return None
    own, u = solution.certificate, np.ravel(solution.dual["u"])
    values = {posed.program.key: posed.point(u)}
    try:
        check = DualCrosscheck(posed, values)
        written = check.compare()
        _require_feasible(posed, check)
    except Declined:
        return None
    certificate = dual_as_written(posed, own, written, tol, solution.primal)
    if not certificate.relative_gap <= tol:
        return None
    fill_multipliers_of_dual(posed, solution.primal, u)
    fill(posed.reading, values)
    return Answer(certificate, solution.solver, solution.iterations, solution.seconds)


def _require_feasible(posed: PosedDual, check: DualCrosscheck) -> None:
    """Every constraint as written holds, to the rounding of its terms."""
    for rows in posed.reading.written:
        side, room = as_written(rows, check.written), rounding(rows, check.written)
        over = np.abs(side) if rows.equality else side
        if not (over <= room).all():
            raise Declined("the dual point is not feasible to rounding")


def dual_as_written(
    posed: PosedDual, own: Certificate, written: float, tol: float, primal: dict[str, Any]
) -> Certificate:
    """The certificate of the learning problem, in the words of its dual."""
    sign, constant = posed.reading.sign, posed.constant
    slip = abs(sign * written - (constant - own.dual_objective)) + _unfactored(posed)
    gap = own.gap + slip
    found = own.but(
        tol=tol,
        primal_objective=written,
        dual_objective=sign * (constant - own.primal_objective),
        gap=gap,
        relative_gap=relative(gap, own.scale),
        rounding=own.rounding + slip,
        proved_gap=np.inf,
        unproved="numbers were rounded when the problem was read",
        dual={name: primal[name] for name in ("w", "q", "b") if name in primal},
    )
    found.put_off(lambda: [_exchanged(row) for row in own.conditions])
    return found


def _exchanged(row: Condition) -> Condition:
    """What is feasibility of the primal is, for its dual, that of the multipliers."""
    return replace(row, kind=EXCHANGED.get(row.kind, row.kind))


def _unfactored(posed: PosedDual) -> float:
    """What u'(K - L L')u / 2 may be, |u_i| <= c_i: P is that of the factor L, K is as written."""
    if not posed.is_kernel:
        return 0.0
    problem: Any = posed.problem
    L, K, c = problem.kernel_parts.matrix.factor, posed.X, posed.samples.c
    rest = np.abs(K - L @ L.T) + gamma(L.shape[1] + 8) * (np.abs(L) @ np.abs(L).T)
    return float(0.5 * (c @ ((rest + 8.0 * EPS * np.abs(K)) @ c)))


def fill_multipliers_of_dual(posed: PosedDual, primal: dict[str, Any], u: Array) -> None:
    """Give the constraints of the dual their dual values, by CVXPY's signs: b, w, margins.

    The Lagrangian is stationary in a_i: tau_i (dl_i*(u_i) - x_i.w - b), and what bounds a_i.
    """
    program, samples = posed.program, posed.samples
    z = posed.predictions(primal)
    slope = program.slope + 2.0 * program.curvature * posed.point(u)
    if program.equality is not None:
        program.equality[0].multiplier = np.array([-float(primal["b"]) / samples.share])
    rest = samples.tau * z - slope
    for each in program.bounds:
        each.set_multiplier(np.maximum(rest, 0.0), np.maximum(-rest, 0.0))
    start = 0
    for block in program.blocks:
        w = -samples.turn * np.ravel(primal["w"])[start : start + block.map.rows]
        start += block.map.rows
        for facets in block.facets:
            facets.set_multiplier(w)
    for rows in posed.reading.rows:
        assert rows.multiplier is not None
        (dual,) = rows.constraint.dual_variables
        dual.save_value(np.array(rows.multiplier + 0.0).reshape(dual.shape, order="F"))

"""A trend filter, solved: its variables and multipliers filled, certified as written."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...certificates import Certificate
from ...certificates.scale import relative
from ...conditions import Condition
from ...numerics import Array
from ..constraints.multipliers import Slopes, derivative, save_multipliers
from ..reading.declined import Declined
from ..running import Answer, fill, solved
from .posing import PosedTrend
from .verifying import TrendCrosscheck


def answer_trend(posed: PosedTrend, tol: float) -> Answer | None:
    """The answer to the problem as written, its variables filled; None where there is none."""
    solution = solved(posed.problem, posed.signal.size, tol)
    if solution is None:
        return None
    values = posed.values(solution.primal["w"])
    try:
        written = float(TrendCrosscheck(posed, values).compare())
        s = np.clip(solution.dual["s"], -posed.problem.lam, posed.problem.lam)
        certificate = trend_as_written(posed, solution.certificate, written, tol)
        if not certificate.relative_gap <= tol:
            return None
        _set_multipliers(posed, values, s)
    except Declined:
        return None
    save_multipliers(posed.reading)
    fill(posed.reading, values)
    return Answer(certificate, solution.solver, solution.iterations, solution.seconds)


def trend_as_written(
    posed: PosedTrend, own: Certificate, written: float, tol: float
) -> Certificate:
    """The certificate of the trend filter, in the units and words of the problem."""
    sign, factor, constant = posed.reading.sign, posed.factor, posed.constant
    primal, dual = (factor * each for each in (own.primal_objective, own.dual_objective))
    slip = abs(sign * written - (primal + constant))
    slip += posed.price(max(sign * written - constant, primal))
    gap = factor * own.gap + slip
    found = own.but(
        tol=tol,
        primal_objective=written,
        dual_objective=sign * (dual + constant),
        gap=gap,
        relative_gap=relative(gap, factor * own.scale),
        scale=factor * own.scale,
        rounding=factor * own.rounding + slip,
        repaired=factor * own.repaired,
        proved_gap=np.inf,
        unproved="numbers were rounded when the problem was read",
        dual={"s": factor * own.dual["s"]},
    )
    found.put_off(lambda: [_in_units(row, factor) for row in own.conditions])
    return found


def _in_units(row: Condition, factor: float) -> Condition:
    return replace(
        row,
        residual=factor * row.residual,
        scale=factor * row.scale,
        rounding=factor * row.rounding,
        largest=factor * row.largest,
    )


def _set_multipliers(posed: PosedTrend, values: dict[int, Array], s: Array) -> None:
    """Of what was eliminated: a size has its share of s, which is lam times a subgradient."""
    slopes, lam = Slopes(), posed.problem.lam
    share = s / lam if lam > 0.0 else np.zeros_like(s)
    for rows in posed.differences.rows:
        slopes[id(rows.term)] = rows.term.weight * np.sign(rows.scale) * share[rows.start]
    for term in posed.squares:
        slopes[id(term)] = derivative(term, term.affine(values))
    for gone in reversed(posed.reading.eliminated):
        for term in getattr(gone, "squares", ()):
            slopes[id(term)] = derivative(term, term.affine(values))
        gone.set_multipliers(slopes)

"""The optimality conditions of a learning problem, row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..certificate import Condition, worst
from ..judge import in_units_of_gap
from . import rows as rows_of
from .passed_point import PassedPoint

Textbook = Callable[[PassedPoint], Sequence[Condition]]
"""A model's own conditions at a point."""


@np.errstate(over="ignore", invalid="ignore")
def conditions_at(point: PassedPoint, textbook: Textbook | None = None) -> list[Condition]:
    """The conditions at a point, as passed: the generic ones, then the model's own.

    Each is relative to the size of its row in the data and at the point, which no change of units
    moves; products count relative to ``point.scale``, as the gap does, whose terms they are. A
    generic row that the model says in its own words is left out.
    """
    objective = point.objective
    own = [] if textbook is None else list(textbook(point))
    rows = []
    if not objective.penalty.free(objective.d).all():  # else X'u = 0, the penalty's domain
        rows.append(rows_of.stationarity(point, rows_of.INCLUSION, point.v))
    rows += [
        rows_of.slopes(point, rows_of.SLOPES),
        rows_of.loss_domain(point, rows_of.LOSS_DOMAIN),
        rows_of.penalty_domain(point, rows_of.PENALTY_DOMAIN),
    ]
    if objective.fit_intercept:
        rows.append(rows_of.balance(point, rows_of.BALANCE))
    if point.u.ndim == 2:
        sums = point.u.sum(axis=1)
        rows.append(worst("sum_k u_ik = 0", "dual_feasibility", sums, objective.c))
    if objective.loss.is_indicator:
        rows.append(rows_of.predictions(point, rows_of.PREDICTIONS))
    if objective.penalty.is_constraint:
        violation = objective.penalty.violation(point.w, objective.coefficient_sizes)
        rows.append(Condition(rows_of.COEFFICIENTS, "primal_feasibility", violation))
    said = {row.says for row in own}
    return in_units_of_gap([row for row in rows if row.name not in said] + own, point.scale)

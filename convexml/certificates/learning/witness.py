"""Look for a feasible point that is better: the proof that a claimed optimum is none."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...deadline import is_late
from ...design import in_blocks
from ...numerics import Array
from ...objective import Objective, parameters_of, pose_primal
from .account import primal_rounding
from .existence.attainable import price_of_meeting
from .points.descent import step_down
from .points.dual_point import kinked_candidates, newton_candidates
from .points.primal_repair import PrimalPoint, repair_primal
from .points.restore import ask_clarabel

SMALL_ENOUGH = 2_000_000
"""Entries of X up to which a conic solver is asked for a better point."""


def better_point(objective: Objective, point: PrimalPoint, threshold: float) -> PrimalPoint | None:
    """Return a feasible point with P < threshold, or None where none was found."""
    for w, b in _candidates(objective, point):
        if not (np.all(np.isfinite(w)) and np.all(np.isfinite(b))):
            continue
        found = repair_primal(objective, w, b)
        value = objective.primal(found.w, found.b, found.z)
        rounding = primal_rounding(objective, found, objective.zero_scores)
        rounding += price_of_meeting(objective, found)
        if value < threshold - rounding:
            return found
    return None


def _candidates(objective: Objective, point: PrimalPoint) -> Iterator[tuple[Array, float]]:
    w, b = point.w, point.b
    yield w, b + objective.best_intercept(point.z)
    yield np.zeros_like(w), objective.best_intercept(objective.zero_scores)
    if objective.loss.is_indicator and objective.loss.labels == "binary":
        margin = float(np.min(objective.y * point.z))
        if margin > 0.0:
            yield w / margin, b / margin
    down = step_down(objective, point)
    if down is not None:
        yield down.w, down.b
    steps = newton_candidates if objective.loss.is_smooth else kinked_candidates
    for candidate in steps(objective, point):
        for size in (1.0, 0.25, 0.01):
            yield w + size * (candidate.w - w), b + size * (candidate.b - b)
    small = objective.n * objective.d <= SMALL_ENOUGH and not in_blocks(objective.design)
    if small and not is_late():
        yield from _from_conic_solver(objective)


def _from_conic_solver(objective: Objective) -> Iterator[tuple[Array, float]]:
    statement = pose_primal(objective, parameters_of(objective))
    if not ask_clarabel(statement.problem):
        return
    w = statement.variables["w"].value
    b = objective.best_intercept(objective.zero_scores)
    b = statement.variables["b"].value if objective.fit_intercept else b
    if w is not None and b is not None:
        yield np.ravel(w), b if np.ndim(b) else float(b)

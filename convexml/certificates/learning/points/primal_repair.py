"""Make an almost feasible primal point exactly feasible, where that can be done exactly."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isnan

import numpy as np

from ....numerics import EPS, ROUNDING, Array
from ....objective import Objective


@dataclass(frozen=True)
class PrimalPoint:
    """A point (w, b), its predictions z and value P, and how far it was moved."""

    w: Array
    b: float
    z: Array
    value: float
    moved: float
    error: Array | None = None
    """What z may be off by, where it is known entry by entry."""
    losses: Array | None = None
    """l(y_i, z_i), where they are known."""
    divided: float = 0.0
    """The share by which a division by the margin rounded w and b."""


def repair_primal(objective: Objective, w: Array, b: float) -> PrimalPoint:
    """Shrink w into its ball or box; divide (w, b) by min y_i z_i where margins fall short of 1.

    Points of an equality constraint (X w + b = y) cannot be repaired exactly: P is then
    Omega(w), and the residual is reported beside the gap as primal infeasibility. The last point
    is remembered: who stops a solver, finishes its point and certifies it asks for the same.
    """
    last: PrimalPoint | None = objective.__dict__.get("_last_point")
    if last is not None and (last.w == w).all() and np.all(last.b == b):
        return last
    own = w.copy(), b.copy() if isinstance(b, np.ndarray) else b  # w may be written to
    point = _repaired(objective, *own)
    if point.moved == 0.0 and isfinite(point.value):
        objective.__dict__["_last_point"] = point
    return point


def _repaired(objective: Objective, w: Array, b: float) -> PrimalPoint:
    new_w, new_b, divided = objective.penalty.project(w), b, 0.0
    z = objective.predict(new_w, new_b)
    loss = objective.loss
    if loss.is_indicator:
        violation = loss.violation(objective.y, z)
        if np.any(violation > objective.prediction_slack(new_w, new_b)) and scales(objective):
            margin = float(np.min(objective.y * z))
            if margin <= 0.0:
                return PrimalPoint(w, b, z, np.inf, 0.0)
            if stretches(objective, new_w, margin):
                new_w, new_b, z = new_w / margin, new_b / margin, z / margin
                divided = EPS
    value, losses = objective.penalty.value(new_w), None
    if not loss.is_indicator:
        with np.errstate(over="ignore"):
            losses = loss.value(objective.y, z)
        value += float(objective.c @ losses)
    value = np.inf if isnan(value) else value  # inf - inf, after an overflow
    if new_w is w and new_b is b:
        return PrimalPoint(w, b, z, value, 0.0, losses=losses)
    moved = max(float(np.max(np.abs(new_w - w), initial=0.0)), float(np.max(np.abs(new_b - b))))
    return PrimalPoint(new_w, new_b, z, value, moved, losses=losses, divided=divided)


def scales(objective: Objective) -> bool:
    """Whether the constraint on the predictions is a margin, met by scaling (w, b) up."""
    return objective.loss.labels == "binary"


def stretches(objective: Objective, w: Array, margin: float) -> bool:
    """Whether (w, b) of this least margin, scaled to the margin 1, is in the domain of Omega."""
    if not margin > 0.0:
        return False
    most = objective.penalty.stretch(w)
    return (1.0 + EPS) / margin <= most or (margin >= 1.0 and most >= 1.0)


def interpolation_excess(objective: Objective, point: PrimalPoint, u: Array) -> float:
    """|u'r| for the residual r of an equality constraint: what the repair could not remove."""
    if not objective.loss.is_indicator or scales(objective):
        return 0.0
    residual = objective.loss.violation(objective.y, point.z)
    if not np.any(residual > objective.prediction_slack(point.w, point.b)):
        return 0.0
    return float(np.abs(u) @ residual)


def primal_scale(objective: Objective, w: Array, b: float) -> Array:
    """The size of each row of the constraint on the predictions, shape (n,)."""
    if objective.loss.labels == "binary":
        return np.ones(objective.n)
    slack = objective.prediction_slack(w, b)
    return slack / ROUNDING

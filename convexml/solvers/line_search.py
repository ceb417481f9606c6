"""How far to go along a Newton step: less where P does not fall, more where it falls faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..numerics import Array
from ..objective import Objective

ARMIJO = 1e-4
SHORTEST = 2.0**-30
FASTER = 0.55
"""A quadratic falls by half of |descent| over its Newton step; more asks for a longer step."""


def along(objective: Objective, w: Array, b: Any, dw: Array, db: Any) -> Callable[[float], float]:
    """T -> P at t along the direction, without another product with X."""
    z, dz = objective.predict(w, b), objective.predict(dw, db)
    return lambda t: objective.loss_value(z + t * dz) + objective.penalty.value(w + t * dw)


def search(
    along: Callable[[float], float], value: float, descent: float
) -> tuple[float, float, float]:
    """The step t along a direction, P there, and how often P was evaluated; t = 0 where none helps.

    Armijo backtracking from t = 1: P(t) <= P(0) + 1e-4 t <grad P, dx>, where ``descent`` is
    <grad P, dx> < 0 and ``value`` is P(0). Where P falls faster than a quadratic would, as with the
    exponential tails of the logistic loss, t is doubled while that pays.
    """

    def at(t: float) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            found = along(t)
        return found if np.isfinite(found) else np.inf

    step, passes = 1.0, 1.0
    trial = at(step)
    while not trial <= value + ARMIJO * step * descent + 1e-15 * abs(value):
        step *= 0.5
        if step < SHORTEST:
            return 0.0, value, passes
        trial, passes = at(step), passes + 1.0
    rounding = 1e-13 * abs(value)
    while step >= 1.0 and trial < value + FASTER * step * descent - rounding:
        longer, passes = at(2.0 * step), passes + 1.0
        if not longer < trial:
            break
        step, trial = 2.0 * step, longer
    return step, trial, passes

"""Tighten an enclosure by turns, each fact using the others, until little changes."""

from __future__ import annotations

import numpy as np

from ...objective import Objective
from ..learning.points.dual_repair import DualPoint
from ..learning.points.primal_repair import PrimalPoint
from .enclosure import Enclosure
from .shrink_features import shrink_features
from .shrink_samples import shrink_dual, shrink_predictions
from .shrink_systems import solve_dual, solve_primal

ROUNDS = 5
ENOUGH = 0.9
"""A round that leaves more than this share of the width was the last one."""


def enclose(objective: Objective, point: PrimalPoint, dual: DualPoint) -> Enclosure:
    """Enclose all that is optimal, from a primal and a dual feasible point.

    What the facts know of one another: u_i* in c_i dl(z_i*), v* in dOmega(w*), X'u* = -v*,
    1'u* = 0, Xw* + b*1 = z*, and the Fenchel-Young terms of ``spheres``.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        known = Enclosure(objective, point, dual)
        if not np.isfinite(known.gap):
            return known
        for _ in range(ROUNDS):
            before = known.width
            shrink_predictions(known)
            shrink_dual(known)
            shrink_features(known)
            if not objective.loss.is_smooth:
                solve_dual(known)
                shrink_features(known)
            solve_primal(known)
            if known.width >= ENOUGH * before:
                break
    return known

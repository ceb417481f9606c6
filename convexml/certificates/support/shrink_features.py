"""Shrink what is known of each feature: v* from u*, then which w_j* are 0, and w* from v*."""

from __future__ import annotations

import numpy as np

from ...numerics import ROUNDING, Array
from ...penalties import L2
from .enclosure import Enclosure
from .interval import around, product
from .spheres import spread


def shrink_features(known: Enclosure) -> None:
    """First v* from u*, then which w_j* are 0, then w* from v* and back."""
    objective, d = known.objective, known.objective.d
    design, penalty = objective.design, objective.penalty
    lo, hi = product(design.rmatvec, design.abs_rmatvec, known.u, d)
    known.v.meet(-hi, -lo)
    if known.u_sphere is not None:
        known.v.meet(*around(*_dual_ball(known)))
    if isinstance(penalty, L2):
        known.v.meet(penalty.gradient(known.w.lo), penalty.gradient(known.w.hi))
    if known.blocks is not None:
        _find_zeros(known)
    gradients = penalty.conjugate_gradient(known.v.lo), penalty.conjugate_gradient(known.v.hi)
    if gradients[0] is not None and gradients[1] is not None:
        rounding = ROUNDING * (np.abs(gradients[0]) + np.abs(gradients[1]))
        known.w.meet(gradients[0] - rounding, gradients[1] + rounding)


def _dual_ball(known: Enclosure) -> tuple[Array, Array]:
    """The centre and the reach of v_j over the dual sphere."""
    assert known.u_sphere is not None
    center = known.u_sphere.center
    return -known.objective.design.rmatvec(center), spread(known.objective, known.u_sphere)


def _find_zeros(known: Enclosure) -> None:
    """A block with |v_g*| < level_g is 0. L1: |w_j| (level_j - s_j v_j*) <= G, s = sign w."""
    assert known.blocks is not None
    index, levels, size = known.blocks, known.levels, len(known.levels)

    def norms(x: Array) -> Array:
        return np.sqrt(np.bincount(index, x * x, minlength=size))

    most = norms(np.maximum(np.abs(known.v.lo), np.abs(known.v.hi)))
    if known.u_sphere is not None:
        center, reach = _dual_ball(known)
        most = np.fmin(most, norms(center) + norms(reach))
    known.zero |= (most * (1.0 + ROUNDING) < levels)[index]
    known.w.meet(0.0, 0.0, known.zero)
    if size == known.objective.d and known.objective.penalty.strong_convexity == 0.0:
        w = known.point.w
        room = np.where(w != 0.0, known.gap / np.abs(w), np.inf)
        level = levels[index]
        known.v.meet(-level, level)
        known.v.meet(
            np.where(w > 0.0, level - room, -np.inf), np.where(w < 0.0, room - level, np.inf)
        )
        sure = np.where(known.w.excludes_zero, np.sign(known.w.lo + known.w.hi), 0.0)
        held = sure != 0.0
        known.v.meet((sure * level)[held], (sure * level)[held], held)

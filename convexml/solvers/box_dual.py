"""Losses whose conjugate is quadratic on an interval: their dual is a box-constrained QP."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..blocks import joined
from ..numerics import Array
from ..objective import Objective


@dataclass(frozen=True)
class BoxDual:
    """F*(u) = min { q'p + p'K p / 2 : sum_k p_k = u, lo <= p <= hi }, K diagonal.

    Arrays have shape (k, n): one piece, or two where an epsilon |v| makes a corner at 0 and u is
    split into its positive and its negative part.

    Attributes
    ----------
    q, K, lo, hi : array, shape (k, n)
    """

    q: Array
    K: Array
    lo: Array
    hi: Array


def has_box_dual(objective: Objective) -> bool:
    """Whether F* is quadratic on a box."""
    return objective.loss.conjugate_curvature is not None


def curvatures(objective: Objective) -> Array:
    """The curvature of F* in each u_i, shape (n,)."""
    curvature = objective.loss.conjugate_curvature
    assert curvature is not None  # a need of the solvers that come here
    return curvature / objective.c


def box_dual(objective: Objective) -> BoxDual:
    """Read the box-constrained QP off the loss."""
    y, (lo, hi) = objective.y, objective.dual_bounds()
    epsilon = float(getattr(objective.loss, "epsilon", 0.0))
    K = curvatures(objective)
    if epsilon == 0.0:
        return BoxDual(y[None], K[None], lo[None], hi[None])
    zero = np.zeros_like(y)
    q = np.stack([y + epsilon, y - epsilon])
    return BoxDual(q, np.stack([K, K]), np.stack([zero, lo]), np.stack([hi, zero]))


def kinks_at_zero(objective: Objective) -> Array:
    """The levels l_j of a penalty sum_j l_j |w_j| + w'Lam w / 2, shape (d,)."""
    levels = np.zeros(objective.d)
    if objective.penalty.name in ("l1", "elastic_net"):
        blocks = objective.penalty.zero_blocks(objective.d)
        assert blocks is not None  # these have a kink for each coordinate
        levels = blocks[1]
    return levels


def with_kinks(box: BoxDual, levels: Array) -> BoxDual:
    """The dual of samples and of kinks: l_j |w_j| is an absolute loss of the prediction w_j."""
    if not levels.size:
        return box
    zero = np.zeros((len(box.q), levels.size))
    lo, hi = zero - levels, zero + levels
    if len(box.q) == 2:
        lo[0], hi[1] = 0.0, 0.0
    pairs = (box.q, zero), (box.K, zero), (box.lo, lo), (box.hi, hi)
    return BoxDual(*(joined(*pair) for pair in pairs))

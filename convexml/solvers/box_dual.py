"""Losses whose conjugate is quadratic on an interval: their dual is a box-constrained QP."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..numerics import Array
from ..objective import Objective

CURVATURE = {
    "hinge": 0.0,
    "pinball": 0.0,
    "absolute": 0.0,
    "epsilon_insensitive": 0.0,
    "hard_margin": 0.0,
    "squared": 1.0,
    "squared_hinge": 1.0,
    "squared_epsilon_insensitive": 1.0,
    "huber": 1.0,
}
"""The curvature k of l*(y, v) = y v + epsilon |v| + (k/2) v^2 on dom l*, by name of the loss."""


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
    return objective.loss.name in CURVATURE


def box_dual(objective: Objective) -> BoxDual:
    """Read the box-constrained QP off the loss."""
    y, (lo, hi) = objective.y, objective.dual_bounds()
    epsilon = float(getattr(objective.loss, "epsilon", 0.0))
    K = CURVATURE[objective.loss.name] / objective.c
    if epsilon == 0.0:
        return BoxDual(y[None], K[None], lo[None], hi[None])
    zero = np.zeros_like(y)
    q = np.stack([y + epsilon, y - epsilon])
    return BoxDual(q, np.stack([K, K]), np.stack([zero, lo]), np.stack([hi, zero]))

"""The exponential loss over stumps as its certificate sees it, and as a learning problem."""

from __future__ import annotations

from functools import cache

from ...certificates import Certificate
from ...certificates.boosting.exponential import Exponentials
from ...losses import Exponential
from ...numerics import Array
from ...objective.boosting.stumps import Stumps
from ...penalties import Zero
from ..problem import LearningProblem
from .stumps import dense_of

FEW, ENTRIES = 1000, 2**24
"""Thresholds, and entries of H of one sign, with which a bound that can meet P is looked for."""


def exponential_loss(H: Array, y: Array, weights: Array) -> LearningProblem:
    """sum_i s_i e^{-y_i (H w)_i} / sum(s), w free."""
    return LearningProblem(H, y, Exponential(), Zero(), fit_intercept=False, sample_weight=weights)


def exponentials(owner: str, stumps: Stumps, y: Array, weights: Array) -> Exponentials:
    """The same for all stumps, y of -1 and +1, weights s_i > 0.

    The stumps x_j > t alone, with weights that may have any sign, are the same problem.
    """

    @cache
    def half() -> LearningProblem:
        return exponential_loss(dense_of(owner, stumps)[:, ::2], y, weights)

    def judged(w: Array, u: Array | None, tol: float) -> Certificate:
        return half().certify(w, u=u, tol=tol)

    thresholds = stumps.count // 2
    few = thresholds <= FEW and len(y) * thresholds <= ENTRIES
    return Exponentials(stumps, y, weights / float(weights.sum()), judged if few else None)

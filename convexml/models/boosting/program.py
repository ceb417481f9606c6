"""The exponential loss over stumps as its certificate sees it, and as a learning problem."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from ...certificates import Certificate
from ...certificates.boosting.exponential import Exponentials
from ...losses import Exponential
from ...numerics import Array, gamma
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

    The stumps x_j > t alone, with weights that may have any sign, are the same problem. So are
    those samples of one class that no stump tells apart, taken for one: that is done where there
    are many samples.
    """
    c, thresholds = weights / float(weights.sum()), stumps.count // 2
    if thresholds > FEW:
        return Exponentials(stumps, y, c, None)
    if len(y) * thresholds <= ENTRIES:

        @cache
        def half() -> LearningProblem:
            return exponential_loss(dense_of(owner, stumps)[:, ::2], y, weights)

        return Exponentials(stumps, y, c, lambda w, u, tol: half().certify(w, u=u, tol=tol))
    seen = np.column_stack([stumps.ranks, y > 0.0])
    _, first, same = np.unique(seen, axis=0, return_index=True, return_inverse=True)
    if len(first) * thresholds > ENTRIES:
        return Exponentials(stumps, y, c, None)
    return Exponentials(stumps, y, c, _merged(owner, stumps, y, weights, first, same.ravel()))


def _merged(
    owner: str, stumps: Stumps, y: Array, weights: Array, first: Array, same: Array
) -> Callable[[Array, Array | None, float], Certificate | None]:
    """The judge by one sample for all that are the same, ``first`` of them; a given u has none.

    Sums of weights are rounded, all terms of P with them: that is in the gap.
    """
    sums = np.bincount(same, weights)
    few = Stumps(stumps.thresholds, stumps.ranks[first])

    @cache
    def half() -> LearningProblem:
        return exponential_loss(dense_of(owner, few)[:, ::2], y[first], sums)

    def judged(w: Array, u: Array | None, tol: float) -> Certificate | None:
        if u is not None:
            return None
        found = half().certify(w, tol=tol)
        lost = 3.0 * gamma(len(y) + 16) * (abs(found.primal_objective) + found.gap)
        shares = weights / sums[same]
        dual = {"u": found.dual["u"][same] * shares} if "u" in found.dual else {}
        return found.but(gap=found.gap + lost, dual=dual)

    return judged

"""The exponential loss over stumps as its certificate sees it, and as a learning problem."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

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
        return Exponentials(stumps, y, c, Half(owner, stumps, y, weights))
    seen = np.column_stack([stumps.ranks, y > 0.0])
    _, first, same = np.unique(seen, axis=0, return_index=True, return_inverse=True)
    if len(first) * thresholds > ENTRIES:
        return Exponentials(stumps, y, c, None)
    return Exponentials(stumps, y, c, Merged(owner, stumps, y, weights, first, same.ravel()))


@dataclass(frozen=True, eq=False)
class Half:
    """Judges by the stumps x_j > t as features of a learning problem, made when it is asked."""

    owner: str
    stumps: Stumps
    y: Array
    weights: Array

    @cached_property
    def problem(self) -> LearningProblem:
        """The learning problem."""
        H = dense_of(self.owner, self.stumps)[:, ::2]
        return exponential_loss(H, self.y, self.weights)

    def __call__(self, w: Array, u: Array | None, tol: float) -> Certificate:
        """Judge weights of the stumps x_j > t."""
        return self.problem.certify(w, u=u, tol=tol)


@dataclass(frozen=True, eq=False)
class Merged:
    """Judges by one sample for all that are the same, ``first`` of them; a given u has none.

    Sums of weights are rounded, all terms of P with them: that is in the gap.
    """

    owner: str
    stumps: Stumps
    y: Array
    weights: Array
    first: Array
    same: Array

    @cached_property
    def sums(self) -> Array:
        """The weights of the samples that stand for others."""
        return np.bincount(self.same, self.weights)

    @cached_property
    def half(self) -> Half:
        """The judge of the samples that stand for others."""
        few = Stumps(self.stumps.thresholds, self.stumps.ranks[self.first])
        return Half(self.owner, few, self.y[self.first], self.sums)

    def __call__(self, w: Array, u: Array | None, tol: float) -> Certificate | None:
        """Judge weights of the stumps x_j > t."""
        if u is not None:
            return None
        found = self.half(w, None, tol)
        lost = 3.0 * gamma(len(self.y) + 16) * (abs(found.primal_objective) + found.gap)
        shares = self.weights / self.sums[self.same]
        dual = {"u": found.dual["u"][self.same] * shares} if "u" in found.dual else {}
        return found.but(gap=found.gap + lost, dual=dual)

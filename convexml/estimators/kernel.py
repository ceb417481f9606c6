"""Estimators that hold coefficients of the samples: functions f = sum_i q_i k(x_i, .) + b."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import linalg

from ..audit.sklearn.parts import LearningPart, Subproblem
from ..models.solution import Solution
from ..numerics import Array
from .base import CertifiedFit, Given
from .held import Held


class KernelFit(CertifiedFit):
    """A certified fit of one such function for each part, whose design is a factor of K."""

    def _standing(
        self, given: Given, parts: Sequence[LearningPart], solutions: Sequence[Solution]
    ) -> Sequence[Subproblem]:
        return [
            Held(_function(part, solution), solution)
            for part, solution in zip(parts, solutions, strict=True)
        ]


def _function(part: LearningPart, solution: Solution) -> LearningPart:
    """The part at w = L'q, of the same factor."""
    w = part.objective.design.rmatvec(represented(part, solution))
    return replace(part, w=w, b=float(solution.primal["b"]))


def represented(part: LearningPart, solution: Solution) -> Array:
    """The q of each sample of positive weight, with w = L'q for the design L.

    At a minimiser w = -L'u / lam. Without a penalty q is the shortest one.
    """
    lam = float(part.objective.penalty.hyperparameters()["lam"])
    if lam > 0.0:
        return -np.asarray(solution.dual["u"]) / lam
    L = part.objective.design.dense()
    found: Array = linalg.lstsq(L.T, solution.primal["w"])[0]
    return found


def of_all(given: Given, values: Array) -> Array:
    """Values of the samples of positive weight, with 0 for the others."""
    if given.weights is None:
        return values
    full = np.zeros((given.X.shape[0], *values.shape[1:]))
    full[given.weights > 0.0] = values
    return full

"""Estimators that hold coefficients of the samples: functions f = sum_i q_i k(x_i, .) + b."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg

from ..audit.sklearn.parts import FunctionPart, LearningPart, Subproblem
from ..models import LearningProblem
from ..models.reading.names import NamedColumns
from ..models.solution import Solution
from ..numerics import Array
from ..objective.kernel import KernelObjective
from .base import CertifiedFit, Given
from .held import Held


class KernelFit(CertifiedFit):
    """A certified fit of one such function for each part."""

    def _solved(self, part: Any, tol: float) -> Solution:
        if not isinstance(part, FunctionPart):
            return super()._solved(part, tol)
        X = part.objective.matrix.X
        named = NamedColumns(X, part.features) if part.features else X
        return self._solution(self._machine(part.objective, named), tol, part.name)

    def _machine(self, objective: KernelObjective, X: Any) -> LearningProblem:
        """The problem over functions as it is posed, on these samples."""
        raise NotImplementedError

    def _standing(
        self, given: Given, parts: Sequence[Any], solutions: Sequence[Solution]
    ) -> Sequence[Subproblem]:
        return [
            Held(_function(part, solution), solution)
            for part, solution in zip(parts, solutions, strict=True)
        ]


def _function(part: Any, solution: Solution) -> LearningPart | FunctionPart:
    """The part at q; in its coordinates w = L'q, where it has them."""
    q, b = represented(part, solution), float(solution.primal["b"])
    if isinstance(part, FunctionPart):
        return replace(part, q=q, b=b)
    held: LearningPart = part
    return replace(held, w=held.objective.design.rmatvec(q), b=b)


def represented(part: LearningPart | FunctionPart, solution: Solution) -> Array:
    """The q of each sample of positive weight.

    Of a part with a design L it is a q with w = L'q: at a minimiser w = -L'u / lam; without a
    penalty q is the shortest one.
    """
    if isinstance(part, FunctionPart):
        return np.array(solution.primal["q"])
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

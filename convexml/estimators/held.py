"""A part of an estimator at the coefficients that it holds, and its certificate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..audit.sklearn.families.lasso import TargetsPart
from ..audit.sklearn.parts import FunctionPart, LearningPart
from ..certificates import Certificate
from ..models.solution import Solution


@dataclass(frozen=True)
class Held:
    """What an estimator holds of a solution: the same point, or one that rounding has moved."""

    part: LearningPart | FunctionPart | TargetsPart
    solution: Solution

    @property
    def name(self) -> str:
        return self.part.name

    @property
    def value(self) -> float:
        return self.part.value

    def certify(self, tol: float) -> Certificate:
        """The certificate of the solution, where its point is held; else another one."""
        part, point = self.part, self.solution.primal
        u, same = self.solution.dual.get("u"), np.array_equal(point["b"], self.part.b)
        if isinstance(part, FunctionPart):
            posed: Any = self.solution.problem
            same = same and np.array_equal(posed.kernel_parts.c, part.objective.c)
            held, place = part.q, "q"
        else:
            held, place = part.w, "w"
        if same and np.array_equal(np.ravel(point[place]), np.ravel(held)) and u is not None:
            return self.solution.certificate
        if not isinstance(part, FunctionPart) and u is not None:
            part = replace(part, u=np.array(u))
        return part.certify(tol)

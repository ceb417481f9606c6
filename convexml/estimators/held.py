"""A part of an estimator at the coefficients that it holds, and its certificate."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..audit.sklearn.parts import LearningPart
from ..certificates import Certificate
from ..models.solution import Solution


@dataclass(frozen=True)
class Held:
    """What an estimator holds of a solution: the same point, or one that rounding has moved."""

    part: LearningPart
    solution: Solution

    @property
    def name(self) -> str:
        return self.part.name

    @property
    def value(self) -> float:
        return self.part.value

    def certify(self, tol: float) -> Certificate:
        """The certificate of the solution, where its point is held; else another one."""
        point, u = self.solution.primal, self.solution.dual.get("u")
        same = np.array_equal(np.ravel(point["w"]), self.part.w)
        if same and np.array_equal(point["b"], self.part.b) and u is not None:
            return self.solution.certificate
        return replace(self.part, u=None if u is None else np.array(u)).certify(tol)

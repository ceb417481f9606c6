"""The dual as a quadratic program in a box, its matrix seen by rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...losses import Loss
from ...numerics import Array
from .gram_rows import Gram


@dataclass(frozen=True, eq=False)
class BoxProblem:
    """Minimise y'u + epsilon |u|_1 + u'(diag(K) + G) u / 2 over lo <= u <= hi, 1'u = 0 if paired.

    F* is the first part, for a loss with these conjugates.
    """

    gram: Gram
    loss: Loss
    y: Array
    c: Array
    lo: Array
    hi: Array
    K: Array
    paired: bool

    @cached_property
    def n(self) -> int:
        return len(self.y)

    @cached_property
    def is_linear(self) -> bool:
        """Whether K = 0."""
        return not self.K.any()

    @cached_property
    def epsilon(self) -> float:
        return float(getattr(self.loss, "epsilon", 0.0))

    def part(self, index: Array, times: float) -> BoxProblem:
        """The problem of some samples, each counted so many times."""
        c, lo, hi = (times * each[index] for each in (self.c, self.lo, self.hi))
        y, K = self.y[index], self.K[index] / times
        return BoxProblem(self.gram.part(index), self.loss, y, c, lo, hi, K, self.paired)

    def cost(self, u: Array) -> float:
        """What is minimised."""
        slope = self.y + 0.5 * (self.K * u + self.gram.product(u))
        return float(slope @ u) + self.epsilon * float(np.abs(u).sum())

    def balanced(self, u: Array, slope: Array) -> Array:
        """U with 1'u = 0: moved are those that lose least by it, each as far as it may."""
        total = float(u.sum()) if self.paired else 0.0
        if total == 0.0:
            return u
        room = np.minimum(u - self.lo if total > 0.0 else self.hi - u, abs(total))
        order = np.argsort(-slope if total > 0.0 else slope, kind="stable")
        reach = np.cumsum(room[order])
        step = np.clip(abs(total) - (reach - room[order]), 0.0, room[order])
        moved = u.copy()
        moved[order] -= np.sign(total) * step
        return moved

"""The certificate of a regression whose tube is as wide as nu makes it: see ``nu``."""

from __future__ import annotations

from math import fsum

import numpy as np

from ....conditions import Condition, products, worst
from ....numerics import Array
from .nu import HeldPoint, NuPart, summing_to


class TubePart(NuPart):
    """NuSVR: the limits are C s, the level is epsilon."""

    def primal(self, at: HeldPoint) -> float:
        """P at this point; inf where epsilon < 0."""
        excess = np.maximum(np.abs(self.residuals(at)) - at.level, 0.0)
        square = self.space.square(at.w)
        value = float(0.5 * square + self.limits @ excess + self.total * at.level)
        return value if at.level >= 0.0 else np.inf

    def residuals(self, at: HeldPoint) -> Array:
        """y_i - f(x_i) - b."""
        return self.y - self.space.scores(at.w) - at.b

    def dual(self, q: Array) -> float:
        """D at the feasible q."""
        return float(self.y @ q) + super().dual(q)

    def feasible(self, q: Array) -> Array:
        """Both signs with the same sum, at most half of C nu S."""
        up, down = np.clip(q, 0.0, self.limits), np.clip(-q, 0.0, self.limits)
        share = min(float(up.sum()), float(down.sum()), 0.5 * self.total)
        return summing_to(share, up, self.limits) - summing_to(share, down, self.limits)

    def rows(self, at: HeldPoint, q: Array) -> list[Condition]:
        """The conditions of optimality."""
        r = self.residuals(at)
        excess = np.maximum(np.abs(r) - at.level, 0.0)
        size = np.abs(q)
        return [
            self.space.apart(at.w, q, "w = sum q_i x_i"),
            Condition("|q_i| <= C s_i, sum |q_i| <= C nu sum s_i", "dual_feasibility", 0.0),
            worst("sum q_i = 0", "dual_feasibility", q.sum(), float(size.sum()) or 1.0),
            products("q_i r_i = |q_i| (epsilon + xi_i)", size * (at.level + excess) - q * r),
            products("(C s_i - |q_i|) xi_i = 0", (self.limits - size) * excess),
            products(
                "epsilon (C nu sum s_i - sum |q_i|) = 0", at.level * (self.total - size.sum())
            ),
        ]

    @property
    def null(self) -> float:
        """P at w = 0, with b the median of y."""
        b = float(np.median(self.y))
        return float(self.limits @ np.abs(self.y - b))

    @property
    def _target_sizes(self) -> Array:
        return np.abs(self.y)

    def _missed(self, at: HeldPoint, q: Array, square: float) -> float:
        return abs(fsum(q)) * abs(at.b)

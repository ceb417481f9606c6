"""What the balls of all norms share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from ..conditions import AtFeatures, Condition, products, worst
from ..numerics import EPS, Array, gamma
from ..terms import Terms
from ..tex import Row, Symbol, Tex
from ..validation import positive_number
from .base import Penalty

NAMES = r"t = \text{radius}"


class Ball(Penalty):
    """The constraint |w| <= t in the norm of an order; its conjugate is t times the dual norm."""

    is_constraint = True
    depends_on_sizes = True
    order: ClassVar[int]
    dual_order: ClassVar[Any]
    multiplier: ClassVar[str]
    """As a textbook calls it."""

    def __init__(self, t: float) -> None:
        self.t = positive_number(t, type(self).__name__, "t")

    def norm(self, w: Array) -> float:
        """The norm."""
        return float(np.linalg.norm(w, self.order))

    def norm_bound(self, w: Array) -> float:
        """An upper bound of the norm: its terms are rounded."""
        return self.norm(w) * (1.0 + gamma(len(w) + 16))

    def dual_norm(self, v: Array) -> float:
        """The dual norm; at v = -X'u it is the multiplier."""
        return float(np.linalg.norm(v, self.dual_order))

    def hyperparameters(self) -> dict[str, Any]:
        return {"radius": self.t}

    def value(self, w: Array) -> float:
        return 0.0

    def violation(self, w: Array, sizes: float | Array = 1.0) -> float:
        return max(self.norm(w) / self.t - 1.0, 0.0)

    def shrinkage(self, w: Array) -> float:
        return max(self.norm_bound(w) / self.t - 1.0, 0.0)

    def stretch(self, w: Array) -> float:
        size = self.norm_bound(w)
        return self.t / size * (1.0 - 2.0 * EPS) if size > 0.0 else np.inf

    def conjugate(self, v: Array, slack: float | Array = 0.0) -> float:
        return self.t * self.dual_norm(v)

    def terms(self, w: Array, v: Array) -> Array:
        return np.array([self.conjugate(v) - float(w @ v)])

    def prox(self, w: Array, step: float | Array) -> Array:
        return self.project(w)

    def in_units(self, units: Array, factor: float) -> Self | None:
        same = units.size > 0 and np.all(units == units[0])
        return type(self)(self.t / float(units[0])) if same else None

    def expression(self, w: Any, theta: Mapping[str, Any]) -> Terms:
        import cvxpy as cp

        return Terms(0.0, {"ball": cp.norm(w, self.order) <= theta["radius"]})

    def multipliers(self, v: Array) -> dict[str, Array]:
        return {"ball": np.asarray(self.dual_norm(v))}

    def conjugate_expression(self, xtu: Any, d: int, theta: Mapping[str, Any]) -> Terms:
        import cvxpy as cp

        return Terms(theta["radius"] * cp.norm(xtu, self.dual_order), {})

    def conditions(self, at: AtFeatures) -> list[Condition]:
        room, size = self.t - self.norm(at.w), "|w|" if self.order == 2 else "|w|_1"
        return [
            at.inclusion,
            at.domain,
            worst(f"{size} <= t", "primal_feasibility", max(-room, 0.0), self.t),
            products(f"{self.multiplier} (t - {size}) = 0", self.dual_norm(at.v) * room),
        ]

    def tex(self, w: Symbol, v: Symbol, lam: str = r"\lambda") -> Tex:
        letter, size = rf"\{self.multiplier}", w.norm(str(self.order))
        dual = v.norm("max" if self.dual_order == np.inf else str(self.dual_order))
        row = Row(letter, size, r"\le", "t")
        return Tex("", f"t {dual}", slope=rf"{letter}\,\partial {size}", rows=(row,), names=NAMES)

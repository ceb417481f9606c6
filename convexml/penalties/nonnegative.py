"""Nonnegative coefficients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..numerics import Array
from ..terms import Terms
from ..tex import Row, Symbol, Tex
from .box import Box


class Nonnegative(Box):
    """The constraint w_j >= 0, the box from 0 to infinity.

    Conjugate: the indicator of v_j <= 0. The multiplier of w >= 0 is X'u >= 0.
    """

    name = "nonnegative"

    def __init__(self) -> None:
        super().__init__(0.0, np.inf)

    def expression(self, w: Any, theta: Mapping[str, Any]) -> Terms:
        return Terms(0.0, {"nonnegative": w >= 0.0})

    def in_units(self, units: Array, factor: float) -> Nonnegative:
        return self

    def multipliers(self, v: Array) -> dict[str, Array]:
        return {"nonnegative": -v}

    def conjugate_expression(self, xtu: Any, d: int, theta: Mapping[str, Any]) -> Terms:
        return Terms(0.0, {"reduced_cost": xtu >= 0.0})

    def __repr__(self) -> str:
        return "Nonnegative()"

    def tex(self, w: Symbol, v: Symbol, lam: str = r"\lambda") -> Tex:
        row = Row(rf"\mu_{w.index}", w.entry, r"\ge", "0", w.index)
        return Tex(domain=rf"{v} \le 0", slope=r"-\mu", rows=(row,))

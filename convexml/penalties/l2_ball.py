"""The Euclidean ball."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ..conditions import AtFeatures, Condition, ball
from ..numerics import EPS, ROUNDING, Array, gamma
from ..terms import Terms
from ..tex import Row, Symbol, Tex
from ..validation import positive_number
from .base import Manifold, Penalty


class L2Ball(Penalty):
    """The constraint |w|_2 <= t of constrained ridge regression.

    Conjugate: t |v|_2. With multiplier mu, w solves the penalised problem with lam = mu / t.

    Parameters
    ----------
    t : float
        Radius, > 0, in the units of the coefficients.

    Raises
    ------
    InputError
        If t is not a finite number > 0.
    """

    name = "l2_ball"
    is_constraint = True
    depends_on_sizes = True

    def __init__(self, t: float) -> None:
        self.t = positive_number(t, "L2Ball", "t")

    def hyperparameters(self) -> dict[str, Any]:
        return {"radius": self.t}

    def value(self, w: Array) -> float:
        return 0.0

    def violation(self, w: Array, sizes: float | Array = 1.0) -> float:
        return max(float(np.linalg.norm(w)) / self.t - 1.0, 0.0)

    def shrinkage(self, w: Array) -> float:
        return max(float(np.linalg.norm(w)) * (1.0 + gamma(len(w) + 16)) / self.t - 1.0, 0.0)

    def room(self, w: Array) -> float:
        return max(self.t - float(np.linalg.norm(w)) * (1.0 + gamma(len(w) + 16)), 0.0)

    def stretch(self, w: Array) -> float:
        norm = float(np.linalg.norm(w)) * (1.0 + gamma(len(w) + 16))
        return self.t / norm * (1.0 - 2.0 * EPS) if norm > 0.0 else np.inf

    def contains(self, w: Array) -> bool:
        return sum(Fraction(x) ** 2 for x in w.tolist()) <= Fraction(self.t) ** 2

    def conjugate(self, v: Array, slack: float | Array = 0.0) -> float:
        return self.t * float(np.linalg.norm(v))

    def conjugate_bound(self, v: Array, error: Array) -> float:
        return self.t * float(np.linalg.norm(np.abs(v) + error)) * (1.0 + gamma(len(v) + 16))

    def terms(self, w: Array, v: Array) -> Array:
        return np.array([self.conjugate(v) - float(w @ v)])

    def project(self, w: Array) -> Array:
        norm = float(np.linalg.norm(w))
        return w.copy() if norm <= self.t else w * (self.t / norm)

    def prox(self, w: Array, step: float | Array) -> Array:
        return self.project(w)

    def in_units(self, units: Array, factor: float) -> L2Ball | None:
        same = units.size > 0 and np.all(units == units[0])
        return L2Ball(self.t / float(units[0])) if same else None

    def manifold(self, w: Array, v: Array, step: Array) -> Manifold:
        active = np.ones(len(w), dtype=bool)
        target = w + float(np.min(step)) * v
        if np.linalg.norm(target) < self.t * (1.0 - ROUNDING):
            zeros = np.zeros_like(w)
            return Manifold(active, w, zeros, zeros)
        # The sphere is (|w|^2 - t^2) / (2 t) = 0. Far inside it is linearised on its surface.
        norm = float(np.linalg.norm(w))
        if norm > 0.5 * self.t:
            normal, residual = w / self.t, (norm - self.t) * (norm + self.t) / (2.0 * self.t)
        else:
            normal = self.project(target) / self.t
            residual = float(normal @ w) - self.t
        mu = max(float(normal @ v) / float(normal @ normal), 0.0)
        hessian = np.full_like(w, mu / self.t)
        rows, left = normal[None], np.array([residual])
        return Manifold(active, w, mu * normal, hessian, normal=rows, residual=left)

    def expression(self, w: Any, theta: Mapping[str, Any]) -> Terms:
        import cvxpy as cp

        return Terms(0.0, {"ball": cp.norm(w, 2) <= theta["radius"]})

    def multipliers(self, v: Array) -> dict[str, Array]:
        return {"ball": np.asarray(np.linalg.norm(v))}

    def conjugate_expression(self, xtu: Any, d: int, theta: Mapping[str, Any]) -> Terms:
        import cvxpy as cp

        return Terms(theta["radius"] * cp.norm(xtu, 2), {})

    def conditions(self, at: AtFeatures) -> list[Condition]:
        norm, mu = float(np.linalg.norm(at.w)), float(np.linalg.norm(at.v))
        stationarity = at.inclusion.named("X'u + mu w/|w| = 0")
        return [stationarity, at.domain, *ball("|w|", norm, "mu", mu, self.t)]

    def tex(self, w: Symbol, v: Symbol, lam: str = r"\lambda") -> Tex:
        row = Row(r"\mu", w.norm("2"), r"\le", "t")
        slope = rf"\mu\,\partial {w.norm('2')}"
        return Tex("", f"t {v.norm('2')}", slope=slope, rows=(row,))

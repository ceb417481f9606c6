"""Certificates of -sum_k q_k log p_k over the simplex: the gap is KL(q || p), in nats.

With the multipliers nu of sum(p) = 1 and lambda of p >= 0 the dual maximises

    H(q) + 1 - nu + sum_k q_k log(nu - lambda_k),   lambda >= 0,  lambda_k = nu where q_k = 0,

H(q) = -sum_k q_k log q_k the entropy. It is H(q) at nu = 1, lambda = 0 on what was seen (q_k > 0)
and 1 elsewhere; then P - D = sum_k q_k log(q_k / p_k) (Cover and Thomas, 2006, section 11.1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import kl_div, xlogy

from ...conditions import Condition, products, worst
from ...numerics import ELEMENTARY, ROUNDING, UNIT, Array, gamma
from ..certificate import Certificate
from ..judge import bounded, judge, refuted
from ..scale import entropy_scale

Arrays = dict[str, Array]


@dataclass(frozen=True)
class Shares:
    """The problem in p; the exact shares are within 4 units of rounding of those that are held.

    Attributes
    ----------
    q : array, shape (K,)
        Shares >= 0 that sum to 1.
    """

    q: Array

    @property
    def seen(self) -> Array:
        """Whether a class has any samples."""
        return self.q > 0.0

    @property
    def entropy(self) -> float:
        """-sum_k q_k log q_k."""
        return self._value(self.q)

    def divergence(self, p: Array) -> float:
        """KL(q || p), a sum of terms >= 0; inf where p has no probability for what was seen."""
        return float(kl_div(self.q, p).sum())

    def value(self, p: Array) -> float:
        """-sum_k q_k log p_k; inf where p is not in the simplex."""
        inside = bool(np.all(p >= 0.0)) and abs(math.fsum(p) - 1.0) <= ROUNDING
        return self._value(p) if inside else np.inf

    def dual_value(self, dual: Arrays) -> float:
        """D at nu and lambda; -inf where they are not feasible."""
        nu, lam = dual["nu"], dual["lambda"]
        balanced = np.abs(nu - lam)[~self.seen] <= ROUNDING * np.abs(nu)
        feasible = bool(np.all(lam >= 0.0) and np.all(balanced))
        return self._dual_value(dual) if feasible else -np.inf

    def best_dual(self, nu: Array) -> Arrays:
        """``nu`` with the best lambda for it."""
        return {"nu": nu, "lambda": np.where(self.seen, 0.0, np.maximum(nu, 0.0))}

    def certify(self, p: Array, dual: Arrays, tol: float) -> Certificate:
        """Judge p >= 0, scaled to sum to 1, by what is passed of nu and lambda, or by the best.

        Parameters
        ----------
        p : array, shape (K,)
        dual : dict
            "nu", a number, and "lambda", (K,), or neither or one of them.
        tol : float
        """
        given = {**self.best_dual(dual.get("nu", np.array(1.0))), **dual}
        nu, lam = given["nu"], np.maximum(given["lambda"], 0.0)
        lam = np.where(self.seen, lam, np.maximum(nu, 0.0))
        near = np.maximum(p, 0.0)
        total = math.fsum(near)
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = near / total
        passed, shift = self._value(near), math.log(total) if total > 0.0 else np.inf
        primal = max(passed, passed + shift)
        bound = self._dual_value({"nu": nu, "lambda": lam})
        moved = float(np.max(np.abs(p - scaled))) if total > 0.0 else np.inf
        lost = self._rounding(near) + ELEMENTARY * abs(shift) + self._dual_rounding(nu - lam, nu)
        found = judge(
            bounded(
                primal,
                bound,
                self._rows(p, given, given["lambda"] - lam),
                tol,
                scale=entropy_scale(),
                rounding=lost if np.isfinite(primal - bound) else 0.0,
                dual={"nu": nu, "lambda": lam},
                dual_source="passed" if dual else "constructed",
                repaired=moved if moved > ROUNDING else 0.0,
                reason=self._reason(primal, bound, near),
                is_proved=True,
            )
        )
        best = self._value(self.q)
        lost = self._rounding(near) + self._rounding(self.q) if np.isfinite(primal) else 0.0
        return refuted(found, best, {"p": self.q, "objective": best}, lost)

    # -- values, and what they may be off by ------------------------------------------------------

    def _value(self, p: Array) -> float:
        with np.errstate(divide="ignore"):
            return float(-xlogy(self.q, p).sum()) + 0.0

    def _rounding(self, p: Array) -> float:
        """Of ``_value``: shares are off by 4 units, each p_k by one, log by ``ELEMENTARY``."""
        with np.errstate(divide="ignore"):
            sizes = float(np.abs(xlogy(self.q, p)).sum())
        return (gamma(len(self.q) + 8) + ELEMENTARY + 8.0 * UNIT) * sizes + 8.0 * UNIT

    def _dual_value(self, dual: Arrays) -> float:
        room = np.maximum(dual["nu"] - dual["lambda"], 0.0)
        return float(self.entropy + (1.0 - dual["nu"]) - self._value(room))

    def _dual_rounding(self, room: Array, nu: Array) -> float:
        parts = self._rounding(self.q) + self._rounding(np.maximum(room, 0.0))
        return parts + 4.0 * UNIT * (self.entropy + 1.0 + abs(float(nu)))

    def _reason(self, primal: float, bound: float, p: Array) -> str:
        if not np.isfinite(primal) and np.any((p == 0.0) & self.seen):
            k = int(np.argmax((p == 0.0) & self.seen))
            return f"p[{k}] = 0, but this class has samples: they have no probability."
        if not np.isfinite(bound):
            return "nu and lambda give no bound: nu - lambda must be > 0 where there are samples."
        return ""

    def _rows(self, p: Array, dual: Arrays, moved: Array) -> list[Condition]:
        nu, lam = dual["nu"], dual["lambda"]
        sizes = np.maximum(np.abs(lam), np.abs(nu))
        error = gamma(len(p) + 1) * float(np.abs(p).sum())
        return [
            worst("p_k (nu - lambda_k) = q_k", "stationarity", p * (nu - lam) - self.q),
            worst("sum_k p_k = 1", "primal_feasibility", math.fsum(p) - 1.0, 1.0, error),
            worst("p >= 0", "primal_feasibility", np.maximum(-p, 0.0)),
            worst("lambda >= 0, lambda = nu where q = 0", "dual_feasibility", moved, sizes),
            products("lambda_k p_k = 0", lam * p),
        ]

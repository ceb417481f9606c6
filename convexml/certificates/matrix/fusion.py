"""Certificates of (1/2) sum_i |x_i - U_i|^2 + sum_p r_p |(A U)_p|: points that may merge.

For every V with |V_p| <= r_p and every U, P(U) >= <V, A X> - |A'V|^2 / 2. A V that is too long is
shrunk into its ball, a few roundings inside, and the rounding of both values is accounted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from ...conditions import Condition, products, worst
from ...numerics import EPS, Array, gamma, lengths
from ...objective.matrix.fusion import fusion_steps, in_balls, merged, value
from ..certificate import Certificate, Verdict
from ..judge import bounded, judge, refuted
from ..scale import learning_scale

MOVED = "U_i = x_i - sum_{j>i} V_ij + sum_{j<i} V_ji"
STEPS = 4000
ROUND = 10
"""Steps between two looks at the gap."""


@dataclass(frozen=True)
class Fusion:
    """The problem in U.

    Attributes
    ----------
    X : array, shape (n, d)
    A : sparse array, shape (m, n)
        The differences of pairs.
    radii : array, shape (m,)
        lam w_p.
    """

    X: Array
    A: Any
    radii: Array

    def value(self, U: Array) -> float:
        """The objective."""
        return value(U, self.X, self.A, self.radii)

    def dual_value(self, V: Array) -> float:
        """<V, A X> - |A'V|^2 / 2; -inf where a row is longer than r_p by more than rounding."""
        most = self.radii * (1.0 + 8.0 * (self.X.shape[1] + 4) * EPS)
        return self._dual(V)[0] if np.all(lengths(V, 1) <= most) else -np.inf

    def _dual(self, V: Array) -> tuple[float, float]:
        """The value, and what it may be off by."""
        n, d = self.X.shape
        apart, pull = self.A @ self.X, self.A.T @ V
        sizes = abs(self.A).T @ np.abs(V)
        linear = float(np.sum(np.abs(V) * np.abs(apart)))
        m = V.size + 4
        lost = gamma(m) * (linear + float(np.sum(pull * pull)))
        lost += gamma(n + 2) * float(np.sum(sizes * (np.abs(pull) + gamma(n + 2) * sizes)))
        found = float(np.sum(V * apart)) - 0.5 * float(np.sum(pull * pull))
        return found, lost * (1.0 + 8.0 * d * EPS)

    def _value_rounding(self, U: Array) -> float:
        return gamma(self.radii.size + 2 * self.X.size + 12) * self.value(U)

    def pulls(self, U: Array) -> Array:
        """The V of points that are apart: r_p along their difference, 0 where they are one."""
        D = self.A @ U
        sizes = lengths(D, 1)[:, None]
        return self.radii[:, None] * np.divide(D, sizes, out=np.zeros_like(D), where=sizes > 0.0)

    def certify(self, U: Array, V: Array | None, tol: float, *, search: bool = True) -> Certificate:
        """Judge U by V, or by the V of its differences; with ``search`` by that of the steps.

        Parameters
        ----------
        U : array, shape (n, d)
        V : array, shape (m, d), or None
        tol : float
        search : bool
        """
        if V is not None:
            return self._judged(U, V, tol, "passed")
        found = self._judged(U, self.pulls(U), tol, "constructed")
        if not (search and found.verdict is Verdict.UNDECIDED):
            return found
        better, V, _ = self.improved(self.pulls(U), tol)
        found = self._judged(U, V, tol, "constructed")
        lost = self._value_rounding(better) + self._value_rounding(U)
        least = self.value(better)
        return refuted(found, least, {"U": better, "objective": least}, lost)

    def improved(self, V: Array, tol: float) -> tuple[Array, Array, float]:
        """U, V and their relative gap, about, from steps that end where it is below tol / 4."""
        for found in self.rounds(V):
            if found[2] <= 0.25 * tol:
                break
        return found

    def rounds(self, start: Array) -> Iterator[tuple[Array, Array, float]]:
        """U with near points made one, V, and their relative gap, every ``ROUND`` steps."""
        steps = fusion_steps(self.A, self.X, self.radii, start)
        for near, V in islice(steps, 0, STEPS, ROUND):
            U = merged(near, self.X, self.A, self.radii)
            primal, dual = self.value(U), self._dual(V)[0]
            size = max(abs(primal), abs(dual))
            yield U, V, max(primal - dual, 0.0) / size if size > 0.0 else 0.0

    def _judged(self, U: Array, given: Array, tol: float, source: str) -> Certificate:
        V = in_balls(given, self.radii)
        primal, (dual, lost) = self.value(U), self._dual(V)
        null = 0.5 * float(np.sum((self.X - self.X.mean(axis=0)) ** 2))
        return judge(
            bounded(
                primal,
                dual,
                self._rows(U, V, given),
                tol,
                scale=learning_scale(primal, dual, null),
                rounding=lost + self._value_rounding(U),
                dual={"V": V},
                dual_source=source,
                repaired=float(np.max(np.abs(given - V), initial=0.0)),
                is_proved=True,
            )
        )

    def _rows(self, U: Array, V: Array, given: Array) -> list[Condition]:
        size = float(np.max(np.abs(self.X - self.X.mean(axis=0)), initial=0.0))
        D = self.A @ U
        slack = self.radii * lengths(D, 1) - np.sum(V * D, axis=1)
        over = np.maximum(lengths(given, 1) - self.radii, 0.0)
        largest = max(float(np.max(self.radii, initial=0.0)), np.finfo(float).tiny)
        rounding = 8.0 * (self.X.shape[1] + 4) * EPS * largest
        return [
            worst(MOVED, "stationarity", U - self.X + self.A.T @ V, size),
            worst("|V_ij| <= lam w_ij", "dual_feasibility", over, largest, rounding),
            products("lam w_ij |U_i - U_j| = <V_ij, U_i - U_j>", float(np.sum(slack))),
        ]

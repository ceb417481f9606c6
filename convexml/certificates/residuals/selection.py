"""The linear program of the Dantzig selector, by working sets of columns that HiGHS solves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...numerics import Array
from ...objective.linear.data import LinearData
from ..algebra.highs import highs
from .dantzig import Dantzig

MANY = 100
"""Columns that enter the restricted program at once."""
FEASIBLE = 1e-10
"""HiGHS's tolerances, the least that it takes."""
MET = 1e-9
"""Violations below this share of the size of their row call for no column."""


@dataclass(frozen=True, eq=False)
class Selection:
    """The restricted programs, told in columns of norm 1 and targets of norm 1.

    Attributes
    ----------
    problem : Dantzig
    """

    problem: Dantzig

    def rounds(self) -> Iterator[tuple[Array, Array, bool]]:
        """Yield w, v and whether no column is left to enter: then they are optimal.

        A restricted program is the Dantzig selector of some columns. Those enter whose rows its w
        violates, and those whose x_j'Cq is beyond 1.
        """
        it, lam = self.problem.correlations, self.problem.lam
        d, usable = it.norms.size, it.norms > 0.0
        used, w, v = np.zeros(d, dtype=bool), np.zeros(d), np.zeros(d)
        while True:
            rows = it.of_residuals(w, it.samples.best_intercept(w))[0]
            sizes = np.where(usable, it.sizes, 1.0) if it.samples.spread > 0.0 else np.ones(d)
            missed = (np.abs(rows) - lam) / sizes
            q, error, _ = it.scores(v)
            beyond = np.abs(it.against(q, error)[0]) - 1.0
            new = np.zeros(d, dtype=bool)
            for left in (missed, beyond):
                left = np.where(used | ~usable, -np.inf, left)
                worst = np.argsort(-left, kind="stable")[:MANY]
                new[worst[left[worst] > MET]] = True
            yield w, v, not new.any()
            if not new.any():
                return
            used |= new
            found = self._restricted(np.flatnonzero(used))
            if found is None:
                return
            w, v = found

    def _restricted(self, used: Array) -> tuple[Array, Array] | None:
        """w and v of the program of these columns; its vertex is solved once more, exactly."""
        it, k = self.problem.correlations, used.size
        norms, size = it.norms[used], it.samples.spread
        A = it.columns(used)
        G, h = A.T @ A, A.T @ (it.samples.roots * it.targets) / size
        room, costs = self.problem.lam / (norms * size), norms.min() / norms
        data = LinearData(
            np.concatenate([costs, costs]),
            np.block([[G, -G], [-G, G]]),
            np.concatenate([h + room, room - h]),
            np.zeros((0, 2 * k)),
            np.zeros(0),
            np.zeros(2 * k),
            np.full(2 * k, np.inf),
        )
        found = highs(data, FEASIBLE)
        if found.x is None or found.lambda_ub is None:
            return None
        x, y = found.x[:k] - found.x[k:], found.lambda_ub[k:] - found.lambda_ub[:k]
        x, y = _vertex(G, h, room, costs, x, y)
        w, v = np.zeros(it.norms.size), np.zeros(it.norms.size)
        w[used], v[used] = x * size / norms, y / (norms * norms.min())
        return w, v


def _vertex(
    G: Array, h: Array, room: Array, costs: Array, x: Array, y: Array
) -> tuple[Array, Array]:
    """x and y solved from the rows that are met and the coefficients that are not 0."""
    used, met = np.flatnonzero(x), np.flatnonzero(y)
    if used.size != met.size or not used.size:
        return x, y
    try:
        there = np.linalg.solve(G[np.ix_(met, used)], (h - room * np.sign(y))[met])
        prices = np.linalg.solve(G[np.ix_(met, used)].T, (costs * np.sign(x))[used])
    except np.linalg.LinAlgError:
        return x, y
    same = np.all(there * x[used] > 0.0) and np.all(prices * y[met] > 0.0)
    if not same:
        return x, y
    x, y = x.copy(), y.copy()
    x[used], y[met] = there, prices
    return x, y

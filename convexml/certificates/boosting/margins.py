"""Certificates of LPBoost: points judged by a hard distribution, which a program of columns finds.

With d in the capped simplex and gamma = max_j (A'd)_j, D = -gamma and
P - D = sum d_i (A w - rho + xi)_i + sum (c_i - d_i) xi_i + sum w_j (gamma - (A'd)_j).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from scipy import sparse

from ...conditions import Condition, products, worst
from ...numerics import EPS, UNIT, Array
from ...objective.linear.data import LinearData
from ..algebra.highs import highs
from ..certificate import Certificate, Verdict
from ..judge import bounded, judge, refuted
from ..scale import program_scale
from .program import CAPS, MANY, MarginPoint, MarginProgram


class Margins(MarginProgram):
    """The linear program of margins, solved by columns and judged."""

    # -- solved by columns -----------------------------------------------------------------------

    def rounds(self) -> Iterator[tuple[MarginPoint, Array, float]]:
        """Points, distributions, and what is left: by how much other edges exceed those used.

        The learners of the largest edges enter the linear program until none is left.
        """
        used = np.zeros(self.A.shape[1], dtype=bool)
        edges = self.edges(self.c / self.c.sum())
        level = -np.inf
        while True:
            new = np.argsort(-np.where(used, -np.inf, edges), kind="stable")[:MANY]
            used[new[edges[new] > level]] = True
            found = self._restricted(np.flatnonzero(used))
            if found is None:
                return
            point, d = found
            edges = self.edges(d)
            level = float(edges[used].max()) + 1e-14 * self.largest
            left = float(edges[~used].max(initial=-np.inf)) - level
            yield point, d, max(left, 0.0)
            if not left > 0.0:
                return

    def _restricted(self, used: Array) -> tuple[MarginPoint, Array] | None:
        """HiGHS's point and distribution with these learners alone."""
        n, k, unit = self.c.size, used.size, self.largest or 1.0
        rows = [-sparse.csr_array(self.A[:, used]) / unit, np.ones((n, 1)), -sparse.eye_array(n)]
        total = sparse.csr_array(np.append(np.ones(k), np.zeros(n + 1))[None])
        data = LinearData(
            np.concatenate([np.zeros(k), [-1.0], self.c]),
            sparse.csr_array(sparse.hstack(rows)),
            np.zeros(n),
            total,
            np.ones(1),
            np.concatenate([np.zeros(k), [-np.inf], np.zeros(n)]),
            np.full(k + n + 1, np.inf),
        )
        found = highs(data)
        if found.x is None or found.lambda_ub is None:
            return None
        w = np.zeros(self.A.shape[1])
        w[used] = found.x[:k] / found.x[:k].sum()
        return self.completed(w), self.feasible(found.lambda_ub)

    @cached_property
    def optimum(self) -> tuple[MarginPoint, Array] | None:
        """The last of ``rounds``."""
        last = None
        for point, d, _ in self.rounds():
            last = point, d
        return last

    # -- judged ----------------------------------------------------------------------------------

    def certify(
        self, point: MarginPoint, given: Array | None, tol: float, *, search: bool
    ) -> Certificate:
        """Judge a point by the distribution passed, or by HiGHS's, or that of its margins."""
        best = self.optimum if search and given is None else None
        passed = given if given is not None else best[1] if best else self.of_margins(point.w)
        d = self.feasible(passed)
        edge, primal, lost = self.edge(d), self.cost(point), self.price(d)
        rows = self._rows(point, passed, d, edge)
        found = judge(
            bounded(
                primal,
                -edge,
                rows,
                tol,
                scale=program_scale(primal, -edge, self.units[1]),
                rounding=lost + self._account(point, d, edge),
                dual={"d": passed},
                dual_source="constructed" if given is None else "passed",
                repaired=float(np.abs(d - passed).max()) if given is not None else 0.0,
                is_proved=True,
            )
        )
        if not (search and found.verdict is Verdict.UNDECIDED):
            return found
        if not all(row.meets(tol) for row in rows if row.kind == "primal_feasibility"):
            return found
        best = self.optimum
        if best is None:
            return found
        objective, witness = self.cost(best[0]), best[0]._asdict()
        rounding = self._account(best[0], d, edge) + self._account(point, d, edge)
        return refuted(found, objective, {**witness, "objective": objective}, rounding)

    def _account(self, point: MarginPoint, d: Array, edge: float) -> float:
        """Rounding of P and D, and what violated constraints may have gained."""
        w, _, xi = point
        lost = 4.0 * EPS * (abs(edge) + abs(point.rho)) + 2.0 * CAPS * float(self.c @ np.abs(xi))
        off = abs(math.fsum([*w.tolist(), -1.0]))
        below = float((edge - self.edges(d)) @ np.maximum(-w, 0.0))
        missed = float(d @ np.maximum(-self.slack(point), 0.0))
        return lost + abs(edge) * off + below + missed + float(self.c @ np.maximum(-xi, 0.0))

    def _rows(self, point: MarginPoint, given: Array, d: Array, edge: float) -> list[Condition]:
        w, _, xi = point
        slack, kind = self.slack(point), "primal_feasibility"
        size, lost = self.units[0], 4.0 * UNIT * self.sizes(point)
        off = math.fsum([*w.tolist(), -1.0])
        total = math.fsum([*given.tolist(), -1.0])
        over = np.maximum(given - self.c, 0.0)
        return [
            worst("sum_i d_i = 1", "stationarity", total, 1.0),
            worst("y_i (H w)_i >= rho - xi_i", kind, np.maximum(-slack, 0.0), size, lost),
            worst("xi_i >= 0", kind, np.maximum(-xi, 0.0), size),
            worst("w_j >= 0", kind, np.maximum(-w, 0.0), 1.0),
            worst("sum_j w_j = 1", kind, off, 1.0),
            worst("d_i >= 0", "dual_feasibility", np.maximum(-given, 0.0), self.c),
            worst("d_i <= s_i / (nu sum s)", "dual_feasibility", over, self.c, CAPS * self.c),
            products("d_i (y_i (H w)_i - rho + xi_i) = 0", d * slack),
            products("(s_i / (nu sum s) - d_i) xi_i = 0", (self.c - d) * xi),
            products("w_j (gamma - sum_i d_i y_i H_ij) = 0", w * (edge - self.edges(d))),
        ]

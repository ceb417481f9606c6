"""Certificates of min <C, plan> s.t. plan 1 = a, plan' 1 = b, plan >= 0, by potentials f and g.

D = a.f + b.g for f_i + g_j <= C_ij. Sum a and sum b are equal up to rounding only: the largest b is
defined by the others, exactly, and D is evaluated so. What f_i + g_j is above C_ij for an i is
taken from g_j (the c-transform), and so is what rounding may hide of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from ...conditions import Condition, products, worst
from ...numerics import EPS, ROUNDING, UNIT, Array, gamma
from ...objective.linear.data import LinearData
from ..algebra.highs import highs
from ..algebra.sums import exact_dot
from ..certificate import Certificate, Verdict
from ..judge import bounded, judge, refuted
from ..scale import learning_scale

Arrays = dict[str, Array]


@dataclass(frozen=True, eq=False)
class Transport:
    """The program of transport from m masses to n.

    Attributes
    ----------
    a, b : array, shapes (m,) and (n,)
        Masses, >= 0.
    costs : array, shape (m, n)
    """

    a: Array
    b: Array
    costs: Array
    _found: list[tuple[Array, Array]] = field(default_factory=list)

    @property
    def total(self) -> float:
        """All mass."""
        return float(self.a.sum())

    def cost(self, plan: Array) -> float:
        """<C, plan>, rounded once."""
        return exact_dot(self.costs.ravel(), plan.ravel())

    def value(self, plan: Array) -> float:
        """The objective; inf where the plan is infeasible by more than rounding."""
        below, rows, columns = self._violations(plan)
        allowed = ROUNDING * max(self.total, float(np.abs(plan).sum()))
        wrong = max(float(np.abs(each).max()) for each in (below, rows, columns))
        return self.cost(plan) if wrong <= allowed else np.inf

    def _violations(self, plan: Array) -> tuple[Array, Array, Array]:
        """Of plan >= 0, and of the sums of rows and columns (signed)."""
        rows, columns = plan.sum(axis=1) - self.a, plan.sum(axis=0) - self.b
        return np.maximum(-plan, 0.0), rows, columns

    # -- potentials ------------------------------------------------------------------------------

    def gain(self, f: Array, g: Array) -> float:
        """a.f + b.g, rounded once, the largest b being what the others leave of sum a."""
        last = int(np.argmax(self.b))
        others = np.delete(self.b, last)
        level = np.full(self.a.size + others.size, g[last])
        mass = np.concatenate([self.a, others, self.a, -others])
        return exact_dot(mass, np.concatenate([f, np.delete(g, last), level]))

    def dual_value(self, f: Array, g: Array) -> float:
        """a.f + b.g; -inf where f_i + g_j is above C_ij by more than rounding."""
        sizes = np.abs(f)[:, None] + np.abs(g) + np.abs(self.costs)
        over = f[:, None] + g - self.costs
        return self.gain(f, g) if np.all(over <= ROUNDING * sizes) else -np.inf

    def completed(self, dual: Arrays, *, search: bool) -> tuple[Array, Array]:
        """Potentials: what was passed and the best for it; without any HiGHS's, or f = 0."""
        f, g = dual.get("f"), dual.get("g")
        if f is None and g is None and search:
            f = self.optimum[1]
        if f is None and g is not None:
            f = (self.costs - g).min(axis=1)
        f = np.zeros(self.a.size) if f is None else f
        return f, (self.costs - f[:, None]).min(axis=0) if g is None else g

    @property
    def optimum(self) -> tuple[Array | None, Array | None]:
        """HiGHS's plan and f; None where it finds none, as in too little time."""
        known = self._found
        if not known and (found := self._by_highs()) is not None:
            known.append(found)
        return known[0] if known else (None, None)

    def _by_highs(self) -> tuple[Array, Array] | None:
        m, n = self.costs.shape
        rows = sparse.kron(sparse.eye_array(m), np.ones((1, n)))
        columns = sparse.kron(np.ones((1, m)), sparse.eye_array(n))
        data = LinearData(
            self.costs.ravel(),
            sparse.csr_array((0, m * n)),
            np.zeros(0),
            sparse.csr_array(sparse.vstack([rows, columns])),
            np.concatenate([self.a, self.b]),
            np.zeros(m * n),
            np.full(m * n, np.inf),
        )
        # In units of its own: tolerances are absolute.
        unit, size = float(np.abs(self.costs).max()) or 1.0, self.total
        scaled = LinearData(
            data.c / unit, data.A_ub, data.b_ub, data.A_eq, data.b_eq / size, data.lower, data.upper
        )
        found = highs(scaled)
        if found.x is None or found.nu is None:
            return None
        return size * found.x.reshape(m, n), -unit * found.nu[:m]

    def _over(self, f: Array, g: Array) -> Array:
        """How much g_j has to fall for f_i + g_j <= C_ij, with what rounding may hide, (n,)."""
        sizes = np.abs(f)[:, None] + np.abs(g) + np.abs(self.costs)
        return np.maximum((f[:, None] + g - self.costs + 4.0 * UNIT * sizes).max(axis=0), 0.0)

    # -- judged ----------------------------------------------------------------------------------

    def certify(self, plan: Array, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        """Judge a plan by the potentials passed; without any, with ``search``, by HiGHS's."""
        f, g = self.completed(dual, search=search)
        over = self._over(f, g)
        primal, charge = self.cost(plan), float((self.b + 2.0 * ROUNDING * self.total) @ over)
        value = self.gain(f, g) - charge * (1.0 + gamma(self.b.size + 4))
        moved = np.maximum(f[:, None] + g - self.costs, 0.0)
        rows = self._rows(plan, f, g, moved)
        found = judge(
            bounded(
                primal,
                value,
                rows,
                tol,
                scale=learning_scale(primal, value, self.null),
                rounding=4.0 * EPS * (abs(primal) + abs(value) + charge) + self._price(plan, f, g),
                dual={"f": f, "g": g},
                dual_source="passed" if dual else "constructed",
                repaired=float(moved.max()) if dual.keys() >= {"f", "g"} else 0.0,
                is_proved=True,
            )
        )
        feasible = all(row.meets(tol) for row in rows[:3])
        if not (search and feasible and found.verdict is Verdict.UNDECIDED):
            return found
        best = self.optimum[0]
        if best is None or self.value(best) == np.inf:
            return found
        objective = self.cost(best)
        lost = self._price(best, f, g) + EPS * (abs(primal) + abs(objective))
        return refuted(found, objective, {"plan": best, "objective": objective}, lost)

    @property
    def null(self) -> float:
        """The cost, in absolute values, of a plan that sends from everywhere alike."""
        return float(self.a @ np.abs(self.costs) @ (self.b / self.total))

    def _price(self, plan: Array, f: Array, g: Array) -> float:
        """What violated constraints may have gained: each times its multiplier."""
        below, rows, columns = self._violations(plan)
        costs = np.abs(self.costs - f[:, None] - g)
        price = np.abs(f) @ np.abs(rows) + np.abs(g) @ np.abs(columns)
        return float(price + (costs * below).sum())

    def _rows(self, plan: Array, f: Array, g: Array, moved: Array) -> list[Condition]:
        below, rows, columns = self._violations(plan)
        (m, n), kind = plan.shape, "primal_feasibility"
        size_a = np.maximum(self.a, self.total / m)
        size_b = np.maximum(self.b, self.total / n)
        lost = gamma(max(m, n) + 4)
        sums = np.abs(plan).sum(axis=1), np.abs(plan).sum(axis=0)
        largest = float(np.abs(self.costs).max())
        sizes = 4.0 * UNIT * (np.abs(f)[:, None] + np.abs(g) + np.abs(self.costs))
        return [
            worst("P >= 0", kind, below, self.total / max(m, n)),
            worst("P 1 = a", kind, rows, size_a, lost * sums[0]),
            worst("P' 1 = b", kind, columns, size_b, lost * sums[1]),
            worst("f_i + g_j <= C_ij", "dual_feasibility", moved, largest, sizes),
            products("P_ij (C_ij - f_i - g_j) = 0", plan * (self.costs - f[:, None] - g)),
        ]

"""Certificates of min <C, plan> s.t. plan 1 = a, plan' 1 = b, plan >= 0, by potentials f and g.

D = a.f + b.g for f_i + g_j <= C_ij. Sum a and sum b are equal up to rounding only: the largest b is
defined by the others, exactly, and D is evaluated so. What f_i + g_j is above C_ij for an i is
taken from g_j (the c-transform), and so is what rounding may hide of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from ..formulas import Condition, products, worst
from ..numerics import EPS, ROUNDING, UNIT, Array, gamma
from ..problem.geometry import Distances
from ..problem.linear_program import LinearData
from .algebra.searchers import highs
from .algebra.sums import exact_dot
from .certificate import Certificate
from .judge import judged


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

    def completed(self, f: Array | None, g: Array | None) -> tuple[Array, Array]:
        """Potentials, one that is missing the best for the other; without any HiGHS's, or f = 0."""
        if f is None and g is None:
            f = np.zeros(self.a.size) if self.optimum is None else self.optimum[1]
        f = (self.costs - g).min(axis=1) if f is None else f
        return f, (self.costs - f[:, None]).min(axis=0) if g is None else g

    @cached_property
    def optimum(self) -> tuple[Array, Array] | None:
        """HiGHS's plan and f; None where it finds none, as in too little time."""
        m, n = self.costs.shape
        rows = sparse.kron(sparse.eye_array(m), np.ones((1, n)))
        columns = sparse.kron(np.ones((1, m)), sparse.eye_array(n))
        # In units of its own: tolerances are absolute.
        unit, size = float(np.abs(self.costs).max()) or 1.0, self.total
        found = highs(
            LinearData(
                self.costs.ravel() / unit,
                sparse.csr_array((0, m * n)),
                np.zeros(0),
                sparse.csr_array(sparse.vstack([rows, columns])),
                np.concatenate([self.a, self.b]) / size,
                np.zeros(m * n),
                np.full(m * n, np.inf),
            )
        )
        if found.x is None or found.nu is None:
            return None
        return size * found.x.reshape(m, n), -unit * found.nu[:m]

    def _over(self, f: Array, g: Array) -> Array:
        """How much g_j has to fall for f_i + g_j <= C_ij, with what rounding may hide, (n,)."""
        sizes = np.abs(f)[:, None] + np.abs(g) + np.abs(self.costs)
        return np.maximum((f[:, None] + g - self.costs + 4.0 * UNIT * sizes).max(axis=0), 0.0)

    # -- judged ----------------------------------------------------------------------------------

    def certify(self, plan: Array, *given: Array | None, tol: float, passed: bool) -> Certificate:
        """Judge a plan by potentials; what is missing of them is constructed."""
        f, g = self.completed(*given)
        over = self._over(f, g)
        primal, charge = self.cost(plan), float((self.b + 2.0 * ROUNDING * self.total) @ over)
        value = self.gain(f, g) - charge * (1.0 + gamma(self.b.size + 4))
        moved = np.maximum(f[:, None] + g - self.costs, 0.0)
        return judged(
            primal,
            value,
            self._rows(plan, f, g, moved),
            tol,
            passed=passed,
            null=self.null,
            rounding=4.0 * EPS * (abs(primal) + abs(value) + charge) + self._price(plan, f, g),
            dual={"f": f, "g": g},
            repaired=0.0 if any(each is None for each in given) else float(moved.max()),
        )

    def value_rounding(self, plan: Array) -> float:
        """What <C, plan> may be off by, and what violations may gain by HiGHS's potentials."""
        size = float(np.abs(self.costs * plan).sum())
        return EPS * size + self._price(plan, *self.completed(None, None))

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


# Certificates of sum_q min sum_i p_qi D_qi s.t. sum_i p_qi = 1, 0 <= p_qi <= 1/k.
#
# With nu of the sum and multipliers of the bounds, L = D.p + nu.(p 1 - 1) - lambda_lower.p
# + lambda_upper.(p - 1/k). Whatever is left of the reduced costs D + nu - lambda_lower +
# lambda_upper
# is carried by the bounds, as 0 <= p <= 1/k: any multipliers bound P*, and the best for a nu are
# lambda_upper = (-nu - D)_+, lambda_lower = (D + nu)_+.


NeighbourArrays = dict[str, Array]
NAMES = ("nu", "lambda_lower", "lambda_upper")
STATIONARITY = "d_i + nu - lambda_lower_i + lambda_upper_i = 0"


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The program of the k nearest neighbours.

    Attributes
    ----------
    distances : Distances
    k : int
    """

    distances: Distances
    k: int

    def value(self, p: Array) -> float:
        """The objective; inf where p is infeasible by more than rounding."""
        sums, below, above = self._violations(p)
        terms = 1.0 + np.abs(p).sum(axis=1)
        if np.any(np.abs(sums) > ROUNDING * terms):
            return np.inf
        return self.cost(p) if max(below.max(), above.max()) <= ROUNDING / self.k else np.inf

    def cost(self, p: Array) -> float:
        """The objective of any p."""
        return float((self.distances.values * p).sum(axis=1).sum())

    def _violations(self, p: Array) -> tuple[Array, Array, Array]:
        """Of the sums (signed), of p >= 0 and of p <= 1/k."""
        return p.sum(axis=1) - 1.0, np.maximum(-p, 0.0), np.maximum(p - 1.0 / self.k, 0.0)

    def reduced(self, dual: NeighbourArrays) -> Array:
        """The reduced costs D + nu - lambda_lower + lambda_upper."""
        costs = self.distances.values + dual["nu"][:, None]
        return costs - dual["lambda_lower"] + dual["lambda_upper"]

    def dual_value(self, *given: Array) -> float:
        """-sum nu - sum lambda_upper / k; -inf where infeasible by more than rounding."""
        dual = dict(zip(NAMES, given, strict=True))
        sizes = self.distances.values + np.abs(dual["nu"])[:, None]
        signs = min(float(dual[name].min()) for name in NAMES[1:])
        if signs < 0.0 or np.any(np.abs(self.reduced(dual)) > ROUNDING * sizes):
            return -np.inf
        return float(-dual["nu"].sum() - dual["lambda_upper"].sum() / self.k)

    def completed(self, dual: NeighbourArrays) -> NeighbourArrays:
        """The multipliers that were not passed: nu of the sorted distances, and the best others."""
        nu = dual["nu"] if "nu" in dual else -self.distances.levels(self.k)
        costs = self.distances.values + nu[:, None]
        lower = dual.get("lambda_lower")
        upper = np.maximum((0.0 if lower is None else lower) - costs, 0.0)
        upper = dual.get("lambda_upper", upper)
        lower = np.maximum(costs + upper, 0.0) if lower is None else lower
        return {"nu": nu, "lambda_lower": lower, "lambda_upper": upper}

    def bound(self, dual: NeighbourArrays) -> tuple[float, float]:
        """D at nu, lambda_upper (0 where negative) and the best lambda_lower, and its rounding.

        A distance that is off moves D by 1/k of that where its reduced cost may be negative.
        """
        k, upper = self.k, np.maximum(dual["lambda_upper"], 0.0)
        costs = self.distances.values + dual["nu"][:, None] + upper
        sizes = self.distances.values + np.abs(dual["nu"])[:, None] + upper
        wrong = self.distances.noise * self.distances.values + 4.0 * UNIT * sizes
        may = np.where(costs - wrong < 0.0, wrong, 0.0)
        charged = upper - np.minimum(costs, 0.0)
        value = float(-dual["nu"].sum() - charged.sum(axis=1).sum() / k)
        size = float(np.abs(dual["nu"]).sum() + charged.sum(axis=1).sum() / k)
        count = additions(charged)
        return value, float(may.sum()) / k * (1.0 + gamma(count)) + gamma(count) * size

    def certify(self, p: Array, *own: Array | None, tol: float, passed: bool) -> Certificate:
        """Judge p by multipliers; those that are None are constructed."""
        pairs = zip(NAMES, own, strict=True)
        given = self.completed({name: each for name, each in pairs if each is not None})
        primal, (value, lost) = self.cost(p), self.bound(given)
        moved = max(float(np.maximum(-given[name], 0.0).max()) for name in NAMES[1:])
        return judged(
            primal,
            value,
            self._rows(p, given),
            tol,
            passed=passed,
            null=self.null,
            rounding=lost + self.value_rounding(p) + self._price(p, given),
            dual=given,
            repaired=moved,
        )

    @property
    def null(self) -> float:
        """P where all samples are neighbours alike."""
        return float(self.distances.values.mean(axis=1).sum())

    def value_rounding(self, p: Array) -> float:
        """What P may be off by."""
        terms = float((np.abs(p) * self.distances.values).sum(axis=1).sum())
        return (self.distances.noise + gamma(additions(p))) * terms

    def _price(self, p: Array, dual: NeighbourArrays) -> float:
        """What violated constraints may have gained: each times its multiplier."""
        sums, below, above = self._violations(p)
        price = np.abs(dual["nu"]) @ np.abs(sums) + (np.abs(dual["lambda_lower"]) * below).sum()
        return float(price + (np.abs(dual["lambda_upper"]) * above).sum())

    def _rows(self, p: Array, dual: NeighbourArrays) -> list[Condition]:
        sums, below, above = self._violations(p)
        share, dist = 1.0 / self.k, self.distances.values
        sizes = dist.max(axis=1)[:, None] + np.zeros_like(dist)
        lower, upper = dual["lambda_lower"], dual["lambda_upper"]
        kind = "primal_feasibility"
        lost = gamma(additions(p)) * np.abs(p).sum(axis=1)
        return [
            worst("sum_i p_i = 1", kind, sums, 1.0, lost),
            worst("p_i >= 0", kind, below, share),
            worst("p_i <= 1/k", kind, above, share, 4.0 * UNIT * np.abs(p)),
            worst("lambda_lower >= 0", "dual_feasibility", np.maximum(-lower, 0.0), sizes),
            worst("lambda_upper >= 0", "dual_feasibility", np.maximum(-upper, 0.0), sizes),
            worst(STATIONARITY, "dual_feasibility", self.reduced(dual), sizes),
            products("lambda_lower_i p_i = 0", lower * p),
            products("lambda_upper_i (1/k - p_i) = 0", upper * (share - p)),
        ]


def additions(terms: Array) -> int:
    """How often a sum of rows, and then of these, is rounded, with room: 0 is added exactly."""
    return int(np.count_nonzero(terms, axis=1).max()) + len(terms) + 8

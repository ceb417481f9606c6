"""Certificates of boosting: AdaBoost's exponential loss, and LPBoost's margins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import xlogy

from ..data import as_design
from ..formulas import TINY, Condition, products, worst
from ..losses import Exponential
from ..numerics import ELEMENTARY, EPS, ROUNDING, UNIT, Array, gamma
from ..penalties import Zero
from ..problem import Objective
from ..problem.linear_program import LinearData
from ..problem.stumps import Stumps
from .algebra.searchers import highs
from .algebra.sums import exact_dot, exact_residual
from .certificate import Certificate
from .judge import Better, ClosedForm, DualBound, Limit, absent, judge, judged, settled, sum_off
from .learning.gap import certify_objective
from .rounding import summing_to
from .scale import program_scale

# Certificates of min sum c_i e^{-y_i (H w)_i} over decision stumps, w free: AdaBoost's problem.
#
# The dual maximises sum c_i (p_i - p_i log p_i), p_i = -y_i u_i / c_i >= 0, s.t. H'u = 0; u = 0
# says
# that P >= 0, and samples that no stump tells apart give one that is better where both classes are
# among them. The best, for few stumps, comes from the certificate of the loss.


PRICE = "The price of an H'u that is not exactly 0 is not known for so many stumps."
BOUND = (
    "The bound is what samples cost that no stump tells apart: a better one is looked for where "
    "there are fewer stumps."
)
SEPARATES = "The sum separates the classes: along it P falls to 0, which no w attains."


FEW, ENTRIES = 1000, 2**24
"""Thresholds, and entries of H of one sign, with which a bound that can meet P is looked for."""


@dataclass(frozen=True, eq=False)
class Exponentials:
    """The exponential loss of sums of stumps.

    Attributes
    ----------
    stumps : Stumps
        Of the samples.
    y, weights : array, shape (n,)
        Labels -1 and +1, and s_i > 0.
    """

    stumps: Stumps
    y: Array
    weights: Array

    @cached_property
    def c(self) -> Array:
        """s_i / sum(s)."""
        return self.weights / float(self.weights.sum())

    @cached_property
    def alike(self) -> tuple[Array, Array]:
        """The samples; where they are many, of a class that no stump tells apart the first alone.

        With the number among these that each counts as.
        """
        if self.y.size * self.stumps.count <= 2 * ENTRIES:
            return np.arange(self.y.size), np.arange(self.y.size)
        seen = np.column_stack([self.stumps.ranks, self.y > 0.0])
        _, first, same = np.unique(seen, axis=0, return_index=True, return_inverse=True)
        return first, same.ravel()

    @cached_property
    def few(self) -> Objective | None:
        """The loss of the stumps x_j > t, whose weights have any sign; None where H is too large.

        Samples that are alike are taken for one. Sums of weights are rounded, all terms of P with
        them.
        """
        first, same = self.alike
        thresholds = self.stumps.count // 2
        if thresholds > FEW or len(first) * thresholds > ENTRIES:
            return None
        H = Stumps(self.stumps.thresholds, self.stumps.ranks[first]).dense()[:, ::2]
        c = np.bincount(same, self.c)
        return Objective(as_design(np.array(H)), self.y[first], Exponential(), Zero(), c, False)

    def margins(self, w: Array) -> Array:
        """y_i (H w)_i."""
        return self.y * self.stumps.matvec(w)

    def lost(self, w: Array) -> float:
        """What rounding may take from a margin: as many sums as weights are not 0."""
        count = 4 * int(np.count_nonzero(w)) + 2 * len(self.stumps.thresholds) + 4
        return gamma(count) * float(np.abs(w).sum())

    def cost(self, w: Array) -> tuple[float, float]:
        """P, and a bound on its error."""
        with np.errstate(over="ignore"):
            value = float(self.c @ np.exp(-self.margins(w)))
            share = np.expm1(self.lost(w)) + ELEMENTARY + 2.0 * gamma(self.c.size + 8)
        return value, float(value * share) + TINY

    def dual_value(self, u: Array) -> float:
        """D; -inf where a p is negative, or H'u not 0 but for rounding."""
        p, left = -self.y * u / self.c, self.stumps.rmatvec(u)
        allowed = ROUNDING * float(np.abs(u).sum())
        if np.any(p < 0.0) or np.any(np.abs(left) > allowed):
            return -np.inf
        return float(self.c @ (p - xlogy(p, p)))

    def certify(self, w: Array, u: Array | None, tol: float, *, search: bool) -> Certificate:
        """Judge w by u, by the u that the certificate of the loss finds, or by u = 0.

        With ``search`` a better w refutes it: that certificate's, or 2 w where w separates.
        """
        primal, error = self.cost(w)
        separates = float(self.margins(w).min()) > self.lost(w)
        found, given = None, None if u is None else np.bincount(self.alike[1], u)
        if self.few is not None:
            signed = w[::2] - w[1::2]
            found = certify_objective(self.few, signed, u=given, tol=tol, refute=search)
        below, used, reason = self._bound(found, u)
        certificate = judged(
            primal,
            below,
            self._rows(w, used),
            tol,
            passed=u is not None,
            null=1.0,
            rounding=error,
            dual={"u": used},
            reason=SEPARATES if separates and not below > 0.0 else reason,
            is_proved=False,
        )

        def better() -> Better | None:
            best = 2.0 * w
            if not separates:
                if found is None or found.witness is None:
                    return None
                signed = found.witness["w"]
                best = np.maximum([signed, -signed], 0.0).T.ravel()
            value, lost = self.cost(best)
            return Better({"w": best}, value, error + lost)

        return settled(certificate, better) if search else certificate

    @cached_property
    def twins(self) -> tuple[float, Array]:
        """A bound on P from below by samples that every stump takes for one, and its u.

        With the weights a of their first and b of their second class they add at least
        min_z a e^z + b e^-z = 2 sqrt(a b) to P, whatever their common (H w)_i is.
        """
        same = np.unique(self.stumps.ranks, axis=0, return_inverse=True)[1].ravel()
        sides = [np.bincount(same, self.c * (self.y == sign)) for sign in (-1.0, 1.0)]
        roots = np.sqrt(sides[0]) * np.sqrt(sides[1])
        own = np.where(self.y > 0.0, sides[1][same], sides[0][same])
        value = 2.0 * float(roots.sum()) * (1.0 - gamma(2 * self.c.size + 16))
        return max(value, 0.0), -self.y * (self.c / own) * roots[same]

    def _bound(self, found: Certificate | None, u: Array | None) -> tuple[float, Array, str]:
        """A bound on P from below, its u, and why it is not better."""
        few, nothing = self.few, np.zeros_like(self.c)
        if u is not None and not np.any(u):
            return 0.0, nothing, ""
        if found is None or few is None:
            return (*self.twins, BOUND) if u is None else (-np.inf, u, PRICE)
        lost = 2.0 * EPS + 3.0 * gamma(self.c.size + 16) * (len(self.alike[0]) < self.c.size)
        below = found.primal_objective - found.gap
        below -= lost * (abs(found.primal_objective) + found.gap)
        if u is None and not below > self.twins[0]:
            return *self.twins, found.reason
        shares = self.c / few.c[self.alike[1]]
        own = found.dual["u"][self.alike[1]] * shares if "u" in found.dual else nothing
        return below, own, found.reason

    def separation(self, w: Array, tol: float) -> Certificate | None:
        """The claim "unattained", by a w all of whose margins are positive; None where one is not.

        Then P(t w) falls to 0 with t, and P > 0 everywhere.
        """
        margins = self.margins(w)
        least = float(margins.min()) - self.lost(w)
        if not least > 0.0:
            return None
        row = worst("y_i (H w)_i > 0", "dual_feasibility", 0.0, float(np.abs(w).sum()))
        evidence = {"w": w, "margin": np.asarray(least)}
        return judge(absent("unattained", [row], tol, objective=0.0, reason=SEPARATES,
                            evidence=evidence))  # fmt: skip

    def _rows(self, w: Array, u: Array) -> list[Condition]:
        with np.errstate(over="ignore"):
            push = self.c * np.exp(-self.margins(w))
        size = float(np.abs(u).sum())
        return [
            worst("u_i = -c_i y_i e^{-y_i (H w)_i}", "stationarity", u + self.y * push, 1.0),
            worst("H'u = 0", "dual_feasibility", self.stumps.rmatvec(u), size,
                  ROUNDING * size),
            worst("y_i u_i <= 0", "dual_feasibility", np.maximum(self.y * u, 0.0), self.c),
        ]  # fmt: skip


# The program min -rho + c'xi s.t. A w >= rho - xi, w in the simplex, xi >= 0: LPBoost.
#
# A_ij = y_i H_ij, c_i = s_i / (nu sum s). With d in the capped simplex, sum d = 1, 0 <= d <= c, and
# gamma = max_j (A'd)_j, D = -gamma and
# P - D = sum d_i (A w - rho + xi)_i + sum (c_i - d_i) xi_i + sum w_j (gamma - (A'd)_j).


MANY = 200
"""Learners that enter the restricted linear program at once."""
NOISE = 1e-8
"""Entries of A below this share of the largest say nothing of a size."""
CAPS = 8.0 * UNIT
"""What a c_i may be off by, relative: a sum that is rounded once, a product and a quotient."""


class MarginPoint(NamedTuple):
    """Weights of learners, the margin, and the slacks (n,)."""

    w: Array
    rho: float
    xi: Array


@dataclass(frozen=True, eq=False)
class Margins(ClosedForm):
    """The linear program of margins, solved by columns and judged.

    Attributes
    ----------
    A : array or csc_array, shape (n, m)
        y_i H_ij.
    c : array, shape (n,)
        s_i / (nu sum s) > 0; their sum is 1 / nu >= 1.
    """

    duals = ("d",)
    A: Any
    c: Array

    def cost(self, point: MarginPoint) -> float:
        """-rho + c'xi, rounded once."""
        return exact_dot(np.append(self.c, -1.0), np.append(point.xi, point.rho))

    def value_rounding(self, point: MarginPoint) -> float:
        return 4.0 * EPS * abs(point.rho) + 2.0 * CAPS * float(self.c @ np.abs(point.xi))

    def margins(self, w: Array) -> Array:
        """A w, each rounded once, (n,)."""
        used = np.flatnonzero(w)
        return exact_residual(self.A[:, used], w[used]) if used.size else np.zeros(self.c.size)

    def constraints(self, point: MarginPoint) -> list[Limit]:
        (w, rho, xi), size = point, self.units[0]
        below = np.maximum(rho - self.margins(w) - xi, 0.0)
        lost = 4.0 * UNIT * (abs(self.A) @ np.abs(w) + abs(rho) + np.abs(xi))
        return [
            ("y_i (H w)_i >= rho - xi_i", below, size, lost),
            ("xi_i >= 0", np.maximum(-xi, 0.0), size, 0.0),
            ("w_j >= 0", np.maximum(-w, 0.0), 1.0, 0.0),
            ("sum_j w_j = 1", sum_off(w), 1.0, 0.0),
        ]

    def beside(
        self, point: MarginPoint, away: Sequence[Array], dual: Sequence[Array], found: DualBound
    ) -> tuple[float, list[Condition]]:
        (w, rho, xi), (d,), edges = point, found.dual, found.known
        edge = edges.max()
        prices = d, self.c, edge - edges, abs(edge)
        price = sum(float(np.sum(u * off)) for u, off in zip(prices, away, strict=True))
        return price, [
            products("d_i (y_i (H w)_i - rho + xi_i) = 0", d * (self.margins(w) - rho + xi)),
            products("(s_i / (nu sum s) - d_i) xi_i = 0", (self.c - d) * xi),
            products("w_j (gamma - sum_i d_i y_i H_ij) = 0", w * (edge - edges)),
        ]

    def point_of(self, w: Array, rho: float | None = None) -> MarginPoint:
        """The best rho for w, where none is passed, and the least slacks."""
        margins = self.margins(w)
        rho = self._filled(margins)[1] if rho is None else rho
        return MarginPoint(w, rho, np.maximum(rho - margins, 0.0))

    # -- the dual: a hard distribution -----------------------------------------------------------

    def edges(self, d: Array) -> Array:
        """A'd, (m,)."""
        return np.asarray(self.A.T @ d)

    @cached_property
    def largest(self) -> float:
        """max |A_ij|."""
        return float(abs(self.A).max())

    def completed(self, point: MarginPoint, d: Array | None = None) -> tuple[Array]:
        """HiGHS's distribution; where it finds none, as much as may be on the least margins."""
        if d is None:
            best = self.optimum
            d = self._filled(self.margins(point.w))[0] if best is None else best[1]
        return (d,)

    def bound(self, d: Array) -> DualBound:
        """-max_j (A'd)_j of the nearest distribution, which is feasible but for rounding.

        d / (1 + e) is below c, and then what its sum lacks fits into c - d, or is divided away.
        """
        used, over = self.feasible(d), np.maximum(d - self.c, 0.0)
        edges = self.edges(used)
        edge = float(edges.max())
        e = float(np.max((used - self.c) / self.c, initial=0.0)) * (1.0 + 4.0 * UNIT) + 2.0 * CAPS
        off, share = abs(sum_off(used)), gamma(d.size + 4) * float(used.sum())
        lost = (share + (2.0 * e + off) * (1.0 + 4.0 * e + off)) * self.largest
        rows = [
            worst("sum_i d_i = 1", "stationarity", sum_off(d), 1.0),
            worst("d_i >= 0", "dual_feasibility", np.maximum(-d, 0.0), self.c),
            worst("d_i <= s_i / (nu sum s)", "dual_feasibility", over, self.c, CAPS * self.c),
        ]
        return DualBound(-edge, lost + 4.0 * EPS * abs(edge), rows, (used,), edges)

    def feasible(self, d: Array) -> Array:
        """The d nearby whose entries are between 0 and c and add up to 1, but for rounding.

        That is less by the digits in which a sum of caps may miss 1: what is 0 stays 0 there.
        """
        return summing_to(1.0 - 2.0 * CAPS, np.clip(d, 0.0, self.c), self.c)

    def _filled(self, margins: Array) -> tuple[Array, float]:
        """As much d as may be on the least margins, and the last of these: the best rho."""
        order = np.argsort(margins, kind="stable")
        before = np.concatenate([[0.0], np.cumsum(self.c[order])[:-1]])
        d = np.zeros(self.c.size)
        d[order] = np.clip(1.0 - before, 0.0, self.c[order])
        return d, float(margins[d > 1e-12].max())

    @cached_property
    def units(self) -> tuple[float, float]:
        """The sizes of margins and of the objective, from the data; 0 where all A_ij are 0.

        The units of ``scale.program_units`` for a program all of whose rows are alike: of |A_ij|
        and of c_i the geometric means g and h stand for all. In logarithms, x of w, r of rho, k of
        xi, e of margins, o of 1'w and V of the objective meet g + x = e, x = o, o = 0, and as often
        as there are samples r = e, k = e and h + k = V, but r = V once, in least squares: then
        e = g, and V is h (n + 1) / (n + 3) more.
        """
        entries = np.abs(self.A.data if hasattr(self.A, "indptr") else self.A).ravel()
        entries = entries[entries > NOISE * float(entries.max(initial=0.0))]
        if not entries.size:
            return 0.0, 0.0
        n, size = self.c.size, float(np.exp(np.log(entries).mean()))
        return size, size * float(np.exp((n + 1.0) / (n + 3.0) * np.log(self.c).mean()))

    def facts(self, point: Any, primal: float, found: DualBound) -> dict[str, Any]:
        return {"scale": program_scale(primal, found.value, self.units[1])}

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
        if found.x is None or found.y is None:
            return None
        w = np.zeros(self.A.shape[1])
        w[used] = found.x[:k] / found.x[:k].sum()
        return self.point_of(w), self.feasible(found.y[:n])

    @cached_property
    def optimum(self) -> tuple[MarginPoint, Array] | None:
        """The last of ``rounds``."""
        found = [(point, d) for point, d, _ in self.rounds()]
        return found[-1] if found else None

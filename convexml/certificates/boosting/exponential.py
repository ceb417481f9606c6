"""Certificates of min sum c_i e^{-y_i (H w)_i} over decision stumps, w free: AdaBoost's problem.

The dual maximises sum c_i (p_i - p_i log p_i), p_i = -y_i u_i / c_i >= 0, s.t. H'u = 0; u = 0 says
that P >= 0, and samples that no stump tells apart give one that is better where both classes are
among them. The best, for few stumps, comes from the certificate of the loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import xlogy

from ...conditions import TINY, Condition, worst
from ...numerics import ELEMENTARY, EPS, ROUNDING, Array, gamma
from ...objective.boosting.stumps import Stumps
from ..certificate import Certificate, Verdict
from ..judge import absent, bounded, judge, refuted
from ..scale import learning_scale

PRICE = "The price of an H'u that is not exactly 0 is not known for so many stumps."
BOUND = (
    "The bound is what samples cost that no stump tells apart: a better one is looked for where "
    "there are fewer stumps."
)
SEPARATES = "The sum separates the classes: along it P falls to 0, which no w attains."


@dataclass(frozen=True, eq=False)
class Exponentials:
    """The exponential loss of sums of stumps.

    Attributes
    ----------
    stumps : Stumps
        Of the samples.
    y, c : array, shape (n,)
        Labels -1 and +1, and weights that add up to 1.
    judged : callable, optional
        The certificate of the same loss, posed with the stumps x_j > t alone, for a w and perhaps
        a u; None where they are too many, or of a u that it does not judge.
    """

    stumps: Stumps
    y: Array
    c: Array
    judged: Callable[[Array, Array | None, float], Certificate | None] | None

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
        found = self.judged(w[::2] - w[1::2], u, tol) if self.judged else None
        below, used, reason = self._bound(found, u)
        certificate = judge(
            bounded(
                primal,
                below,
                self._rows(w, used),
                tol,
                scale=learning_scale(primal, below, float(self.c.sum())),
                rounding=error,
                dual={"u": used},
                dual_source="constructed" if u is None else "passed",
                reason=SEPARATES if separates and not below > 0.0 else reason,
            )
        )
        if not search or certificate.verdict is not Verdict.UNDECIDED:
            return certificate
        better = 2.0 * w
        if not separates:
            if found is None or found.witness is None:
                return certificate
            better = np.zeros_like(w)
            better[::2] = np.maximum(found.witness["w"], 0.0)
            better[1::2] = np.maximum(-found.witness["w"], 0.0)
        value, lost = self.cost(better)
        return refuted(certificate, value, {"w": better, "objective": value}, error + lost)

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
        nothing = np.zeros_like(self.c)
        if u is not None and not np.any(u):
            return 0.0, nothing, ""
        if found is None:
            return (*self.twins, BOUND) if u is None else (-np.inf, u, PRICE)
        below = found.primal_objective - found.gap
        below -= 2.0 * EPS * (abs(found.primal_objective) + found.gap)
        if u is None and not below > self.twins[0]:
            return *self.twins, found.reason
        return below, found.dual.get("u", nothing), found.reason

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

"""Certificates of -log det Theta + tr(S Theta) + lam sum_{i != j} |Theta_ij|, a sparse precision.

The dual maximises log det W + d subject to W_jj = S_jj, |W_ij - S_ij| <= lam. What S, determinants
and traces may be off by counts into the gap, every step of that account is rigorous, and the gap is
measured on d: in nats for a feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np

from ...conditions import Condition, products, worst
from ...numerics import UNIT, Array, gamma
from ...objective.likelihood.newton import precision_steps
from ..algebra.log_det import log_det
from ..certificate import Certificate, Verdict
from ..judge import bounded, judge, refuted
from ..scale import entropy_scale

STEPS = 200
"""Newton steps towards a better point."""
ENOUGH = 1e-12
"""What a step lowers the objective by, for a feature, where no more is needed."""
SEEN = 1e-6
"""Entries of Theta above this, in units of the features, are not 0 up to what a solver reaches."""


@dataclass(frozen=True)
class Precision:
    """The problem in Theta; the exact S is within ``noise`` of the one that is held.

    Attributes
    ----------
    S, noise : array, shape (d, d)
    lam : float
    """

    S: Array
    noise: Array
    lam: float

    @property
    def d(self) -> int:
        """The number of features."""
        return len(self.S)

    @property
    def sizes(self) -> Array:
        """The size of each entry of S in its units: sqrt(S_ii S_jj)."""
        roots = np.sqrt(np.abs(np.diag(self.S)))
        return np.outer(roots, roots)

    def value(self, Theta: Array) -> float:
        """The objective; inf where Theta is not positive definite."""
        return self._linear(Theta) - log_det(Theta)[0]

    def _linear(self, Theta: Array) -> float:
        """All but the log-determinant, row by row: a term is in 2 d sums, not in d^2."""
        off = np.abs(off_diagonal(Theta)).sum(axis=1).sum()
        return float((self.S * Theta).sum(axis=1).sum() + self.lam * off)

    def _linear_rounding(self, Theta: Array) -> float:
        sizes = float((np.abs(self.S * Theta) + self.lam * np.abs(off_diagonal(Theta))).sum())
        return gamma(2 * self.d + 8) * sizes * (1.0 + gamma(self.d**2 + 8))

    def value_rounding(self, Theta: Array) -> float:
        """What the value, of this S, may be off by from that of the exact one."""
        sizes = np.abs(self.S * Theta) + self.lam * np.abs(off_diagonal(Theta))
        noise = float(np.sum(self.noise * np.abs(Theta))) * (1.0 + gamma(self.d**2 + 4))
        linear = self._linear_rounding(Theta) + noise
        value, lost = log_det(Theta)
        return linear + lost + 4.0 * UNIT * (abs(value) + float(sizes.sum()))

    def nearest(self, W: Array) -> Array:
        """The nearest W of the dual's box; entries inside are left as they are."""
        W = 0.5 * (W + W.T)
        at_wall = self.S + off_diagonal(np.clip(W - self.S, -self.lam, self.lam))
        return np.where(self._inside(W), W, at_wall)

    def dual_value(self, W: Array) -> float:
        """log det W + d; -inf where W is not positive definite, or outside by more than noise."""
        W = np.asarray(W)
        off = np.abs(W - self.nearest(W))
        if not (np.array_equal(W, W.T) and np.all(off <= self.beside(W))):
            return -np.inf
        return log_det(W)[0] + self.d

    def beside(self, W: Array) -> Array:
        """How far from W a point lies that is dual feasible for the exact S, entry by entry."""
        sizes = np.abs(W) + np.abs(self.S) + self.lam * ~np.eye(self.d, dtype=bool)
        return np.where(self._inside(W), 0.0, self.noise + 4.0 * UNIT * sizes)

    def _inside(self, W: Array) -> Array:
        """Entries off the diagonal that are in the box of the exact S, rounding or not."""
        lost = self.noise + 4.0 * UNIT * (np.abs(W) + np.abs(self.S) + self.lam)
        return (np.abs(W - self.S) + lost <= self.lam) & ~np.eye(self.d, dtype=bool)

    def certify(
        self, Theta: Array, W: Array | None, tol: float, *, search: bool = True
    ) -> Certificate:
        """Judge Theta by a W that is moved into the dual's box, or by a constructed one.

        Parameters
        ----------
        Theta : array, shape (d, d)
        W : array, shape (d, d), or None
        tol : float
        search : bool
            Whether to look for a better Theta and W, where it is not certified.
        """
        symmetric = 0.5 * (Theta + Theta.T)
        if W is not None:
            found = self._judged(Theta, symmetric, W, tol, "passed")
        else:
            found = self._constructed(Theta, symmetric, tol)
        undecided = found.verdict is Verdict.UNDECIDED and np.isfinite(found.primal_objective)
        if not (search and undecided):
            return found
        better, own = self._improved()
        if better is None or own is None:
            return found
        if W is None and self.dual_value(self.nearest(own)) > found.dual_objective:
            found = self._judged(Theta, symmetric, own, tol, "constructed")
        value = self.value(better)
        lost = self.value_rounding(better) + self.value_rounding(symmetric)
        return refuted(found, value, {"Theta": better, "objective": value}, lost)

    def _constructed(self, Theta: Array, symmetric: Array, tol: float) -> Certificate:
        """Bound P - P* by Theta^-1, or with its entries at the ends of the box by Theta's signs."""
        W = _inverse(symmetric)
        found = self._judged(Theta, symmetric, W, tol, "constructed")
        if found.verdict is Verdict.CERTIFIED or not self.lam > 0.0:
            return found
        seen = np.abs(symmetric) * self.sizes > SEEN
        ends = np.where(seen, self.S + self.lam * np.sign(symmetric), W)
        other = self._judged(Theta, symmetric, ends, tol, "constructed")
        return other if other.gap < found.gap else found

    def _judged(
        self, Theta: Array, symmetric: Array, given: Array, tol: float, source: str
    ) -> Certificate:
        """Bound P - P* by the W next to what is given."""
        W = self.nearest(given) if np.all(np.isfinite(given)) else given
        value, lost = log_det(W, self.beside(W)) if W is not given else (-np.inf, np.inf)
        primal, dual = self.value(symmetric), value + self.d
        moved = np.abs(given - W) if source == "passed" else np.zeros_like(W)
        reason = ""
        if not np.isfinite(dual) and np.isfinite(primal):
            reason = "The inverse of Theta leads to no W that is positive definite and in its box."
        elif not np.isfinite(lost) and np.isfinite(primal):
            reason = (
                f"{'W' if self.lam > 0.0 else 'The covariance'} is singular to working precision; "
            )
            reason += f"{'a larger lam' if self.lam > 0.0 else 'lam > 0'} makes it regular."
        return judge(
            bounded(
                primal,
                dual,
                self._rows(Theta, symmetric, W, moved),
                tol,
                scale=entropy_scale(self.d),
                rounding=self.value_rounding(symmetric) + lost + 4.0 * UNIT * abs(dual),
                dual={"W": W},
                dual_source=source,
                repaired=float(np.max(moved)),
                reason=reason,
                is_proved=True,
            )
        )

    def _rows(self, Theta: Array, symmetric: Array, W: Array, moved: Array) -> list[Condition]:
        roots = np.sqrt(np.abs(np.diag(self.S)))
        in_units = symmetric * self.sizes
        largest = float(np.max(np.abs(in_units), initial=0.0))
        least = float(np.linalg.eigvalsh(in_units)[0]) if np.isfinite(largest) else np.nan
        terms = off_diagonal(symmetric * (self.S - W) + self.lam * np.abs(symmetric))
        skew = (Theta - Theta.T) * self.sizes
        sizes = self.sizes + self.lam * ~np.eye(self.d, dtype=bool)
        with np.errstate(divide="ignore", invalid="ignore"):
            product = np.where(roots > 0.0, (symmetric @ W) * (roots[:, None] / roots), 0.0)
        return [
            worst("Theta W = I", "stationarity", product - np.eye(self.d)),
            worst("Theta = Theta'", "primal_feasibility", skew, largest),
            worst("Theta >> 0", "primal_feasibility", max(-least, 0.0), largest),
            worst(self.box, "dual_feasibility", moved, sizes, self.beside(W)),
            products(self.slack, terms),
        ]

    @property
    def box(self) -> str:
        """The constraints of W in words."""
        return "W_jj = S_jj, |W_ij - S_ij| <= lam" if self.lam > 0.0 else "W = S"

    @property
    def slack(self) -> str:
        """What Theta_ij and the room of W_ij are to each other, in words."""
        slack = "Theta_ij (S_ij - W_ij)"
        return f"{slack} + lam |Theta_ij| = 0, i != j" if self.lam > 0.0 else f"{slack} = 0"

    def _improved(self) -> tuple[Array | None, Array | None]:
        """A better Theta, and its inverse."""
        penalties = np.full_like(self.S, self.lam)
        try:
            for found in islice(precision_steps(self.S, penalties), STEPS):
                if found[2] <= ENOUGH * self.d:
                    break
        except np.linalg.LinAlgError:
            return None, None
        return found[:2]


def _inverse(M: Array) -> Array:
    """M^-1; nan where it has none."""
    try:
        return np.linalg.inv(M)
    except np.linalg.LinAlgError:
        return np.full_like(M, np.nan)


def off_diagonal(M: Array) -> Array:
    """M with zeros on its diagonal."""
    return M - np.diag(np.diag(M))

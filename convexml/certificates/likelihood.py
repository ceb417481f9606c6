"""Certificates of -log det Theta + tr(S Theta) + lam sum_{i != j} |Theta_ij|, a sparse precision.

The dual maximises log det W + d subject to W_jj = S_jj, |W_ij - S_ij| <= lam. What S, determinants
and traces may be off by counts into the gap, every step of that account is rigorous, and the gap is
measured on d: in nats for a feature.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Any

import numpy as np
from scipy.special import kl_div, xlogy

from ..formulas import Condition, products, worst
from ..numerics import ELEMENTARY, EPS, UNIT, Array, gamma
from ..problem.likelihood import precision_steps
from .algebra.definite import log_det, unit_columns
from .algebra.rationals import Dependence, dependence
from .certificate import Certificate, Verdict
from .judge import (
    BOUND,
    Better,
    ClosedForm,
    DualBound,
    Limit,
    absent,
    bounded,
    judge,
    judge_sum,
    settled,
    sum_off,
)
from .scale import entropy_scale

STEPS = 200
"""Newton steps towards a better point."""
ENOUGH = 1e-12
"""What a step lowers the objective by, for a feature, where no more is needed."""
SEEN = 1e-6
"""Entries of Theta above this, in units of the features, are not 0 up to what a solver reaches."""


@dataclass(frozen=True)
class Precision(ClosedForm):
    """The problem in Theta; the exact S is within ``noise`` of the one that is held.

    Attributes
    ----------
    S, noise : array, shape (d, d)
    lam : float
    """

    duals = ("W",)
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

    def cost(self, Theta: Array) -> float:
        """inf where Theta is not positive definite; a term is in 2 d sums, not in d^2."""
        off = np.abs(off_diagonal(Theta)).sum(axis=1).sum()
        linear = float((self.S * Theta).sum(axis=1).sum() + self.lam * off)
        return linear - log_det(0.5 * (Theta + Theta.T))[0]

    def value_rounding(self, Theta: Array) -> float:
        """What P, of this S, may be off by from that of the exact one."""
        sizes = float((np.abs(self.S * Theta) + self.lam * np.abs(off_diagonal(Theta))).sum())
        noise = float(np.sum(self.noise * np.abs(Theta))) + gamma(2 * self.d + 8) * sizes
        value, lost = log_det(0.5 * (Theta + Theta.T))
        return noise * (1.0 + gamma(self.d**2 + 8)) + lost + 4.0 * UNIT * (abs(value) + sizes)

    def constraints(self, Theta: Array) -> list[Limit]:
        in_units = 0.5 * (Theta + Theta.T) * self.sizes
        largest = float(np.max(np.abs(in_units), initial=0.0))
        least = float(np.linalg.eigvalsh(in_units)[0]) if np.isfinite(largest) else np.nan
        return [
            ("Theta = Theta'", (Theta - Theta.T) * self.sizes, largest, 0.0),
            ("Theta >> 0", max(-least, 0.0), largest, 0.0),
        ]

    def nearest(self, W: Array) -> Array:
        """The nearest W of the dual's box, if any; entries inside are left as they are."""
        if not np.all(np.isfinite(W)):
            return W
        W = 0.5 * (W + W.T)
        at_wall = self.S + off_diagonal(np.clip(W - self.S, -self.lam, self.lam))
        return np.where(self._inside(W), W, at_wall)

    def away(self, W: Array) -> Array:
        """How far from W a point lies that is dual feasible for the exact S, entry by entry."""
        sizes = np.abs(W) + np.abs(self.S) + self.lam * ~np.eye(self.d, dtype=bool)
        return np.where(self._inside(W), 0.0, self.noise + 4.0 * UNIT * sizes)

    def _inside(self, W: Array) -> Array:
        """Entries off the diagonal that are in the box of the exact S, rounding or not."""
        lost = self.noise + 4.0 * UNIT * (np.abs(W) + np.abs(self.S) + self.lam)
        return (np.abs(W - self.S) + lost <= self.lam) & ~np.eye(self.d, dtype=bool)

    def completed(self, Theta: Array, W: Array | None = None) -> tuple[Array]:
        """Theta^-1, in the box."""
        return (self.nearest(_inverse(0.5 * (Theta + Theta.T))) if W is None else W,)

    def bound(self, W: Array) -> DualBound:
        """By the W next to what is given."""
        used = self.nearest(W)
        value, lost = log_det(used, self.away(used))
        sizes = self.sizes + self.lam * ~np.eye(self.d, dtype=bool)
        box = "W_jj = S_jj, |W_ij - S_ij| <= lam" if self.lam > 0.0 else "W = S"
        row = worst(box, "dual_feasibility", W - used, sizes, self.away(used))
        value += self.d
        return DualBound(value, lost + 4.0 * UNIT * abs(value), [row], (used,))

    def facts(self, Theta: Array, primal: float, found: DualBound) -> dict[str, Any]:
        reason = ""
        if np.isfinite(primal) and not np.isfinite(found.value):
            reason = "The inverse of Theta leads to no W that is positive definite and in its box."
        elif np.isfinite(primal) and not np.isfinite(found.rounding):
            what, remedy = (
                ("W", "a larger lam") if self.lam > 0.0 else ("The covariance", "lam > 0")
            )
            reason = f"{what} is singular to working precision; {remedy} makes it regular."
        return {"scale": entropy_scale(self.d), "reason": reason}

    def beside(
        self, Theta: Array, away: Sequence[Array], dual: Sequence[Array], found: DualBound
    ) -> tuple[float, list[Condition]]:
        (W,), symmetric = found.dual, 0.5 * (Theta + Theta.T)
        roots = np.sqrt(np.abs(np.diag(self.S)))
        terms = off_diagonal(symmetric * (self.S - W) + self.lam * np.abs(symmetric))
        with np.errstate(divide="ignore", invalid="ignore"):
            product = np.where(roots > 0.0, (symmetric @ W) * (roots[:, None] / roots), 0.0)
        row = worst("Theta W = I", "stationarity", product - np.eye(self.d))
        more = " + lam |Theta_ij| = 0, i != j" if self.lam > 0.0 else " = 0"
        return 0.0, [row, products(f"Theta_ij (S_ij - W_ij){more}", terms)]

    def certify(
        self, Theta: Array, *given: Array | None, tol: float, passed: bool = False
    ) -> Certificate:
        """Without a W by Theta^-1, or with its entries at the ends of the box by Theta's signs."""
        found = super().certify(Theta, *given, tol=tol, passed=passed)
        if passed or found.verdict is Verdict.CERTIFIED or not self.lam > 0.0:
            return found
        (W,) = self.completed(Theta)
        seen = np.abs(Theta + Theta.T) * self.sizes > 2.0 * SEEN
        ends = np.where(seen, self.S + self.lam * np.sign(Theta + Theta.T), W)
        other = super().certify(Theta, self.nearest(ends), tol=tol, passed=False)
        return other if other.gap < found.gap else found

    def compared(
        self, Theta: Array, W: Array | None, tol: float, search: bool = True
    ) -> Certificate:
        """The same; with ``search`` beside a better Theta and W, where it is not certified."""
        found = self.certify(Theta, W, tol=tol, passed=W is not None)
        if not (search and np.isfinite(found.primal_objective)):
            return found

        def better() -> Better | None:
            steps = precision_steps(self.S, np.full_like(self.S, self.lam))
            try:
                for step in islice(steps, STEPS):
                    if step[2] <= ENOUGH * self.d:
                        break
            except np.linalg.LinAlgError:
                return None
            best, own, _ = step
            lost = self.value_rounding(best) + self.value_rounding(Theta)
            again = partial(super(Precision, self).certify, Theta, own, tol=tol, passed=False)
            return Better({"Theta": best}, self.cost(best), lost, again)

        return settled(found, better, with_own=W is None)


def _inverse(M: Array) -> Array:
    """M^-1; nan where it has none."""
    try:
        return np.linalg.inv(M)
    except np.linalg.LinAlgError:
        return np.full_like(M, np.nan)


def off_diagonal(M: Array) -> Array:
    """M with zeros on its diagonal."""
    return M - np.diag(np.diag(M))


# Why a Gaussian likelihood has no largest value: a direction in which it grows for ever.
#
# Along Theta + t v v' with S v = 0 the term -log det falls by log(1 + t v'Theta^-1 v) and the trace
# stays. Off the diagonal v v' is 0 for a constant column, which no penalty therefore keeps;
# without a
# penalty any v will do. S v = 0 is decided from the samples without rounding.


@dataclass(frozen=True, eq=False)
class Covaried:
    """Samples of positive weight, whose covariance is about the means of groups, or about 0.

    Attributes
    ----------
    X : array, shape (n, d)
    columns : list of str or None
        Names of the columns of X.
    groups : array of int, shape (n,), or None
        0 ... K-1; None for a single one.
    centre : bool
        Whether the covariance is about a mean at all.
    """

    X: Array
    columns: list[str] | None = None
    groups: Array | None = None
    centre: bool = True

    @cached_property
    def parts(self) -> list[Array]:
        """Which samples are in each group; none where there is no mean."""
        groups = np.zeros(len(self.X), dtype=int) if self.groups is None else self.groups
        return [groups == k for k in range(int(groups.max()) + 1 if self.centre else 0)]

    @cached_property
    def dependence(self) -> Dependence:
        """Of the columns of X and the groups.

        Indicators and ones are independent, so that what depends on the others has columns of X.
        """
        return dependence(np.column_stack([self.X, *self.parts[1:]]), ones=self.centre)

    def named(self, j: int) -> str:
        """The column in words."""
        names = self.columns or [f"column {j}" for j in range(self.X.shape[1])]
        return names[j] if j < len(names) else "one column"

    def _combination(self, j: int) -> str:
        beside = " and the classes" * (self.groups is not None)
        return f"{self.named(j)} is a combination of other columns{beside}"

    def unbounded(self, problem: Precision, tol: float, remedy: str) -> Certificate | None:
        """Evidence that the samples leave the problem unbounded; None where they do not.

        Parameters
        ----------
        problem : Precision
            Of the covariance of the samples.
        tol : float
        remedy : str
            What to do about a singular covariance.
        """
        (n, d), K, R = self.X.shape, len(self.parts), np.array(self.X)
        for part in self.parts:
            R[part] -= R[part].mean(axis=0)
        each = [self.X[part] for part in self.parts] or [np.vstack([self.X, np.zeros(d)])]
        spread = np.max([np.ptp(part, axis=0) for part in each], axis=0)
        within = " in each class" * (K > 1)
        v = np.eye(d)[np.argmin(spread)]
        if np.any(spread == 0.0):
            what = f"is constant{within}" if self.centre else "is 0"
            reason = (
                f"{self.named(int(np.argmin(spread)))} {what}: Theta_jj may grow for ever. Drop it."
            )
        elif problem.lam > 0.0 or np.isfinite(log_det(problem.S, problem.noise)[1]):
            return None
        else:
            why = f"{n} samples span no more than {n - K} of {d} dimensions{within}"
            if n - K >= d:
                if not (known := self.dependence.exact).size:
                    return None
                why = self._combination(int(known[0]))
            reason = f"{why}: the covariance is singular, which does not bound Theta. {remedy}"
            unit, scales = unit_columns(R)
            v = scales * np.linalg.svd(unit, full_matrices=n < d)[2][-1]
            v = v / np.max(np.abs(v))
        sizes = np.abs(self.X) @ np.abs(v) + float(np.max(np.abs(self.X), axis=0) @ np.abs(v))
        row = worst("S v = 0, by (x_i - m)'v", "dual_feasibility", R @ v, sizes)
        evidence = {"ray": v}
        return judge(
            absent("unbounded", [row], tol, objective=-np.inf, reason=reason, evidence=evidence)
        )

    def explained(self, found: Certificate, remedy: str) -> Certificate:
        """Name a column that is a combination of others up to rounding only, where no gap is known.

        ``found`` is the certificate of a likelihood without a penalty; for exact ones see
        ``unbounded``.
        """
        if np.isfinite(found.gap) or not (doubtful := self.dependence.doubtful).size:
            return found
        why = self._combination(int(doubtful[0]))
        return found.but(
            reason=f"Up to rounding, but not exactly, {why}: the covariance is singular to working "
            f"precision. Drop the column{remedy}."
        )


# Certificates of several classes: a weighted sum of problems, and what the data say of them.


def summed(found: Sequence[tuple[str, float, Certificate]], tol: float) -> Certificate:
    """The certificate of sum_k share_k P_k, from a name, the share and a certificate each.

    P, D and the gap are sums; the relative gap is the worst of any, so that a class with a small
    share does not hide. ``dual`` has the "W" of all.
    """

    def total(name: str) -> float:
        return float(sum(share * getattr(one, name) for _, share, one in found))

    up = 1.0 + (len(found) + 8) * EPS  # a sum of bounds is no less than they are
    judged = [(name, one) for name, _, one in found]
    worst_one = max((one for _, one in judged), key=lambda one: one.relative_gap)
    marked = [row.named(f"{name}: {row.name}") for name, one in judged for row in one.conditions]
    passed = [
        one.moved if one.moved.name == BOUND else one.moved.named(f"{name}: {one.moved.name}")
        for name, one in judged
        if one.moved is not None
    ]
    whole = bounded(
        total("primal_objective"),
        total("dual_objective"),
        marked,
        tol,
        scale=worst_one.scale,
        rounding=total("rounding"),
        dual={"W": np.array([one.dual["W"] for _, one in judged])},
        dual_source=worst_one.dual_source,
        moved=max(passed, key=lambda row: row.relative, default=None),
        repaired=max(one.repaired for _, one in judged),
    )
    gap, proved = up * total("gap"), up * total("proved_gap")
    whole = whole.but(gap=gap, proved_gap=proved, relative_gap=worst_one.relative_gap)
    return judge_sum(whole, judged)


def data_row(name: str, held: Array, known: Array, size: Any) -> Condition:
    """What a point holds of the data must be what the data say."""
    return worst(name, "primal_feasibility", held - known, size, 8.0 * EPS * np.abs(known))


# Certificates of -sum_k q_k log p_k over the simplex: the gap is KL(q || p), in nats.
#
# With the multipliers nu of sum(p) = 1 and lambda of p >= 0 the dual maximises
#
#     H(q) + 1 - nu + sum_k q_k log(nu - lambda_k),   lambda >= 0,  lambda_k = nu where q_k = 0,
#
# H(q) = -sum_k q_k log q_k the entropy. It is H(q) at nu = 1, lambda = 0 on what was seen (q_k > 0)
# and 1 elsewhere; then P - D = sum_k q_k log(q_k / p_k) (Cover and Thomas, 2006, section 11.1).


@dataclass(frozen=True)
class Shares(ClosedForm):
    """The problem in p; the exact shares are within 4 units of rounding of those that are held.

    Attributes
    ----------
    q : array, shape (K,)
        Shares >= 0 that sum to 1.
    """

    duals = "nu", "lambda"
    q: Array

    @property
    def seen(self) -> Array:
        """Whether a class has any samples."""
        return self.q > 0.0

    @property
    def entropy(self) -> float:
        """-sum_k q_k log q_k."""
        return self.cost(self.q)

    def divergence(self, p: Array) -> float:
        """KL(q || p), a sum of terms >= 0; inf where p has no probability for what was seen."""
        return float(kl_div(self.q, p).sum())

    def cost(self, p: Array) -> float:
        """P, entries below 0 taken for 0."""
        with np.errstate(divide="ignore"):
            return float(-xlogy(self.q, np.maximum(p, 0.0)).sum()) + 0.0

    def value_rounding(self, p: Array) -> float:
        """Of a finite value: shares are off by 4 units, p_k by one, log by ``ELEMENTARY``."""
        sizes = float(np.abs(xlogy(self.q, np.where(p > 0.0, p, 1.0))).sum())
        return (gamma(len(self.q) + 8) + ELEMENTARY + 8.0 * UNIT) * sizes + 8.0 * UNIT

    def constraints(self, p: Array) -> list[Limit]:
        lost = gamma(len(p) + 1) * float(np.abs(p).sum())
        return [("sum_k p_k = 1", sum_off(p), 1.0, lost), ("p >= 0", np.maximum(-p, 0.0), 1.0, 0.0)]

    def repaired(self, p: Array) -> Array:
        """p >= 0 of sum 1; nothing where there is none."""
        near = np.maximum(p, 0.0)
        return near / (math.fsum(near) or np.inf)

    def completed(
        self, p: Any, nu: Array | None = None, lam: Array | None = None
    ) -> tuple[Array, Array]:
        """nu = 1, and the best lambda for it."""
        nu = np.array(1.0) if nu is None else nu
        return nu, np.where(self.seen, 0.0, np.maximum(nu, 0.0)) if lam is None else lam

    def bound(self, nu: Array, lam: Array) -> DualBound:
        """H(q) + 1 - nu + sum_k q_k log(nu - lambda_k), with the lambda nearest to these."""
        used = np.where(self.seen, np.maximum(lam, 0.0), np.maximum(nu, 0.0))
        room, sizes = np.maximum(nu - used, 0.0), np.maximum(np.abs(lam), np.abs(nu))
        value = float(self.entropy + (1.0 - nu) - self.cost(room))
        lost = self.value_rounding(self.q) + self.value_rounding(room)
        lost += 4.0 * UNIT * (self.entropy + 1.0 + abs(float(nu)))
        name = "lambda >= 0, lambda = nu where q = 0"
        row = worst(name, "dual_feasibility", lam - used, sizes)
        return DualBound(value, lost if np.isfinite(value) else 0.0, [row], (nu, used))

    def facts(self, p: Array, primal: float, found: DualBound) -> dict[str, Any]:
        reason, lost = "", (p <= 0.0) & self.seen
        if np.any(lost):
            reason = (
                f"p[{np.argmax(lost)}] = 0, but this class has samples: they have no probability."
            )
        elif not np.isfinite(found.value):
            reason = "nu and lambda give no bound: nu - lambda must be > 0 where there are samples."
        return {"scale": entropy_scale(), "reason": reason}

    def beside(
        self, p: Array, away: Sequence[Array], dual: Sequence[Array], found: DualBound
    ) -> tuple[float, list[Condition]]:
        nu, lam = dual
        return 0.0, [
            worst("p_k (nu - lambda_k) = q_k", "stationarity", p * (nu - lam) - self.q),
            products("lambda_k p_k = 0", lam * p),
        ]

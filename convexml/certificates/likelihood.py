"""Certificates of -log det Theta + tr(S Theta) + lam sum_{i != j} |Theta_ij|, a sparse precision.

The dual maximises log det W + d subject to W_jj = S_jj, |W_ij - S_ij| <= lam. What S, determinants
and traces may be off by counts into the gap, every step of that account is rigorous, and the gap is
measured on d: in nats for a feature.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from scipy.special import kl_div, xlogy

from ..formulas import Condition, products, worst
from ..numerics import ELEMENTARY, EPS, ROUNDING, UNIT, Array, gamma
from ..problem.likelihood import precision_steps
from .algebra.definite import log_det, unit_columns
from .algebra.rationals import Dependence, dependence
from .certificate import Certificate, Verdict
from .judge import BOUND, Better, absent, bounded, judge, judge_sum, judged, settled
from .scale import entropy_scale

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

    def value_rounding(self, Theta: Array) -> float:
        """What the value, of this S, may be off by from that of the exact one."""
        sizes = float((np.abs(self.S * Theta) + self.lam * np.abs(off_diagonal(Theta))).sum())
        noise = float(np.sum(self.noise * np.abs(Theta))) + gamma(2 * self.d + 8) * sizes
        value, lost = log_det(Theta)
        return noise * (1.0 + gamma(self.d**2 + 8)) + lost + 4.0 * UNIT * (abs(value) + sizes)

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
            found = self._judged(Theta, symmetric, W, tol, passed=True)
        else:
            found = self._constructed(Theta, symmetric, tol)

        def better() -> Better | None:
            best, own = self._improved()
            if best is None or own is None:
                return None
            lost = self.value_rounding(best) + self.value_rounding(symmetric)
            again = partial(self._judged, Theta, symmetric, own, tol)
            return Better({"Theta": best}, self.value(best), lost, again)

        search = search and bool(np.isfinite(found.primal_objective))
        return settled(found, better, with_own=W is None) if search else found

    def _constructed(self, Theta: Array, symmetric: Array, tol: float) -> Certificate:
        """Bound P - P* by Theta^-1, or with its entries at the ends of the box by Theta's signs."""
        W = _inverse(symmetric)
        found = self._judged(Theta, symmetric, W, tol)
        if found.verdict is Verdict.CERTIFIED or not self.lam > 0.0:
            return found
        seen = np.abs(symmetric) * self.sizes > SEEN
        ends = np.where(seen, self.S + self.lam * np.sign(symmetric), W)
        other = self._judged(Theta, symmetric, ends, tol)
        return other if other.gap < found.gap else found

    def _judged(
        self, Theta: Array, symmetric: Array, given: Array, tol: float, *, passed: bool = False
    ) -> Certificate:
        """Bound P - P* by the W next to what is given."""
        W = self.nearest(given) if np.all(np.isfinite(given)) else given
        value, lost = log_det(W, self.beside(W)) if W is not given else (-np.inf, np.inf)
        primal, dual = self.value(symmetric), value + self.d
        moved = np.abs(given - W) if passed else np.zeros_like(W)
        reason = ""
        if not np.isfinite(dual) and np.isfinite(primal):
            reason = "The inverse of Theta leads to no W that is positive definite and in its box."
        elif not np.isfinite(lost) and np.isfinite(primal):
            reason = (
                f"{'W' if self.lam > 0.0 else 'The covariance'} is singular to working precision; "
            )
            reason += f"{'a larger lam' if self.lam > 0.0 else 'lam > 0'} makes it regular."
        return judged(
            primal,
            dual,
            self._rows(Theta, symmetric, W, moved),
            tol,
            passed=passed,
            scale=entropy_scale(self.d),
            rounding=self.value_rounding(symmetric) + lost + 4.0 * UNIT * abs(dual),
            dual={"W": W},
            repaired=float(np.max(moved)),
            reason=reason,
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


# Why a Gaussian likelihood has no largest value: a direction in which it grows for ever.
#
# Along Theta + t v v' with S v = 0 the term -log det falls by log(1 + t v'Theta^-1 v) and the trace
# stays. Off the diagonal v v' is 0 for a constant column, which no penalty therefore keeps;
# without a
# penalty any v will do. S v = 0 is decided from the samples without rounding.


def certify_unbounded(
    problem: Precision,
    tol: float,
    X: Array,
    columns: list[str] | None = None,
    groups: Array | None = None,
    centre: bool = True,
    remedy: str = "Take lam > 0.",
) -> Certificate | None:
    """Evidence that the samples leave the problem unbounded; None where they do not.

    Parameters
    ----------
    problem : Precision
        Of the covariance of the samples.
    tol : float
    X : array, shape (n, d)
        Samples of positive weight.
    columns : list of str, optional
        Names of the columns of X.
    groups : array of int, shape (n,), optional
        The covariance is about the mean of each group 0 ... K-1.
    centre : bool
        Whether the covariance is about a mean at all.
    remedy : str
        What to do about a singular covariance.
    """
    n, d = X.shape
    index = np.zeros(n, dtype=int) if groups is None else groups
    K = int(index.max()) + 1 if centre else 0
    parts = [X[index == k] for k in range(K)] if centre else [np.vstack([X, np.zeros(d)])]
    spread = np.max([np.ptp(part, axis=0) for part in parts], axis=0)
    within = " in each class" if K > 1 else ""
    names = columns or [f"column {j}" for j in range(d)]
    if np.any(spread == 0.0):
        j = int(np.argmin(spread))
        what = f"is constant{within}" if centre else "is 0"
        reason = f"{names[j]} {what}: Theta_jj may grow for ever. Drop it."
        return _told(X, index, centre, np.eye(d)[j], tol, reason)
    if problem.lam > 0.0 or np.isfinite(log_det(problem.S, problem.noise)[1]):
        return None
    if n - K < d:
        why = f"{n} samples span no more than {n - K} of {d} dimensions{within}"
    else:
        known = _dependence(X, index, centre).exact
        if not known.size:
            return None
        why = _combination(names, int(known[0]), bool(within))
    reason = f"{why}: the covariance is singular, which does not bound Theta. {remedy}"
    R = _centred(X, index, centre)
    unit, scales = unit_columns(R)
    v = scales * np.linalg.svd(unit, full_matrices=n < d)[2][-1]
    return _told(X, index, centre, v / np.max(np.abs(v)), tol, reason)


def name_column(
    found: Certificate,
    X: Array,
    columns: list[str] | None = None,
    groups: Array | None = None,
    centre: bool = True,
    remedy: str = "",
) -> Certificate:
    """Name a column that is a combination of others up to rounding only, where no gap is known.

    ``found`` is the certificate of a likelihood without a penalty; for the others see
    ``certify_unbounded``.
    """
    index = np.zeros(len(X), dtype=int) if groups is None else groups
    if np.isfinite(found.gap) or not (doubtful := _dependence(X, index, centre).doubtful).size:
        return found
    names = columns or [f"column {j}" for j in range(X.shape[1])]
    why = _combination(names, int(doubtful[0]), groups is not None)
    return found.but(
        reason=f"Up to rounding, but not exactly, {why}: the covariance is singular to working "
        f"precision. Drop the column{remedy}."
    )


def _dependence(X: Array, index: Array, centre: bool) -> Dependence:
    """Of the columns of X and the groups.

    Indicators and ones are independent, so that what depends on the others has columns of X.
    """
    K = int(index.max()) + 1 if centre else 0
    return dependence(np.column_stack([X, *(index == k for k in range(1, K))]), ones=centre)


def _combination(names: list[str], j: int, grouped: bool) -> str:
    why = f"{names[j]} is" if j < len(names) else "one column is"
    return f"{why} a combination of other columns" + (" and the classes" if grouped else "")


def _centred(X: Array, index: Array, centre: bool) -> Array:
    """X less the means of its groups."""
    R = np.array(X)
    for k in range(int(index.max()) + 1) if centre else ():
        R[index == k] -= R[index == k].mean(axis=0)
    return R


def _told(X: Array, index: Array, centre: bool, v: Array, tol: float, reason: str) -> Certificate:
    sizes = np.abs(X) @ np.abs(v) + float(np.max(np.abs(X), axis=0) @ np.abs(v))
    left = _centred(X, index, centre) @ v
    row = worst("S v = 0, by (x_i - m)'v", "dual_feasibility", left, sizes)
    found = absent("unbounded", [row], tol, objective=-np.inf, reason=reason, evidence={"ray": v})
    return judge(found)


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
        return self.cost(self.q)

    def divergence(self, p: Array) -> float:
        """KL(q || p), a sum of terms >= 0; inf where p has no probability for what was seen."""
        return float(kl_div(self.q, p).sum())

    def value(self, p: Array) -> float:
        """-sum_k q_k log p_k; inf where p is not in the simplex."""
        inside = bool(np.all(p >= 0.0)) and abs(math.fsum(p) - 1.0) <= ROUNDING
        return self.cost(p) if inside else np.inf

    def dual_value(self, nu: Array, lam: Array) -> float:
        """D; -inf where they are not feasible."""
        balanced = np.abs(nu - lam)[~self.seen] <= ROUNDING * np.abs(nu)
        feasible = bool(np.all(lam >= 0.0) and np.all(balanced))
        return self._dual_value(nu, lam) if feasible else -np.inf

    def best_dual(self, nu: Array) -> Arrays:
        """``nu`` with the best lambda for it."""
        return {"nu": nu, "lambda": np.where(self.seen, 0.0, np.maximum(nu, 0.0))}

    def certify(
        self, p: Array, nu: Array | None, lam: Array | None, tol: float, *, passed: bool
    ) -> Certificate:
        """Judge p >= 0, scaled to sum to 1, by nu and lambda; those that are None are the best.

        Parameters
        ----------
        p : array, shape (K,)
        nu : array, shape (), or None
        lam : array, shape (K,), or None
        tol : float
        passed : bool
            Whether somebody brought them.
        """
        given = self.best_dual(np.array(1.0) if nu is None else nu)
        given |= {} if lam is None else {"lambda": lam}
        nu, lam = given["nu"], np.maximum(given["lambda"], 0.0)
        lam = np.where(self.seen, lam, np.maximum(nu, 0.0))
        near = np.maximum(p, 0.0)
        total = math.fsum(near)
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = near / total
        value, shift = self.cost(near), math.log(total) if total > 0.0 else np.inf
        primal = max(value, value + shift)
        bound = self._dual_value(nu, lam)
        moved = float(np.max(np.abs(p - scaled))) if total > 0.0 else np.inf
        lost = self.value_rounding(near) + self._dual_rounding(nu - lam, nu)
        lost += ELEMENTARY * abs(shift)
        return judged(
            primal,
            bound,
            self._rows(p, given, given["lambda"] - lam),
            tol,
            passed=passed,
            scale=entropy_scale(),
            rounding=lost if np.isfinite(primal - bound) else 0.0,
            dual={"nu": nu, "lambda": lam},
            repaired=moved if moved > ROUNDING else 0.0,
            reason=self._reason(primal, bound, near),
        )

    # -- values, and what they may be off by ------------------------------------------------------

    def cost(self, p: Array) -> float:
        """The objective of any p >= 0."""
        with np.errstate(divide="ignore"):
            return float(-xlogy(self.q, p).sum()) + 0.0

    def value_rounding(self, p: Array) -> float:
        """Of a finite value: shares are off by 4 units, p_k by one, log by ``ELEMENTARY``."""
        sizes = float(np.abs(xlogy(self.q, np.where(p > 0.0, p, 1.0))).sum())
        return (gamma(len(self.q) + 8) + ELEMENTARY + 8.0 * UNIT) * sizes + 8.0 * UNIT

    def _dual_value(self, nu: Array, lam: Array) -> float:
        room = np.maximum(nu - lam, 0.0)
        return float(self.entropy + (1.0 - nu) - self.cost(room))

    def _dual_rounding(self, room: Array, nu: Array) -> float:
        parts = self.value_rounding(self.q) + self.value_rounding(room)
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

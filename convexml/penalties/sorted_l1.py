"""The sorted l1 norm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from ..formulas import AtFeatures, Condition, Symbol, Terms, Tex, constant, products
from ..modelling import cp
from ..numerics import Array, gamma
from ..validation import nonnegative_array, nonnegative_number
from .base import Manifold, Penalty


def decreasing(values: Any, owner: str) -> Array:
    """The strengths of a sorted norm as floats: a vector >= 0 that does not increase."""
    lams = nonnegative_array(values, owner, "lams")
    rises = np.flatnonzero(np.diff(lams) > 0.0)
    if rises.size:
        k = int(rises[0]) + 1
        raise InputError(
            f"{owner}: lams must not increase, got {lams[k]:g} at entry {k} after {lams[k - 1]:g}. "
            "The first of them is for the largest coefficient; pass sorted(lams, reverse=True)."
        )
    return lams


def descending(x: Array) -> Array:
    """|x|_(1) >= |x|_(2) >= ..."""
    return np.sort(np.abs(x))[::-1]


class SortedL1(Penalty):
    """The penalty of SLOPE, Omega(w) = lam sum_j lams_j |w|_(j), |w|_(1) >= |w|_(2) >= ...

    Conjugate: the indicator of |v|_(1) + ... + |v|_(k) <= lam (lams_1 + ... + lams_k) for every k.
    Equal lams are the l1 norm. The prox pools adjacent violators of |w|_(j) - lam lams_j (Bogdan,
    van den Berg, Sabatti, Su and Candes, 2015, https://doi.org/10.1214/15-AOAS842).

    Parameters
    ----------
    lams : array of shape (d,)
        Strengths >= 0 by rank, not increasing.
    lam : float, default 1
        A factor >= 0 on all of them.

    Raises
    ------
    InputError
        For strengths that increase, are negative or not finite.
    """

    name = "sorted_l1"
    depends_on_sizes = True

    def __init__(self, lams: Any, lam: float = 1.0) -> None:
        self.lams = decreasing(lams, "SortedL1")
        self.lam = nonnegative_number(lam, "SortedL1", "lam")

    @property
    def _levels(self) -> Array:
        return self.lam * self.lams

    @property
    def _bounds(self) -> Array:
        """lam (lams_1 + ... + lams_k) for every k."""
        return np.cumsum(self._levels)

    def hyperparameters(self) -> dict[str, Any]:
        return {"lam": self.lam}

    def value(self, w: Array) -> float:
        return float(self._levels @ descending(w))

    def value_rounding(self, w: Array, value: float) -> float:
        return gamma(2 * len(w) + 16) * value

    def conjugate(self, v: Array, slack: float | Array = 0.0) -> float:
        with np.errstate(over="ignore"):
            sums = np.cumsum(descending(np.maximum(np.abs(v) - slack, 0.0)))
        return np.inf if np.any(sums > self._bounds) else 0.0

    def conjugate_bound(self, v: Array, error: Array) -> float:
        if self._levels[0] == 0.0:
            return 0.0
        with np.errstate(over="ignore"):
            sums = np.cumsum(descending(np.abs(v) + error)) * (1.0 + gamma(len(v) + 16))
        return 0.0 if np.all(sums <= self._bounds * (1.0 - gamma(len(v) + 16))) else np.inf

    def leeway(self, v: Array) -> Array:
        order, k = np.argsort(-np.abs(v), kind="stable"), np.arange(1.0, len(v) + 1.0)
        bounds = self._bounds * (1.0 - 4.0 * gamma(len(v) + 32))
        room = np.maximum(bounds - np.cumsum(np.abs(v[order])), 0.0) / k
        found = np.zeros_like(v)
        found[order] = np.minimum.accumulate(room[::-1])[::-1]  # an entry counts in longer sums
        return found

    def terms(self, w: Array, v: Array) -> Array:
        """Summed by parts: every step |w|_(k) - |w|_(k+1) times the room of the k-th bound."""
        order = np.argsort(-np.abs(w), kind="stable")
        steps = -np.diff(np.abs(w[order]), append=0.0)
        room = np.cumsum(self._levels - np.sign(w[order]) * v[order])
        return np.array([float(steps @ room)])

    def subgradient(self, w: Array) -> Array:
        order, slope = np.argsort(-np.abs(w), kind="stable"), np.zeros_like(w)
        slope[order] = self._levels * np.sign(w[order])
        return slope

    def prox(self, w: Array, step: float | Array) -> Array:
        """Pool what a shrinkage by rank would put out of order; one step for all, the least."""
        order = np.argsort(-np.abs(w), kind="stable")
        moved = np.zeros_like(w)
        moved[order] = np.maximum(_pooled(np.abs(w[order]) - np.min(step) * self._levels), 0.0)
        return np.copysign(moved, w) + 0.0

    def manifold(self, w: Array, v: Array, step: Array) -> Manifold:
        """Coordinates of one size, of which the order of strengths is open, stay of one size."""
        least = float(np.min(step))
        target = w + least * v
        moved = self.prox(target, least)
        order = np.argsort(-np.abs(target), kind="stable")
        size, level, gradient = np.abs(target[order]), self._levels, np.zeros_like(w)
        starts = np.flatnonzero(np.diff(np.abs(moved[order]), prepend=np.inf))
        active, tied = np.zeros(len(w), dtype=bool), np.zeros((0, len(w)))
        for first, end in zip(starts, [*starts[1:], len(w)], strict=True):
            there, pull = order[first:end], level[first:end]
            active[there] = moved[order[first]] != 0.0 or not pull.any()
            if moved[order[first]] != 0.0 and pull[0] > pull[-1]:
                apart = size[first:end] - size[first:end].mean()
                pull = pull.mean() + apart / least
                tied = np.vstack([tied, np.diff(np.diag(np.sign(moved))[there], axis=0)])
            gradient[there] = np.sign(target[there]) * pull
        surface = active, np.zeros_like(w), gradient[active], np.zeros(int(active.sum()))
        normal = tied[:, active]
        return Manifold(*surface, normal, normal @ w[active]) if len(tied) else Manifold(*surface)

    def free(self, d: int) -> Array:
        return np.full(d, self._levels[0] == 0.0)

    def domain_scale(self, v: Array, slack: float | Array = 0.0) -> float:
        if self._levels[0] == 0.0 or self.conjugate(v, slack) == 0.0:
            return 1.0
        sums = np.cumsum(descending(v))
        over = sums > self._bounds
        return float((self._bounds[over] / sums[over]).min())

    def in_units(self, units: Array, factor: float) -> SortedL1 | None:
        if not np.all(units == units[:1]):
            return None
        return SortedL1(self.lams, factor * self.lam * float(np.max(units, initial=0.0)))

    def lam_max(self, v: Array) -> float:
        bounds = np.cumsum(self.lams)
        return float(np.max(np.cumsum(descending(v)) / bounds)) if bounds[0] > 0.0 else 0.0

    def expression(self, w: Any, theta: Mapping[str, Any]) -> Terms:

        falls = -np.diff(self.lams, append=0.0)
        sums = [falls[k] * _largest(w, k + 1, len(falls)) for k in map(int, np.flatnonzero(falls))]
        return Terms(theta["lam"] * sum(sums) if sums else 0.0, {})

    def conjugate_expression(self, xtu: Any, d: int, theta: Mapping[str, Any]) -> Terms:
        sums = cp.hstack([_largest(xtu, k + 1, d) for k in range(d)])
        return Terms(
            0.0,
            {"correlation": sums <= theta["lam"] * constant(np.cumsum(self.lams), "cumsum(lams)")},
        )

    def conditions(self, at: AtFeatures) -> list[Condition]:
        return [
            at.inclusion,
            at.domain.named("|X'u|_(1) + ... + |X'u|_(k) <= lams_1 + ... + lams_k"),
            products("sum_j lams_j |w|_(j) + w'X'u = 0", self.terms(at.w, at.v)),
        ]

    def tex(self, w: Symbol, v: Symbol, lam: str = r"\lambda") -> Tex:
        level = (lam or r"\omega") + "_j"
        sizes = rf"\sum_{{j \le m}} |{v}|_{{(j)}}"
        domain = rf"{sizes} \le \sum_{{j \le m}} {level}\ \forall m"
        return Tex(rf"\sum_j {level} |{w}|_{{(j)}}", domain=domain)


def _largest(x: Any, k: int, d: int) -> Any:
    """The sum of the k largest of d sizes; of all of them CVXPY's own atom fails at a value."""
    return cp.norm1(x) if k == d else cp.sum_largest(cp.abs(x), k)


def _pooled(x: Array) -> Array:
    """The nearest vector to x that does not increase."""
    if np.all(x[1:] <= x[:-1]):
        return x
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(x, increasing=False).x)

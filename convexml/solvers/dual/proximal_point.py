"""Proximal points of least squares with sorted l1, by semismooth Newton steps on its clusters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ...numerics import EPS, Array
from ...penalties import SortedL1
from ...problem import Objective
from ..composite import means
from ..driver import Iterate

LOWER = 4.0
"""Where the levels are above the problem's own, the next are lower by this factor."""
STEPS, SHARE, NOISE = 25, 0.05, 32.0 * EPS
"""Newton steps for a proximal point, at most. They end where the slope is this share of
|w - v| / sqrt(sigma), or of the size of its terms."""
FASTER = ((3, 8.0), (6, 4.0), (12, 2.0), (STEPS, 1.2))
"""After so many Newton steps at most, the next sigma is larger by this factor."""
SLOWER, FAILURES = 1.0 / 3.0, 12
"""After too many it is this share, and the step is taken again; so many times in a row at most."""
STALLED = 3
"""Steps in a row that do not lower P before it ends: all that is left is rounding."""
HALVINGS, FLAT = 12, 0.1
"""The search along a Newton step ends at this share of the first slope."""
ROWS = 256
"""Rows of X that are summed over the clusters at once."""


class CentredSquares:
    """Least squares as |A w - t|^2 / 2: A = sqrt(c) (X - 1 m'), t = sqrt(c) (y - h).

    m and h are the means weighted by c, 0 where there is no intercept: b = h - m'w is the best.
    """

    def __init__(self, objective: Objective) -> None:
        self.design, self.root = objective.design, np.sqrt(objective.c)
        self.centre, self.middle = means(objective)
        self.target = self.root * (objective.y - self.middle)
        self.passes = 1.0

    def forth(self, w: Array) -> Array:
        """A w."""
        self.passes += 1.0
        return self.root * (self.design.matvec(w) - self.centre @ w)

    def back(self, r: Array) -> Array:
        """A'r."""
        self.passes += 1.0
        weighted = self.root * r
        return self.design.rmatvec(weighted) - self.centre * weighted.sum()

    def squares(self) -> Array:
        """|A_j|^2, (d,)."""
        c = self.root**2
        squares = self.design.column_squares(c) - c.sum() * self.centre**2
        return np.maximum(squares, 0.0)

    def clusters(self, w: Array) -> Array:
        """A S, (n, k): a column of S is the signs of one cluster of w, of norm 1."""
        nonzero = np.flatnonzero(w)
        nonzero = nonzero[np.argsort(np.abs(w[nonzero]), kind="stable")]
        starts = np.flatnonzero(np.diff(np.abs(w[nonzero]), prepend=0.0))
        sizes = np.diff(starts, append=nonzero.size)
        signs = np.sign(w[nonzero]) / np.repeat(np.sqrt(sizes), sizes)
        columns, found = self.design.columns(nonzero), np.zeros((len(self.root), starts.size))
        if nonzero.size:
            for rows, block in columns.row_blocks(ROWS):
                found[rows] = np.add.reduceat(block.dense() * signs, starts, axis=1)
            found -= np.add.reduceat(self.centre[nonzero] * signs, starts)
        self.passes += 1.0 + starts.size * min(found.shape) / len(w)
        return self.root[:, None] * found


@dataclass(frozen=True)
class DualOfStep:
    """A point r of the dual of a proximal step, A'r, the w that belongs to it, A w, the slope."""

    r: Array
    pull: Array
    w: Array
    scores: Array
    slope: Array


@dataclass(frozen=True)
class ProximalStep:
    """argmin |A w - t|^2 / 2 + Omega(w) + |w - v|^2 / (2 sigma), through its dual.

    The dual minimises phi(r) = |r|^2 / 2 + r't + max over w of -r'A w - Omega(w) - |w - v|^2 /
    (2 sigma), whose maximiser is w = prox(v - sigma A'r): phi is differentiable, its slope is
    r + t - A w, and that changes by I + sigma A M A', M = S S' of the clusters of w.
    """

    system: CentredSquares
    penalty: SortedL1
    v: Array
    sigma: float

    def coefficients(self, pull: Array) -> Array:
        """w for A'r."""
        return self.penalty.prox(self.v - self.sigma * pull, self.sigma)

    def at(self, r: Array, pull: Array) -> DualOfStep:
        """The point r."""
        w = self.coefficients(pull)
        scores = self.system.forth(w)
        return DualOfStep(r, pull, w, scores, r + self.system.target - scores)

    def solve(self, r: Array, pull: Array) -> tuple[DualOfStep, int] | None:
        """Newton steps from r, and how many; None where these are too many."""
        here = self.at(r, pull)
        for steps in range(STEPS):
            if self.is_solved(here):
                return here, steps
            ahead = self.direction(here)
            if ahead is None:
                return None
            along = self.system.back(ahead)
            length, before = self.search(here, ahead, along), here.w
            here = self.at(here.r + length * ahead, here.pull + length * along)
            if length == 1.0 and has_clusters_of(here.w, before):
                return here, steps  # phi is quadratic from there to here, but for rounding
        return None

    def is_solved(self, here: DualOfStep) -> bool:
        """Whether the slope is small beside the step from v, or rounding."""
        norm = np.linalg.norm
        size = norm(here.r) + norm(self.system.target) + norm(here.scores)
        moved = norm(here.w - self.v) / np.sqrt(self.sigma)
        return bool(norm(here.slope) <= max(SHARE * moved, NOISE * size))

    def direction(self, here: DualOfStep) -> Array | None:
        """-(I + sigma B B')^-1 slope, B = A S; by the smaller of B B' and B'B."""
        B = self.system.clusters(here.w)
        n, k = B.shape
        try:
            if k >= n:
                factor = linalg.cho_factor(np.eye(n) + self.sigma * (B @ B.T))
                return -linalg.cho_solve(factor, here.slope)
            factor = linalg.cho_factor(np.eye(k) / self.sigma + B.T @ B)
        except linalg.LinAlgError:
            return None
        return B @ linalg.cho_solve(factor, B.T @ here.slope) - here.slope

    def search(self, here: DualOfStep, ahead: Array, along: Array) -> float:
        """The length at which phi is least along a direction: its slope there is monotone."""
        rest, curve = float((here.r + self.system.target) @ ahead), float(ahead @ ahead)

        def slope(length: float) -> float:
            w = self.coefficients(here.pull + length * along)
            return rest + length * curve - float(w @ along)

        enough, low, high, length = FLAT * abs(slope(0.0)), 0.0, 1.0, 1.0
        for _ in range(HALVINGS):
            there = slope(length)
            if abs(there) <= enough or (there < 0.0 and length == 1.0):
                break
            low, high = (length, high) if there < 0.0 else (low, length)
            length = 0.5 * (low + high)
        return length


def has_clusters_of(w: Array, other: Array) -> bool:
    """Whether the same coefficients are of one size, in the same order, with the same signs."""
    if not np.array_equal(np.sign(w), np.sign(other)):
        return False
    ours, theirs = (np.unique(np.abs(x), return_inverse=True)[1] for x in (w, other))
    return bool(np.array_equal(ours, theirs))


def proximal_point(objective: Objective, w: Array, b: float) -> Iterator[Iterate]:
    """Minimise sum_i c_i (y_i - z_i)^2 / 2 + sorted l1 by w <- argmin P(w) + |w - v|^2 / (2 sigma).

    Each of these is found through its own dual (``ProximalStep``), which curves along the clusters
    of w alone: coefficients of one size, with their signs, are one unknown. These are soon few, and
    near the solution they stay, so that sigma may grow as long as few Newton steps are enough
    (Rockafellar, 1976, https://doi.org/10.1137/0314056; Luo, Sun, Toh and Xiu, 2019,
    https://jmlr.org/papers/v20/18-172.html). The levels come down from where w = 0 is near, by
    steps; iterates on the way are those that lower P.
    """
    system, penalty = CentredSquares(objective), objective.penalty
    assert isinstance(penalty, SortedL1)
    scores = system.forth(w)
    r = scores - system.target
    pull, lowest = system.back(r), np.inf
    times = 1.0 / penalty.domain_scale(-pull)
    squares = system.squares()
    sigma = 1.0 / float(np.median(squares[squares > 0.0])) if np.any(squares > 0.0) else 1.0
    failures = stalled = 0
    while failures < FAILURES and stalled < STALLED:
        missed = scores - system.target
        value = 0.5 * float(missed @ missed) + penalty.value(w)
        if not failures:
            stalled = stalled + 1 if times == 1.0 and not value < lowest else 0
        if not failures and value < lowest:
            lowest = value
            yield Iterate(w, system.middle - float(system.centre @ w), None, system.passes)
        lower = max(times / LOWER, 1.0)
        levels = SortedL1(penalty.lams, lower * penalty.lam)
        found = ProximalStep(system, levels, w, sigma).solve(r, pull)
        if found is None:
            failures, sigma = failures + 1, SLOWER * sigma
            continue
        here, steps = found
        failures, times, w, r, scores = 0, lower, here.w, here.r, here.scores
        pull = system.back(r)
        sigma *= next(factor for most, factor in FASTER if steps <= most)

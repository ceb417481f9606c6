"""A quadratic plus weighted absolute values, minimised: descent finds the support, Newton ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg.blas import dger, dtrsm, dtrsv
from scipy.linalg.lapack import dposv, dpotri, dpstrf

from ...compiled import compiled
from ...numerics import Array
from ..composite import ARMIJO

# Cyclic descent on a quadratic plus absolute values or norms of blocks.


@compiled(work=lambda *given: given[5] * len(given[3]) * (1.0 + 0.05 * len(given[3])))
def descend(
    gram: Array, mu: float, g: Array, x: Array, level: Array, sweeps: int, share: float
) -> int:
    """Minimise x'(G + mu I) x / 2 + ... + sum_j level_j |x_j| over each x_j in turn.

    G is in the first rows and columns of ``gram``, g the gradient at x. Where G_jj = 0 the row of
    G is 0 as well. Ends when a sweep gains less than ``share`` of what the best one has; returns
    the sweeps made.
    """
    most, size = 0.0, len(x)
    for sweep in range(sweeps):
        gain = 0.0
        for j in range(size):
            row = gram[j]
            curve = row[j] + mu
            if curve <= 0.0:
                if level[j] > 0.0:
                    x[j] = 0.0
                continue
            goal = x[j] * curve - g[j]
            new = 0.0
            if goal > level[j]:
                new = (goal - level[j]) / curve
            elif goal < -level[j]:
                new = (goal + level[j]) / curve
            step = new - x[j]
            if step != 0.0:
                x[j] = new
                gain += curve * step * step
                for i in range(size):
                    g[i] += step * row[i]
                g[j] += step * mu
        most = max(most, gain)
        if gain <= share * most:
            return sweep + 1
    return sweeps


@compiled(work=lambda *given: given[8] * len(given[2]) * (5.0 + 0.1 * len(given[1])))
def cycle(
    gram: Array,
    g: Array,
    x: Array,
    starts: Array,
    ends: Array,
    curves: Array,
    level: Array,
    smooth: Array,
    sweeps: int,
) -> None:
    """Minimise block after block: x_g <- prox(x_g - g_g / curve_g); g is the gradient at x."""
    first = 0.0
    for _ in range(sweeps):
        gain = 0.0
        for block in range(len(starts)):
            i, j, curve = starts[block], ends[block], curves[block]
            if curve <= 0.0:
                continue
            goal = x[i:j] - g[i:j] / curve
            norm = np.sqrt(np.sum(goal * goal))
            shrink = 0.0
            if norm * curve > level[block]:
                shrink = (1.0 - level[block] / (norm * curve)) / (1.0 + smooth[block] / curve)
            for k in range(i, j):
                step = shrink * goal[k - i] - x[k]
                if step != 0.0:
                    x[k] = shrink * goal[k - i]
                    gain += curve * step * step
                    for row in range(len(g)):
                        g[row] += step * gram[row, k]
        first = max(first, gain)
        if gain <= 1e-20 * first:
            return


# A small quadratic plus weighted absolute values, minimised in one compiled loop.


SWEEPS, GAIN = 8, 1e-6
"""Of coordinate descent before each Newton step; it ends early where a sweep gains less than this
share of the best one."""
ROUNDS, HASTY = 100, 4
"""Supports that are tried, at most; rounds in which descent goes on after one Newton step, whether
it was cut off or not."""
SINGULAR = 1e-12
"""A pivot below this share of its diagonal entry is none."""


@compiled
def is_met(g: Array, x: Array, level: Array, tol: Array) -> bool:
    """Whether -g_j is within tol_j of level_j d|x_j| for all j."""
    for j in range(len(x)):
        if x[j] != 0.0:
            missed = abs(g[j] + (level[j] if x[j] > 0.0 else -level[j]))
        else:
            missed = abs(g[j]) - level[j]
        if not missed <= tol[j]:
            return False
    return True


@compiled
def solve_on(
    gram: Array, mu: float, support: Array, right: Array, lower: Array, found: Array
) -> bool:
    """Write (G_SS + mu I)^-1 right to ``found``; whether that is positive definite."""
    for i in range(len(support)):
        for j in range(i + 1):
            entry = gram[support[i], support[j]]
            if i == j:
                entry += mu
            left = entry
            for k in range(j):
                left -= lower[i, k] * lower[j, k]
            if j < i:
                lower[i, j] = left / lower[j, j]
            elif left > SINGULAR * entry:
                lower[i, i] = np.sqrt(left)
            else:
                return False
        left = right[i]
        for k in range(i):
            left -= lower[i, k] * found[k]
        found[i] = left / lower[i, i]
    for i in range(len(support) - 1, -1, -1):
        for k in range(i + 1, len(support)):
            found[i] -= lower[k, i] * found[k]
        found[i] /= lower[i, i]
    return True


@compiled
def bend(
    gram: Array,
    mu: float,
    g: Array,
    x: Array,
    level: Array,
    support: Array,
    found: Array,
    bends: Array,
    step: Array,
) -> bool:
    """Go along ``found`` as far as the value falls; coordinates that reach 0 stay there.

    x and its gradient g are moved; whether a coordinate stayed at 0.
    """
    size, crossing = len(support), 0
    for i in range(size):
        j = support[i]
        bends[i] = np.inf
        if level[j] > 0.0 and (x[j] > 0.0) != (x[j] + found[i] > 0.0):
            bends[i] = -x[j] / found[i]
            crossing += 1
    order = np.sort(bends)
    last = crossing
    while True:
        t = 1.0 if last == crossing else order[last]
        change = 0.0
        for i in range(size):
            j = support[i]
            step[i] = -x[j] if bends[i] <= t else t * found[i]
            change += g[j] * step[i] + level[j] * (abs(x[j] + step[i]) - abs(x[j]))
        for i in range(size):
            bent = mu * step[i]
            for k in range(size):
                bent += gram[support[i], support[k]] * step[k]
            change += 0.5 * bent * step[i]
        if change < 0.0 or last == 0:
            break
        last //= 2
    for i in range(size):
        j = support[i]
        x[j] = 0.0 if bends[i] <= t else x[j] + step[i]
        g[j] += mu * step[i]
        for k in range(len(x)):
            g[k] += gram[j, k] * step[i]
    return crossing > 0


@compiled(work=lambda *given: 200.0)  # more than by ``support_newton``
def settle(
    gram: Array, mu: float, slope: Array, start: Array, level: Array, tol: Array, x: Array
) -> bool:
    """Move x to the minimum that ``support_newton.minimise`` looks for, by its steps.

    Whether it was found: False where the matrix of a support is singular.
    """
    size, g = len(x), slope.copy()
    support, lower = np.empty(size, dtype=np.int64), np.empty((size, size))
    right, found, bends, step = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    for turn in range(ROUNDS):
        descend(gram, mu, g, x, level, SWEEPS, GAIN)
        if is_met(g, x, level, tol):
            for j in range(size):
                g[j] = slope[j] + mu * (x[j] - start[j])
                for k in range(size):
                    g[j] += gram[j, k] * (x[k] - start[k])
            if is_met(g, x, level, tol):
                return True
        dropped = True
        while dropped:
            count = 0
            for j in range(size):
                if (x[j] != 0.0 or level[j] == 0.0) and gram[j, j] + mu > 0.0:
                    support[count] = j
                    right[count] = -g[j]
                    if x[j] != 0.0:
                        right[count] -= level[j] if x[j] > 0.0 else -level[j]
                    count += 1
            own = support[:count]
            if not solve_on(gram, mu, own, right, lower, found):
                return False
            dropped = bend(gram, mu, g, x, level, own, found[:count], bends[:count], step)
            dropped = dropped and turn >= HASTY
    return False


# Systems of one support after another: a Cholesky factor for those near it, or the inverse.


JITTER = (0.0, 1e-13, 1e-10, 1e-7, 1e-5)
"""Shares added to the diagonal of a singular system."""
NEAR = 0.15
"""A support is near another one where at most this share of it is exchanged."""
FEW = 64
"""Up to so many entries a system is factored anew."""


class SupportFactor:
    """Solves G_SS + mu I for one support S after another, all of the same G and mu.

    With L L' the matrix of a support B, A = S - B and R = B - S, the system of S is that of B and
    A in which the entries of R are held at 0: a bordered system whose Schur complement has |A| +
    |R| rows, for as many forward substitutions.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """G is another one."""
        self.base, self.lower, self.mu = np.zeros(0, dtype=int), np.zeros((0, 0)), 0.0

    def solve(self, gram: Array, mu: float, support: Array, right: Array) -> Array | None:
        """(G_SS + mu I)^-1 right; None where that fails."""
        if self.base.size and mu == self.mu:
            found = self._bordered(gram, support, right)
            if found is not None:
                return found
        matrix = gram[support].take(support, axis=1).astype(float, copy=False)
        matrix.flat[:: support.size + 1] += mu
        found, lower = solve_positive(matrix, right)
        self.forget()
        if lower is not None and support.size > FEW:
            self.base, self.lower, self.mu = support, lower, mu
        return found

    def _bordered(self, gram: Array, support: Array, right: Array) -> Array | None:
        base, mask = self.base, np.zeros(len(gram), dtype=bool)
        mask[base] = True
        kept = mask[support]
        added = support[~kept]
        mask[:] = False
        mask[support] = True
        stays = mask[base]
        removed = np.flatnonzero(~stays)
        a, border = added.size, added.size + removed.size
        if border > NEAR * base.size:
            return None
        columns = np.zeros((base.size, border + 1), order="F")
        columns[:, :a] = gram[added].take(base, axis=1).T
        columns[removed, a + np.arange(removed.size)] = 1.0
        columns[stays, border] = right[kept]
        half = dtrsm(1.0, self.lower, columns, lower=1, overwrite_b=1)
        schur = -(half[:, :border].T @ half[:, :border])
        schur[:a, :a] += gram[added].take(added, axis=1)
        schur[np.arange(a), np.arange(a)] += self.mu
        sides = np.concatenate([right[~kept], np.zeros(removed.size)])
        try:
            ends = np.linalg.solve(schur, sides - half[:, :border].T @ half[:, border])
        except np.linalg.LinAlgError:
            return None
        inner = dtrsv(self.lower, half[:, border] - half[:, :border] @ ends, lower=1, trans=1)
        found = np.empty(support.size)
        found[kept], found[~kept] = inner[stays], ends[:a]
        return found if np.all(np.isfinite(found)) else None


class SupportInverse:
    """The inverse of the matrix of a support that columns leave and others join.

    Attributes
    ----------
    size, room : int
        Columns of the support, and how many there is room for.
    """

    def __init__(self, room: int) -> None:
        self.size, self.room = 0, room
        self._array = np.zeros((room, room), order="F")

    @property
    def array(self) -> Array:
        """The inverse; not to be written to."""
        return self._array[: self.size, : self.size]

    def start(self, matrix: Array, share: float) -> Array:
        """Invert as much of a positive semidefinite matrix as is regular.

        Returns its rows in a new order, regular ones first. Of those a pivot leaves more than this
        share of the largest entry.
        """
        if not len(matrix):
            return np.zeros(0, dtype=int)
        scale = 1.0 / np.sqrt(np.maximum(matrix.diagonal(), np.finfo(float).tiny))
        lower, order, self.size, _ = dpstrf(matrix * scale * scale[:, None], tol=share, lower=1)
        order = order - 1
        own = scale[order[: self.size]]
        below = np.tril(dpotri(lower[: self.size, : self.size], lower=1)[0])
        below *= own * own[:, None]
        self._array[: self.size, : self.size] = below + np.tril(below, -1).T
        return order

    def remove(self, i: int) -> None:
        """Let column i leave; the last one takes its place."""
        last, array = self.size - 1, self._array
        column = array[:, i].copy()
        dger(-1.0 / column[i], column, column, a=array, overwrite_a=1)
        array[i], array[:, i] = array[last], array[:, last]
        array[i, i] = array[last, last]
        array[last] = array[:, last] = 0.0
        self.size = last

    def add(self, weights: Array, left: float) -> None:
        """Let a column join at the end; ``left`` is what ``weights`` of the support leave of it.

        That is the Schur complement of its diagonal entry.
        """
        column = np.zeros(self.room)
        column[: self.size], column[self.size] = -weights, 1.0
        dger(1.0 / left, column, column, a=self._array, overwrite_a=1)
        self.size += 1


def solve_positive(matrix: Array, right: Array) -> tuple[Array | None, Array | None]:
    """Solve with a positive semidefinite matrix, which is written to, and its factor.

    The solution is None where that fails, the factor where the diagonal had to be raised for it.
    """
    if not right.size:
        return right, None
    diagonal = matrix.diagonal().copy()
    for jitter in JITTER:
        if jitter:
            below = np.tril(matrix, -1)  # what LAPACK has left as it was
            matrix = below + below.T
            np.fill_diagonal(matrix, diagonal * (1.0 + jitter))
        lower, found, info = dposv(matrix.T, right, lower=1, overwrite_a=1)
        if info == 0 and np.all(np.isfinite(found)):
            return np.asarray(found), None if jitter else lower
    return None, None


SOLVED, ROUGHLY = 1e-6, 1e-3
"""A factor of another support is left where a step leaves more than this share of the slope; the
second where the matrix is in single precision."""


def distance(x: Array, g: Array, level: Array) -> Array:
    """How far -g_j is from level_j d|x_j|, entry by entry."""
    return np.where(x != 0.0, np.abs(g + level * np.sign(x)), np.maximum(np.abs(g) - level, 0.0))


def minimise(
    gram: Array,
    mu: float,
    slope: Array,
    start: Array,
    level: Array,
    tol: Array,
    factor: SupportFactor,
) -> Array:
    """Minimise (x - x_0)'H (x - x_0) / 2 + slope'(x - x_0) + sum_j level_j |x_j|, H = G + mu I.

    Sweeps of coordinate descent find a support and its signs. Newton steps on it follow, which drop
    the coordinates whose sign would change: one at first, later as many as it takes until none
    changes. Then the point is the best of its support and signs; the value falls from one such
    point to the next, of which there are finitely many.

    Parameters
    ----------
    gram : array, shape (>= k, >= k)
        G, symmetric and positive semidefinite, in its first rows and columns; rows with G_jj = 0
        are 0. In single precision it is followed as far as that goes.
    mu : float
    slope, start, level, tol : arrays, shape (k,)
        ``start`` is x_0, ``tol`` the ``distance`` at which a condition counts as met.
    factor : SupportFactor
        Of the same G and mu, where it knows one.
    """
    x, g, size = start.copy(), slope.copy(), len(start)
    given = np.ascontiguousarray(gram[:size, :size]), mu, slope, start, level, tol, x
    if size <= FEW and settle.pays(*given):
        if settle(*given):
            return x
        x = start.copy()
    matrix = gram[:size, :size]
    for turn in range(ROUNDS):
        descend(gram, mu, g, x, level, SWEEPS, GAIN)
        if np.all(distance(x, g, level) <= tol):
            g = slope + hessian_product(matrix, mu, x - start)
            if np.all(distance(x, g, level) <= tol):
                break
        dropped = True
        while dropped:
            step, bent, dropped = support_step(matrix, mu, g, x, level, factor)
            x, g = x + step, g + bent
            dropped = dropped and turn >= HASTY
    return x


def hessian_product(gram: Array, mu: float, x: Array) -> Array:
    """(G + mu I) x."""
    product = gram @ x.astype(gram.dtype, copy=False)
    return product + mu * x if mu else product


def support_step(
    gram: Array, mu: float, g: Array, x: Array, level: Array, factor: SupportFactor
) -> tuple[Array, Array, bool]:
    """The Newton step on the support of x, H times it, and whether it was cut off.

    It is where signs would change.
    """
    support = np.flatnonzero(((x != 0.0) | (level == 0.0)) & (gram.diagonal() + mu > 0.0))
    weight, step = level[support], np.zeros_like(x)
    residual = g[support] + weight * np.sign(x[support])
    enough = SOLVED if gram.dtype == float else ROUGHLY
    while True:
        borrowed = factor.base.size > 0
        found = factor.solve(gram, mu, support, -residual)
        if found is None:
            return step, step, False
        new, bent, change, cut = bent_path(gram, mu, g, x, level, support, found)
        left = np.max(np.abs(residual + bent[support]), initial=0.0)
        solved = cut or left <= enough * np.max(np.abs(residual), initial=0.0)
        if not borrowed or (change < 0.0 and solved):
            return new, bent, cut
        factor.forget()


def bent_path(
    gram: Array, mu: float, g: Array, x: Array, level: Array, support: Array, found: Array
) -> tuple[Array, Array, float, bool]:
    """A step along ``found`` whose coordinates stay at 0 from where they reach it.

    The path is followed from bend to bend, for as many as let the value fall. Returns the step, H
    times it, the change of the value, and whether a coordinate stays at 0.
    """
    here, step = x[support], np.zeros_like(x)
    ahead = np.sign(here) * (here + found)
    crossing = np.flatnonzero((ahead < 0.0) & (level[support] > 0.0))
    bends = -here[crossing] / found[crossing]
    order = np.sort(bends)
    last = crossing.size
    while True:
        t = 1.0 if last == crossing.size else order[last]
        step[support] = t * found
        ends = crossing[bends <= t]
        step[support[ends]] = -here[ends]
        bent = hessian_product(gram, mu, step)
        change = float(g @ step + 0.5 * (step @ bent) + level @ (np.abs(x + step) - np.abs(x)))
        if change < 0.0 or last == 0:
            return step, bent, change, bool(crossing.size)
        last //= 2


# A quadratic plus norms of groups, minimised: block descent finds the groups, Newton ends.


GROUP_NEWTON_SWEEPS = 8
"""Of block descent before Newton steps."""
GROUP_NEWTON_ROUNDS, STEPS = 60, 12
"""Sets of groups that are tried, and Newton steps on each, at most."""
SHORTEST = 2.0**-12


def group_distance(x: Array, g: Array, level: Array, sizes: Callable[[Array], Array]) -> Array:
    """How far -g_g is from level_g d|x_g|_2, one entry a coordinate."""
    norms = sizes(x)
    unit = x / np.where(norms > 0.0, norms, 1.0)
    return np.where(norms > 0.0, sizes(g + level * unit), np.maximum(sizes(g) - level, 0.0))


def minimise_groups(
    gram: Array, slope: Array, start: Array, level: Array, block: Array, tol: Array
) -> Array:
    """As ``support_newton.minimise`` for mu = 0, with norms of blocks; ``block`` is sorted.

    Near a point whose nonzero blocks are those of the minimiser all is smooth, and Newton steps
    with the Hessian level (I - u u') / |x_g|, u = x_g / |x_g|, of the norms converge quadratically.
    """
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    ends = np.append(starts[1:], len(block))
    curves = np.array(
        [np.linalg.eigvalsh(gram[i:j, i:j])[-1] for i, j in zip(starts, ends, strict=True)]
    )
    constants = level[starts], np.zeros(len(starts))

    def sizes(v: Array) -> Array:
        return np.repeat(np.sqrt(np.add.reduceat(v * v, starts)), ends - starts)

    def value(step: Array, bent: Array) -> float:
        apart = (sizes(x + step) - sizes(x))[starts]
        return float(g @ step + 0.5 * (step @ bent) + level[starts] @ apart)

    x, g = start.copy(), slope.copy()
    for _ in range(GROUP_NEWTON_ROUNDS):
        cycle(gram, g, x, starts, ends, curves, *constants, GROUP_NEWTON_SWEEPS)
        for _ in range(STEPS):
            g = slope + gram @ (x - start)
            if np.all(group_distance(x, g, level, sizes) <= tol):
                return x
            norms = sizes(x)
            used = np.flatnonzero(((norms > 0.0) | (level == 0.0)) & (np.diag(gram) > 0.0))
            steepness = level / np.where(norms > 0.0, norms, 1.0)
            step = np.zeros_like(x)
            residual = (g + steepness * x)[used]
            # The Hessian of the quadratic and of the norms, on the coordinates used.
            matrix = gram[np.ix_(used, used)]
            unit = (x / np.where(norms > 0.0, norms, 1.0))[used]
            same = block[used][:, None] == block[used]
            matrix -= same * np.outer(steepness[used] * unit, unit)
            matrix[np.diag_indices_from(matrix)] += steepness[used]
            found, _ = solve_positive(matrix, -residual)
            if found is None:
                break
            step[used], bent, t = found, gram[:, used] @ found, 1.0
            fall = float(residual @ found)
            while t >= SHORTEST and not value(t * step, t * bent) <= ARMIJO * t * fall:
                t *= 0.5
            if t < SHORTEST or not fall < 0.0:
                break
            x = x + t * step
    return x


# sum_g level_g |w_g|_2 as working sets see it: coordinate by coordinate, or by groups.


@dataclass(frozen=True, eq=False)
class Norms:
    """Norms of blocks of coordinates; arrays have one entry a coordinate, that of its block.

    Attributes
    ----------
    block : array, shape (k,), or None
        The block of each coordinate, 0 ... G - 1; None where each is its own.
    level : array, shape (k,)
    """

    block: Array | None
    level: Array

    @classmethod
    def of(cls, block: Array, levels: Array) -> Norms:
        """The norms that a penalty names by ``zero_blocks``."""
        single = len(levels) == len(block) and np.array_equal(block, np.arange(len(block)))
        return cls(None if single else block, levels[block])

    def at(self, index: Array) -> Norms:
        """The same for some coordinates, of which no block is torn."""
        if self.block is None:
            return Norms(None, self.level[index])
        return Norms(np.unique(self.block[index], return_inverse=True)[1], self.level[index])

    def whole(self, index: Array) -> Array:
        """The coordinates of all blocks that have one of these."""
        if self.block is None:
            return np.sort(index)
        return np.flatnonzero(np.isin(self.block, self.block[index]))

    def sizes(self, x: Array) -> Array:
        """|x_g|."""
        if self.block is None:
            return np.abs(x)
        return np.sqrt(np.bincount(self.block, x * x))[self.block]

    @cached_property
    def _first(self) -> Array:
        """One coordinate of each block."""
        assert self.block is not None
        return np.unique(self.block, return_index=True)[1]

    def value(self, x: Array) -> float:
        """sum_g level_g |x_g|."""
        if self.block is None:
            return float(self.level @ np.abs(x))
        return float(self.level[self._first] @ self.sizes(x)[self._first])

    def distance(self, x: Array, g: Array) -> Array:
        """How far -g_g is from level_g d|x_g|."""
        if self.block is None:
            return distance(x, g, self.level)
        return group_distance(x, g, self.level, self.sizes)

    def minimise(
        self,
        gram: Array,
        mu: float,
        slope: Array,
        start: Array,
        tol: Array,
        factor: SupportFactor,
    ) -> Array:
        """Minimise (x - x_0)'H (x - x_0) / 2 + slope'(x - x_0) + sum_g level_g |x_g|, from x_0.

        H = G + mu I, with G in the first rows and columns of ``gram``; ``tol`` is the ``distance``
        at which a condition counts as met, one a coordinate, ``factor`` one of H.
        """
        if self.block is None:
            return minimise(gram, mu, slope, start, self.level, tol, factor)
        order = np.argsort(self.block, kind="stable")
        parts = (slope[order], start[order], self.level[order], self.block[order], tol[order])
        found, matrix = np.empty_like(start), gram[np.ix_(order, order)].astype(float, copy=False)
        matrix.flat[:: order.size + 1] += mu
        found[order] = minimise_groups(matrix, *parts)
        return found

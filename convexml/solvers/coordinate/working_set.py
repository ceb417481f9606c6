"""Working sets: coordinate descent finds the support, Newton steps on it end the search."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ...data import Design, in_blocks, last_slopes
from ...errors import InputError
from ...numerics import EPS, ROUNDING, Array
from ...problem import Objective
from ..composite import ARMIJO, SHORTEST
from ..driver import Iterate
from ..second_order.normal_equations import centred, from_sampled_gram
from .path import Homotopy
from .support import FEW as FEW_COLUMNS
from .support import Norms, SupportFactor

# Steps on many rows and a norm: a sample shows which columns matter, all rows what they are.


ROWS = 8192
"""Whose columns are gathered at a time."""
NEARLY_CHOSEN = 0.8
"""Share of its level above which the slope of a column may reach it."""
SAMPLED_SUPPORT_ROUGH, SAMPLED_SUPPORT_EXACT = 1e-3, 1e-9
"""Share of what its start violates to which the model of a sample is minimised, and that of all."""
SAFE = 1e-3
"""Share of the squares of a column that its centre leaves where seven digits of them will do."""


class SampledSupport:
    """To the minimum of a model of min_b F(X w + b) plus norms plus mu |w|^2 / 2.

    The first step is on the sample. From the second on, when slopes of all rows are known, columns
    that stay at 0 are left out, and the others have the Gram matrix of all rows: then one step
    ends the search, if these are the right ones.
    """

    def __init__(self, objective: Objective, norms: Norms, mu: float) -> None:
        self.objective, self.norms, self.mu = objective, norms, mu
        self.index: Array | None = None
        self.gram = np.zeros((0, 0))

    def __call__(self, gram: Array, pull: Array, w: Array) -> Array:
        every, slope = np.arange(w.size), pull + self.mu * w
        if self.index is None:
            self.index = every[:0]
            return self._minimum(every, gram, slope, w, SAMPLED_SUPPORT_ROUGH)
        if self._outside(w, slope, 1.0).any():
            ahead = self._minimum(every, gram, slope, w, SAMPLED_SUPPORT_ROUGH)
            there = slope + gram @ (ahead - w) + self.mu * (ahead - w)
            wanted = np.flatnonzero((w != 0.0) | self._outside(ahead, there, NEARLY_CHOSEN))
            self.index = np.union1d(self.index, self.norms.whole(wanted))
            self.gram = gram_of(self.objective, self.index)
        found = w.copy()
        own = self.index, self.gram, slope[self.index], w[self.index]
        found[self.index] = self._minimum(*own, SAMPLED_SUPPORT_EXACT)
        return found

    def _outside(self, w: Array, slope: Array, share: float) -> Array:
        """The columns left out that are not 0, or whose slope is above this share of its level."""
        assert self.index is not None
        found = (w != 0.0) | (self.norms.sizes(slope) > share * self.norms.level)
        found[self.index] = False
        return found

    def _minimum(self, index: Array, gram: Array, slope: Array, w: Array, share: float) -> Array:
        norms = self.norms.at(index)
        tol = share * float(np.max(norms.distance(w, slope), initial=0.0))
        room = np.full(w.size, tol + np.finfo(float).tiny)
        return norms.minimise(gram, self.mu, slope, w, room, SupportFactor())


def gram_of(objective: Objective, index: Array) -> Array:
    """The matrix of min_b F(X w + b) on some columns, in single precision where that will do."""
    squares = SAFE * objective.column_sizes[index] ** 2
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        found = centred(_bordered(objective, index, np.float32), index.size)
    if np.isfinite(found).all() and (found.diagonal() >= squares).all():
        return found
    return centred(_bordered(objective, index, np.float64), index.size)


def _bordered(objective: Objective, index: Array, kind: type) -> Array:
    """[X, 1]'C [X, 1] for some columns of X, which are gathered a few rows at a time."""
    k = index.size
    total, root = np.zeros((k + 1, k + 1)), np.sqrt(objective.c)
    alike = bool((root == root[0]).all())
    room: Array = np.empty((k + 1, ROWS), dtype=kind)
    for some, rows in objective.design.row_blocks(ROWS):
        X = rows.constant
        part = room[:, : len(X)]
        part[k] = 1.0
        if X.flags.c_contiguous:
            part[:k] = X[:, index].T
        else:
            for row, j in zip(part, index, strict=False):
                row[:] = X[:, j]
        if not alike:
            part *= root[some]
        total += part @ part.T
    if alike:
        total *= objective.c[0]
    return total if objective.fit_intercept else total[:k, :k]


# The columns of a working set, and the weighted Gram matrix of what an intercept leaves.


FULL = 128
"""Features up to which all of them are in every working set, and X is not copied: so too where rows
lie in blocks, whose columns have no copy."""

MANY = 4.0
"""Times as many columns as a search looks for first: more are not handed on to it."""
FAINT, MOST, FEWEST_ROWS = 1e-3, 0.8, 1.1
"""Rows of at most this share of the mean curvature are left out of a rough Gram matrix, if these
are more than 1 - ``MOST`` of all, and so many times as many as there are columns stay."""
LIFTED = 1.0 + 2.0**-18
"""Times the diagonal of a rough Gram matrix: its rounding leaves it positive definite."""
SAFE_SQUARES = 1e-25, 1e25
"""Between these the squares of columns are summed in single precision."""


class ChosenColumns:
    """X_W, its products, and X_W'H X_W - q q' / 1'h with q = X_W'h, which grows with W.

    The rank-one term eliminates the intercept: dense columns are centred before they are
    multiplied, sparse ones by that term, so that they do not become dense. Nothing here depends on
    y or the penalty: a path hands the same columns from one lam to the next.

    Attributes
    ----------
    index : array, shape (k,)
        W, in the order in which it was chosen.
    factor : SupportFactor
        Of that matrix, on some support.
    """

    def __init__(self, design: Design, fit_intercept: bool) -> None:
        self.design, self.fit_intercept = design, fit_intercept
        n, d = design.shape
        self.index = np.zeros(0, dtype=int)
        self.contains = np.zeros(d, dtype=bool)
        self.is_sparse = design.is_sparse
        self.whole = d <= FULL or in_blocks(design)
        self._rows = np.zeros((0, n))  # X_W', one column of X a row
        self._gram, self._q, self._weights = np.zeros((0, 0)), np.zeros(0), np.zeros(0)
        self.factor, self._is_part = SupportFactor(), False
        if self.whole:
            self.index, self.contains = np.arange(d), ~self.contains

    def suit(self, design: Design, nonzero: int) -> bool:
        """Whether they are of this design, and not far more than so many weights ask for."""
        few = 2.0 * np.sqrt(design.shape[1]) + nonzero
        return self.design is design and (self.whole or self.index.size <= MANY * few)

    def add(self, index: Array) -> None:
        """Let these columns join."""
        new = self.design.columns(index).constant.T
        if self.is_sparse:
            rows = sparse.csr_array(new)
            both = [self._rows, rows]
            self._rows = sparse.vstack(both, format="csr") if self.index.size else rows
        else:
            first, last = self.index.size, self.index.size + index.size
            if last > len(self._rows):
                room = np.empty((self._room(last), self.design.shape[0]))
                room[:first] = self._rows[:first]
                self._rows = room
            self._rows[first:last] = new
        self.index = np.append(self.index, index)
        self.contains[index] = True

    def keep(self, held: Array) -> None:
        """Let the columns go that are not ``held``, shape (k,), and with them the Gram matrix."""
        rows = self.rows[held]
        self.contains[self.index[~held]] = False
        self.index = self.index[held]
        if self.is_sparse:
            self._rows = rows
        else:
            self._rows[: self.index.size] = rows
        self._q, self._weights = np.zeros(0), np.zeros(0)
        self.factor.forget()

    @property
    def is_exact(self) -> bool:
        """Whether the last matrix was not a rough one."""
        return self._gram.dtype == float

    @property
    def rows(self) -> Array:
        """X_W', shape (k, n)."""
        return self._rows[: self.index.size]

    def products(self, u: Array) -> Array:
        """X_W'u."""
        return self.design.rmatvec(u) if self.whole else self.rows @ u

    def predictions(self, x: Array) -> Array:
        """X_W x, for an x of which few entries may be nonzero."""
        if self.whole:
            return self.design.matvec(x)
        if self.is_sparse:
            return self.rows.T @ x
        used = np.flatnonzero(x)
        return x @ self.rows if 2 * used.size > x.size else x[used] @ self.rows[used]

    def gram(self, h: Array, rough: bool = False) -> tuple[Array, Array]:
        """(X_W'H X_W - q q' / 1'h, q), q = X_W'h; without an intercept q = 0 and no such term.

        The matrix is in the first k rows and columns of what is returned. What is known for the
        same h is kept; neither is to be written to. A ``rough`` one is in single precision, without
        the rows that hardly count, where that is quicker.
        """
        size, same = self.index.size, h is self._weights or np.array_equal(h, self._weights)
        kind = np.dtype(np.float32 if rough and self._is_moderate(h) else float)
        if self._gram.dtype != kind:
            self._gram, same = np.zeros((0, 0), dtype=kind), False
        known = self._q.size if same else 0
        if known == size:
            return self._gram, self._q
        self._weights = h
        if not same:
            self.factor.forget()
        if self.whole:
            self._gram, self._q = self._bordered(h)
        elif self.is_sparse:
            rows, size = self.rows, self.index.size
            new = rows[known:]
            product: Any = (new * h) @ rows.T
            found, q = product.toarray(), new @ h if self.fit_intercept else np.zeros(size - known)
            self._q = np.append(self._q[:known], q)
            if self.fit_intercept:
                found -= np.outer(q / float(h.sum()), self._q)
            matrix = self._with_room(known)
            matrix[known:size, :size] = found
            matrix[:known, known:size] = found[:, :known].T
            constant = self._constant(h, known, np.sqrt(ROUNDING))
            matrix[constant, :size], matrix[:size, constant] = 0.0, 0.0
        else:
            self._extend(h, known)
        return self._gram, self._q

    def _is_moderate(self, h: Array) -> bool:
        """Whether the matrix is one of dense columns, and single precision holds its entries."""
        if self.whole or self.is_sparse or self.index.size <= FEW_COLUMNS:
            return False
        squares = float(h.max()) * self.design.column_squares()[self.index]
        squares = squares[squares > 0.0]
        least, most = np.min(squares, initial=1.0), np.max(squares, initial=1.0)
        return bool(SAFE_SQUARES[0] < least and most < SAFE_SQUARES[1])

    def _room(self, size: int) -> int:
        """How many columns there is to be room for: fresh memory is dear, and so are copies."""
        n, d = self.design.shape
        room = 3 * size
        if room > n // 2:  # few supports are larger than n, and few working sets much larger
            room = max(room // 2, n + n // 2)
        return min(max(size, room), d)

    def _with_room(self, known: int) -> Array:
        """The Gram matrix with room for all chosen columns, of which some are known."""
        size = self.index.size
        if size > len(self._gram):
            room = np.empty((self._room(size),) * 2, dtype=self._gram.dtype)
            room[:known, :known] = self._gram[:known, :known]
            self._gram = room
        return self._gram

    def _extend(self, h: Array, known: int) -> None:
        rows, size, total = self.rows, self.index.size, float(h.sum())
        if self._gram.dtype != float:
            self._extend_roughly(h, known)
            return
        own, old = rows[known:], rows[:known]
        q, left = np.zeros(len(own)), own
        if self.fit_intercept:
            q = own @ h
            left = own - (q / total)[:, None]
        matrix = self._with_room(known)
        if np.all(h == h[0]):
            scaled, half = h[0] * left, left
            matrix[known:size, known:size] = h[0] * (left @ left.T)
        else:
            half = left * np.sqrt(h)
            matrix[known:size, known:size] = half @ half.T  # a product with itself costs half
            scaled = np.multiply(left, h, out=half) if known else half
        if known:
            matrix[known:size, :known] = scaled @ old.T
            matrix[:known, known:size] = matrix[known:size, :known].T
        self._q = np.append(self._q[:known], q)
        constant = self._constant(h, known, len(h) * EPS)
        matrix[constant, :size], matrix[:size, constant] = 0.0, 0.0

    def _extend_roughly(self, h: Array, known: int) -> None:
        size, rows, used = self.index.size, self.rows, np.flatnonzero(h > FAINT * h.mean())
        is_part = FEWEST_ROWS * size < used.size < MOST * len(h)
        known, self._is_part = known if is_part == self._is_part else 0, is_part
        matrix, means = self._with_room(known), np.zeros((size, 1))
        q = rows[known:] @ h if self.fit_intercept else np.zeros(size - known)
        self._q = np.append(self._q[:known], q)
        if self.fit_intercept:
            means[:, 0] = self._q / float(h.sum())
        if is_part:
            h, rows = h[used], rows.take(used, axis=1)
        left = np.empty(rows.shape, dtype=matrix.dtype)
        np.subtract(rows, means, out=left, casting="same_kind")
        left *= np.sqrt(h).astype(matrix.dtype)
        own, old = left[known:], left[:known]
        matrix[known:size, known:size] = own @ own.T
        if known:
            matrix[known:size, :known] = own @ old.T
            matrix[:known, known:size] = matrix[known:size, :known].T
        fresh = np.arange(known, size)
        matrix[fresh, fresh] *= LIFTED
        constant = self._constant(h, known, len(h) * EPS)
        matrix[constant, :size], matrix[:size, constant] = 0.0, 0.0

    def _constant(self, h: Array, known: int, share: float) -> Array:
        """The chosen columns, from ``known`` on, of which centring leaves nothing but rounding."""
        spread = self._gram.diagonal()[: self.index.size]
        with np.errstate(invalid="ignore", divide="ignore"):
            means = self._q**2 / float(h.sum())
        constant = spread <= share**2 * means
        constant[:known] |= spread[:known] == 0.0
        return np.flatnonzero(constant)

    def _bordered(self, h: Array) -> tuple[Array, Array]:
        d, alike = self.design.shape[1], bool((h == h[0]).all())
        weights, scale = None if alike else h, h[0] if alike else 1.0
        if not self.fit_intercept:
            return scale * self.design.gram(weights), np.zeros(d)
        matrix = self.design.bordered_gram(weights)
        if alike:
            matrix *= scale
        q, total = matrix[d, :d], float(matrix[d, d])
        found = matrix[:d, :d] - q[:, None] * (q / total)
        constant = found.diagonal() <= ROUNDING * matrix.diagonal()[:d]
        if constant.any():
            found[constant], found[:, constant] = 0.0, 0.0
        return found, q


# Proximal Newton steps on chosen columns, whose models keep their curvatures where they can.


FLOOR, RAISED = 1e-6, 100.0
"""Curvatures of the model are at least this share of the largest one, at first; the share rises by
this factor where a step is cut short, and falls by it where none is."""
MODELS = 30
"""Quadratic models in a row on one working set, at most."""
EXACTNESS = 1e-3
"""A model that is not the loss itself is minimised to this share of what its start violates."""
NEAR = 1e-7
"""A step that gains less of P may have met the caller's tol: it is the last on its working set."""
SLOW, SAME = 0.3, 1e-4
"""Curvatures of a model are kept as long as a step leaves at most this share of the violation, and
they differ by at most as much; where a Gram matrix costs next to nothing, by at most the second."""
DOUBTED = 0.05
"""A rough Gram matrix is to blame for a slow step that changed curvatures by no more than this."""
JOINING, WORTH = 0.9, 0.95
"""Before a new Gram matrix columns are let go whose w_g is 0 and |X_g'u| at most this share of its
level, if at most the second share of all remains."""
FASTER = 1.1
"""A step is doubled where P falls by more than so many times what its model says, while it pays."""
MET = 1e-12
"""Share of its level within which a condition counts as met."""
LEAST = float(np.finfo(float).tiny)
BALANCED, BALANCES = 8.0 * EPS, 4
"""Of sum |u_i|: what 1'u may be where b is the best one; steps that look for it, at most."""


class ProximalNewton:
    """A point (w, b) with its predictions and value, and the columns that it moves on.

    Columns that were chosen before on the same design, with their Gram matrix, may be handed on.
    """

    def __init__(
        self, objective: Objective, w: Array, b: float, columns: ChosenColumns | None = None
    ) -> None:
        blocks = objective.penalty.zero_blocks(objective.d)
        assert blocks is not None  # a need of this solver
        self.objective, self.w, self.b = objective, w, b
        self.own = self.norms = Norms.of(*blocks)
        self.mu, self.times = objective.penalty.strong_convexity, 1.0
        self.z = objective.predict(w, b)
        self.value = objective.primal(w, b, self.z)
        self.passes = 1.0
        self.columns = columns or ChosenColumns(objective.design, objective.fit_intercept)
        self.floor = FLOOR
        loss = objective.loss
        self.is_quadratic = loss.strong_convexity == loss.curvature_bound  # one model says all
        self.is_newton, self.may_be_rough = True, not self.is_quadratic
        self.u = self.slope = self.h = np.zeros(0)

    def on_all_columns(self, sample: int, seed: int) -> Iterator[Iterate]:
        """Steps on all columns, where these are few; the start is evaluated if somebody asks.

        The matrix of a quadratic is first that of a ``sample``, if there is one.
        """
        yield Iterate(self.w, self.b, None, self.passes, promise=np.inf)
        if 0 < sample < self.objective.n and self.is_quadratic:
            start = self.objective, self.w, self.b, sample, seed
            step = SampledSupport(self.objective, self.norms, self.mu)
            self.w, self.b, more = yield from from_sampled_gram(*start, step)
            self.z, self.passes = self.objective.predict(self.w, self.b), self.passes + more
            self.value = self.value_at(self.w, self.b, self.z)
        while True:
            before = self.value
            self.u = self.objective.loss_derivative(self.z)
            self.slope = self.columns.products(self.u) + self.mu * self.w
            self.passes += 1.0
            self.solve(1.0, False)
            yield Iterate(self.w, self.b, None, self.passes)
            if not before - self.value > MET * abs(self.value):
                return
            self.z = self.objective.predict(self.w, self.b)

    def put(self, times: float) -> None:
        """Let the levels be so many times the problem's own: that lam is ``times`` as large."""
        self.times, self.norms = times, Norms(self.own.block, times * self.own.level)
        self.value = self.value_at(self.w, self.b, self.z)

    def value_at(self, w: Array, b: float, z: Array) -> float:
        """P for these levels."""
        more = (self.times - 1.0) * self.own.value(w) if self.times > 1.0 else 0.0
        return self.objective.primal(w, b, z) + more

    @property
    def is_exact(self) -> bool:
        """Whether the last step was Newton's, but for rounding in double precision."""
        return self.is_newton and self.columns.is_exact

    def tolerance(self, u: Array) -> Array:
        """What counts as rounding in each condition, (d,)."""
        reach = 4.0 * EPS * math.sqrt(np.vdot(u, u)) * self.objective.column_norms
        return MET * self.norms.level + self.norms.sizes(reach) + LEAST

    def solve(self, share: float, slow: bool) -> None:
        """Solve the problem on the working set, to ``share`` of the tolerances.

        The steps so far were ``slow``: the curvatures that they took are not kept.
        """
        objective, columns, index = self.objective, self.columns, self.columns.index
        norms, slope, u = self.norms.at(index), self.slope[index], self.u
        tol, least, before = share * self.tolerance(u)[index], np.inf, np.inf
        for _ in range(1 if self.is_quadratic else MODELS):
            total = float(u.sum()) if objective.fit_intercept else 0.0
            missed = float(np.max(norms.distance(self.w[index], slope) / tol, initial=0.0))
            if missed <= 1.0 and abs(total) <= share * BALANCED * float(np.abs(u).sum()):
                break
            if missed >= least and self.value >= before and columns.is_exact:
                break  # all that is left is rounding
            slow = slow or missed > SLOW * least
            if not (slow or columns.whole) and before - self.value <= NEAR * abs(self.value):
                break
            self.look_at_curvatures(slow)
            if self.is_newton and not (self.is_quadratic or columns.whole):
                held = self.let_go(norms, slope)
                index, slope, tol = columns.index, slope[held], tol[held]
                norms = self.norms.at(index)
            least, before, slow = missed, self.value, False
            room = max(0.1, 0.0 if self.is_quadratic else EXACTNESS * missed) * tol
            if not self.step(norms, slope, total, room):
                if columns.is_exact:
                    break
                self.may_be_rough, slow, least = False, True, np.inf
            u = objective.loss_derivative(self.z)
            if not self.is_quadratic:
                slope = columns.products(u) + self.mu * self.w[index]
        if objective.fit_intercept and not self.is_quadratic:
            self.balance()

    def look_at_curvatures(self, slow: bool) -> None:
        """Take the h of the model at z, (n,), unless those of before are still good enough.

        Where the loss is flat at all samples, h is as curved as it gets.
        """
        if self.is_quadratic and self.h.size:
            return
        h, bound = self.objective.loss_curvature(self.z), self.objective.loss.curvature_bound
        top = float(np.max(h))
        if not top > 0.0:
            h = self.objective.c * (bound if np.isfinite(bound) else 1.0)
        else:
            h = np.maximum(h, self.floor * top)
        share = SLOW if self.columns.index.size > FULL else SAME
        moved = float(np.abs(h - self.h).sum()) / float(h.sum()) if self.h.size else np.inf
        if slow and self.is_newton and moved <= DOUBTED:
            self.may_be_rough = False
        self.is_newton = slow or moved > share
        if self.is_newton:
            self.h = h

    def let_go(self, norms: Norms, slope: Array) -> Array:
        """Which columns stay where a new Gram matrix is due."""
        sizes = norms.sizes(self.w[self.columns.index])
        held: Array = (sizes > 0.0) | (norms.sizes(slope) > JOINING * norms.level)
        if held.sum() > WORTH * held.size:
            return np.ones_like(held)
        self.columns.keep(held)
        return held

    def step(self, norms: Norms, slope: Array, total: float, room: Array) -> bool:
        """Go to the minimum of the model on the working set; whether P fell."""
        index, h = self.columns.index, self.h
        gram, q = self.columns.gram(h, self.may_be_rough)
        x, curve = self.w[index], float(h.sum())
        mean = total / curve
        reached = norms.minimise(gram, self.mu, slope - q * mean, x, room, self.columns.factor)
        step = reached - x
        shift = -mean - float(q @ step) / curve if self.objective.fit_intercept else 0.0
        return self.move(norms, step, shift, float(slope @ step) + total * shift)

    def move(self, norms: Norms, step: Array, shift: float, descent: float) -> bool:
        """Go along a step as far as P falls enough, or falls faster than its model; whether at all.

        That is so where the loss ends in an exponential, far from the solution.
        """
        index = self.columns.index
        ahead = self.columns.predictions(step) + shift
        here = self.w[index]
        change = norms.value(here + step) - norms.value(here)
        change += 0.5 * self.mu * float(step @ step)
        fall = min(descent + change, 0.0)

        def at(t: float) -> tuple[Array, Array, float]:
            w, z = self.w.copy(), self.z + t * ahead
            w[index] = here + t * step
            with np.errstate(over="ignore", invalid="ignore"):
                return w, z, self.value_at(w, self.b, z)

        t = 1.0
        while t >= SHORTEST:
            reached = at(t)
            if reached[2] <= self.value + ARMIJO * t * fall + EPS * abs(reached[2]):
                break
            t *= 0.5
        else:
            return False
        share = self.floor * (RAISED if t < 0.5 else 1.0 / RAISED if t == 1.0 else 1.0)
        self.floor = min(max(share, FLOOR), 1.0)
        model = fall + 0.5 * float(self.h @ (ahead * ahead))
        gained = reached[2] - self.value
        while t >= 1.0 and gained < FASTER * model - NEAR * abs(self.value):
            further = at(2.0 * t)
            if not further[2] < reached[2]:
                break
            t, reached = 2.0 * t, further
        (self.w, self.z, self.value), self.b = reached, self.b + t * shift
        return True

    def balance(self) -> None:
        """Newton steps on b to 1'u = 0: then the repair of u moves nothing."""
        for _ in range(BALANCES):
            u = self.objective.loss_derivative(self.z)
            total, curve = float(u.sum()), float(self.objective.loss_curvature(self.z).sum())
            if not (curve > 0.0 and abs(total) > BALANCED * float(np.abs(u).sum())):
                return
            z = self.z - total / curve
            value = self.value_at(self.w, self.b, z)
            if not value <= self.value + EPS * abs(self.value):
                return
            self.b, self.z, self.value = self.b - total / curve, z, value


SHARE = 0.3
"""The conditions on a working set are solved to this share of the largest violation; to the end
where it holds all columns."""
RATIOS, SPARSE, CLOSE, ROUGH = (8.0, 2.0), 0.1, 1.5, 1e12
"""From one lam to the next on the way down: where the nonzero coefficients are at most this share
of what a support may hold, and where they are more. The last one before the problem's own is at
least so many times as large; on the way a violation of so many tolerances, a tenth of the level,
will do."""
GLANCES, ENOUGH, CLOSER = 8, 5e5, 1e-3
"""Working sets between two passes, at most. A violation of this many tolerances, 5e-7 of the level,
and of this share of that at the pass, is enough for another one; on the way down that of ``ROUGH``.
"""
NEARLY = 1e9
"""Up to a violation of so many tolerances, 1e-3 of the level, the gap is worth its dual point."""
CROWDED, FAR, EXACT, TURNS = 0.25, 3.0, 1e6, 12
"""Where lam is more than so many times the problem's own, and nonzero coefficients are more than
this share of the samples, the minimum may be followed down from where no violation is more than so
many tolerances, 1e-6 of the level; outer steps to get there, at most."""
ALMOST, FEW = 0.6, 0.25
"""Between passes columns are seen of which |X_g'u| was above this share of its level, if they are
at most this share of all: the nearest, as many as are held."""
TALL, FILLED, LEFT = 2.0, 0.2, 8.0
"""So many times as many rows as columns have room for every support: where this share of columns is
nonzero and lam more than so many times the problem's own, all violations join there at once."""


def coordinate_descent(
    objective: Objective,
    w: Array,
    b: float,
    *,
    growth: float = 0.5,
    sample: int = 0,
    seed: int = 0,
    carried: dict[str, ChosenColumns] | None = None,
) -> Iterator[Iterate]:
    """Minimise F + sum_g level_g |w_g|_2 + (mu/2) |w|^2 on a growing set of columns.

    An outer step is one pass for X'u. It takes in the columns that violate |X_g'u|_2 <= level_g
    most, ``growth`` times as many as there are nonzero coefficients, and solves the problem on what
    it has by proximal Newton steps; then, without another pass, those among the columns that are
    near to joining, until these no longer do. A step minimises a quadratic model of F, which is F
    itself for the squared loss, by coordinate descent in covariances (Friedman, Hastie and
    Tibshirani, 2010, https://doi.org/10.18637/jss.v033.i01) that finds the support, and Newton
    steps on the support that end in rounding. The curvatures of a model are kept while its steps
    converge fast, so that its Gram matrix only grows; a new one is rough, and of the columns that
    may join, until a step shows that this is not enough. Steps are halved until P falls enough, so
    that P never increases, and doubled where it falls faster than its model. Few columns are held
    all of them at once. Where many columns violate their condition at the start, lam comes down
    from where none does in a few steps, so that few columns join in vain; iterates on the way are
    those that lower P. Where it comes down far and more columns violate theirs than there are
    samples, the minimum of squared loss and l1 is followed (``Homotopy``): supports that descent
    finds there are singular. Few columns and the squared loss begin with ``sample`` rows, see
    ``sampled_gram``. The columns of an earlier search on the same design are ``carried`` along a
    path.
    """
    if not growth > 0.0:
        raise InputError(f"coordinate_descent: growth must be > 0, got {growth!r}.")
    carried = {} if carried is None else carried
    known = carried.get("columns")
    if known is not None and not known.suit(objective.design, int(np.count_nonzero(w))):
        known = None
    search = Search(objective, w, b, known)
    carried["columns"] = search.columns
    if search.columns.whole:
        yield from search.on_all_columns(0 if known else sample, seed)
        return
    worst, least, gained, lowest = np.inf, np.inf, True, np.inf
    while True:
        search.look(not worst > NEARLY)
        search.lower()
        worst, done = search.judge()
        if search.times == 1.0 or search.primal < lowest:
            near, at = not worst > NEARLY, (search.w, search.b, None, search.passes)
            yield Iterate(*at, is_known=near, promise=np.nan if near else MET * worst)
        lowest = min(lowest, search.primal)
        if search.times > 1.0:
            least = np.inf
        elif not worst > 1.0 or (done and not gained and not worst < 0.5 * least):
            return
        slow = done and worst > SLOW * least
        least, before = min(worst, least), search.value
        rough = search.times > 1.0 and not 0 < search.turns < TURNS
        enough = ROUGH if rough else max(1.0, min(ENOUGH, CLOSER * least))
        for _ in range(GLANCES):
            search.grow(growth)
            search.solve(max(1.0, SHARE * worst), slow)
            if not search.glance():
                break
            last, (worst, inside) = worst, search.judge()
            slow = inside and worst > SLOW * last
            if not worst > enough:
                break
        gained = not search.is_exact or before - search.value > MET * abs(search.value)
        if search.times == 1.0 and done and search.is_exact and not search.value < before:
            return


class Search(ProximalNewton):
    """Proximal Newton steps on a working set that the conditions outside of it let grow."""

    def __init__(
        self, objective: Objective, w: Array, b: float, columns: ChosenColumns | None = None
    ) -> None:
        super().__init__(objective, w, b, columns)
        self.outside = np.zeros(objective.d)
        self.near: Array | None = None
        self.start, self.turns, self.fills = True, 0, False

    def look(self, anew: bool) -> None:
        """Take the slope at (w, b), whose predictions are summed ``anew`` where it is to last."""
        if anew:
            self.z = self.objective.predict(self.w, self.b)
        self.u = self.objective.loss_derivative(self.z)
        self.primal = self.objective.primal(self.w, self.b, self.z)
        self.slope = self.mu * self.w + last_slopes(self.objective.design, self.u)
        self.passes += 1.0
        self._find_near()

    def _find_near(self) -> None:
        """The columns outside that are near to joining; None where they are many."""
        most, apart = self.norms.sizes(self.slope), ~self.columns.contains
        near = np.flatnonzero(apart & (most > ALMOST * self.norms.level))
        self.seen = np.ones(self.objective.d, dtype=bool)
        few, held = near.size <= FEW * self.objective.d, self.columns.index.size
        if few and near.size > held > 0:
            away = self.norms.level[near] / most[near]
            near = self.norms.whole(near[np.argpartition(away, held)[:held]])
        self.near = near if few else None
        self._near_columns: Design | None = None

    def glance(self) -> bool:
        """Take the slopes of the columns held and of those near to joining, if they are few.

        Whether they are.
        """
        if self.near is None:
            return False
        held = self.columns.index
        if self._near_columns is None:
            self._near_columns = self.objective.design.columns(self.near)
        self.u = self.objective.loss_derivative(self.z)
        self.slope[self.near] = self._near_columns.rmatvec(self.u)
        self.slope[held] = self.columns.products(self.u) + self.mu * self.w[held]
        self.seen = self.columns.contains.copy()
        self.seen[self.near] = True
        self.passes += (held.size + self.near.size) / self.objective.d
        return True

    def lower(self) -> None:
        """Bring the levels nearer to the problem's own; at the start they let no column in."""
        level = self.own.level
        if self.start:
            sizes = self.own.sizes(self.slope)
            self.times = float(np.max(sizes[level > 0.0] / level[level > 0.0], initial=1.0))
            self.start = False
        if self.is_crowded():
            self.turns += 1
            if self.turns < TURNS and self.judge()[0] > EXACT:
                return
            self.turns = TURNS
            if self.follow():
                return
        if self.times > 1.0:
            nonzero, n, d = int(np.count_nonzero(self.w)), self.objective.n, self.objective.d
            times = self.times / RATIOS[0 if nonzero <= SPARSE * min(n, d) else 1]
            far = nonzero > FILLED * d and times > LEFT
            self.fills = self.is_quadratic and n >= TALL * d and far
            self.put(times if times > CLOSE and not self.fills else 1.0)
            self._find_near()

    def is_crowded(self) -> bool:
        """Whether supports may be as large as they get; they are until the minimum was followed."""
        if not 0 < self.turns < TURNS:
            samples, nonzero = np.count_nonzero(self.h), np.count_nonzero(self.w)
            able = self.is_quadratic and self.own.block is None and not self.columns.is_sparse
            if not (able and self.times > FAR and nonzero > CROWDED * samples) or self.turns:
                return False
            self.judge()
            return bool(nonzero + np.count_nonzero(self.outside > 1.0) > samples)
        return True

    def follow(self) -> bool:
        """Follow the minimum down to the problem's own levels; whether it came there."""
        objective, level = self.objective, self.own.level
        found = Homotopy(objective, self.h, self.slope, self.w, level, self.times).follow()
        if found is None:
            return False
        z = objective.predict(found, 0.0)
        b = objective.best_intercept(z)
        if not objective.primal(found, b, z + b) <= self.primal:
            return False
        self.w, self.b, self.z = found, b, z + b
        self.put(1.0)
        self.look(False)
        return True

    def judge(self) -> tuple[float, bool]:
        """The largest violation of the columns seen last; whether all that violate are held."""
        missed = self.norms.distance(self.w, self.slope) / self.tolerance(self.u)
        missed[~self.seen] = 0.0
        self.outside = np.where(self.columns.contains, 0.0, missed)
        worst = float(np.max(missed, initial=0.0))
        return worst, not np.any(self.outside > 1.0)

    def grow(self, growth: float) -> None:
        """Take in the coordinates of the largest violations, and all nonzero ones."""
        nonzero = int(np.count_nonzero(self.w))
        most = self.objective.d if self.fills else int(growth * nonzero)
        wanted = max(int(2.0 * np.sqrt(self.objective.d)), most)
        held = (self.w != 0.0) & ~self.columns.contains
        rank = np.where(held, np.inf, self.outside)
        found = np.flatnonzero(rank > 1.0)
        if found.size > wanted:
            found = found[np.argsort(-rank[found], kind="stable")[: wanted + int(held.sum())]]
        if found.size:
            self.columns.add(self.norms.whole(found))

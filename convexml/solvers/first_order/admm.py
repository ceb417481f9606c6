"""Consensus ADMM: the samples in blocks of rows, each with its own copy of (w, b)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.linalg.lapack import dpotrs

from ...data import BlockArray, Design, by_blocks, rows_in_blocks, rowwise
from ...data.array import RowForm, blockwise
from ...data.scaled import scaled_columns, unscaled
from ...data.steps import entry
from ...errors import InputError
from ...numerics import Array
from ...problem import Objective
from ...validation import positive_number
from ..driver import Iterate

# Blocks of rows with copies of (w, b): what a step of consensus ADMM asks of each block.


LARGEST = 10_000
"""Rows and columns of the matrix that a block may keep: 800 MB of numbers."""


class Copies(NamedTuple):
    """What belongs to the blocks: copies x_k of (w, b) with prices t, predictions p with prices s.

    In memory x and t have shape (K, d + 1), p and s shape (n,); else all four are in blocks.
    """

    x: Any
    t: Any
    p: Any
    s: Any


@dataclass(frozen=True)
class CopyMetric:
    """How copies are measured, tau of shape (d + 1,), and whether b is free: 1.0, else 0.0."""

    tau: Array
    free_b: float

    @classmethod
    def of(cls, objective: Objective, count: int) -> CopyMetric:
        """tau_j = |x_j|^2 / count makes the entries of (w, b) as large as predictions.

        It is one number for all columns where the prox of the penalty asks for that.
        """
        squares = objective.design.column_squares()
        squares = np.where(squares > 0.0, squares, 1.0)
        zeros = np.zeros(objective.d)
        is_separable = objective.penalty.terms(zeros, zeros).shape == zeros.shape
        squares = squares if is_separable else np.full_like(squares, squares.mean())
        return cls(np.append(squares, objective.n) / count, float(objective.fit_intercept))


@dataclass(frozen=True)
class RowsInMemory:
    """Blocks that are cut from rows in memory, all of ``size`` rows but the last one."""

    objective: Objective
    size: int

    @cached_property
    def parts(self) -> list[tuple[slice, Design]]:
        return list(self.objective.design.row_blocks(self.size))

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The rows of each."""
        return tuple(part.shape[0] for _, part in self.parts)

    @cached_property
    def metric(self) -> CopyMetric:
        return CopyMetric.of(self.objective, len(self.lengths))

    @cached_property
    def factors(self) -> list[Array]:
        return [factor(part, self.metric) for _, part in self.parts]

    def begin(self, v: Array) -> Copies:
        """All copies at v, without prices."""
        x, p = np.tile(v, (len(self.lengths), 1)), self.objective.predict(v[:-1], float(v[-1]))
        return Copies(x, np.zeros_like(x), p, np.zeros_like(p))

    def step(self, at: Copies, v: Array, z: Array) -> tuple[Copies, Array]:
        """``moved`` of every block, its sums added up."""
        found, total = Copies(*map(np.empty_like, at)), np.zeros(len(v) + 2)
        for k, (some, part) in enumerate(self.parts):
            own = at.x[k], at.t[k], at.p[some], at.s[some]
            after = moved(part, self.factors[k], self.metric, v, z[some], *own)
            found.x[k], found.t[k], found.p[some], found.s[some], sums = after
            total += sums
        return found, total

    def shown(self, at: Copies) -> dict[str, Any]:
        """What the theorem's audit asks of the copies."""
        return {**at._asdict(), "tau": self.metric.tau, "rows": self.size}


@dataclass(frozen=True)
class RowsInBlocks:
    """Blocks where they lie: copies and factors stay with them, and a step is one visit of each."""

    objective: Objective

    @property
    def lengths(self) -> tuple[int, ...]:
        """The rows of each."""
        found: tuple[int, ...] = unscaled(self.objective.design)[0].lengths
        return found

    @cached_property
    def metric(self) -> CopyMetric:
        return CopyMetric.of(self.objective, len(self.lengths))

    @cached_property
    def factors(self) -> BlockArray:
        return by_blocks(factor, self.objective.design, self.metric)

    def begin(self, v: Array) -> Copies:
        """All copies at v, without prices."""
        p, x = self.objective.predict(v[:-1], float(v[-1])), blockwise(copied, self.objective.y, v)
        return Copies(x, 0.0 * x, p, 0.0 * p)

    def step(self, at: Copies, v: Array, z: Any) -> tuple[Copies, Array]:
        """``moved`` of every block, its sums added up."""
        arguments = self.factors, self.metric, v, z, *at
        found = by_blocks(moved, self.objective.design, *arguments)
        form = RowForm(self.lengths, (self.objective.n,))
        x, t, p, s, sums = (found.mapped(entry, k) for k in range(5))
        after = Copies(x, t, BlockArray.like(p, form), BlockArray.like(s, form))
        return after, sums.executor.total(sums.parts)

    def shown(self, at: Copies) -> dict[str, Any]:
        """Copies stay where they are."""
        return {}


def rows_of(objective: Objective, blocks: int | None) -> RowsInMemory | RowsInBlocks:
    """The blocks that rows lie in; of rows in memory so many, 4 if None.

    Raises
    ------
    InputError
        For another number of blocks, or blocks with too many rows and columns.
    """
    if not (blocks is None or (isinstance(blocks, int | np.integer) and blocks >= 1)):
        raise InputError(f"admm: blocks must be a whole number >= 1, got {blocks!r}.")
    if rows_in_blocks(objective):
        found: RowsInMemory | RowsInBlocks = RowsInBlocks(objective)
        advice = f"Pass blocks of at most {LARGEST} rows"
        if blocks is not None:
            raise InputError(
                f"admm: the rows lie in {len(found.lengths)} blocks, each with its own copy of w: "
                f"leave out blocks, got {blocks!r}."
            )
    else:
        found = RowsInMemory(objective, -(-objective.n // (4 if blocks is None else blocks)))
        advice = "Take more blocks"
    for k, n in enumerate(found.lengths):
        size = min(n, objective.d)
        if size > LARGEST:
            raise InputError(
                f"admm: block {k} has {n} rows and {objective.d} columns, and would keep a matrix "
                f"of {size} x {size} numbers, {size**2 * 8e-9:.1f} GB. {advice}."
            )
    return found


def copied(rows: Any, v: Array) -> Array:
    """The first copy of a block."""
    return v.copy()


def moved(
    rows: Design, factor: Array, metric: CopyMetric, v: Array, z: Array, *own: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """Project (v + t, z + s) on p = X~x, and let the prices pay for the distance.

    Returns what belongs to the block then, and (x, |z - p|^2 + |v - x|^2_tau, and the squared
    length of the step of (p, x) in the same metric).
    """
    x_before, t, p_before, s = own
    near, goal = v + t, z + s
    x, p = projected(rows, factor, metric, near, goal)
    apart, off, far, step = z - p, v - x, p - p_before, x - x_before
    primal = apart @ apart + metric.tau @ (off * off)
    dual = far @ far + metric.tau @ (step * step)
    return x, near - x, p, goal - p, np.append(x, (primal, dual))


def projected(
    rows: Design, factor: Array, metric: CopyMetric, near: Array, goal: Array
) -> tuple[Array, Array]:
    """argmin of |p - goal|^2 + |x - near|^2_tau over p = X~x, for two products with X.

    (T + X~'X~) x = T near + X~'goal; where there are no more rows than columns,
    x = near + T^-1 X~'e with (1 + X~ T^-1 X~') e = goal - X~ near, and goal - e = p.
    """
    (n, d), tau = rows.shape, metric.tau
    if n > d:
        right = tau * near + np.append(rows.rmatvec(goal), metric.free_b * goal.sum())
        x = dpotrs(factor, right)[0]
        return x, rows.matvec(x[:-1]) + metric.free_b * x[-1]
    missed = goal - rows.matvec(near[:-1]) - metric.free_b * near[-1]
    e = dpotrs(factor, missed)[0] if n else missed
    return near + np.append(rows.rmatvec(e), metric.free_b * e.sum()) / tau, goal - e


def factor(rows: Design, metric: CopyMetric) -> Array:
    """The Cholesky factor of T + X~'X~, or of 1 + X~ T^-1 X~' where that is no larger.

    X~ = [X 1], or [X 0] without b; T = diag(tau).
    """
    (n, d), tau = rows.shape, metric.tau
    if n > d:
        matrix = np.diag(tau)
        matrix[:d, :d] += rows.gram()
        edge = metric.free_b * rows.rmatvec(rows.ones)
        matrix[d, :d] += edge
        matrix[:d, d] += edge
        matrix[d, d] += metric.free_b * n
    else:
        X, units = rows.constant, 1.0 / np.sqrt(tau[:-1])
        X = scaled_columns(X, units) if sparse.issparse(X) else X * units
        matrix = X @ X.T
        matrix = matrix.toarray() if sparse.issparse(matrix) else matrix
        matrix += metric.free_b / tau[-1] + np.eye(n)
    found: Array = linalg.cho_factor(matrix)[0] if n else matrix
    return found


BALANCE = 3.0
"""Residuals further apart than this factor make rho change by a factor 2 ..."""
SETTLE = 1000
"""... in the first iterations; it is constant after them, as the theorem asks."""


def admm(
    objective: Objective, w: Array, b: float, *, blocks: int | None = None, rho: float | None = None
) -> Iterator[Iterate]:
    """Minimise sum_k F_k(z_k) + Omega(v) s.t. z_k = p_k, v = x_k, p_k = X_k x_k, blocks k.

    The losses and the penalty answer by their proxes, sample by sample and with the mean of the
    copies; then each block projects (v + t_k, z_k + s_k) on the graph p = X_k x of its own rows, by
    a matrix of min(n_k, d) rows factored once, and the scaled prices s, t move by the disagreement.
    x_k, v include the intercept. (Boyd et al., 2011, chapters 7 and 8.2,
    https://doi.org/10.1561/2200000016; Parikh and Boyd, 2014,
    https://doi.org/10.1007/s12532-013-0061-8.) ``rho``, default max(c), balances the residuals in
    the first 1000 iterations. u = rho (p - s - z) is a dual point.

    Blocks of ``RowBlocks`` keep their x, t, p, s and their factor; a step visits each of them once,
    gets v and gives x_k back. Rows in memory are cut into ``blocks``, 4 by default.
    """
    rows = rows_of(objective, blocks)
    rho = float(objective.c.max()) if rho is None else positive_number(rho, "admm", "rho")
    yield Iterate(w, b, None, 1.0)
    prox, count, tau = rowwise(objective.loss.prox), len(rows.lengths), rows.metric.tau
    v, t = np.append(w, b), np.zeros(objective.d + 1)
    at, x, passes = rows.begin(v), v, 1.0
    for iteration in range(10**9):
        z = prox(objective.y, at.p - at.s, objective.c / rho)
        u = rho * (at.p - at.s - z)
        share = 1.0 / (rho * tau[:-1] * count)
        v = np.append(objective.penalty.prox((x - t)[:-1], share), (x - t)[-1])
        at, sums = rows.step(at, v, z)
        x, (primal, dual) = sums[:-2] / count, map(float, sums[-2:])
        t = t + v - x
        passes += 2.0
        facts = {"primal": primal, "dual": dual, "rho": rho}
        state = {**rows.shown(at), "v": v, "z": z, "rho": rho}
        yield Iterate(v[:-1], float(v[-1]), u, passes, facts, state)
        if primal == 0.0 and dual == 0.0:
            return
        ratio = np.sqrt(primal / dual) if dual > 0.0 else np.inf
        if iteration < SETTLE and iteration % 5 == 4 and not 1 / BALANCE < ratio < BALANCE:
            change = 2.0 if ratio > 1.0 else 0.5
            rho, t = rho * change, t / change
            at = at._replace(s=at.s / change, t=at.t / change)

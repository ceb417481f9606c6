"""SAGA."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.random import Generator

from ...compiled import Loop, compiled
from ...data import BlockArray, Design, OneByOne, rows_in_blocks
from ...numerics import Array
from ...problem import Objective
from ...theory.constants import sample_loss_smoothness
from ..composite import Composite
from ..driver import Iterate
from ..steps import constant
from .samples import (
    ENTRY,
    STEP,
    OwnSamples,
    PlainSamples,
    SharedTerms,
    add,
    is_thin,
    later,
    predict,
    samples,
    samples_of,
    shrink,
    slope,
)

Moved = tuple[Array, Array, Generator]
"""x = (w, b), the mean gradient of the table, and the generator: what a round changes."""
LEAST, SMALL = 2.0**-10, 2.0**-100
"""Share of its parts' squares that |w|^2 may be left with, and a; else w is added up, at cost d."""


def saga(
    objective: Objective, w: Array, b: float, *, step: float | None = None, seed: int = 0
) -> Iterator[Iterate]:
    """Stochastic proximal gradient steps whose noise dies out: one pass each.

    The gradient of sample i is s_i (x_i, 1), with one number s_i = n c_i l'(y_i, z_i). A table of
    the s_i last met, and the mean gradient that they make, turn the noisy s_i (x_i, 1) into
    (s_i - table_i) (x_i, 1) + mean, of the same expectation. With step = 1 / (4 L_max) the error
    falls at a linear rate in expectation (Defazio, Bach and Lacoste-Julien, 2014,
    https://arxiv.org/abs/1407.0202). The table is a dual point too: u = table / n.

    That theorem is for samples that are drawn from all rows each time. Rows in blocks are visited
    block after block, in another random order each time, and n_k samples of block k are drawn with
    replacement at its visit: the same steps of the same length, of which the theorem says nothing
    unless there is one block. The table stays with the rows; (w, b), the mean gradient and the
    generator go from block to block.
    """
    P, rng = Composite(objective), np.random.default_rng(seed)
    gamma = constant(step, "saga", lambda: 0.25 / (sample_loss_smoothness(objective) or 1.0))
    n = objective.n
    x, T = P.pack(objective.penalty.project(w), b), 0
    table = n * objective.loss_derivative(objective.predict(*P.split(x)))
    mean = P.loss_gradient(x)
    kind = TableInBlocks if rows_in_blocks(objective) else TableInMemory
    round_of = kind(objective, table)
    while True:
        yield P.iterate(x.copy(), round_of.table / n, step=gamma, steps=T)
        x, mean, rng = round_of(x, mean, rng, gamma)
        T += n
        P.passes += 2.0


class TableInMemory:
    """The table beside all samples: a round draws n of them."""

    def __init__(self, objective: Objective, table: Array) -> None:
        self.samples, self.table = samples(objective), table

    def __call__(self, x: Array, mean: Array, rng: Generator, step: float) -> Moved:
        n = len(self.table)
        move_of(self.samples)(self.samples, x, self.table, mean, rng.integers(n, size=n), step)
        return x, mean, rng


class TableInBlocks:
    """The table in the blocks of the samples: a round visits each of them."""

    def __init__(self, objective: Objective, table: Any) -> None:
        self.terms, self.scale = SharedTerms.of(objective), objective.n * objective.c
        self.objective, self.table = objective, table

    def __call__(self, x: Array, mean: Array, rng: Generator, step: float) -> Moved:
        rows, own = OneByOne(self.objective.design), (self.objective.y, self.scale, self.table)
        tables, moved = list(self.table.parts), (x, mean, rng)
        for k in rng.permutation(np.flatnonzero(self.table.lengths)):
            of_block = [rows.part(each, k) for each in own]
            [tables[k]], moved = rows.visit(k, visited, *of_block, self.terms, *moved, step)
        self.table = BlockArray(tables, self.table.executor, form=self.table.form)
        return moved


def visited(
    rows: Design,
    y: Array,
    scale: Array,
    table: Array,
    terms: SharedTerms,
    x: Array,
    mean: Array,
    rng: Generator,
    step: float,
) -> tuple[Array, Moved]:
    """The table of a block after as many steps as it has samples, and where these lead."""
    S, n = samples_of(rows, y, scale, terms), len(y)
    x, table, mean, rng = x.copy(), table.copy(), mean.copy(), deepcopy(rng)
    move_of(S)(S, x, table, mean, rng.integers(n, size=n), step)
    return table, (x, mean, rng)


def move_of(S: PlainSamples | OwnSamples) -> Loop:
    """The loop of steps that suits the rows."""
    if is_thin(S):
        return ball_saga_steps if S.radius < np.inf else lazy_saga_steps
    return saga_steps


@compiled(work=lambda *given: STEP * len(given[4]))
def saga_steps(
    S: PlainSamples, x: Array, table: Array, mean: Array, draws: Array, step: float
) -> None:
    """Move x once for each sample drawn, and keep table and mean up to date."""
    for i in draws:
        change = slope(S, i, predict(S, i, x)) - table[i]
        x -= step * mean
        add(S, i, x, -step * change)
        shrink(S, x, step)
        add(S, i, mean, change / S.total)
        table[i] += change


@compiled(work=lambda *given: STEP * len(given[4]) + ENTRY * given[0].entries(given[4]))
def lazy_saga_steps(
    S: PlainSamples, x: Array, table: Array, mean: Array, draws: Array, step: float
) -> None:
    """The same in the nonzeros of the rows drawn: w_j makes the steps it owes when it is met."""
    made, l1, l2, lo, hi = np.zeros(len(x) - 1, np.int64), step * S.l1, step * S.l2, S.lo, S.hi
    rate, starts, columns, values = np.log1p(l2), S.starts, S.columns, S.values
    for t in range(len(draws)):
        i = draws[t]
        score = x[-1]
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            w = later(x[j], step * mean[j], t - made[j], l1[j], l2[j], rate[j])
            x[j] = min(max(w, lo[j]), hi[j])
            score += values[k] * x[j]
        change = slope(S, i, score) - table[i]
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            w = x[j] - step * (mean[j] + change * values[k])
            w = np.sign(w) * max(abs(w) - l1[j], 0.0) / (1.0 + l2[j])
            x[j] = min(max(w, lo[j]), hi[j])
            mean[j] += change * values[k] / S.total
            made[j] = t + 1
        x[-1] -= step * mean[-1]
        if S.intercept:
            x[-1] -= step * change
            mean[-1] += change / S.total
        table[i] += change
    for j in range(len(made)):
        w = later(x[j], step * mean[j], len(draws) - made[j], l1[j], l2[j], rate[j])
        x[j] = min(max(w, lo[j]), hi[j])


@compiled(work=lambda *given: STEP * len(given[4]) + ENTRY * given[0].entries(given[4]))
def ball_saga_steps(
    S: PlainSamples, x: Array, table: Array, mean: Array, draws: Array, step: float
) -> None:
    """The same within |w| <= radius: w = a v + beta mean, and |w| from three sums that are kept.

    The mean that moves all of w is that of now: what a row adds to it, v loses.
    """
    starts, columns, values, v, m = S.starts, S.columns, S.values, x[:-1], mean[:-1]
    a, beta, vv, vm, mm = 1.0, 0.0, v @ v, v @ m, m @ m
    most_v, most_m = vv, mm  # what the sums were rounded at
    for i in draws:
        score = x[-1]
        for k in range(starts[i], starts[i + 1]):
            score += values[k] * (a * v[columns[k]] + beta * m[columns[k]])
        change = slope(S, i, score) - table[i]
        beta -= step
        to_m = change / S.total
        to_v = -(step * change + beta * to_m) / a
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            p, q = v[j], m[j]
            v[j] += to_v * values[k]
            m[j] += to_m * values[k]
            vv += (v[j] - p) * (v[j] + p)
            mm += (m[j] - q) * (m[j] + q)
            vm += v[j] * m[j] - p * q
        x[-1] -= step * mean[-1]
        if S.intercept:
            x[-1] -= step * change
            mean[-1] += to_m
        table[i] += change
        most_v, most_m = max(most_v, vv), max(most_m, mm)
        square = a * a * vv + 2.0 * a * beta * vm + beta * beta * mm
        is_lost = not square >= LEAST * (a * a * most_v + beta * beta * most_m)
        if is_lost:
            square = gathered(v, m, a, beta)
            a, beta = 1.0, 0.0
        norm = float(np.sqrt(square))
        if norm > S.radius:
            a, beta = a * S.radius / norm, beta * S.radius / norm
        if is_lost or a < SMALL:
            vv, a, beta = gathered(v, m, a, beta), 1.0, 0.0
            vm, mm = v @ m, m @ m
            most_v, most_m = vv, mm
    gathered(v, m, a, beta)


@compiled
def gathered(v: Array, m: Array, a: float, beta: float) -> Any:
    """Make w of v; returns |w|^2."""
    v *= a
    v += beta * m
    return v @ v

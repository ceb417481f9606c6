"""Cyclic coordinate descent on working sets, for penalties that are norms of blocks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...compiled import compiled
from ...errors import InputError
from ...numerics import EPS, Array
from ...problem import Objective
from ..composite import ARMIJO, SHORTEST
from ..driver import Iterate

# Cyclic descent on a quadratic model plus absolute values or norms of blocks.


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


FLOOR = 1e-3
"""Curvatures of the model are at least this share of the largest one of the loss."""
SWEEPS = 200
"""Cycles through the working set in one epoch, at most."""


def coordinate_descent(
    objective: Objective, w: Array, b: float, *, growth: float = 2.0
) -> Iterator[Iterate]:
    """Minimise F + sum_g level_g |w_g|_2 + (mu/2) |w|^2 block by block, on a growing working set.

    An epoch takes the blocks that are not 0 and those that violate their condition most, ``growth``
    times as many in all, and minimises the quadratic model of F at (w, b) plus the penalty by
    cyclic descent (Friedman, Hastie and Tibshirani, 2010, https://doi.org/10.18637/jss.v033.i01);
    for the squared loss the model is F. The step is halved until P falls enough, so that P never
    increases. Blocks are single coordinates for the l1 norm and the elastic net, groups else.
    """
    if not growth > 1.0:
        raise InputError(f"coordinate_descent: growth must be > 1, got {growth!r}.")
    penalty, design, loss = objective.penalty, objective.design, objective.loss
    blocks = penalty.zero_blocks(objective.d)
    assert blocks is not None  # a need of this solver
    index, levels = blocks
    mu = penalty.strong_convexity
    value, passes = objective.primal(w, b), 1.0
    while True:
        z = objective.predict(w, b)
        u = objective.loss_derivative(z)
        bound = loss.curvature_bound
        h = objective.c * np.clip(loss.curvature(objective.y, z), FLOOR * bound, bound)
        slope, slope_b = design.rmatvec(u), float(u.sum()) if objective.fit_intercept else 0.0
        passes += 2.0
        yield Iterate(w, b, u, passes)
        unit = np.maximum(design.column_squares(h), EPS)
        moved = np.sqrt(
            np.bincount(index, (w - penalty.prox(w - slope / unit.max(), 1.0 / unit.max())) ** 2)
        )
        is_active = np.bincount(index, np.abs(w)) > 0.0
        wanted = max(10, int(growth * is_active.sum()))
        rank = np.argsort(-np.where(is_active, np.inf, moved), kind="stable")[:wanted]
        chosen = np.flatnonzero(np.isin(index, rank[is_active[rank] | (moved[rank] > 0.0)]))
        chosen = chosen[np.argsort(index[chosen], kind="stable")]
        dw, db = model_step(objective, chosen, index[chosen], levels, mu, w, h, slope, slope_b)
        passes += len(chosen) + 1.0
        descent = float(slope @ dw) + slope_b * db + penalty.value(w + dw) - penalty.value(w)
        step = 1.0
        while True:
            trial = objective.primal(w + step * dw, b + step * db)
            passes += 1.0
            if trial <= value + ARMIJO * step * min(descent, 0.0):
                break
            step *= 0.5
            if step < SHORTEST:
                return
        if step * float(np.abs(dw).max(initial=0.0)) == 0.0 and step * db == 0.0:
            return
        w, b, value = w + step * dw, b + step * db, trial


def model_step(
    objective: Objective,
    chosen: Array,
    groups: Array,
    levels: Array,
    mu: float,
    w: Array,
    h: Array,
    slope: Array,
    slope_b: float,
) -> tuple[Array, float]:
    """Minimise the model over the chosen coordinates and b; returns the step (dw, db)."""
    columns, k = objective.design.columns(chosen), len(chosen)
    size = k + int(objective.fit_intercept)
    gram, g, x = np.zeros((size, size)), np.empty(size), np.zeros(size)
    gram[:k, :k] = columns.gram(h)
    g[:k], x[:k] = slope[chosen], w[chosen]
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    level = levels[groups[starts]]
    smooth = np.full(len(starts), mu)
    if objective.fit_intercept:
        gram[k, :k] = gram[:k, k] = columns.rmatvec(h)
        gram[k, k], g[k] = h.sum(), slope_b
        starts, level = np.append(starts, k), np.append(level, 0.0)
        smooth = np.append(smooth, 0.0)
    ends = np.append(starts[1:], size)
    curves = np.array(
        [np.linalg.eigvalsh(gram[i:j, i:j])[-1] for i, j in zip(starts, ends, strict=True)]
    )
    cycle(gram, g, x, starts, ends, curves, level, smooth, SWEEPS)
    step = np.zeros_like(w)
    step[chosen] = x[:k] - w[chosen]
    return step, float(x[k]) if objective.fit_intercept else 0.0

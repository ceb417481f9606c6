"""Cyclic coordinate descent on working sets, for penalties that are norms of blocks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...errors import InputError
from ...numerics import EPS, Array
from ...objective import Objective
from ..driver import Iterate
from ..line_search import ARMIJO, SHORTEST
from .cycles import cycle

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

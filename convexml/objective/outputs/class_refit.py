"""The refit of what is not penalised: it makes slopes of the loss of K classes dual feasible."""

from __future__ import annotations

import numpy as np

from ...design import in_blocks
from ...losses.softmax import log_sum_exp, shares
from ...numerics import EPS, Array
from ...penalties.base import Manifold
from .class_hessian import both_pulls
from .multiclass_newton import ClassScores, multiclass_step

STEPS, FEW_STEPS = (60, 1e-9), (6, 0.2)
"""Newton steps of a refit, and the shortest of each that is tried; where blocks are read for it."""
SLOW = 0.5
"""A step that leaves more of the slope is far from quadratic: blocks are not read for more."""
SETTLED = 1e-11
"""A slope, of its terms, below which no shorter step is tried."""


@np.errstate(over="ignore", invalid="ignore")
def refit(objective: ClassScores, z: Array, intercept_only: bool = False) -> tuple[Array, Array]:
    """Return (V, t) minimising F(z + X V + 1 t') over the unpenalised part: t, and rows of V.

    At the minimum the derivative of the loss is dual feasible: 1'u = 0, and X'u = 0 on these rows.
    Entries of z may be -inf: classes of probability 0, which stay so.
    """
    free = objective.penalty.free(objective.d) & (not intercept_only)
    count = int(free.sum())
    manifold = Manifold(free, np.zeros(objective.d), np.zeros(count), np.zeros(count))
    w, b = np.zeros(objective.d), _scaled_intercept(objective, z)
    value, slope = _merit(objective, z, objective.predict(w, b), free)
    rounding = EPS * float(objective.c.sum())  # of logsumexp, although its value may be near 0
    reads = free.any() and in_blocks(objective.design)
    steps, shortest = FEW_STEPS if reads else STEPS
    for _ in range(steps):
        if slope <= 2.0 * EPS:
            break
        found = multiclass_step(objective, w, b, manifold, z)
        if found is None:
            break
        size = 1.0
        while size > shortest:
            new_w, new_b = w + size * (found[0] - w), b + size * (found[1] - b)
            trial, steepness = _merit(objective, z, objective.predict(new_w, new_b), free)
            room = 1e-14 * abs(value) + rounding
            if trial < value - room or (trial <= value + room and steepness < slope):
                break
            size = 0.0 if trial <= value + room and slope <= SETTLED else 0.25 * size
        else:
            break
        w, b, value, before, slope = new_w, new_b, trial, slope, steepness
        if reads and slope > SLOW * before:
            break
    return w, b


def _scaled_intercept(objective: ClassScores, z: Array) -> Array:
    """t_k = log(c'e_k / c'p_k), which scales what is expected of a class to what there is of it.

    F(z + 1 t') <= F(z), the minimum where all rows of z are alike (Darroch and Ratcliff, 1972,
    https://doi.org/10.1214/aoms/1177692379).
    """
    if not objective.fit_intercept:
        return np.zeros(objective.classes)
    weight = objective.c[:, None]
    found, expected = (np.sum(weight * x, axis=0) for x in (objective.labels, shares(z)))
    with np.errstate(divide="ignore", invalid="ignore"):
        t: Array = np.log(found) - np.log(expected)
    return t - t.mean() if np.all(np.isfinite(t)) else np.zeros(objective.classes)


def _merit(objective: ClassScores, z: Array, shift: Array, free: Array) -> tuple[float, float]:
    """F(z + shift) - F(z) up to a constant; 1'u and X'u, the largest, relative to their terms."""
    u, slope = objective.loss_derivative(z + shift), 0.0
    if free.any():
        rows, sizes = both_pulls(objective.design.base, u)
        slope = float(np.max(np.abs(rows[free]) / np.maximum(sizes[free], 1e-300)))
    at_label = (objective.labels * shift).sum(axis=1)
    value = float(objective.c @ (log_sum_exp(z + shift) - at_label))
    if objective.fit_intercept:
        size = np.maximum(np.abs(u).sum(axis=0), 1e-300)
        slope = max(slope, float(np.max(np.abs(u.sum(axis=0)) / size)))
    return value, slope

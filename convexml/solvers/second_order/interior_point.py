"""A primal-dual interior point method for losses with a box dual."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...blocks import joined
from ...design import rows_in_blocks
from ...numerics import EPS, Array
from ...objective import Objective
from ..box_dual import BoxDual, box_dual, kinks_at_zero, with_kinks
from ..driver import Iterate
from .interior_system import BACK_OFF, SIDES, InteriorPoint, KinkedRows, NewtonSystem
from .smoothing import smoothed_start

NEAR = 1e-2
"""Relative gaps that s'z tells well; asked where a look at the gap takes passes over files."""


def interior_point(
    objective: Objective, w: Array, b: float, *, sample: int = 0, seed: int = 0
) -> Iterator[Iterate]:
    """Solve the dual QP by Mehrotra's predictor-corrector steps, all variables at once.

    F*(u) = min { q'p + p'K p / 2 : sum_k p_k = u, lo <= p <= hi } and Omega = w'Lam w / 2 make the
    dual a QP, whose conditions are linear but for s z = mu (``NewtonSystem``). Where l_j |w_j| is
    added, it counts as the absolute loss of one more prediction, w_j itself. Each iteration
    solves them twice with one factor: for mu = 0, which tells how far one can go, and for the mu
    that this allows, second-order terms included (Mehrotra, 1992, https://doi.org/10.1137/0802028;
    Ferris and Munson, 2002, https://doi.org/10.1137/S1052623400374379, for SVMs).

    It needs no start: (w, b) is only the first iterate. Where rows are very many, ``sample`` of
    them drawn at random come first, and steps on all rows that a smoothed loss takes from there
    (``smoothed_start``): what follows is needed where their gap is too large.
    """
    kinks = kinks_at_zero(objective)
    (kinked,) = kinks.nonzero()
    passes = 1.0
    yield Iterate(w, b, None, passes, promise=np.inf if sample else np.nan)
    if sample and not kinked.size:
        rng = np.random.default_rng(seed)
        passes += yield from smoothed_start(objective, b, curvature(objective), sample, rng)
    rows, box = KinkedRows(objective, kinked), with_kinks(box_dual(objective), kinks[kinked])
    level = curvature(objective)
    tells = rows_in_blocks(objective)
    finite = np.stack([np.isfinite(box.lo), np.isfinite(box.hi)])
    count = max(int(finite.sum()), 1)
    left = 1.0
    at = start(rows, box, finite)
    while True:
        system = NewtonSystem(rows, box, level, finite, at)
        mu = system.product / count
        state = {"p": at.p, "s": finite * at.s, "z": at.z}
        state |= {"q": box.q, "K": box.K}
        passes += 2.0
        u, _ = rows.split(system.u)
        cost = float(np.sum(system.size) + 0.5 * level @ at.w**2)
        promise = max(mu * count / cost, left) if tells and cost > 0.0 else np.nan
        known = promise if promise <= NEAR else np.nan
        yield Iterate(at.w, at.b, u, passes, {"complementarity": mu}, state, promise=known)
        if (mu * count <= EPS * cost and left <= EPS) or not np.isfinite(system.weights.sum()):
            return
        system.factor()
        reach, product = system.predicted()
        centring = (max(product(min(1.0, reach)), 0.0) / count / mu) ** 3 if mu > 0.0 else 0.0
        move, reach = system.corrected(centring * mu)
        step = min(1.0, BACK_OFF * reach)
        passes += objective.d + 4.0
        if not (step > EPS and np.all(np.isfinite(move.w))):
            return
        at, left = at.plus(step, move), left * (1.0 - step)


def curvature(objective: Objective) -> Array:
    """The diagonal Lam of a penalty w'Lam w / 2, with or without kinks at 0, shape (d,)."""
    penalty, zero = objective.penalty, np.zeros(objective.d)
    if penalty.is_smooth:
        return penalty.manifold(zero, zero, zero + 1.0).hessian
    return zero + penalty.strong_convexity


def start(rows: KinkedRows, box: BoxDual, finite: Array) -> InteriorPoint:
    """The centre p of the box at w = 0, and the multipliers that suit them, well above 0."""
    objective, ends = rows.objective, np.stack([box.lo, box.hi])
    c = joined(objective.c, np.ones(rows.kinked.size)) if rows.kinked.size else objective.c
    p = np.where(finite, ends, SIDES[::-1] * c * finite[::-1]).mean(axis=0)
    s = np.where(finite, SIDES * (p - np.where(finite, ends, 0.0)), 1.0)
    b = objective.best_intercept(objective.zero_scores)
    slope = box.K * p + box.q - rows.forth(np.zeros(objective.d), b)
    size = float(np.abs(slope).mean()) or 1.0
    return InteriorPoint(
        p, np.zeros(objective.d), b, s, finite * (np.maximum(SIDES * slope, 0.0) + size)
    )

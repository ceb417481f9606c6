"""The method of multipliers for losses with kinks and any penalty that has a prox."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...numerics import EPS, Array
from ...objective import Objective
from ..driver import Iterate
from .models import SmoothedLoss
from .proximal_newton import LEAST, MOST, ModelledPoint, next_floor, reached, step

FIRST = 2.4
"""The first bands reach so many times as far as predictions miss the targets by."""
NARROWER = ((2, 0.25), (4, 0.45), (29, 0.7))
"""After so many models at most, the next bands are narrower by this factor;"""
WIDER = 4.0
"""after more they are wider: too few samples were in them."""
NARROWEST = 1e-8
"""Of the first width: u is rounded by EPS / NARROWEST of its box."""
CLOSE = 0.1
"""Models go on until one promises to gain no more than this share of what the bands hide,"""
STEPS = 30
"""or for so many of them."""
PATIENCE = 8
"""Centres without a smaller gap before it ends."""


def method_of_multipliers(objective: Objective, w: Array, b: float) -> Iterator[Iterate]:
    """Maximise D by proximal points u <- argmax D(u) - |u - v|^2_D / 2, v <- u, whatever Omega.

    Each is found through its own dual, F_v(X w + b) + Omega(w), whose loss is smoothed in bands
    about its kinks: models of it are minimised over w alone, each for two visits of the rows
    (``proximal_newton``). Then the centre v moves to u, and the bands get narrower. What the bands
    hide, F(z) + F*(u) - u'z, is the gap, for -X'u is a subgradient of Omega (Rockafellar, 1976,
    https://doi.org/10.1287/moor.1.2.97). Nothing but sums over the rows is asked of these.
    """
    w, passes = objective.penalty.project(w), 1.0
    if objective.fit_intercept and not w.any():
        b = float(objective.c @ objective.y) / float(objective.c.sum())
    yield Iterate(w, b, None, passes, promise=np.inf)
    far = np.abs(objective.predict(w, b) - objective.y)
    widest = FIRST * min(float(far.max()), 4.0 * float(far.mean())) or 1.0
    lo, hi = objective.dual_bounds()
    loss = SmoothedLoss(objective, 0.5 * (lo + hi), widest)
    at, floor, least, waited = reached(objective, loss, w, b), LEAST, np.inf, 0
    while waited < PATIENCE:
        at, u, hidden, count, floor = _solved(objective, loss, at, floor)
        passes += count * (3.0 + objective.d)
        size = objective.loss_value(at.z) + objective.penalty.value(at.w)
        promise = hidden / size if size > 0.0 else np.nan
        yield Iterate(at.w, at.b, u, passes, {"width": loss.omega}, promise=promise)
        waited = 0 if hidden < 0.5 * least else waited + 1
        least = min(hidden, least)
        share = next((share for most, share in NARROWER if count <= most), WIDER)
        width = min(max(share * loss.omega, NARROWEST * widest), widest)
        loss = SmoothedLoss(objective, loss.seen(at.z)[0], width)


def _solved(
    objective: Objective, loss: SmoothedLoss, at: ModelledPoint, floor: float
) -> tuple[ModelledPoint, Array, float, int, float]:
    """The minimum of the smoothed loss and the penalty, from there.

    Returns it with its u, what the bands hide there, how many models it took, and their floor.
    """
    at = replace(at, value=loss.value(at.z) + objective.penalty.value(at.w))
    count = 0
    while True:
        model = loss.model(at.z, floor)
        before, (at, fall, t) = at, step(objective, loss, at, model)
        stuck, floor, count = t == 0.0 and floor == MOST, next_floor(floor, t), count + 1
        u = loss.clipped(model.expected(at.z - before.z))
        hidden = loss.hidden(at.z, u)
        is_solved = t == 1.0 and -fall <= CLOSE * min(loss.hidden(at.z, loss.seen(at.z)[0]), hidden)
        if is_solved or stuck or not fall < -EPS * abs(at.value) or count == STEPS:
            return at, u, hidden, count, floor

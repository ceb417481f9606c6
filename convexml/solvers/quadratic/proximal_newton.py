"""Newton's method for a differentiable loss and any penalty that has a prox."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics import EPS, ROUNDING, Array
from ...objective import Objective
from ..driver import Iterate
from ..line_search import search
from ..second_order.sampled_start import Sample
from .models import ModelledLoss, OwnLoss, QuadraticModel

LEAST, MOST = 1e-8, 1.0
"""Curvatures of a model are at least this share of the largest there are, at first and at most;"""
FIRMER, LOOSER = 100.0, 0.1
"""it rises by the first factor where a step is cut short, and falls by the second where none is."""
SHORT = 0.5
"""Steps below this are cut short."""
FAR = 0.1
"""A step that was to gain more of P ends far from the solution: it is not evaluated."""


def proximal_newton(
    objective: Objective, w: Array, b: Any, *, sample: int = 0, seed: int = 0
) -> Iterator[Iterate]:
    """Minimise a differentiable loss plus any penalty by quadratic models of the loss.

    A step goes to the minimum of F(z) + u'dz + dz'F''(z) dz / 2 + Omega(w + dw), found over w alone
    (``Penalised``): it takes one Gram matrix, however long that lasts. Armijo's rule then asks for
    P(x + t dx) <= P(x) + 1e-4 t (u'dz + Omega(w + dw) - Omega(w)); w + t dw is feasible for t <= 1.
    A full step brings the dual point u + F''(z) dz with it, for which -X'u is a subgradient of the
    penalty at w + dw: feasible, whatever the penalty (Lee, Sun and Saunders, 2014,
    https://doi.org/10.1137/130921428). The start is the solution on ``sample`` rows drawn at
    random, where that is lower.
    """
    w, passes = objective.penalty.project(w), 1.0
    yield Iterate(w, b, None, passes, promise=np.inf)
    loss = OwnLoss(objective)
    at = reached(objective, loss, w, b)
    if 0 < sample < objective.n:
        rows = np.random.default_rng(seed).choice(objective.n, sample, replace=False)
        (w, b), more = Sample(objective, rows).solved(proximal_newton, w, b)
        other, passes = reached(objective, loss, w, b), passes + more
        at = min(at, other, key=lambda point: point.value)
    floor = LEAST
    while np.isfinite(at.value):
        model = loss.model(at.z, floor)
        before, (at, fall, t) = at, step(objective, loss, at, model)
        passes += 3.0 + objective.d
        if t == 0.0 and (floor == MOST or not fall < 0.0):
            return
        floor = next_floor(floor, t)
        if t == 0.0:
            continue
        u = model.expected(at.z - before.z) if t == 1.0 else None
        far = -fall > FAR * abs(at.value)
        yield Iterate(at.w, at.b, u, passes, {"step": t}, promise=np.inf if far else np.nan)
        if -fall <= EPS * abs(at.value):  # no further step changes P beyond rounding
            return


@dataclass(frozen=True)
class ModelledPoint:
    """(w, b), its predictions, and the loss modelled there plus the penalty."""

    w: Array
    b: Any
    z: Array
    value: float


def reached(objective: Objective, loss: ModelledLoss, w: Array, b: Any) -> ModelledPoint:
    """The point (w, b) as it is seen by products with X."""
    z = objective.predict(w, b)
    return ModelledPoint(w, b, z, loss.value(z) + objective.penalty.value(w))


def step(
    objective: Objective,
    loss: ModelledLoss,
    at: ModelledPoint,
    model: QuadraticModel,
) -> tuple[ModelledPoint, float, float]:
    """The point that a model leads to, the fall it promised, and the share t of the way gone."""
    penalty, w, b, z = objective.penalty, at.w, at.b, at.z
    move = model.move(penalty, w, b)
    if not (np.all(np.isfinite(move.dw)) and move.fall < 0.0):
        return at, move.fall, 0.0
    dz = objective.design.matvec(move.dw) + move.db

    def along(t: float) -> float:
        there = w + t * move.dw
        if t > 1.0 and not penalty.violation(there) <= ROUNDING:
            return np.inf
        return loss.value(z + t * dz) + penalty.value(there)

    t, value, _ = search(along, at.value, move.fall)
    there = penalty.project(w + t * move.dw)
    return ModelledPoint(there, b + t * move.db, z + t * dz, value), move.fall, t


def next_floor(floor: float, t: float) -> float:
    """More where a step was cut short, less where it was not."""
    factor = FIRMER if t < SHORT else LOOSER if t >= 1.0 else 1.0
    return min(max(factor * floor, LEAST), MOST)

"""A better point next to a rough one, for a few passes: one step downhill of the best length."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ....numerics import Array
from ....objective import Objective, loss_hessian
from .primal_repair import PrimalPoint

LENGTHS = tuple(4.0**k for k in range(2, -15, -1))
"""Tried one after the other: each costs n losses, and no product."""
WIDTHS = tuple(10.0**-k for k in range(9))
"""Of the surroundings of a kink that are rounded off, relative to where the kinks are."""
BENT = 1e-9
"""A slope of an envelope that differs more from that of the loss is on its way round a kink."""


class Lower(NamedTuple):
    """A point below another one, its P, and the slopes u of the envelopes met on the way."""

    w: Array
    b: Any
    value: float
    slopes: tuple[Array, ...] = ()


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def step_down(objective: Objective, point: PrimalPoint) -> Lower | None:
    """The least P along a prox step from the point; None where none is less.

    The first length is 1 / (curvature of the loss along its gradient). A loss with kinks is taken
    for its Moreau envelopes of several widths, whose gradients know what samples at a kink want.
    """
    loss, z = objective.loss, point.z
    if loss.is_indicator:
        return None
    if loss.is_smooth:
        return _along(objective, point, objective.loss_derivative(z), loss_hessian(objective, z))
    best: Lower | None = None
    slopes: list[Array] = []
    size = max(float(np.max(np.abs(kink), initial=0.0)) for kink in loss.kinks(objective.y))
    for width in WIDTHS:
        spread = width * (size or 1.0)
        slope = (z - loss.prox(objective.y, z, spread)) / spread
        bent = np.abs(slope - loss.derivative(objective.y, z)) > BENT
        slopes.append(objective.c * slope)
        h = objective.c * bent / spread
        found = _along(objective, point, slopes[-1], partial(np.multiply, h))
        if best is not None and (found is None or found.value >= best.value):
            break
        best = found
    return None if best is None else best._replace(slopes=tuple(slopes))


def _along(
    objective: Objective, point: PrimalPoint, u: Array, bent: Callable[[Array], Array]
) -> Lower | None:
    """The least P on the way to w = prox(w - step X'u), b - step 1'u, and beyond.

    ``bent`` is the product with the Hessian of the loss.
    """
    penalty, design, w, b = objective.penalty, objective.design, point.w, point.b
    v, edge = -design.rmatvec(u), -u.sum(axis=0) * objective.fit_intercept
    slopes = design.matvec(v) + edge
    square, bend = float(v @ v + np.vdot(edge, edge)), float(np.vdot(slopes, bent(slopes)))
    size = float(np.hypot(np.linalg.norm(w), np.linalg.norm(b))) or 1.0
    step = square / bend if bend > 0.0 else size / np.sqrt(square)
    if not 0.0 < step < np.inf:
        return None
    way, shift = penalty.prox(w + step * v, step) - w, step * edge
    moved = design.matvec(way) + shift
    found: Lower | None = None
    least = point.value
    for length in LENGTHS:
        value = objective.primal(w + length * way, b + length * shift, point.z + length * moved)
        if value < least:
            least, found = value, Lower(w + length * way, b + length * shift, value)
        elif found is not None:
            break
    return found

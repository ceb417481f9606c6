"""FISTA: accelerated proximal gradient descent."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...numerics import Array
from ...objective import Objective
from ...theory.constants import loss_smoothness
from ...validation import yes_or_no
from ..composite import Composite
from ..driver import Iterate
from ..steps import constant
from .accelerated_gradient import next_weight


def fista(
    objective: Objective, w: Array, b: float, *, step: float | None = None, restart: bool = True
) -> Iterator[Iterate]:
    """Take proximal gradient steps from points extrapolated along the last move.

    With step = 1/L, L of the loss part, P(x_T) - P* <= 2 L |x_0 - x*|^2 / (T+1)^2 (Beck and
    Teboulle, 2009, https://doi.org/10.1137/080716542). ``restart`` forgets the momentum where it
    points uphill; the bound then counts from the last restart.
    """
    P = Composite(objective)
    gamma = constant(step, "fista", lambda: 1.0 / (loss_smoothness(objective) or 1.0))
    x = y = P.pack(objective.penalty.project(w), b)
    restart = yes_or_no(restart, "fista", "restart")
    t, k, restarted_at = 1.0, 0, 0
    while True:
        yield P.iterate(x, step=gamma, restarted_at=restarted_at)
        ahead = P.prox(y - gamma * P.loss_gradient(y), gamma)
        k += 1
        if restart and np.vdot(y - ahead, ahead - x) > 0.0:
            y, t, restarted_at = ahead, 1.0, k
        else:
            weight, t = next_weight(t)
            y = ahead + weight * (ahead - x)
        x = ahead

"""Nesterov's accelerated gradient method."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...numerics import Array
from ...objective import Objective
from ...theory.constants import smoothness
from ..composite import Composite
from ..driver import Iterate
from ..steps import constant


def accelerated_gradient(
    objective: Objective, w: Array, b: float, *, step: float | None = None, restart: bool = True
) -> Iterator[Iterate]:
    """Take gradient steps from points extrapolated along the last move.

        x_{k+1} = y_k - step * grad P(y_k),   y_{k+1} = x_{k+1} + (t_k - 1)/t_{k+1} (x_{k+1} - x_k)

    With step = 1/L, P(x_T) - P* <= 2 L |x_0 - x*|^2 / (T+1)^2. ``restart`` forgets the momentum
    where it points uphill (O'Donoghue and Candes, 2015, https://doi.org/10.1007/s10208-013-9150-3);
    the bound then counts from the last restart.
    """
    P = Composite(objective)
    gamma = constant(step, "accelerated_gradient", lambda: 1.0 / (smoothness(objective) or 1.0))
    x = y = P.pack(w, b)
    t, k, restarted_at = 1.0, 0, 0
    while True:
        yield P.iterate(x, step=gamma, restarted_at=restarted_at)
        gradient = P.gradient(y)
        ahead = y - gamma * gradient
        k += 1
        if restart and np.vdot(gradient, ahead - x) > 0.0:
            y, t, restarted_at = ahead, 1.0, k
        else:
            weight, t = next_weight(t)
            y = ahead + weight * (ahead - x)
        x = ahead


def next_weight(t: float) -> tuple[float, float]:
    """Return ((t - 1) / t', t') with t' = (1 + sqrt(1 + 4 t^2)) / 2; t = 1 at the start."""
    following = 0.5 * (1.0 + (1.0 + 4.0 * t * t) ** 0.5)
    return (t - 1.0) / following, following

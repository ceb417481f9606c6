"""Proximal gradient descent (forward-backward splitting, ISTA)."""

from __future__ import annotations

from collections.abc import Iterator

from ...numerics import Array
from ...objective import Objective
from ...theory.constants import loss_smoothness
from ..composite import Composite
from ..driver import Iterate
from ..steps import constant


def proximal_gradient(
    objective: Objective, w: Array, b: float, *, step: float | None = None
) -> Iterator[Iterate]:
    """Iterate x <- prox_{step g}(x - step * grad f(x)): f the loss part, g the penalty.

    The default step is 1/L, L of the loss part. Then |x_T - x*|^2 <= q^T |x_0 - x*|^2 with
    q = (1 - step mu_f) / (1 + step mu_g), and P does not increase.
    """
    P = Composite(objective)
    gamma = constant(step, "proximal_gradient", lambda: 1.0 / (loss_smoothness(objective) or 1.0))
    x = P.pack(objective.penalty.project(w), b)
    while True:
        yield P.iterate(x, step=gamma)
        x = P.prox(x - gamma * P.loss_gradient(x), gamma)

"""Gradient descent with the constant step 1/L."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..numerics import Array
from ..objective import Objective
from .driver import Iterate

POWER_ITERATIONS = 100


def gradient_descent(
    objective: Objective, w: Array, b: float, *, step: float | None = None
) -> Iterator[Iterate]:
    """Iterate (w, b) <- (w, b) - step * grad P(w, b).

    The default step is 1/L, L = lipschitz(objective); then P does not increase and
    P(w_T) - P* <= |(w_0, b_0) - (w*, b*)|^2 / (2 step T).
    """
    step = 1.0 / lipschitz(objective) if step is None else step
    passes = 0.0
    while True:
        slope_w, slope_b = objective.gradient(w, b)
        yield Iterate(w, b, None, passes)
        w, b = w - step * slope_w, b - step * slope_b
        passes += 2.0


def lipschitz(objective: Objective) -> float:
    """Return L, a Lipschitz constant of the gradient of P in (w, b).

    L = curvature_bound * lambda_max([X 1]' diag(c) [X 1]) + the curvature of the penalty. The
    eigenvalue comes from power iteration, 100 steps at 2 passes each, enlarged by 1 %.
    """
    vector = np.random.default_rng(0).normal(size=objective.d)
    shift = 1.0 if objective.fit_intercept else 0.0
    largest = 0.0
    for _ in range(POWER_ITERATIONS):
        norm = float(np.sqrt(vector @ vector + shift**2))
        if norm == 0.0:
            break
        vector, shift = vector / norm, shift / norm
        image = objective.c * (objective.design.matvec(vector) + shift)
        vector = objective.design.rmatvec(image)
        shift = float(image.sum()) if objective.fit_intercept else 0.0
        largest = float(np.sqrt(vector @ vector + shift**2))
    unit = objective.penalty.gradient(np.ones(objective.d))
    curvature = float(np.max(np.abs(unit), initial=0.0))
    return 1.01 * objective.loss.curvature_bound * largest + curvature or 1.0

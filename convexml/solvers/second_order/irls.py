"""Iteratively reweighted least squares: Newton's method, written as ridge regressions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...numerics import Array
from ...objective import Objective
from ...objective.symmetric import solve_symmetric
from ..driver import Iterate
from ..line_search import along, search


def irls(objective: Objective, w: Array, b: float) -> Iterator[Iterate]:
    """Fit a weighted ridge regression to the working response, again and again.

    With weights h_i = c_i l''(y_i, z_i) and response r_i = z_i - l'(y_i, z_i) / l''(y_i, z_i), the
    next point minimises sum_i h_i (x_i.w + b - r_i)^2 / 2 + Omega(w): the Newton point, so that
    these are Newton's iterates (Green, 1984, https://doi.org/10.1111/j.2517-6161.1984.tb01288.x).
    The length of the step is Newton's. Only the product h_i r_i
    is formed: a sample with l'' = 0 has no working response, but it still pulls.
    """
    value, passes = objective.primal(w, b), 1.0
    level = objective.penalty.manifold(w, np.zeros_like(w), np.ones_like(w)).hessian
    u: Array | None = None
    while True:
        yield Iterate(w, b, u, passes)
        z = objective.predict(w, b)
        slope, h = objective.loss_derivative(z), objective.loss_curvature(z)
        fit, shift = ridge_regression(objective, level, h, h * z - slope)
        passes += objective.d + 3.0
        dw, db = fit - w, shift - b
        u = slope + h * (objective.predict(fit, shift) - z)
        fall = float((objective.design.rmatvec(slope) + level * w) @ dw + slope.sum() * db)
        if not fall < 0.0:
            yield Iterate(w, b, u, passes)
            return
        step, value, tried = search(along(objective, w, b, dw, db), value, fall)
        passes += tried
        if step == 0.0:
            yield Iterate(w, b, u, passes)
            return
        w, b = w + step * dw, b + step * db


def ridge_regression(
    objective: Objective, level: Array, h: Array, weighted_response: Array
) -> tuple[Array, float]:
    """Minimise sum_i (h_i p_i^2 / 2 - (h r)_i p_i) + w'Lam w / 2 over p = X w + b."""
    design, d = objective.design, objective.d
    size = d + int(objective.fit_intercept)
    matrix, right = np.zeros((size, size)), np.empty(size)
    matrix[:d, :d] = design.gram(h) + np.diag(level)
    right[:d] = design.rmatvec(weighted_response)
    if objective.fit_intercept:
        matrix[d, :d] = matrix[:d, d] = design.rmatvec(h)
        matrix[d, d], right[d] = h.sum(), weighted_response.sum()
    solution = solve_symmetric(matrix, right)
    return solution[:d], float(solution[d]) if objective.fit_intercept else 0.0

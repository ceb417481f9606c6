"""Iteratively reweighted least squares: Newton's method, written as ridge regressions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy import linalg

from ...certificates.algebra.sums import exact_pair
from ...numerics import EPS, Array
from ...problem import Objective, newton_point
from ..composite import along, curvature, search
from ..driver import Iterate
from ..orthogonal import ROUNDS, rounded

DENSE = 1e9
"""Entries of X times columns up to which X itself is factored: about a second."""

NOISE = 16.0 * EPS
"""A share of the largest singular value below which one may be rounding of the weighted rows."""
LEVEL = 8.0 * EPS
"""A share of P below which two of its values are the same."""
CLOSE = 1e-8
"""A relative gap from which one step of Newton's method leads to rounding."""


def irls(objective: Objective, w: Array, b: float) -> Iterator[Iterate]:
    """Fit a weighted ridge regression to the working response, again and again.

    With weights h_i = c_i l''(y_i, z_i) and response r_i = z_i - l'(y_i, z_i) / l''(y_i, z_i), the
    next point minimises sum_i h_i (x_i.w + b - r_i)^2 / 2 + Omega(w): the Newton point, so that
    these are Newton's iterates (Green, 1984, https://doi.org/10.1111/j.2517-6161.1984.tb01288.x).
    The step is solved for by Householder's factors of the rows sqrt(h_i) (x_i, 1), which keep the
    condition of X where normal equations square it; by these where X is large, and where a sample
    has l'' = 0: it has no working response, but it still pulls. The length of the step is Newton's.
    """
    value, passes = objective.primal(w, b), 1.0
    level = curvature(objective)
    is_small = objective.n * objective.d**2 <= DENSE
    u: Array | None = None
    while True:
        z = objective.predict(w, b)
        slope, h = objective.loss_derivative(z), objective.loss_curvature(z)
        pull, by_rows = objective.design.rmatvec(slope), is_small and np.min(h) > 0.0
        if by_rows:
            steps = by_factors(objective, level, w, slope, h)
        else:
            manifold = objective.penalty.manifold(w, -pull, np.ones_like(w))
            point = newton_point(objective, w, b, manifold)
            if point is None:
                return
            steps = [(point.w - w, point.b - b)]
        dw, db = steps[0]
        if len(steps) > 1:
            dw, db = min(steps, key=lambda way: objective.primal(w + way[0], b + way[1]))
        fall = float((pull + level * w) @ dw + slope.sum() * db)
        promise = -0.5 * fall / abs(value) if fall < 0.0 < abs(value) else np.nan
        can_finish = by_rows and not np.any(level)
        step, is_close = 0.0, promise <= CLOSE and can_finish
        if not is_close:
            yield Iterate(w, b, u, passes, promise=promise)
            passes += objective.d + 3.0
            dz = objective.predict(dw, db)
            u = slope + h * dz
            if fall < 0.0:
                step, value, tried = search(along(objective, w, z, dw, dz), value, fall)
                passes += tried
        if step == 0.0:
            if can_finish:
                yield replace(finished(objective, w, b), passes=passes)
            else:
                yield Iterate(w, b, u, passes)
            return
        w, b = w + step * dw, b + step * db


def finished(objective: Objective, w: Array, b: float) -> Iterate:
    """The best of the last Newton points, P at exact z, and the u that its next step leads to.

    Where X is nearly singular an ulp of w moves z by .001, and what the factors are rounded by
    turns the flat direction. So z and X'l' are exact, the step solves R'R dx = -X'l', and u is
    l' + h X dx (seminormal equations, corrected: Bjorck, 1987,
    https://doi.org/10.1016/0024-3795(87)90101-7).
    """
    A, x = with_ones(objective), np.append(w, b)[: objective.d + objective.fit_intercept]
    best, least, dual = x, np.inf, None
    for _ in range(ROUNDS + 1):
        z = exact_pair(A, x, np.zeros(objective.n))[0]
        value = objective.primal_formula(x[: objective.d], z)
        if not np.isfinite(value):
            break
        slope, root = objective.loss_derivative(z), np.sqrt(objective.loss_curvature(z))
        Q, R, order = linalg.qr(root[:, None] * A, mode="economic", pivoting=True)
        if len(R) < len(x) or not np.all(np.diag(R)):
            break
        pull = -exact_pair(A.T, slope)[0][order]
        side = linalg.solve_triangular(R, pull, trans="T", check_finite=False)
        dx = linalg.solve_triangular(R, side, check_finite=False)[np.argsort(order)]
        if value <= least + LEVEL * abs(value):
            best, least, dual = x, value, slope + root * (Q @ side)
        if not np.all(np.isfinite(dx)):
            break
        x = rounded(R, order, x, dx)
    w, b = (best[:-1], float(best[-1])) if objective.fit_intercept else (best, 0.0)
    return Iterate(w, b, dual, promise=0.0, is_answer=True)


def with_ones(objective: Objective) -> Array:
    """The rows (x_i, 1), or x_i where there is no intercept."""
    A = objective.design.dense()
    return np.column_stack([A, np.ones(objective.n)]) if objective.fit_intercept else A


def by_factors(
    objective: Objective, level: Array, w: Array, slope: Array, h: Array
) -> list[tuple[Array, float]]:
    """The step that minimises |sqrt(h) (X dw + db) + slope / sqrt(h)|^2 / 2 + Omega(w + dw).

    Where a direction may be one that rounding made of columns that depend on others, first the
    step without it, then the one with it: X may be as nearly singular as that.
    """
    root = np.sqrt(h)
    A = with_ones(objective)
    below = np.sqrt(level)[:, None] * np.eye(objective.d, A.shape[1])
    rows, sides = (
        np.vstack([root[:, None] * A, below]),
        np.append(-slope / root, -np.sqrt(level) * w),
    )
    found = []
    for cut in (NOISE, EPS):
        x, _, rank, _ = linalg.lstsq(rows, sides, cut, lapack_driver="gelsy", check_finite=False)
        found.append((x[: objective.d], float(x[-1]) if objective.fit_intercept else 0.0))
        if rank == x.size:
            break
    return found

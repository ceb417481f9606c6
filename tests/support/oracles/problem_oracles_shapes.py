"""Known facts of neighbours, trees, transport and shapes: SciPy's and scikit-learn's algorithms."""

from __future__ import annotations

import numpy as np
from scipy.cluster import hierarchy
from scipy.optimize import linear_sum_assignment, lsq_linear
from scipy.spatial.distance import cdist
from sklearn import neighbors
from sklearn.isotonic import isotonic_regression


def locally_weighted_regression(X, y, query, width):
    """QR of the rows, each times the root of its weight."""
    s = np.exp(-((X - query) ** 2).sum(axis=1) / (2 * width**2))
    s /= s.sum()
    A = np.column_stack([X, np.ones(len(X))])
    Q, R = np.linalg.qr(np.sqrt(s)[:, None] * A)
    v = np.linalg.solve(R, Q.T @ (np.sqrt(s) * y))
    return {"objective": s @ (y - A @ v) ** 2 / 2, "w": v[:-1], "b": v[-1]}


def nearest_neighbors(X, Q, k, y=None):
    """The mean distances that a k-d tree finds."""
    tree = neighbors.NearestNeighbors(n_neighbors=k, algorithm="kd_tree").fit(X)
    return {"objective": tree.kneighbors(Q)[0].mean(axis=1).sum()}


def spanning_tree(X, y=None):
    """The merge heights of SciPy's single linkage."""
    return {"objective": hierarchy.linkage(X, "single")[:, 2].sum()}


def optimal_transport(X, Q, y=None):
    """As many points on both sides: the best assignment."""
    costs = cdist(X, Q)
    return {"objective": costs[linear_sum_assignment(costs)].mean()}


def monotone_regression(X, y):
    """scikit-learn's isotonic regression."""
    return {"objective": np.mean((y - isotonic_regression(y)) ** 2) / 2}


def trend_filter(X, y, lam, order=1):
    """The dual, bounded least squares, by active sets."""
    n = len(y)
    A = np.diff(np.eye(n), order + 1, axis=0)
    centred = y - y.mean()
    box = {"bounds": (-lam, lam), "method": "bvls", "tol": 1e-15, "max_iter": 10_000}
    dual = lsq_linear(np.sqrt(n) * A.T, centred / np.sqrt(n), **box)
    return {"objective": np.mean(centred**2) / 2 - dual.cost}


def generalized_lasso(X, y, lam, A):
    """The dual by active sets; lam_max of all pairs by the worst set of columns."""
    A, (n, d) = np.asarray(A, dtype=float), X.shape
    away, centred = X - X.mean(axis=0), y - y.mean()
    factor = np.linalg.cholesky(away.T @ away / n)
    rows = np.linalg.solve(factor, np.column_stack([A.T, away.T @ centred / n]))
    box = {"bounds": (-lam, lam), "method": "bvls", "tol": 1e-15, "max_iter": 10_000}
    dual = lsq_linear(rows[:, :-1], rows[:, -1], **box)
    total = away.sum(axis=1)
    slopes = away.T @ (centred - total * (total @ centred) / (total @ total)) / n
    largest, k = np.cumsum(np.sort(slopes)[::-1])[:-1], np.arange(1, d)
    return {
        "objective": np.mean(centred**2) / 2 - dual.cost,
        "lam_max": np.max(largest / (k * (d - k))),
    }


def convex_regression(X, y):
    """One feature: a line, and hinges of nonnegative weight at the inner points."""
    x = X[:, 0]
    knots = np.unique(x)[1:-1]
    rows = np.column_stack([np.ones_like(x), x - x.mean(), np.maximum(x[:, None] - knots, 0.0)])
    least = np.append([-np.inf, -np.inf], np.zeros(len(knots)))
    fit = lsq_linear(rows, y, (least, np.inf), method="bvls", tol=1e-15, max_iter=10_000)
    return {"objective": fit.cost / len(y)}


def enclosing_ball(X, y=None):
    """Welzl's recursion over the points and the boundary: exact but for rounding."""
    points = np.random.default_rng(0).permutation(np.unique(X, axis=0))

    def through(boundary):
        if not boundary:
            return np.zeros(points.shape[1]), -1.0
        B = np.array(boundary[1:]).reshape(-1, points.shape[1]) - boundary[0]
        c = np.linalg.lstsq(2.0 * B, np.sum(B**2, axis=1))[0] if len(B) else 0.0 * boundary[0]
        return boundary[0] + c, float(c @ c)

    def grow(count, boundary):
        if count == 0 or len(boundary) == points.shape[1] + 1:
            return through(boundary)
        c, square = grow(count - 1, boundary)
        p = points[count - 1]
        if np.sum((p - c) ** 2) <= square * (1.0 + 1e-12):
            return c, square
        return grow(count - 1, [*boundary, p])

    c, square = grow(len(points), [])
    held = np.sum((points - c) ** 2, axis=1) >= square * (1.0 - 1e-9)
    return {"objective": square, "support_size": np.count_nonzero(held)}

"""Known facts of neighbours, trees, plans, shapes, boosting and matrices: others' algorithms."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.cluster import hierarchy
from scipy.optimize import linear_sum_assignment, linprog, lsq_linear
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

    return {"objective": grow(len(points), [])[1]}


def stumps(X):
    """Every stump, by a loop: +1 where a feature is above the mean of two neighbours, else -1."""
    columns = []
    for feature in np.asarray(X).T:
        values = sorted(set(feature.tolist()))
        for low, high in pairwise(values):
            one = np.where(feature > (low + high) / 2, 1.0, -1.0)
            columns += [one, -one]
    return np.array(columns).T


def lp_boost(X, y, nu):
    """The dual by HiGHS's interior points: the distribution whose best learner is worst."""
    A = y[:, None] * stumps(X)
    n, m = A.shape
    found = linprog(
        np.append(np.zeros(n), 1.0),
        np.column_stack([A.T, -np.ones(m)]),
        np.zeros(m),
        np.append(np.ones(n), 0.0)[None],
        [1.0],
        [(0.0, 1.0 / (nu * n))] * n + [(None, None)],
        method="highs-ipm",
    )
    return {"objective": -found.fun}


def ada_boost(X, y, rounds, sample_weight):
    """Newton's method; the optimum must be attained, with stumps that are independent."""
    H, c = stumps(X)[:, ::2], np.asarray(sample_weight) / np.sum(sample_weight)
    w = np.zeros(H.shape[1])
    for _ in range(50):
        p = c * np.exp(-y * (H @ w))
        w += np.linalg.solve(H.T @ (p[:, None] * H), H.T @ (y * p))
    return {"objective": p.sum()}


def principal_components(X, k, y=None):
    """Minus the squares of the k largest singular values of X less its mean, over n."""
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    return {"objective": -float(np.sum(values[:k] ** 2)) / len(X)}


def k_means_bound(X, k, y=None):
    """What the best clustering costs, where the relaxation is tight: Lloyd from 50 starts."""
    rng, best = np.random.default_rng(0), np.inf
    for _ in range(50):
        centers = X[rng.choice(len(X), k, replace=False)]
        for _ in range(100):
            labels = np.argmin(((X[:, None] - centers) ** 2).sum(axis=2), axis=1)
            centers = np.array([X[labels == j].mean(axis=0) for j in range(k)])
        best = min(best, float(((X - centers[labels]) ** 2).sum()))
    return {"objective": best}


def convex_clustering(X, lam, y=None):
    """Newton's method where no centres merge: the objective is smooth there."""
    n, d = X.shape
    U = X.copy()
    for _ in range(60):
        D = U[:, None] - U
        size = np.linalg.norm(D, axis=2) + np.eye(n)
        slope = U - X + lam * (D / size[:, :, None]).sum(axis=1)
        unit = D / size[:, :, None]
        bend = lam * (np.eye(d) - unit[..., None] * unit[:, :, None]) / size[:, :, None, None]
        bend[range(n), range(n)] = 0.0
        H = -bend.transpose(0, 2, 1, 3).reshape(n * d, n * d)
        for i in range(n):
            H[i * d : (i + 1) * d, i * d : (i + 1) * d] = np.eye(d) + bend[i].sum(axis=0)
        U = U - np.linalg.solve(H, slope.ravel()).reshape(n, d)
    apart = np.linalg.norm(U[:, None] - U, axis=2).sum() / 2.0
    return {"objective": 0.5 * float(np.sum((X - U) ** 2)) + lam * apart}

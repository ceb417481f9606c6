"""Known facts of neighbours, trees, transport and shapes: SciPy's and scikit-learn's algorithms."""

from __future__ import annotations

import numpy as np
from scipy.cluster import hierarchy
from scipy.optimize import linear_sum_assignment, lsq_linear
from scipy.spatial.distance import cdist
from sklearn import neighbors
from sklearn.isotonic import isotonic_regression


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

"""Known facts of neighbours, trees, transport and shapes: SciPy's and scikit-learn's algorithms."""

from __future__ import annotations

from sklearn import neighbors


def nearest_neighbors(X, Q, k, y=None):
    """The mean distances that a k-d tree finds."""
    tree = neighbors.NearestNeighbors(n_neighbors=k, algorithm="kd_tree").fit(X)
    return {"objective": tree.kneighbors(Q)[0].mean(axis=1).sum()}

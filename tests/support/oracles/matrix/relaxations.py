"""Known facts of problems in a matrix: singular values, Lloyd's algorithm."""

from __future__ import annotations

import numpy as np


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

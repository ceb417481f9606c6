"""Known facts of problems in a matrix: singular values, Lloyd and Newton."""

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

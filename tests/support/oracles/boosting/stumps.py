"""Known facts of boosting: SciPy's linear programs over a list of stumps written here."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.optimize import linprog


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

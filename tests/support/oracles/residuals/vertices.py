"""The Dantzig selector of few columns by all of its vertices."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np


def dantzig_selector(X, y, lam, c=None):
    """Every support with as many rows met, on either side: the least |w|_1 that is feasible."""
    n, d = X.shape
    c = np.ones(n) / n if c is None else c
    G, h = X.T @ (c[:, None] * X), X.T @ (c * y)
    best = (0.0, np.zeros(d)) if np.abs(h).max() <= lam else (np.inf, np.zeros(d))
    for k in range(1, d + 1):
        for used, met in product(combinations(range(d), k), repeat=2):
            block = G[np.ix_(met, used)]
            if abs(np.linalg.det(block)) < 1e-12:
                continue
            inverse = np.linalg.inv(block)
            for signs in product([1.0, -1.0], repeat=k):
                w = np.zeros(d)
                w[list(used)] = inverse @ (h[list(met)] - lam * np.array(signs))
                feasible = np.abs(h - G @ w).max() <= lam + 1e-12 * np.abs(h).max()
                if feasible and np.abs(w).sum() < best[0]:
                    best = np.abs(w).sum(), w
    found = {"objective": best[0], "w": best[1], "nonzeros": np.count_nonzero(best[1])}
    return found | {"lam_max": np.abs(h).max()}

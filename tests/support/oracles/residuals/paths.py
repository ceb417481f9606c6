"""The square-root lasso along the exact path of the lasso."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from sklearn.linear_model import lars_path


def square_root_lasso(X, y, lam):
    """Where the strength of the lasso on scikit-learn's LARS path is lam times its residuals."""
    n = len(y)
    Xc, yc = X - X.mean(0), y - y.mean()
    levels, _, W = lars_path(Xc, yc, method="lasso")

    def at(level):
        return np.array([np.interp(level, levels[::-1], row[::-1]) for row in W])

    def size(level):
        return np.linalg.norm(yc - Xc @ at(level)) / np.sqrt(n)

    lam_max = levels[0] / size(levels[0])
    root = levels[0]
    if lam < lam_max:
        root = brentq(lambda level: lam * size(level) - level, 0.0, levels[0], xtol=1e-15)
    w = at(root)
    return {
        "objective": size(root) + lam * np.abs(w).sum(),
        "w": w,
        "nonzeros": np.count_nonzero(w),
        "lam_max": lam_max,
    }

"""A small ridge regression, and its optimum by the normal equations."""

from __future__ import annotations

from typing import Any

import numpy as np

LAM = 0.1


def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(30, 4))
    return X, X @ [1.0, -2.0, 0.0, 0.5] + rng.normal(size=30)


def ridge_by_normal_equations() -> float:
    """P* by the normal equations of the centred data."""
    X, y = data()
    n, d = X.shape
    Xc, yc = X - X.mean(axis=0), y - y.mean()
    w = np.linalg.solve(Xc.T @ Xc / n + LAM * np.eye(d), Xc.T @ yc / n)
    return float(np.mean((yc - Xc @ w) ** 2) / 2 + LAM / 2 * w @ w)

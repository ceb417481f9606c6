"""What no method can go without: one product, one pair of products, one Gram, one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data import SIGMA, Data


def floor(name: str) -> Any:
    """The function of (data, tol) that a row's ``floor`` names."""
    return {"product": product, "pair": pair, "gram": gram, "kernel": kernel}[name]


def product(data: Data, tol: float) -> Any:
    return data.X.T @ data.y


def pair(data: Data, tol: float) -> Any:
    return data.X.T @ (data.X @ np.ones(data.X.shape[1]))


def gram(data: Data, tol: float) -> Any:
    """X'X, or XX' where that is smaller: half the products, by ``syrk``."""
    n, d = data.X.shape
    return data.X.T @ data.X if d <= n else data.X @ data.X.T


def kernel(data: Data, tol: float) -> Any:
    """The whole kernel matrix."""
    K = data.X @ data.X.T
    squares = np.diag(K).copy()
    K *= -2.0
    K += squares
    K += squares[:, None]
    K *= -0.5 / SIGMA**2
    return np.exp(K, out=K)

"""Samples of three classes, softmax regressions of them, and P written out again."""

from __future__ import annotations

from typing import Any

import numpy as np

import convexml as cml
from convexml.losses import Softmax
from convexml.numerics import Array

LOSS = Softmax()
N, D, K = 60, 4, 3
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D)) * np.array([1.0, 0.5, 2.0, 1.0]) + 0.3
SCORES = X @ RNG.normal(size=(D, K)) + np.array([0.5, 0.0, -0.5])
Y = np.array(["ant", "bee", "cat"])[(SCORES + RNG.gumbel(size=(N, K))).argmax(axis=1)]
CODES = np.searchsorted(["ant", "bee", "cat"], Y)
WEIGHTS = RNG.integers(0, 4, size=N).astype(float)
PENALTIES = [
    *(("l2", lam) for lam in (0.1, 1e-3)), *(("l1", lam) for lam in (0.02, 0.1)), ("group", 0.1),
    (None, 0.0), ("l2", 0.0),
]  # fmt: skip


def pose(penalty: str | None, lam: float, **keywords: Any) -> cml.SoftmaxRegression:
    return cml.SoftmaxRegression(X, Y, lam, penalty, **keywords)


def formula(w: Array, b: Array, lam: float, penalty: str | None, s: Array | None = None) -> float:
    """P, written out again."""
    z = X @ w + b
    s = np.ones(N) if s is None else s
    loss = s @ (np.log(np.exp(z).sum(axis=1)) - z[np.arange(N), CODES]) / s.sum()
    norm = {
        "l2": (w**2).sum() / 2.0,
        "l1": np.abs(w).sum(),
        "group": np.sqrt((w**2).sum(axis=1)).sum(),
        None: 0.0,
    }
    return float(loss + lam * norm[penalty])

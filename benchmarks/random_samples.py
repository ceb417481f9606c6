"""Samples that are hard on purpose: columns in bad units, far from 0, repeated; exact fits."""

from __future__ import annotations

import numpy as np

Random = np.random.Generator


def features(rng: Random) -> np.ndarray:
    """X with bad columns: other units, far from 0, repeated, constant."""
    n, d = int(rng.integers(1, 31)), int(rng.integers(1, 13))
    X = rng.normal(size=(n, d))
    if rng.random() < 0.4:
        X = X * 10.0 ** rng.uniform(-4, 4, d)
    if rng.random() < 0.4:
        X = X + rng.normal(size=d) * 10.0 ** rng.uniform(0, 5)
    if d > 1 and rng.random() < 0.3:
        X[:, rng.integers(d)] = X[:, 0]
    if rng.random() < 0.2:
        X[:, rng.integers(d)] = rng.choice([0.0, 1.0, -7.0])
    return X


def targets(rng: Random, X: np.ndarray, kind: str) -> np.ndarray:
    """Numbers, two labels, counts or classes; sometimes an exact fit or a separable sample."""
    n, d = X.shape
    size = np.maximum(np.max(np.abs(X - X.mean(axis=0)), axis=0), 1e-12)
    scores = (X - X.mean(axis=0)) / size @ rng.normal(size=d)
    noise = 0.0 if rng.random() < 0.25 else 1.0
    if kind == "real":
        shift = rng.normal() * 10.0 ** rng.uniform(0, 5) if rng.random() < 0.3 else 0.0
        return (scores + noise * rng.normal(size=n)) * 10.0 ** rng.uniform(-2, 2) + shift
    if kind == "count":
        return rng.poisson(np.exp(np.clip(scores, -3, 3))).astype(float)
    if kind == "classes":
        y = np.argmax(np.c_[scores, -scores, 0.3 * noise * rng.normal(size=n)], axis=1)
        y[: min(n, 3)] = np.arange(min(n, 3))
        return y
    y = np.where(scores + noise * rng.normal(size=n) > 0.0, 1.0, -1.0)
    if n > 1:
        y[:2] = 1.0, -1.0
    return y

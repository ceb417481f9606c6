"""Closed forms of the quadratic problems, by dense linear algebra: an independent route."""

from __future__ import annotations

import numpy as np

from ...numerics import Array
from ...objective import Objective


def affine_solution(objective: Objective, lam: float) -> dict[str, Array]:
    """Solve min (1/2) sum_i c_i (x_i.w + b - y_i)^2 + (lam/2) |w|^2.

    In coordinates centred by the c-weighted means the intercept drops out; the singular value
    decomposition of sqrt(c) X gives w = V diag(s / (s^2 + lam)) U' sqrt(c) y, and for lam = 0 the
    solution of minimum norm.
    """
    X, y, c = objective.design.dense(), objective.y, objective.c
    total = c.sum()
    centre = c @ X / total if objective.fit_intercept else np.zeros(objective.d)
    level = float(c @ y / total) if objective.fit_intercept else 0.0
    root = np.sqrt(c)
    left, values, right = np.linalg.svd(root[:, None] * (X - centre), full_matrices=False)
    kept = values > max(X.shape) * np.finfo(float).eps * values.max(initial=0.0)
    shrink = values[kept] / (values[kept] ** 2 + lam)
    w = right[kept].T @ (shrink * (left[:, kept].T @ (root * (y - level))))
    return {"w": w, "b": np.asarray(level - centre @ w)}


def minimum_norm(objective: Objective) -> dict[str, Array]:
    """Solve min (1/2) |w|^2 s.t. X w + b = y by a pseudo-inverse (b = 0 without intercept)."""
    X, y = objective.design.dense(), objective.y
    if not objective.fit_intercept:
        return {"w": np.linalg.lstsq(X, y, rcond=None)[0], "b": np.asarray(0.0)}
    # X w = y - b: |w|^2 is a quadratic in b, least where 1'(XX')^+ (y - b) = 0.
    pseudo = np.linalg.pinv(X @ X.T)
    ones = np.ones(len(y))
    b = float(ones @ pseudo @ y / (ones @ pseudo @ ones))
    return {"w": X.T @ (pseudo @ (y - b)), "b": np.asarray(b)}

"""The design with its column of ones, seen through its Gram matrix: X~ = [X 1], or X."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..design import Design, StackedDesign
from ..numerics import EPS, Array
from ..objective import Objective

EXACT = 1000
"""Up to this many features, eigenvalues are exact: one Gram matrix and one eigenvalue."""
POWER_STEPS = 60
UNLUCKY = 1e-3


def row_squares(objective: Objective) -> Array:
    """r_i^2 = |x~_i|^2, shape (n,)."""
    return _matrix(objective).row_squares() + float(objective.fit_intercept)


def _matrix(objective: Objective) -> Design:
    """X itself, also where several classes share it."""
    design = objective.design
    return design.base if isinstance(design, StackedDesign) else design


def top_eigenvalue(objective: Objective) -> float:
    """The largest eigenvalue of X~' diag(c) X~, or a bound on it."""
    if _matrix(objective).shape[1] <= EXACT:
        gram = joint_gram(objective)
        top = linalg.eigvalsh(gram, subset_by_index=[len(gram) - 1] * 2)[0]
        return float(max(top, 0.0) * (1.0 + len(gram) * EPS))
    trace = float(objective.c @ row_squares(objective))
    return min(_power_bound(objective), trace)


def joint_gram(objective: Objective, weights: Array | None = None) -> Array:
    """X~' diag(weights) X~, c by default; (d + 1, d + 1) where b is free, else (d, d)."""
    c = objective.c if weights is None else weights
    design = _matrix(objective)
    return design.bordered_gram(c) if objective.fit_intercept else design.gram(c)


def _power_bound(objective: Objective) -> float:
    """lambda <= (|A^k v| / |<v, e>|)^(1/k), e the top eigenvector, v random on the sphere.

    |<v, e>| >= UNLUCKY / sqrt(size) but for a probability below UNLUCKY.
    """
    design = _matrix(objective)
    size = design.shape[1] + int(objective.fit_intercept)
    vector = np.random.default_rng(0).normal(size=design.shape[1])
    shift, log_norm = float(objective.fit_intercept), 0.0
    for step in range(POWER_STEPS + 1):
        norm = float(np.sqrt(vector @ vector + shift**2))
        if norm == 0.0:
            return 0.0
        log_norm += np.log(norm) if step else 0.0
        vector, shift = vector / norm, shift / norm
        image = objective.c * (design.matvec(vector) + shift)
        vector = design.rmatvec(image)
        shift = float(image.sum()) if objective.fit_intercept else 0.0
    return float(np.exp((log_norm + np.log(np.sqrt(size) / UNLUCKY)) / POWER_STEPS))

"""Verified evidence that a problem with K classes has no minimiser."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize, sparse

from ..numerics import ROUNDING, Array
from ..objective.multiclass import MulticlassObjective

SMALL_ENOUGH = 4_000_000
"""Entries of the linear program up to which it is posed."""


def separating_scores(
    objective: MulticlassObjective, w: Array | None = None, b: Any = 0.0
) -> dict[str, Any] | None:
    """Return scores that put no class above a sample's own, and some below; None if there are none.

    Along them the loss decreases for ever. They may use the unpenalised entries of W and b. A
    given (w, b) is tried first, then a linear program decides.
    """
    free = objective.penalty.free(objective.d)
    if not free.any():
        return None  # every class has a sample, so that b alone separates nothing
    if w is not None:
        found = _verified(objective, np.where(free, w, 0.0), b)
        if found is not None:
            return found
    n, K, d = objective.n, objective.classes, objective.design.base.shape[1]
    if n * K * (d + 2) > SMALL_ENOUGH:
        return None
    direction = _by_linear_program(objective, free)
    return None if direction is None else _verified(objective, *direction)


def _by_linear_program(objective: MulticlassObjective, free: Array) -> tuple[Array, Array] | None:
    """Maximise the sum of the margins z_y - z_k, each between 0 and 1."""
    K = objective.classes
    columns = [sparse.csr_array(objective.design.constant)]
    if objective.fit_intercept:
        columns.append(sparse.csr_array(np.ones((objective.n, 1))))
    X = sparse.hstack(columns, format="csr")
    parts = []
    for k in range(K):
        rows = np.flatnonzero(objective.y != k)
        signs = objective.labels[rows] - np.eye(K)[k]
        parts.append(sparse.hstack([sparse.diags_array(signs[:, j]) @ X[rows] for j in range(K)]))
    margins = sparse.vstack(parts, format="csr")
    # The unknowns are stacked class by class here, feature by feature elsewhere.
    allowed = free.reshape(objective.w_shape).T
    if objective.fit_intercept:
        allowed = np.hstack([allowed, np.ones((K, 1), dtype=bool)])
    kept = np.flatnonzero(allowed.ravel())
    matrix = margins[:, kept]
    both = sparse.vstack([matrix, -matrix], format="csr")
    ends = np.concatenate([np.ones(matrix.shape[0]), np.zeros(matrix.shape[0])])
    cost = -np.asarray(matrix.sum(axis=0)).ravel()
    result = optimize.linprog(cost, A_ub=both, b_ub=ends, bounds=(None, None), method="highs")
    if result.x is None or -result.fun <= 1e-6:
        return None
    full = np.zeros(allowed.size)
    full[kept] = result.x
    found = full.reshape(allowed.shape).T
    d = objective.w_shape[0]
    return found[:d].ravel(), found[d] if objective.fit_intercept else np.zeros(K)


def _verified(objective: MulticlassObjective, w: Array, b: Any) -> dict[str, Any] | None:
    z = objective.predict(w, b)
    own = (objective.labels * z).sum(axis=1, keepdims=True)
    terms = objective.design.abs_matvec(w) + np.abs(b)
    slack = ROUNDING * (terms + (objective.labels * terms).sum(axis=1, keepdims=True))
    margins = np.where(objective.labels > 0.0, 0.0, own - z)
    size = float(np.max(np.abs(margins), initial=0.0))
    if np.any(margins < -slack) or not np.any(margins > np.maximum(slack, 1e-9 * size)):
        return None
    w = w.reshape(objective.w_shape) / size
    b = np.broadcast_to(np.asarray(b, dtype=float), objective.w_shape[1:]) / size
    return {"w": w, "b": b, "z": z / size}

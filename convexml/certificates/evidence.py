"""Verified evidence that a learning problem has no solution: infeasible, or not attained."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize, sparse

from ..numerics import ROUNDING, Array
from ..objective import MulticlassObjective, Objective
from .separating_scores import separating_scores

SMALL_ENOUGH = 4_000_000
"""Entries of X up to which the linear programs below are posed."""


def separating_direction(
    objective: Objective, w: Array | None = None, b: float = 0.0
) -> dict[str, Any] | None:
    """Return a direction along which the loss decreases for ever, verified; None if there is none.

    For a strictly convex loss and unpenalised coefficients: z = X w + b with z_i y_i >= 0 wherever
    the loss has a finite limit, and z != 0. Then P has an infimum but no minimiser. A given (w, b)
    is tried first, then a linear program decides.
    """
    if isinstance(objective, MulticlassObjective):
        return separating_scores(objective, w, b)
    free = objective.penalty.free(objective.d)
    if not (objective.loss.is_strictly_convex and (free.any() or objective.fit_intercept)):
        return None
    lo, hi = objective.loss.domain(objective.y)
    if np.all((lo < 0.0) & (hi > 0.0)):  # the loss grows both ways: its level sets are bounded
        return None
    if w is not None:
        found = _verified(objective, np.where(free, w, 0.0), b, lo, hi)
        if found is not None:
            return found
    if objective.n * objective.d > SMALL_ENOUGH:
        return None
    columns = objective.design.columns(free) if free.any() else None
    parts = [] if columns is None else [sparse.csr_array(columns.constant)]
    if objective.fit_intercept:
        parts.append(sparse.csr_array(np.ones((objective.n, 1))))
    matrix = sparse.hstack(parts, format="csr")
    # Maximise sum_i s_i z_i with 0 <= s_i z_i <= 1 where one side is free, z_i = 0 elsewhere.
    sign = np.where(hi == 0.0, 1.0, np.where(lo == 0.0, -1.0, 0.0))
    signed = sparse.diags_array(np.where(sign == 0.0, 1.0, sign)) @ matrix
    upper = np.where(sign == 0.0, 0.0, 1.0)
    both = sparse.vstack([signed, -signed], format="csr")
    result = optimize.linprog(
        -(signed.T @ np.abs(sign)),
        A_ub=both,
        b_ub=np.concatenate([upper, np.zeros(objective.n)]),
        bounds=(None, None),
        method="highs",
    )
    if result.x is None or -result.fun <= 1e-6:
        return None
    direction = np.zeros(objective.d)
    if free.any():
        direction[free] = result.x[: int(free.sum())]
    shift = float(result.x[-1]) if objective.fit_intercept else 0.0
    return _verified(objective, direction, shift, lo, hi)


def _verified(
    objective: Objective, w: Array, b: float, lo: Array, hi: Array
) -> dict[str, Any] | None:
    z = objective.predict(w, b)
    slack = ROUNDING * (objective.design.abs_matvec(w) + abs(b))
    size = float(np.max(np.abs(z), initial=0.0))
    recedes = np.where(z > slack, hi == 0.0, np.where(z < -slack, lo == 0.0, True))
    if not np.all(recedes) or not np.any(np.abs(z) > np.maximum(slack, 1e-9 * size)):
        return None
    scale = 1.0 / size
    return {"w": w * scale, "b": np.asarray(b * scale), "z": z * scale}


def inseparable(objective: Objective) -> dict[str, Any] | None:
    """Return Farkas multipliers of an infeasible hard margin, verified; None if separable.

    alpha >= 0, sum alpha_i = 1, sum alpha_i y_i = 0 (with an intercept), and
    |sum alpha_i y_i x_i| <= 1e-9 max |x_i|. With residual r they prove that no (w, b) with
    |w| < 1 / r has all margins >= 1.
    """
    y, n = objective.y, objective.n
    rows = [objective.design.constant.T @ sparse.diags_array(y)]
    if objective.fit_intercept:
        rows.append(y[None, :])
    rows.append(np.ones((1, n)))
    matrix = sparse.csr_array(sparse.vstack([sparse.csr_array(row) for row in rows]))
    norms = np.sqrt(np.asarray(sparse.csr_array(matrix).power(2).sum(axis=1))).ravel()
    unit = 1.0 / np.where(norms > 0.0, norms, 1.0)
    right = np.zeros(matrix.shape[0])
    right[-1] = unit[-1]
    scaled = sparse.diags_array(unit) @ matrix
    result = optimize.linprog(
        np.zeros(n), A_eq=scaled, b_eq=right, bounds=(0, None), method="highs"
    )
    if result.x is None:
        return None
    alpha = _refine(scaled, right, np.maximum(result.x, 0.0))
    total = alpha.sum()
    if not total > 0.0:
        return None
    alpha = alpha / total
    residual = float(np.linalg.norm(objective.design.rmatvec(alpha * y)))
    longest = float(np.sqrt(objective.design.row_squares().max()))
    balance = abs(float(alpha @ y)) if objective.fit_intercept else 0.0
    if residual > 1e-9 * longest or balance > ROUNDING * n:
        return None
    return {"alpha": alpha, "residual": np.asarray(residual)}


def _refine(matrix: Any, right: Array, x: Array) -> Array:
    """Solve the equalities again, to rounding, on the support of x; keep it if it stays >= 0."""
    support = x > 1e-12 * x.max(initial=0.0)
    part = matrix[:, np.flatnonzero(support)].toarray()
    step = np.linalg.lstsq(part, right - part @ x[support], rcond=None)[0]
    better = np.zeros_like(x)
    better[support] = x[support] + step
    return better if np.all(better >= 0.0) else x


def inconsistent(objective: Objective) -> dict[str, Any] | None:
    """Return nu proving X w (+ b) = y infeasible, or None if it is feasible.

    X'nu = 0, 1'nu = 0 (with an intercept) and y'nu = 1.
    """
    matrix = objective.design.dense() if objective.n * objective.d <= SMALL_ENOUGH else None
    if matrix is None:
        return None
    if objective.fit_intercept:
        matrix = np.column_stack([matrix, np.ones(objective.n)])
    size = np.linalg.norm(matrix, axis=0)
    unit = matrix / np.where(size > 0.0, size, 1.0)
    left, values, _ = np.linalg.svd(unit, full_matrices=False)
    basis = left[:, values > ROUNDING * values.max(initial=0.0)]
    nu = objective.y - basis @ (basis.T @ objective.y)
    nu = nu - basis @ (basis.T @ nu)
    product = float(objective.y @ nu)
    if product <= 1e-18 * float(objective.y @ objective.y):
        return None
    nu = nu / product
    slack = ROUNDING * objective.design.abs_rmatvec(nu)
    if np.any(np.abs(objective.design.rmatvec(nu)) > slack):
        return None
    return {"nu": nu}

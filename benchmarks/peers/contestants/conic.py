"""CVXPY with a conic solver, the problem written as one would by hand: fit(data, tol) -> (w, b)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data import SIGMA, Data
from .squared import Point

SETTINGS = {
    "CLARABEL": ("tol_gap_abs", "tol_gap_rel", "tol_feas"),
    "PIQP": ("eps_abs", "eps_rel"),
    "OSQP": ("eps_abs", "eps_rel"),
}
"""What each calls its tolerances."""


def minimised(objective: Any, constraints: list[Any], solver: str, tol: float) -> None:
    import cvxpy as cp

    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(solver=solver, **dict.fromkeys(SETTINGS[solver], tol))


def linear(solver: str, objective: Any) -> Any:
    """A fit of variables w and b that minimises objective(data, z, w), z = X w + b."""

    def fit(data: Data, tol: float) -> Point:
        import cvxpy as cp

        w, b = cp.Variable(data.X.shape[1]), cp.Variable()
        minimised(objective(data, data.X @ w + b, w), [], solver, tol)
        return w.value, float(b.value)

    return fit


def lasso(data: Data, z: Any, w: Any) -> Any:
    import cvxpy as cp

    return 0.5 / len(data.y) * cp.sum_squares(z - data.y) + data.level * cp.norm1(w)


def ridge(data: Data, z: Any, w: Any) -> Any:
    import cvxpy as cp

    return 0.5 / len(data.y) * cp.sum_squares(z - data.y) + 0.5 * data.level * cp.sum_squares(w)


def logistic_terms(data: Data, z: Any) -> Any:
    import cvxpy as cp

    return cp.sum(cp.logistic(-cp.multiply(data.y, z))) / len(data.y)


def l1_logistic(data: Data, z: Any, w: Any) -> Any:
    import cvxpy as cp

    return logistic_terms(data, z) + data.level * cp.norm1(w)


def l2_logistic(data: Data, z: Any, w: Any) -> Any:
    import cvxpy as cp

    return logistic_terms(data, z) + 0.5 * data.level * cp.sum_squares(w)


def svm(data: Data, tol: float) -> Point:
    """With slacks: y_i (x_i.w + b) >= 1 - xi_i."""
    import cvxpy as cp

    (n, d), y = data.X.shape, data.y
    w, b, xi = cp.Variable(d), cp.Variable(), cp.Variable(n, nonneg=True)
    constraints = [(y[:, None] * data.X) @ w + y * b >= 1.0 - xi]
    minimised(0.5 * cp.sum_squares(w) + data.level * cp.sum(xi), constraints, "CLARABEL", tol)
    return w.value, float(b.value)


def low_rank_dual(data: Data, tol: float) -> tuple[np.ndarray, None]:
    """|v|^2 / 2 - 1'alpha s.t. v = X'(alpha y), y'alpha = 0, 0 <= alpha <= C; w = v, any b."""
    import cvxpy as cp

    alpha, v = cp.Variable(len(data.y)), cp.Variable(data.X.shape[1])
    constraints = [v == data.X.T @ cp.multiply(data.y, alpha), data.y @ alpha == 0.0]
    constraints += [alpha >= 0.0, alpha <= data.level]
    minimised(0.5 * cp.sum_squares(v) - cp.sum(alpha), constraints, "PIQP", tol)
    return v.value, None


def kernel_dual(data: Data, tol: float) -> tuple[np.ndarray, None]:
    """The dual through a factor of the kernel matrix, of the rank that it has in floats."""
    import cvxpy as cp
    from sklearn.metrics.pairwise import rbf_kernel

    n = len(data.y)
    values, vectors = np.linalg.eigh(rbf_kernel(data.X, gamma=0.5 / SIGMA**2))
    kept = values > 1e-13 * values[-1]
    L = vectors[:, kept] * np.sqrt(values[kept])
    q = cp.Variable(n)
    constraints = [cp.sum(q) == 0.0, cp.multiply(data.y, q) >= 0.0]
    constraints += [cp.multiply(data.y, q) <= data.level]
    minimised(0.5 * cp.sum_squares(L.T @ q) - data.y @ q, constraints, "CLARABEL", tol)
    return q.value, None


LASSO = {f"CVXPY + {name}": linear(name, lasso) for name in SETTINGS}
RIDGE = {"CVXPY + CLARABEL": linear("CLARABEL", ridge)}
L1_LOGISTIC = {"CVXPY + CLARABEL": linear("CLARABEL", l1_logistic)}
L2_LOGISTIC = {"CVXPY + CLARABEL": linear("CLARABEL", l2_logistic)}
SVM = {"CVXPY + CLARABEL": svm, "low-rank dual + PIQP": low_rank_dual}
KERNEL_SVM = {"CVXPY + CLARABEL": kernel_dual}

"""Ridge regression by four routes that meet in one point.

    minimise over w, b   (1/2n) ‖y - Xw - b·1‖² + (λ/2) ‖w‖²

1. The primal, as CVXPY sees it.
2. The dual, a problem in u with one variable a sample. Its solution gives w back: λw = -Xᵀu.
3. The closed form: with centred data, (XᵀX + nλI) w = Xᵀy, a d x d system, or w = Xᵀq with
   (XXᵀ + nλI) q = y, an n x n system. Solve the smaller one.
4. Newton's method: the objective is quadratic, so that one step is enough.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from sklearn.datasets import load_diabetes

import convexml as cml

LAM = 0.1


def normal_equations(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The closed form on centred data, by the system in d unknowns and by that in n."""
    n, d = X.shape
    X, y = X - X.mean(axis=0), y - y.mean()
    in_d = np.linalg.solve(X.T @ X + n * LAM * np.eye(d), X.T @ y)
    in_n = X.T @ np.linalg.solve(X @ X.T + n * LAM * np.eye(n), y)
    return in_d, in_n


def main() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_diabetes(return_X_y=True)
    X = X / X.std(axis=0)
    problem = cml.Ridge(X, y, lam=LAM)

    problem.primal.solve(solver=cp.CLARABEL)
    primal = problem.variables["w"].value
    problem.dual.solve(solver=cp.CLARABEL)
    dual = -X.T @ problem.multipliers["u"].value / LAM
    in_d, in_n = normal_equations(X, y)
    newton = problem.solve("newton")

    routes = {
        "primal, CVXPY + Clarabel": primal,
        "dual, w = -X'u / lam": dual,
        "normal equations in n": in_n,
        "Newton's method": newton.primal["w"],
    }
    print(f"{'route':<28}{'certified gap':>14}{'distance to the closed form in d':>36}")
    for name, w in routes.items():
        certificate = problem.certify(w)
        print(f"{name:<28}{certificate.relative_gap:>14.1e}{np.abs(w - in_d).max():>36.1e}")
    print(f"\nNewton took {newton.iterations} step; the objective is {newton.objective:.10g}.")
    return np.array(list(routes.values())), np.array([in_d] * len(routes))


if __name__ == "__main__":
    main()

"""Ridge regression by four routes that meet in one point.

    minimise over w, b   (1/2n) ‖y - Xw - b·1‖² + (λ/2) ‖w‖²

1. The primal, as CVXPY sees it.
2. The dual, a problem in u with one variable a sample. Its solution gives w back: λw = -Xᵀu.
3. The closed form: with centred data, (XᵀX + nλI) w = Xᵀy, a d x d system, or w = Xᵀq with
   (XXᵀ + nλI) q = y, an n x n system. Solve the smaller one.
4. Newton's method: the objective is quadratic, so that one step is enough.

Run `python examples/linear_models/ridge_four_routes.py shrinking.png` for the picture.
"""

from __future__ import annotations

import sys

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


def draw(path: str, X: np.ndarray, y: np.ndarray) -> None:
    """How the coefficients shrink as λ grows."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.6, 3.6), layout="constrained")
    axes, lams = figure.subplots(), np.geomspace(1e-4, 1e3, 40)
    found = cml.Ridge(X, y, lam=LAM).path(lams)
    axes.semilogx(lams, [solution.primal["w"] for solution in found], linewidth=1.2)
    axes.axvline(LAM, color="0.7", linestyle="--")
    axes.set_xlabel("λ")
    axes.set_ylabel("coefficients")
    figure.savefig(path, dpi=150)


def main(picture: str | None = None) -> tuple[np.ndarray, np.ndarray]:
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
    if picture is not None:
        draw(picture, X, y)
        print(f"wrote {picture}")
    return np.array(list(routes.values())), np.array([in_d] * len(routes))


if __name__ == "__main__":
    main(*sys.argv[1:])

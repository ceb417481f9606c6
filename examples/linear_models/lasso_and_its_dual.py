"""The lasso and its dual: why some coefficients are exactly zero.

    primal   minimise over w, b    (1/2n) ‖y - Xw - b·1‖² + λ ‖w‖₁
    dual     maximise over u       -(n/2) ‖u‖² - yᵀu     subject to  |x_jᵀu| ≤ λ,  1ᵀu = 0

At the optimum u = (Xw + b·1 - y) / n: x_jᵀu is minus the covariance of feature j with the residual.
A feature that has not reached the bound λ gets w_j = 0; one with w_j ≠ 0 sits on it, with
x_jᵀu = -λ sign(w_j). At λ_max = ‖Xᵀ(y - mean y)‖∞ / n no feature is left.

Run `python examples/linear_models/lasso_and_its_dual.py path.png` for the picture.
"""

from __future__ import annotations

import sys

import cvxpy as cp
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import lars_path

import convexml as cml


def least_angle(X: np.ndarray, y: np.ndarray, lam: float) -> np.ndarray:
    """The lasso by a path of exact linear systems (Efron et al. 2004): no gradients, no cones."""
    centred = X - X.mean(axis=0)
    return lars_path(centred, y - y.mean(), method="lasso", alpha_min=lam)[2][:, -1]


def along(problem: cml.Lasso) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Strengths, coefficients and correlations."""
    lams = problem.lam_max * np.geomspace(1.0, 0.01, 40)
    found = problem.path(lams)
    X = problem.objective_parts.design.constant
    return (
        lams,
        np.array([s.primal["w"] for s in found]),
        np.array([-X.T @ s.dual["u"] for s in found]),
    )


def draw(path: str, lams: np.ndarray, W: np.ndarray, V: np.ndarray) -> None:
    """Coefficients along λ, and the correlations, which reach the bound where they are not 0."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    for axes, lines, name in zip(figure.subplots(1, 2), (W, V), ("w", "-x·u"), strict=True):
        axes.semilogx(lams, lines, linewidth=1.2)
        axes.set_title(f"{name} along λ")
    axes.semilogx(lams, lams, "k--", lams, -lams, "k--")
    figure.savefig(path, dpi=150)


def main(picture: str | None = None) -> tuple[tuple, tuple]:
    data = load_diabetes()
    X, y = data.data / data.data.std(axis=0), data.target
    problem = cml.Lasso(X, y, lam=2.0)
    solution = problem.solve()
    w, u = solution.primal["w"], solution.dual["u"]
    problem.dual.solve(solver=cp.CLARABEL)

    print(f"primal {solution.objective:.8f}, dual posed on its own {problem.dual.value:.8f}")
    print(f"lam = {problem.lam:g}, lam_max = {problem.lam_max:.6g}\n")
    print(f"{'feature':<10}{'w_j':>12}{'-x_j.u':>12}   |x_j.u| <= lam")
    for name, w_j, v_j in zip(data.feature_names, w, -X.T @ u, strict=True):
        bound = "on the bound" if np.isclose(abs(v_j), problem.lam, rtol=1e-6) else "w_j = 0"
        print(f"{name:<10}{w_j:>12.6f}{v_j:>12.6f}   {bound}")

    lams = problem.lam_max * np.array([1.0, 0.5, 0.1, 0.01])
    counts = [int(np.count_nonzero(s.primal["w"])) for s in problem.path(lams)]
    print("\nnonzero coefficients at lam/lam_max = 1, 1/2, 1/10, 1/100:", counts)

    if picture is not None:
        draw(picture, *along(problem))
        print(f"wrote {picture}")
    computed = (w, problem.dual.value, problem.lam_max, np.array(counts))
    exact = [least_angle(X, y, lam) for lam in (problem.lam, *lams)]
    residual = y - y.mean() - (X - X.mean(axis=0)) @ exact[0]
    value = 0.5 * np.mean(residual**2) + problem.lam * np.abs(exact[0]).sum()
    largest = np.abs(X.T @ (y - y.mean())).max() / len(y)
    return computed, (exact[0], value, largest, np.count_nonzero(exact[1:], axis=1))


if __name__ == "__main__":
    main(*sys.argv[1:])

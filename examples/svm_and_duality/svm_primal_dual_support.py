"""A support vector machine from both sides: the margin, its prices and the points that pay them.

    primal   minimise over w, b, ξ   ½‖w‖² + C Σ ξ_i   s.t.  y_i (w·x_i + b) ≥ 1 - ξ_i,  ξ_i ≥ 0
    dual     maximise over α         Σ α_i - ½ ‖Σ α_i y_i x_i‖²   s.t.  0 ≤ α_i ≤ C,  Σ α_i y_i = 0

α_i is the price of the margin constraint of sample i, β_i = C - α_i that of ξ_i ≥ 0. Only samples
with α_i > 0, the support vectors, hold the plane: w = Σ α_i y_i x_i. Whoever gives these prices to
the wrong samples is caught: no optimality condition survives a permutation of α.

Run `python examples/svm_and_duality/svm_primal_dual_support.py prices.png` for the picture.
"""

from __future__ import annotations

import sys

import cvxpy as cp
import numpy as np
from sklearn.datasets import load_iris
from sklearn.svm import SVC

import convexml as cml

C = 1.0


def from_support(X: np.ndarray, y: np.ndarray, svc: SVC) -> tuple:
    """The exact solution from libsvm's support vectors: on the margin, a linear system is left."""
    alpha = np.zeros(len(y))
    alpha[svc.support_] = np.abs(svc.dual_coef_.ravel())
    at, full = (alpha > 0.0) & (alpha < C), alpha == C
    Z = y[:, None] * X
    system = np.block([[Z[at] @ Z[at].T, y[at, None]], [y[at], 0.0]])
    right = np.append(1.0 - C * Z[at] @ Z[full].sum(axis=0), -C * y[full].sum())
    solved = np.linalg.solve(system, right)
    alpha[at] = solved[:-1]
    value = alpha.sum() - 0.5 * np.sum((Z.T @ alpha) ** 2)
    return Z.T @ alpha, solved[-1], alpha, value, np.sort(svc.support_)


def draw(path: str, margins: np.ndarray, alpha: np.ndarray) -> None:
    """What each sample pays, by where it is: 0 beyond the margin, C inside of it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.6, 3.4), layout="constrained")
    axes = figure.subplots()
    axes.plot(margins, alpha, "o", markersize=4)
    axes.set_xlabel("y (w·x + b)")
    axes.set_ylabel("α")
    figure.savefig(path, dpi=150)


def main(picture: str | None = None) -> tuple[tuple, tuple]:
    iris = load_iris()
    X, y = iris.data[50:], np.where(iris.target[50:] == 2, 1.0, -1.0)  # versicolor, virginica
    svm = cml.SoftMarginSVM(X, y, C=C)
    solution = svm.solve()
    w, b = solution.primal["w"], solution.primal["b"]
    alpha, beta = solution.dual["alpha"], solution.dual["beta"]
    svm.dual.solve(solver=cp.CLARABEL)

    print(f"primal {solution.objective:.8f}, dual posed on its own {svm.dual.value:.8f}")
    print(f"margin 1/|w| = {solution.margin:.6f}, {len(solution.support)} support vectors")
    print(f"\n{'':<24}{'samples':>8}{'alpha':>14}{'beta':>14}{'y (w.x + b)':>20}")
    margins = y * (X @ w + b)
    groups = {
        "beyond the margin": alpha == 0.0,
        "on the margin": (alpha > 0.0) & (beta > 0.0),
        "inside or misclassified": beta == 0.0,
    }
    for name, rows in groups.items():
        ranges = [f"{v[rows].min():.3f}..{v[rows].max():.3f}" for v in (alpha, beta, margins)]
        print(f"{name:<24}{rows.sum():>8}{ranges[0]:>14}{ranges[1]:>14}{ranges[2]:>20}")

    print(f"\nthe solution with its own prices\n{svm.certify(w, b, u=-y * alpha)}")
    order = np.random.default_rng(0).permutation(len(y))
    refused = svm.certify(w, b, u=-y * alpha[order])
    print(f"\nthe same prices on the wrong samples\n{refused}")

    if picture is not None:
        draw(picture, margins, alpha)
        print(f"wrote {picture}")
    expected = from_support(X, y, SVC(kernel="linear", C=C).fit(X, y))
    computed = (w, b, alpha, svm.dual.value, solution.support)
    return (*computed, refused.verdict is cml.Verdict.CERTIFIED), (*expected, False)


if __name__ == "__main__":
    main(*sys.argv[1:])

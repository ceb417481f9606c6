"""IRLS is Newton: the same iterates, once as linear algebra and once as statistics.

    minimise over w, b   (1/n) Σ log(1 + exp(-y_i z_i)) + (λ/2)‖w‖²,   z_i = x_i·w + b

Newton's method solves (∇²P) Δ = -∇P. A statistician, asked to do without derivatives of P, would
replace each label by a *working response* that a linear fit could have,

    r_i = z_i + (t_i - p_i)/h_i,   h_i = p_i (1 - p_i),   p_i = 1/(1 + exp(-z_i)),

with t_i = 1 or 0, and fit a ridge regression with weights h_i; then do it again. Write out the
normal equations of that fit, and they are Newton's: gradients of the loss are h_i (z_i - r_i), its
curvature is h_i (Green, 1984).

Three routes: `newton`, `irls`, and scikit-learn's Ridge on the working responses, which knows
nothing of logistic regression. The first step of the solvers may be longer than 1, where the line
search finds that to pay; so each fit starts from the solver's last point.

Run `python examples/solvers/irls_is_newton.py steps.png` for the picture.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import Ridge

import convexml as cml

LAM, STEPS = 0.01, 6


def iterate(problem: cml.LogisticRegression, solver: str, steps: int) -> np.ndarray:
    """(w, b) after so many steps from w = 0."""
    solution = problem.solve(solver, max_iter=steps, tol=1e-15, polish=False)
    return np.append(solution.primal["w"], solution.primal["b"])


def working_fit(X: np.ndarray, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Ridge regression on the working response at x = (w, b), by scikit-learn."""
    z = X @ x[:-1] + x[-1]
    p = 1.0 / (1.0 + np.exp(-z))
    h = p * (1.0 - p)
    ridge = Ridge(alpha=len(t) * LAM, solver="cholesky", tol=1e-12)
    ridge.fit(X, z + (t - p) / h, sample_weight=h)
    return np.append(ridge.coef_, ridge.intercept_)


def main(picture: str | None = None) -> tuple[list[object], list[object]]:
    X, t = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    problem = cml.LogisticRegression(X, 2.0 * t - 1.0, lam=LAM)

    computed: list[object] = []
    expected: list[object] = []
    here = iterate(problem, "newton", 0)
    print(f"{'step':>5}{'P':>16}{'irls - newton':>16}{'length of step':>17}{'direction':>12}")
    for step in range(1, STEPS + 1):
        newton, irls = (iterate(problem, name, step) for name in ("newton", "irls"))
        fit = working_fit(X, t, here)
        length = float((newton - here) @ (fit - here) / ((fit - here) @ (fit - here)))
        off = float(np.linalg.norm(newton - here - length * (fit - here)))
        P = problem.certify(newton[:-1], newton[-1]).primal_objective
        apart = float(np.abs(irls - newton).max())
        print(f"{step:>5}{P:>16.12f}{apart:>16.1e}{length:>17.6f}{off:>12.1e}")
        computed += [irls, here + length * (fit - here)]
        expected += [newton, newton]
        here = newton

    last = working_fit(X, t, here)
    print(f"\nA fit at the solution moves it by {np.abs(last - here).max():.1e}: a fixed point.")
    if picture is not None:
        cml.convergence(problem, ["newton", "irls"]).plot(picture)
        print(f"wrote {picture}")
    return [*computed, last], [*expected, here]


if __name__ == "__main__":
    main(*sys.argv[1:])

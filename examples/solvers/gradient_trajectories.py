"""The way of gradient descent: a step that is too short, one that is right, one that is too long.

    x_{t+1} = x_t - γ ∇f(x_t)

for ridge regression on two features, whose curvatures are μ and L. Along an eigenvector of
curvature λ the error is multiplied by 1 - γλ in every step. So γ = 0.2/L creeps; γ = 2/(L + μ)
shrinks both ends alike; γ = 1.95/L goes from side to side, and 2.05/L away for ever. The
iterates are compared with x* + (I - γH)^t (x_0 - x*), which no loop is needed for.

Run `python examples/solvers/gradient_trajectories.py ways.png` for the picture.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import load_diabetes

import convexml as cml

LAM, STEPS = 0.05, 20


def main(picture: str | None = None) -> tuple[list[np.ndarray], list[np.ndarray]]:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X, y = X[["bmi", "s5"]], y - y.mean()
    X = (X - X.mean()) / X.std()
    problem = cml.Ridge(X, y, LAM, fit_intercept=False)
    A, n = X.to_numpy(), len(y)
    H, g = A.T @ A / n + LAM * np.eye(2), A.T @ y.to_numpy() / n
    mu, L = np.linalg.eigvalsh(H)
    best = np.linalg.solve(H, g)
    print(f"curvatures between μ = {mu:.3f} and L = {L:.3f}\n")
    print(f"{'step':>12}{'factor along μ':>16}{'along L':>10}{'|x_20 - x*|':>14}")
    runs, computed, expected = [], [], []
    for words, step in (
        ("0.2/L", 0.2 / L),
        ("2/(L + μ)", 2.0 / (L + mu)),
        ("1.95/L", 1.95 / L),
        ("2.05/L", 2.05 / L),
    ):
        run = problem.solve("textbook.gradient_descent", step=step, max_iter=STEPS, tol=1e-15)
        runs.append(run)
        w = run.iterates.w[: STEPS + 1]
        powers = [np.linalg.matrix_power(np.eye(2) - step * H, t) for t in range(len(w))]
        computed.append(w)
        expected.append(np.array([best - power @ best for power in powers]))
        away = np.linalg.norm(w[-1] - best)
        print(f"{words:>12}{1.0 - step * mu:>16.3f}{1.0 - step * L:>10.3f}{away:>14.2e}")
    if picture is not None:
        runs[0].plot(picture, kind="trajectory", beside=runs[1:3])
        print(f"wrote {picture}")
    return computed, expected


if __name__ == "__main__":
    main(*sys.argv[1:])

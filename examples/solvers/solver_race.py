"""Watch five solvers race on a logistic regression.

    minimise over w, b   (1/n) Σ log(1 + exp(-y_i (x_i·w + b))) + (λ/2)‖w‖²

Everyone is measured alike: by the duality gap that the certificate verifies, relative to the
objective, against passes over the data and against seconds.

gradient_descent      the error falls by a constant factor in some L/μ steps of 2 passes
accelerated_gradient  in √(L/μ) such steps
saga                  in n + L_max/μ steps of one sample each: 2/n of a pass
newton                every step doubles the digits, and costs d + 3 passes
clarabel              an interior point method that shows no iterates: it runs once for each
                      tolerance, and the points where it ends are its course

Run `python examples/solvers/solver_race.py race.png` for the picture.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer

import convexml as cml

LAM = 1e-2
SOLVERS = ("gradient_descent", "accelerated_gradient", "saga", "newton", "clarabel")


def by_bfgs(X: np.ndarray, y: np.ndarray) -> float:
    """P* by scipy's L-BFGS-B, which has no part in the race."""

    def value_and_slope(x: np.ndarray) -> tuple[float, np.ndarray]:
        z = y * (X @ x[:-1] + x[-1])
        pull = -y / (1.0 + np.exp(z)) / len(y)
        value = np.logaddexp(0.0, -z).mean() + LAM / 2.0 * x[:-1] @ x[:-1]
        return value, np.append(X.T @ pull + LAM * x[:-1], pull.sum())

    start = np.zeros(X.shape[1] + 1)
    options = {"gtol": 1e-10, "ftol": 1e-16, "maxiter": 10_000}
    return minimize(value_and_slope, start, jac=True, method="L-BFGS-B", options=options).fun


def main(picture: str | None = None) -> tuple[list[object], list[object]]:
    X, y = load_breast_cancer(return_X_y=True)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), 2.0 * y - 1.0
    problem = cml.LogisticRegression(X, y, lam=LAM)
    race = cml.convergence(problem, SOLVERS, max_seconds=60.0)
    print(race)
    if picture is not None:
        race.plot(picture)
        print(f"wrote {picture}")

    courses = {course.solver: course for course in race.courses}
    ends = [courses[name].best for name in SOLVERS]
    passes = {name: courses[name].first(1e-6).passes for name in SOLVERS[:4]}
    order = sorted(passes, key=passes.__getitem__)
    print("\nfewest passes to a gap of 1e-6: " + ", ".join(order))
    return [*(end.objective for end in ends), *order], [
        *[by_bfgs(X, y)] * len(SOLVERS),
        *("newton", "accelerated_gradient", "saga", "gradient_descent"),
    ]


if __name__ == "__main__":
    main(*sys.argv[1:])

"""interior_point and "auto" against PIQP on the low-rank dual of a soft-margin SVM, 20000 x 50.

Run with ``python benchmarks/interior_point_svm.py``. All solve to a verified relative gap of 1e-6,
on one BLAS thread, in turn in the same run; the ratios of the times must be at least 4 and 7. The
baseline is the dual as one would pose it by hand so that a QP solver sees no dense (n, n) matrix:
minimise |v|^2 / 2 - 1'alpha s.t. v = X'(alpha y), y'alpha = 0, 0 <= alpha <= C. Its time is
CVXPY's compilation and the solver's; ours contain the certificates.
"""

from __future__ import annotations

import argparse
import statistics
import time

import cvxpy as cp
import numpy as np
from threadpoolctl import threadpool_limits  # a dependency of scikit-learn

import convexml as cml

LIMITS = {"interior_point": 4.0, "auto": 7.0}


def by_hand(X: np.ndarray, y: np.ndarray, C: float) -> tuple[np.ndarray, float]:
    alpha, v = cp.Variable(len(y)), cp.Variable(X.shape[1])
    constraints = [v == X.T @ cp.multiply(y, alpha), y @ alpha == 0, alpha >= 0, alpha <= C]
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(v) - cp.sum(alpha)), constraints)
    start = time.perf_counter()
    problem.solve(solver=cp.PIQP, eps_abs=1e-8, eps_rel=1e-8)
    return v.value, time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(arguments.rows, arguments.columns))
    score = X @ rng.normal(size=arguments.columns) / np.sqrt(arguments.columns)
    y = np.where(score + 0.5 * rng.normal(size=arguments.rows) > 0.0, 1.0, -1.0)
    print(f"{'C':>8}{'PIQP, s':>10}{'gap':>10}{'solver':>18}{'s':>8}{'gap':>10}{'ratio':>8}")
    for C in (0.01, 1.0, 100.0):
        problem = cml.SoftMarginSVM(X, y, C)
        base, ours, gaps = [], {name: [] for name in LIMITS}, {}
        for _ in range(arguments.repeats):
            w, seconds = by_hand(X, y, C)
            base.append(seconds)
            for name, times in ours.items():
                start = time.perf_counter()
                solution = problem.solve(name, tol=1e-6)
                times.append(time.perf_counter() - start)
                assert solution.status == "optimal"
                gaps[name] = solution.relative_gap
        theirs = problem.certify(w, tol=1e-6).relative_gap
        for name, times in ours.items():
            ratio = statistics.median(b / s for b, s in zip(base, times, strict=True))
            print(
                f"{C:>8g}{statistics.median(base):>10.2f}{theirs:>10.1e}{name:>18}"
                f"{statistics.median(times):>8.3f}{gaps[name]:>10.1e}{ratio:>8.1f}"
                f"   (at least {LIMITS[name]:g})"
            )


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()

"""What a certificate costs: against one pair of products (X w, X'u) on 200000 x 100 dense.

Run with ``python benchmarks/certificate_cost.py``. Each figure is the median of paired runs, in
CPU time, as a ratio against the pair of products in the same run; the limit is 2.5.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

import convexml as cml
from convexml.certificates import certify_objective

LIMIT = 2.5


def seconds(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=9)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(arguments.rows, arguments.columns))
    truth = rng.normal(size=arguments.columns)
    score = X @ truth / np.sqrt(arguments.columns)
    binary, noise = score > rng.normal(size=arguments.rows), rng.normal(size=arguments.rows)
    problems = {
        "ridge": cml.Ridge(X, score + noise, 0.1),
        "logistic l2": cml.LogisticRegression(X, binary, 0.01),
        "huber": cml.HuberRegression(X, score + noise, 1.0, 0.1),
        "poisson": cml.PoissonRegression(X, rng.poisson(np.exp(0.5 * score)).astype(float), 0.1),
        "least squares": cml.LeastSquares(X, score + noise),
        "logistic, 0": cml.LogisticRegression(X, binary, 0.0),
        "huber, 0": cml.HuberRegression(X, score + noise, 1.0, 0.0),
    }
    print(f"{'problem':<14}{'pair, ms':>10}{'certificate, ms':>18}{'ratio':>8}   (limit {LIMIT})")
    for name, problem in problems.items():
        solution = problem.solve("newton", tol=1e-9)
        w, b, u = solution.primal["w"], float(solution.primal["b"]), solution.dual["u"]
        parts = problem.objective_parts

        def pair(parts=parts, w=w, u=u) -> None:
            parts.design.matvec(w)
            parts.design.rmatvec(u)

        def certificate(parts=parts, w=w, b=b, u=u) -> None:
            certify_objective(parts, w, b, u)

        pair(), certificate()
        runs = [(seconds(pair), seconds(certificate)) for _ in range(arguments.repeats)]
        ratio = statistics.median(c / p for p, c in runs)
        base, cost = (1e3 * statistics.median(column) for column in zip(*runs, strict=True))
        print(f"{name:<14}{base:>10.1f}{cost:>18.1f}{ratio:>8.2f}")


if __name__ == "__main__":
    main()

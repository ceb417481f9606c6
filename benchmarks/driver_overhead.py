"""What the driver costs: the share of a run that goes into evaluations, trace and bookkeeping.

Run with ``OPENBLAS_NUM_THREADS=1 python benchmarks/driver_overhead.py``. The same number of
iterates is drawn from the algorithm bare, in a plain loop, and through the driver, in turn; the
overhead is the median of (driven - bare) / driven over the pairs, in processor time. The limit is
10 % for runs longer than 0.2 s.
"""

from __future__ import annotations

import argparse
import statistics
import time
from itertools import islice

import numpy as np

import convexml as cml
from convexml.solvers.driver import drive
from convexml.solvers.registry import ALGORITHMS

LIMIT = 0.10


def problems() -> dict[str, object]:
    rng = np.random.default_rng(0)
    found = {}
    for n, d in ((500, 20), (5_000, 50), (50_000, 50)):
        X = rng.normal(size=(n, d))
        score = X @ rng.normal(size=d) / np.sqrt(d)
        found[f"logistic {n} x {d}"] = cml.LogisticRegression(X, score > rng.normal(size=n), 1e-4)
        found[f"ridge {n} x {d}"] = cml.Ridge(X, score + rng.normal(size=n), 1e-4)
    return found


def iterates(problem: object, name: str):
    parts = problem.objective_parts
    w = np.zeros(parts.d)
    return ALGORITHMS[name].start(parts, w, parts.best_intercept(parts.predict(w)), 0, {})


def seconds_bare(problem: object, name: str, count: int) -> float:
    start = time.process_time()
    for _ in islice(iterates(problem, name), count + 1):
        pass
    return time.process_time() - start


def seconds_driven(problem: object, name: str, count: int) -> float:
    start = time.process_time()
    drive(problem.objective_parts, iterates(problem, name), tol=-1.0, max_iter=count)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.4, help="length of a run")
    arguments = parser.parse_args()
    print(f"{'problem':<22}{'solver':<22}{'iterations':>11}{'driven, s':>11}{'overhead':>10}")
    for title, problem in problems().items():
        for name in ("gradient_descent", "accelerated_gradient", "fista"):
            once = seconds_bare(problem, name, 50) / 50
            count = max(int(arguments.seconds / once), 10)
            pairs = [
                (seconds_bare(problem, name, count), seconds_driven(problem, name, count))
                for _ in range(arguments.repeats)
            ]
            share = statistics.median((driven - bare) / driven for bare, driven in pairs)
            length = statistics.median(driven for _, driven in pairs)
            verdict = "" if share <= LIMIT else f"   above {LIMIT:.0%}"
            print(f"{title:<22}{name:<22}{count:>11}{length:>11.3f}{share:>10.1%}{verdict}")


if __name__ == "__main__":
    main()

"""What a round of a stochastic method costs on sparse rows, in pairs of products Xw, X'u.

Run with ``OPENBLAS_NUM_THREADS=1 python benchmarks/costs/sparse_rounds.py``. A round is n steps,
drawn from the algorithm bare, once its loops are compiled; rounds and pairs take turns, and the
ratio is that of the medians, in processor time. The limit is 20.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

import numpy as np
from scipy import sparse

import convexml as cml
from convexml.losses import Hinge, Logistic, Squared
from convexml.penalties import L1, L2, Box, ElasticNet, L2Ball
from convexml.solvers.registry import ALGORITHMS

LIMIT = 20.0


def cases(n: int, d: int, nonzeros: int) -> Iterator[tuple[str, object, dict[str, object]]]:
    rng = np.random.default_rng(0)
    columns = np.concatenate([rng.choice(d, nonzeros, replace=False) for _ in range(n)])
    values = rng.normal(size=n * nonzeros)
    X = sparse.csr_array((values, columns, nonzeros * np.arange(n + 1)), shape=(n, d))
    X.sort_indices()
    y = np.sign(X @ rng.normal(size=d) + rng.normal(size=n))

    def pose(loss: object, penalty: object, intercept: bool = True) -> object:
        return cml.LearningProblem(X, y, loss, penalty, fit_intercept=intercept)

    yield "sgd", pose(Logistic(), L2(1e-4)), {}
    yield "sgd", pose(Logistic(), L2(1e-4)), {"average": True}
    yield "pegasos", pose(Hinge(), L2(1e-4), False), {}
    for penalty in (L2(1e-4), L1(1e-4), ElasticNet(1e-4, 1e-4), Box(-0.1, 0.1), L2Ball(1.0)):
        yield "saga", pose(Squared(), penalty), {}


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def pair(X: object, w: object, u: object) -> None:
    X.matvec(w), X.rmatvec(u)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--features", type=int, default=20_000)
    parser.add_argument("--nonzeros", type=int, default=20, help="of a row")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print(f"{'solver':<26}{'penalty':<14}{'round, s':>10}{'pair, s':>10}{'ratio':>8}")
    for name, problem, options in cases(given.samples, given.features, given.nonzeros):
        parts = problem.objective_parts
        X, w, u = parts.design, np.ones(parts.d), np.ones(parts.n)
        run = ALGORITHMS[name].start(parts, np.zeros(parts.d), 0.0, 0, options)
        list(islice(run, 2))
        seconds(partial(pair, X, w, u))
        times = [
            (seconds(partial(next, run)), seconds(partial(pair, X, w, u)))
            for _ in range(given.rounds)
        ]
        ours, theirs = (statistics.median(column) for column in zip(*times, strict=True))
        words = f"{name}{', averaged' * bool(options)}"
        verdict = "" if ours <= LIMIT * theirs else f"   above {LIMIT:.0f}"
        label = type(parts.penalty).__name__
        print(f"{words:<26}{label:<14}{ours:>10.4f}{theirs:>10.5f}{ours / theirs:>8.1f}{verdict}")


if __name__ == "__main__":
    main()

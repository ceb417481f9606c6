"""Problems written in CVXPY: ``cml.solve``, certificate included, against CLARABEL.

Run with ``OPENBLAS_NUM_THREADS=1 python benchmarks/costs/recognised.py``. Each side is given a
fresh problem; theirs is ``problem.solve(solver="CLARABEL")`` at its defaults, which proves nothing.
They take turns; the ratio is that of the medians, theirs over ours, in processor time. Beside it:
what ``cml.recognize`` takes of ours, the relative gap that is certified, and the difference of the
two values. The loop sets a Parameter 100 times and solves the same problem again on both sides.
The last rows are declined: what recognition takes of the solve by cones that follows.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import cvxpy as cp
import numpy as np
from sklearn.datasets import load_diabetes

import convexml as cml

LONG = 10.0
"""Seconds from which theirs is measured once."""


@dataclass(frozen=True)
class Row:
    """A problem as it is written, how many times CLARABEL's time is asked, and what is set."""

    name: str
    build: Callable[[], cp.Problem]
    least: float
    lams: tuple[float, ...] = ()


def sparse_model(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Ten columns matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, :10] @ rng.normal(size=10) + rng.normal(size=n)


def labels(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Classes that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X @ rng.normal(size=d) / np.sqrt(d)
    return X, np.where(score + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)


def lasso(X: np.ndarray, y: np.ndarray, share: float = 0.1) -> Callable[[], cp.Problem]:
    largest = 2.0 * np.abs(X.T @ y).max()

    def build() -> cp.Problem:
        w = cp.Variable(X.shape[1])
        lam = cp.Parameter(nonneg=True, value=share * largest)
        return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + lam * cp.norm1(w)))

    return build


def elastic_net(X: np.ndarray, y: np.ndarray) -> Callable[[], cp.Problem]:
    lam = 0.1 * np.abs(X.T @ y).max() / len(y)

    def build() -> cp.Problem:
        w, b = cp.Variable(X.shape[1]), cp.Variable()
        penalty = 0.5 * cp.norm1(w) + 0.25 * cp.sum_squares(w)
        loss = cp.sum_squares(X @ w + b - y) / (2 * len(y))
        return cp.Problem(cp.Minimize(loss + 2.0 * lam * penalty))

    return build


def logistic(X: np.ndarray, y: np.ndarray) -> Callable[[], cp.Problem]:
    def build() -> cp.Problem:
        w, b = cp.Variable(X.shape[1]), cp.Variable()
        loss = cp.sum(cp.logistic(-cp.multiply(y, X @ w + b)))
        return cp.Problem(cp.Minimize(loss + 0.5 * cp.sum_squares(w)))

    return build


def svm(X: np.ndarray, y: np.ndarray) -> Callable[[], cp.Problem]:
    def build() -> cp.Problem:
        w, b, xi = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable(len(y))
        rows = [cp.multiply(y, X @ w + b) >= 1 - xi, xi >= 0]
        return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + cp.sum(xi)), rows)

    return build


def kinked(name: str, X: np.ndarray, y: np.ndarray) -> Callable[[], cp.Problem]:
    """A loss with kinks, and the l1 norm."""

    def build() -> cp.Problem:
        w, b = cp.Variable(X.shape[1]), cp.Variable()
        rest = y - X @ w - b
        losses = {
            "pinball": lambda: cp.sum(cp.maximum(0.3 * rest, -0.7 * rest)),
            "hinge": lambda: cp.sum(cp.pos(1 - cp.multiply(np.sign(y), X @ w + b))),
            "Huber": lambda: cp.sum(cp.huber(rest, 1.0)),
        }
        return cp.Problem(cp.Minimize(losses[name]() + 20.0 * cp.norm1(w)))

    return build


def trend(n: int, order: int) -> Callable[[], cp.Problem]:
    """Steps under noise, and the size of their differences."""
    rng = np.random.default_rng(0)
    steps = 2.0 * rng.standard_normal(n) * (rng.uniform(size=n) < 0.05)
    y, lam = np.cumsum(steps) + 0.3 * rng.standard_normal(n), 2.0 * 25.0 ** (order - 1)

    def build() -> cp.Problem:
        x = cp.Variable(n)
        return cp.Problem(
            cp.Minimize(0.5 * cp.sum_squares(x - y) + lam * cp.norm1(cp.diff(x, order)))
        )

    return build


def largest_residual(X: np.ndarray, y: np.ndarray) -> Callable[[], cp.Problem]:
    def build() -> cp.Problem:
        w = cp.Variable(X.shape[1])
        return cp.Problem(cp.Minimize(cp.norm_inf(X @ w - y) + 0.1 * cp.norm1(w)))

    return build


def rows() -> list[Row]:
    X, y = load_diabetes(return_X_y=True)
    signs = np.where(y > np.median(y), 1.0, -1.0)
    path = tuple(np.geomspace(1.0, 1e-2, 100))
    return [
        Row("lasso 1000x2000", lasso(*sparse_model(1000, 2000)), 20),
        Row("elastic net 500x5000", elastic_net(*sparse_model(500, 5000)), 20),
        Row("logistic 20000x50", logistic(*labels(20000, 50)), 20),
        Row("epigraph SVM 5000x50", svm(*labels(5000, 50)), 5),
        Row("lasso 442x10", lasso(X, y), 2),
        Row("elastic net 442x10", elastic_net(X, y), 2),
        Row("logistic 442x10", logistic(X, signs), 2),
        Row("epigraph SVM 442x10", svm(X, signs), 2),
        *(
            Row(f"{name} + l1 2000x50", kinked(name, *sparse_model(2000, 50)), 2)
            for name in ("pinball", "hinge", "Huber")
        ),
        *(Row(f"differences {k} of {n}", trend(n, k), 2) for n in (200, 5000) for k in (1, 2)),
        Row("lasso 442x10, 100 lam", lasso(X, y), 20, path),
        Row("lasso 1000x100, 100 lam", lasso(*sparse_model(1000, 100)), 20, path),
    ]


def declined() -> list[Row]:
    X, y = load_diabetes(return_X_y=True)
    return [
        Row("largest residual 442x10", largest_residual(X, y), 0),
        Row("largest residual 2000x50", largest_residual(*sparse_model(2000, 50)), 0),
    ]


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def run(row: Row, solve: Callable[[cp.Problem], Any]) -> tuple[float, cp.Problem, Any]:
    """Processor time on a fresh problem, the problem, and what the last call answered."""
    problem = row.build()
    if not row.lams:
        taken, answer = seconds(lambda: solve(problem))
        return taken, problem, answer
    (lam,), taken = problem.parameters(), 0.0
    largest = lam.value / 0.1
    for share in row.lams:
        lam.value = share * largest
        more, answer = seconds(lambda: solve(problem))
        taken += more
    return taken, problem, answer


def measured(row: Row, repeats: int) -> tuple[float, float, float, float, float]:
    """Ours, theirs, recognition alone, the relative gap, and the difference of the values."""
    ours, theirs, reading = [], [], []
    run(row, cml.solve)
    for _ in range(repeats):
        taken, mine, certificate = run(row, cml.solve)
        ours.append(taken)
        reading.append(seconds(partial(cml.recognize, row.build()))[0])
        if not theirs or theirs[0] < LONG:
            taken, other, _ = run(row, lambda problem: problem.solve(solver="CLARABEL"))
            theirs.append(taken)
    apart = abs(mine.value - other.value) / abs(other.value)
    times = (statistics.median(column) for column in (ours, theirs, reading))
    return *times, certificate.relative_gap, apart


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="", help="part of a name")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'row':<26}{'ours, s':>9}{'CLARABEL':>9}{'ratio':>7}{'read, ms':>10}  gap, apart")
    for row in rows():
        if given.rows in row.name:
            ours, theirs, reading, gap, apart = measured(row, given.repeats)
            below = "" if theirs >= row.least * ours else f"   below {row.least:g}"
            print(
                f"{row.name:<26}{ours:>9.4f}{theirs:>9.3f}{theirs / ours:>7.1f}"
                f"{1e3 * reading:>10.2f}  {gap:.0e}, {apart:.0e}{below}",
                flush=True,
            )
    for row in declined():
        if given.rows in row.name:
            ours, _, reading, _, _ = measured(row, given.repeats)
            print(f"{row.name:<26}{ours:>9.4f}  declined in {reading / ours:.1%}")


if __name__ == "__main__":
    main()

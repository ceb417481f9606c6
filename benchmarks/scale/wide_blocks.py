"""Consensus ADMM and SAGA over row blocks beside newton_cg and fista, to the same gaps.

20000 x 2000 in single precision, 20 blocks: l2 logistic regression and the lasso. For each solver
and verified relative gap its iterations, the visits of the blocks and the processor time so far.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import convexml as cml

N, D, BLOCKS, LONGEST = 20_000, 2000, 20, 240.0
GAPS = (1e-4, 1e-6)
SOLVERS = {
    "logistic": ("newton_cg", "fista", "admm", "saga"),
    "lasso": ("fista", "admm", "saga"),
}


def data() -> tuple[Any, Any, Any]:
    """Rows with correlated columns of like sizes, labels and targets of a tenth of the columns."""
    rng = np.random.default_rng(14)
    mixed = rng.standard_normal((40, D)) / np.sqrt(40.0)
    X = rng.standard_normal((N, D)) + 1.5 * rng.standard_normal((N, 40)) @ mixed
    w = rng.standard_normal(D) * (rng.uniform(size=D) < 0.1) * 0.1
    scores = X @ w
    labels = np.where(scores + rng.logistic(size=N) > 0.0, 1.0, -1.0)
    return X.astype(np.float32), labels, scores + rng.standard_normal(N)


def measure(name: str, solver: str, X: Any, y: Any) -> None:
    """One solve to the smallest gap; the first time that each gap was met is told."""
    blocks = cml.RowBlocks(list(zip(np.split(X, BLOCKS), np.split(y, BLOCKS), strict=True)))
    logistic = name == "logistic"
    problem: Any = cml.LogisticRegression if logistic else cml.Lasso
    problem = problem(blocks, lam=1e-3 if logistic else 0.05)
    start, visits, left = time.process_time(), blocks.passes, list(GAPS)

    def met(event: cml.Progress) -> None:
        while left and event.relative_gap <= left[0]:
            spent, read = time.process_time() - start, blocks.passes - visits
            print(
                f"{name:9} {solver:12} {left.pop(0):.0e}: iteration {event.iteration}, "
                f"{read} visits, {spent:.1f} s",
                flush=True,
            )

    solution = problem.solve(solver, tol=GAPS[-1], max_seconds=LONGEST, progress=met)
    gap, spent = solution.certificate.relative_gap, time.process_time() - start
    print(
        f"{name:9} {solver:12} ends {solution.status} at {gap:.1e} after {spent:.1f} s", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(SOLVERS))
    X, labels, targets = data()
    for name in parser.parse_args().names:
        for solver in SOLVERS[name]:
            measure(name, solver, X, labels if name == "logistic" else targets)


if __name__ == "__main__":
    main()

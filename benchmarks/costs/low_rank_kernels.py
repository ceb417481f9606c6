"""A Gaussian support vector machine of 5000 samples by its low-rank route, beside libsvm.

Run with ``python benchmarks/costs/low_rank_kernels.py``. ``approximate`` solves on the columns
that pivoted Cholesky chooses and certifies its function for the exact kernel; scikit-learn's SVC,
libsvm, solves the exact problem to its own tolerance, and its point is certified, too. Processor
time;
the certificate of ours is contained, that of libsvm's point is not counted.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.svm import SVC

import convexml as cml

REPEATS = 3
CASES = ((2, 1.0), (2, 2.0), (3, 2.0), (3, 1.0))
"""Features and widths."""


def data(d: int, n: int = 5000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.sign(np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2 - 1.0 + 0.5 * rng.normal(size=n))


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    found = run()
    return found, time.process_time() - start


def main() -> None:
    print(f"{'d':>3}{'sigma':>7}{'rank':>6}{'status':>12}{'gap':>9}{'s':>7}"
          f"{'libsvm gap':>12}{'s':>7}{'ratio':>7}")  # fmt: skip
    for d, sigma in CASES:
        X, y = data(d)
        kernel = cml.kernels.Gaussian(sigma)
        cml.KernelSVM(X[:400], y[:400], 1.0, kernel).approximate()  # loops are compiled
        ours, theirs = [], []
        for _ in range(REPEATS):
            problem = cml.KernelSVM(X, y, 1.0, kernel)  # keeps rows of K: made anew
            found, seconds = timed(problem.approximate)
            ours.append(seconds)
            peer = SVC(C=1.0, gamma=0.5 / sigma**2, tol=1e-4, cache_size=500)
            theirs.append(timed(lambda peer=peer, X=X, y=y: peer.fit(X, y))[1])
        q = np.zeros(len(X))
        q[peer.support_] = peer.dual_coef_[0]
        judged = problem.certify(q, float(peer.intercept_[0])).relative_gap
        rank = np.count_nonzero(found.primal["q"])
        ratio = statistics.median(b / a for a, b in zip(ours, theirs, strict=True))
        print(f"{d:>3}{sigma:>7g}{rank:>6}{found.status:>12}{found.relative_gap:>9.1e}"
              f"{statistics.median(ours):>7.2f}{judged:>12.1e}{statistics.median(theirs):>7.2f}"
              f"{ratio:>7.1f}")  # fmt: skip


if __name__ == "__main__":
    main()

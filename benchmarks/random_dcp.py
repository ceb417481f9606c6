"""Certificates of random DCP problems after Clarabel: how many are certified, at which scales.

python benchmarks/random_dcp.py [count]
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import convexml as cml

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from dcp_problems import random_problem

SCALES = [(1.0, 1.0), (1e6, 1.0), (1e-6, 1.0), (1.0, 1e6), (1.0, 1e-6)]
TOL = 1e-5


def main(count: int = 300) -> None:
    warnings.simplefilter("ignore")
    print(f"{count} problems each, CLARABEL at its defaults, certified at {TOL:g}")
    for scale, unit in SCALES:
        verdicts: Counter[str] = Counter()
        local, failed, seconds = 0, 0, 0.0
        for seed in range(count):
            problem = random_problem(np.random.default_rng(seed), scale=scale, unit=unit)
            try:
                problem.solve(solver="CLARABEL")
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
            if problem.status not in ("optimal", "optimal_inaccurate"):
                failed += 1
                continue
            start = time.perf_counter()
            certificate = cml.certify(problem, tol=TOL)
            seconds += time.perf_counter() - start
            verdicts[str(certificate.verdict)] += 1
            local += certificate.holds() and not np.isfinite(certificate.gap)
            if not certificate.holds():
                print(f"  seed {seed}: {certificate.verdict}: {certificate.reason[:110]}")
        print(
            f"data x {scale:g}, objective x {unit:g}: {dict(verdicts)}, of these over a box: "
            f"{local}; without a point: {failed}; {1e3 * seconds / count:.0f} ms each"
        )


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:2]))

"""Certificates of random DCP problems after Clarabel: how many are certified, at which scales.

python benchmarks/random_dcp.py [count]
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import convexml as cml

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from support.draws.dcp_problems import random_problem

SCALES = [(1.0, 1.0), (1e6, 1.0), (1e-6, 1.0), (1.0, 1e6), (1.0, 1e-6)]
TOL = 1e-5


def after_clarabel(problem: Any) -> Any:
    """The certificate of what CVXPY and Clarabel leave; None where they leave nothing."""
    try:
        problem.solve(solver="CLARABEL")
    except Exception:
        return None
    solved = problem.status in ("optimal", "optimal_inaccurate")
    return cml.certify(problem, tol=TOL) if solved else None


def after_solve(problem: Any) -> Any:
    return cml.solve(problem, tol=TOL)


def main(count: int = 300) -> None:
    warnings.simplefilter("ignore")
    print(f"{count} problems each, at {TOL:g}")
    for name, function in (("CLARABEL, cml.certify", after_clarabel), ("cml.solve", after_solve)):
        for scale, unit in SCALES:
            verdicts: Counter[str] = Counter()
            local, start = 0, time.perf_counter()
            for seed in range(count):
                problem = random_problem(np.random.default_rng(seed), scale=scale, unit=unit)
                certificate = function(problem)
                if certificate is None:
                    verdicts["no point"] += 1
                    continue
                verdicts[str(certificate.verdict)] += 1
                local += certificate.within is not None
                if not certificate.holds():
                    print(f"  seed {seed}: {certificate.verdict}: {certificate.reason[:150]}")
            seconds = time.perf_counter() - start
            print(
                f"{name}, data x {scale:g}, objective x {unit:g}: {dict(verdicts)}, bounds over "
                f"a box only: {local}; {1e3 * seconds / count:.0f} ms each",
                flush=True,
            )


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:2]))

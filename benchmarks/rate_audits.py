"""Audit every hand-written solver on every problem of the library: no alarm may be false.

python benchmarks/rate_audits.py [iterations] [seeds] [first problem]

A run is audited over its first iterations (100), a theorem about an expectation over 8 seeds.
Prints each audit that does not hold; for each solver how many hold, how many test nothing, and
the least bound / measured over all problems.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

import convexml as cml
from convexml.errors import ConvexmlError
from convexml.solvers.registry import ALGORITHMS

PROBLEMS = Path(__file__).resolve().parents[1] / "problems"
SOME = 8.0
"""Seconds that a run may take before it is audited as far as it came."""


def main(iterations: int = 100, seeds: int = 8, first: str = "") -> int:
    """Return the number of alarms."""
    warnings.simplefilter("ignore")
    began = time.perf_counter()
    tally: dict[str, Counter[str]] = defaultdict(Counter)
    slacks: dict[str, dict[str, float]] = defaultdict(dict)
    alarms = 0
    print("alarms, and problems without a reference:")
    for path in sorted(PROBLEMS.glob("*.toml")):
        if path.stem < first:
            continue
        problem = cml.load(path)
        for solver in ALGORITHMS if hasattr(problem, "primal") else ():
            if not cml.solvers.supports(solver, problem)[0]:
                continue
            try:
                run = problem.solve(solver, tol=1e-9, max_iter=iterations, max_seconds=SOME)
                many = {"seeds": seeds} if ALGORITHMS[solver].theorem.seeds > 1 else {}
                audit = run.rate_audit(**many)
            except ConvexmlError as error:
                tally[solver]["no reference"] += 1
                print(f"{path.stem:42} {solver:24} {error}", flush=True)
                continue
            tally[solver][{True: "holds", False: "ALARM", None: "nothing tested"}[audit.holds]] += 1
            if audit.holds is False:
                alarms += 1
                print(f"{path.stem:42} {solver:24} {audit.first_violation}", flush=True)
            if np.isfinite(audit.slack):
                slacks[solver][path.stem] = audit.slack
    for solver, counts in tally.items():
        least = min(slacks[solver].values(), default=np.nan)
        print(f"{solver:24} {dict(counts)}, least slack {least:.3g}")
    total = sum((Counter(counts) for counts in tally.values()), Counter())
    print(f"{dict(total)}, {alarms} alarms, {time.perf_counter() - began:.0f} s")
    return alarms


if __name__ == "__main__":
    raise SystemExit(min(main(*map(int, sys.argv[1:3]), *sys.argv[3:]), 1))

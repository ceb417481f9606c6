"""What the certificate of a linear, quadratic or cone program costs, against the solve.

Run with ``OPENBLAS_NUM_THREADS=1 python benchmarks/costs/conic_certificates.py``; ``--rows TEXT``
takes those whose name has it. Each run builds the program anew; the least processor times count.
A certificate may cost its limit times the solve, 1 (3 where multipliers must be made global), and
.05 s.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from programs import conic, linear
from programs.row import Row

ROOM = 0.05
"""Seconds that any certificate may take."""
ROWS = [*linear.ROWS, *conic.ROWS]


def seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = function()
    return time.process_time() - start, found


def measured(row: Row, repeats: int) -> tuple[float, float, Any]:
    """Least seconds of solve and of certify, and the last certificate."""
    solves, costs, certificate = [], [], None
    for _ in range(repeats):
        case = row.build()
        solves.append(seconds(case.solve)[0])
        cost, certificate = seconds(case.certify)
        costs.append(cost)
        if cost > 10.0:
            break
    return min(solves), min(costs), certificate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    head = f"{'program':<30}{'solve, s':>10}{'certify, s':>12}{'ratio':>8}{'limit':>7}"
    print(f"{head}  verdict      relative gap")
    ratios = []
    for row in ROWS:
        if arguments.rows.lower() not in row.name.lower():
            continue
        solve, certify, found = measured(row, arguments.repeats)
        ratios.append(certify / solve)
        missed = "" if certify <= row.limit * solve + ROOM else " *"
        print(
            f"{row.name:<30}{solve:>10.4f}{certify:>12.4f}{certify / solve:>8.2f}{row.limit:>7g}"
            f"  {found.verdict.value:<12}{found.relative_gap:.2g}{missed}",
            flush=True,
        )
    if ratios:
        print(f"median ratio {statistics.median(ratios):.2f}; * above its limit")


if __name__ == "__main__":
    main()

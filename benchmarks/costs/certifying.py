"""What ``cml.certify`` of NETLIB's and Maros' programs costs, against CLARABEL through CVXPY.

Run with ``OMP_NUM_THREADS=1 python benchmarks/costs/certifying.py [netlib] [maros]``: the ratio of
the least processor times, each on a fresh problem, and the verdict. Asked: a median of at most 2;
each at most 10 times the solve, and a second. ``--full`` certifies with ``effort="full"``.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import warnings
from functools import partial
from pathlib import Path

import convexml as cml

sys.path.insert(0, str(Path(__file__).parent))
from solving import LONG, groups, plain, seconds

MEDIAN, WORST, ROOM = 2.0, 10.0, 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", help="netlib, maros; both by default")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="part of a name")
    parser.add_argument("--full", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    effort, ratios, late = "full" if given.full else "normal", [], 0
    chosen = groups(1)
    loaded = next(iter(chosen.pop("random").values()))()  # what is loaded when first used
    print(f"the first certify of a process: {seconds(partial(first, loaded))[0]:.2f} s")
    print(f"{'program':<10}{'solve, s':>10}{'certify, s':>12}{'ratio':>8}  verdict")
    for group, problems in chosen.items():
        for name, build in problems.items():
            if (given.groups and group not in given.groups) or given.only not in name:
                continue
            solves, costs = [], []
            for _ in range(given.repeats):
                problem = build()
                solves.append(seconds(partial(plain, problem))[0])
                taken, found = seconds(partial(cml.certify, problem, effort=effort))
                costs.append(taken)
                if taken > LONG:
                    break
            solve, cost = min(solves), min(costs)
            ratios.append(cost / solve)
            late += cost > WORST * solve + ROOM
            star = "*" if cost > WORST * solve + ROOM else " "
            claim = "" if found.claim == "optimal" else f" {found.claim}"
            row = f"{name:<10}{solve:>10.4f}{cost:>12.4f}{ratios[-1]:>8.2f}{star} {found.verdict}"
            print(f"{row}{claim}: {' '.join(found.reason.split())[:110]}", flush=True)
    if ratios:
        print(f"median {statistics.median(ratios):.2f} (asked {MEDIAN:g}); {late} too late (*)")


def first(problem) -> None:
    plain(problem)
    cml.certify(problem)


if __name__ == "__main__":
    main()

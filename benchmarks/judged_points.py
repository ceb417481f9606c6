"""Points judged by the library and by exact arithmetic: counts of verdicts, and of crimes.

python benchmarks/judged_points.py [--points 100000] [--seed 0] [--only WORDS] [--show 3]

Learning, linear and CVXPY problems; offsets 1 ... 1e14, units 2^±60, multipliers moved by up to
1e15 times their size; solutions, true optima, perturbed points, passed duals, claims of absence.
Each row is a family of the tests (families.py); ``FAMILIES[name](seed)`` judges a draw again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

BLOCK = 10
"""Draws of one task."""
SHARES = {"learning": 0.5, "linear": 0.42, "CVXPY": 0.08}
"""Of the points, by the first word of the family: CVXPY's compilations are slow."""


def block(task: tuple[str, int]) -> tuple[str, Any]:
    """Judge some draws of a family."""
    from support.draws.families import judged

    name, first = task
    return name, judged(name, range(first, first + BLOCK))


def run(points: int, seed: int = 0, only: tuple[str, ...] = (), processes: int = 2) -> Any:
    """Judge until every family has its share of the points; return tallies by family."""
    from support.draws.families import FAMILIES
    from support.exact.exact_judging import Tally

    names = [name for name in FAMILIES if not only or any(word in name for word in only)]
    tallies = {name: Tally() for name in names}
    kinds = Counter(name.split(":")[0] for name in names)
    wanted = {n: points * SHARES[n.split(":")[0]] / kinds[n.split(":")[0]] for n in names}
    if only:
        wanted = {name: points / len(names) for name in names}
    first = seed * 10_000_000
    with get_context("spawn").Pool(processes) as pool:
        while short := [name for name in names if tallies[name].judged < wanted[name]]:
            # About 13 points a draw; the next round makes up for what is missing.
            tasks = []
            for name in short:
                blocks = int((wanted[name] - tallies[name].judged) / (15 * BLOCK)) + 1
                start = first + tallies[name].drawn
                tasks += [(name, start + k * BLOCK) for k in range(blocks)]
                tallies[name].drawn = start - first + blocks * BLOCK
            for name, tally in pool.imap_unordered(block, tasks):
                tallies[name].add(tally)
    return tallies


def show(tallies: Any, examples: int) -> int:
    """Print the table and the first crimes of each kind; return the number of crimes."""
    from support.exact.exact_judging import CRIMES

    columns = ("certified", "refuted", "undecided", *CRIMES)
    print(f"{'family':<38}{'judged':>9}" + "".join(f"{name:>17}" for name in columns))
    total: Counter[str] = Counter()
    for name, tally in tallies.items():
        total.update(tally.counts)
        row = "".join(f"{tally.counts[key]:>17}" for key in columns)
        print(f"{name:<38}{tally.judged:>9}{row}")
    judged = sum(tally.judged for tally in tallies.values())
    print(f"{'all':<38}{judged:>9}" + "".join(f"{total[key]:>17}" for key in columns))
    for name, tally in tallies.items():
        shown: Counter[str] = Counter()
        for crime, where in tally.crimes:
            shown[crime] += 1
            if shown[crime] <= examples:
                print(f"{name} | {crime} | {where[:250]}")
    return sum(total[crime] for crime in CRIMES)


def main() -> int:
    """Return 1 where there was a crime."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[], help="families with one of these words")
    parser.add_argument("--show", type=int, default=3, help="crimes of each kind and family")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    start = time.perf_counter()
    tallies = run(chosen.points, chosen.seed, tuple(chosen.only), chosen.processes)
    crimes = show(tallies, chosen.show)
    print(f"{crimes} crimes, {time.perf_counter() - start:.0f} s")
    return min(crimes, 1)


if __name__ == "__main__":
    raise SystemExit(main())

"""What ``cml.solve`` of a CVXPY problem costs, certificate included, against CLARABEL alone.

Run with ``OMP_NUM_THREADS=1 python benchmarks/costs/solving.py [netlib] [maros] [random]``: the
linear programs of NETLIB and the quadratic ones of Maros and Meszaros (bounds as rows), and 100
random DCP problems. Ours and ``problem.solve(solver="CLARABEL")``, which proves nothing, take turns
on fresh problems in a process of their own, which is stopped after ``--seconds``; the ratio is that
of the least processor times. Beside it: the verdict, and by whom.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np

import convexml as cml

sys.path.insert(0, str(Path(__file__).parent))
from programs import linear

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from support.draws.dcp_problems import random_problem
from support.programs.maros import DATA, maros

LONG = 1.0
"""Seconds from which a problem is measured once."""
WORST = 10
"""How many of each group are told by name."""


class Measured(NamedTuple):
    """Least seconds of ours and of CLARABEL, our verdict, and whatever it is that we say."""

    ours: float
    theirs: float
    verdict: str
    reason: str


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def plain(problem: cp.Problem) -> None:
    """CLARABEL through CVXPY; that it gives up is an answer."""
    try:
        problem.solve(solver="CLARABEL")
    except cp.error.SolverError:
        pass


def measured(build: Callable[[], cp.Problem], repeats: int) -> Measured:
    """Both sides in turn, each on a problem that nothing was asked of before."""
    warnings.simplefilter("ignore")
    ours, theirs = [], []
    for _ in range(repeats):
        theirs.append(seconds(partial(plain, build()))[0])
        taken, certificate = seconds(partial(cml.solve, build()))
        ours.append(taken)
        if taken > LONG:
            break
    claim = "" if certificate.claim == "optimal" else f" {certificate.claim}"
    return Measured(
        min(ours),
        min(theirs),
        f"{certificate.verdict}{claim}",
        " ".join(certificate.reason.split()),
    )


def apart(build: Callable[[], cp.Problem], repeats: int, limit: float) -> Measured | None:
    """``measured`` in a fork of this process; None where it took longer than the limit."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=lambda: there.send(measured(build, repeats)))
    child.start()
    there.close()
    try:
        return here.recv() if here.poll(limit) else None
    finally:
        child.kill()
        child.join()


def random_dcp(seed: int) -> cp.Problem:
    return random_problem(np.random.default_rng(seed))


def groups(count: int) -> dict[str, dict[str, Callable[[], cp.Problem]]]:
    """Builders of fresh problems by name."""
    programs = sorted(path.stem for path in (DATA / "netlib").glob("*.mps"))
    quadratic = sorted(path.stem for path in (DATA / "maros").glob("*.mat"))
    return {
        "netlib": {k: partial(linear.written, partial(linear.arrays, k)) for k in programs},
        "maros": {k: partial(maros, k) for k in quadratic},
        "random": {f"seed {seed}": partial(random_dcp, seed) for seed in range(count)},
    }


def report(group: str, found: dict[str, Measured | None], asked: float) -> None:
    """Quartiles of the ratios, and the worst by name; what was stopped counts as infinite."""
    ratios = {k: m.ours / m.theirs if m else np.inf for k, m in found.items()}
    low, middle, high = np.quantile(list(ratios.values()), (0.25, 0.5, 0.75), method="nearest")
    verdicts = [m.verdict.split()[0] if m else "stopped" for m in found.values()]
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in sorted(set(verdicts)))
    print(f"{group}: median {middle:.2f}, quartiles {low:.2f} and {high:.2f}; {counts}")
    done = [(m.ours, m.theirs) for m in found.values() if m]
    if done:
        ours, theirs = (statistics.fmean(side) for side in zip(*done, strict=True))
        print(f"  on average {ours:.4f} s and {theirs:.4f} s, of which the slowest count most")
    for name in sorted(ratios, key=lambda k: -ratios[k])[:WORST]:
        m, star = found[name], "*" if ratios[name] > asked else " "
        words = f"{m.ours:.4f} s, CLARABEL {m.theirs:.4f} s, {m.verdict}" if m else "stopped"
        reason = f": {m.reason[:150]}" if m and m.reason else ""
        print(f"  {star} {name:<10}{ratios[name]:>7.2f}  {words}{reason}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", help="netlib, maros, random; all by default")
    parser.add_argument("--count", type=int, default=100, help="of random problems")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=300.0, help="a problem, wall time")
    parser.add_argument("--asked", type=float, default=2.0, help="above it a ratio gets a star")
    parser.add_argument("--only", default="", help="part of a name")
    given = parser.parse_args()
    for _ in range(2):
        measured(partial(random_dcp, 1), 1)  # what is loaded when first used
    for group, problems in groups(given.count).items():
        if not given.groups or group in given.groups:
            chosen = {k: build for k, build in problems.items() if given.only in k}
            found = {k: apart(each, given.repeats, given.seconds) for k, each in chosen.items()}
            if found:
                report(group, found, given.asked)


if __name__ == "__main__":
    main()

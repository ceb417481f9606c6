"""One row: its data are made, every peer's tol is searched for, and everybody is measured alone."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .processes import Tuned, measured, run, tuned
from .rows import CLARABEL, Row
from .table import line

SLOWER = 5.0
"""Peers that took this many times the fastest one's time when they were tuned are out."""
LITTLE = 0.1
"""Unless they took fewer seconds, which a first call may well take."""


@dataclass(frozen=True)
class Limits:
    """What is asked, and how long anybody may take.

    Attributes
    ----------
    gap : float
        Relative, verified.
    budget : float
        Seconds for each task.
    least : float
        Seconds of repetitions.
    threads : tuple of int
    cpu : bool
        Processor time in place of the clock's, on a machine that others use.
    known : dict
        Tols by (row, peer) that need no search.
    """

    gap: float = 1e-6
    budget: float = 30.0
    least: float = 1.0
    threads: tuple[int, ...] = (1,)
    cpu: bool = False
    known: dict[tuple[str, str], float] = field(default_factory=dict)


def measure(row: Row, names: list[str], limits: Limits, folder: Path) -> dict[str, Any]:
    """The records of a row: floor, then ``names``, ours and the peers."""
    start = time.perf_counter()
    made = {"mode": "data", "row": row.name, "folder": str(folder), "budget": limits.budget}
    _, outcome = run(made, 1)
    if outcome:
        print(f"  {outcome}", file=sys.stderr, flush=True)
        return {**asdict(row), "records": [absent(names[0], outcome)], "seconds": 0.0}
    tols = search([name for name in names if name in row.peers], row, limits, folder)
    records = []
    for who in ("floor", *names) if row.floor else names:
        found = tols.get(who, Tuned(limits.gap))
        for record in recorded(row, who, found, limits, folder):
            records.append(record)
            print(f"  {line(record)}", file=sys.stderr, flush=True)
    (folder / f"{row.name}.pickle").unlink()
    return {**asdict(row), "records": records, "seconds": time.perf_counter() - start}


def search(names: list[str], row: Row, limits: Limits, folder: Path) -> dict[str, Tuned]:
    """The tols of the peers, side by side on all cores; who is far behind gets none."""

    def one(name: str) -> Tuned:
        tol = limits.known.get((row.name, name))
        return (
            tuned(row.name, name, limits.gap, limits.budget, folder)
            if tol is None
            else Tuned(tol, 0.0)
        )

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tols = dict(zip(names, pool.map(one, names), strict=True))
    took = [found.seconds for found in tols.values() if found.seconds > 0.0]
    fastest = min(took, default=math.inf)
    most = max(SLOWER * fastest, LITTLE)
    for name, found in tols.items():
        if name != CLARABEL and found.tol is not None and found.seconds > most:
            why = f"{found.seconds / fastest:.0f} times the fastest peer's time when tuned"
            tols[name] = Tuned(None, found.seconds, why)
    return tols


def recorded(
    row: Row, who: str, found: Tuned, limits: Limits, folder: Path
) -> Iterator[dict[str, Any]]:
    """A record for each number of threads; one without times where no tol verifies."""
    if found.tol is None:
        yield absent(who, found.outcome)
        return
    asked = {name: getattr(limits, name) for name in ("gap", "budget", "least", "cpu")}
    for threads in limits.threads:
        record = measured(row.name, who, found.tol, threads, asked, folder)
        yield record
        if not record["n"]:
            return  # what does not end on one thread is not waited for on two


def absent(who: str, outcome: str) -> dict[str, Any]:
    """The record of somebody who has no times."""
    facts = {"who": who, "threads": 1, "n": 0, "outcome": outcome}
    return facts | dict.fromkeys(("tol", "min", "median", "memory", "verified"))

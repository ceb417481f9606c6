"""One solve in a process of its own; prints what it took as a line of JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from floor import floor
from memory import peak
from posing import LAM, posed

import convexml as cml
from convexml.compiled import compiler


@contextmanager
def cluster_of(workers: int) -> Iterator[Any]:
    """A client of so many worker processes of one thread; None of none, where we compute here."""
    if not workers:
        yield None
        return
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(n_workers=workers, **options) as cluster, Client(cluster) as client:
        yield client


def clocks(client: Any) -> tuple[float, float]:
    """Processor seconds, those of workers included, and wall seconds."""
    there = client.run(time.process_time).values() if client else ()
    return time.process_time() + sum(there), time.perf_counter()


def warm(model: str) -> None:
    """Load what a solve loads, on a few rows, numba for many of them included."""
    compiler()
    X = np.random.default_rng(0).normal(size=(400, 3))
    blocks = cml.RowBlocks([(X[:200], X[:200, 0] > 0.3), (X[200:], X[200:, 0] > 0.0)])
    posed(model, blocks, 400).solve()


def solved(
    folder: Path, model: str, rows: int, tol: float, client: Any, lam: float = LAM
) -> dict[str, Any]:
    """Pose and solve, and measure the floor, which maps more of the file than we do."""
    warm(model)
    loaded, start = peak(), clocks(client)
    blocks = cml.RowBlocks.from_npy(folder / "X.npy", folder / "y.npy", rows)
    n = json.loads((folder / "facts.json").read_text())["n"]
    problem = posed(model, blocks, n, lam=lam)
    read = blocks.passes
    solution = problem.solve(tol=tol)
    seconds = [now - then for now, then in zip(clocks(client), start, strict=True)]
    found, most = blocks.passes, peak()
    pairs = zip(floor(folder, rows), floor(folder, rows), strict=True)
    floors = [0.5 * sum(pair) for pair in pairs]
    return {
        "n": n,
        "model": model,
        "rows": rows,
        "status": solution.status,
        "gap": solution.relative_gap,
        "solver": solution.solver,
        "iterations": solution.iterations,
        "posing passes": read,
        "passes": found,
        "cpu": seconds[0],
        "wall": seconds[1],
        "floor cpu": floors[0],
        "floor wall": floors[1],
        "loaded": loaded,
        "peak": most,
        "peak of a worker": max(client.run(peak).values()) if client else 0.0,
    }


def main() -> None:
    task = json.loads(sys.argv[1])
    folder = Path(task.pop("folder"))
    with cluster_of(task.pop("workers", 0)) as client:
        record = solved(folder, **task, client=client)
    print(json.dumps(record))


if __name__ == "__main__":
    main()

"""What travels on a cluster in an iteration of Newton's method: bytes by n, d, workers and blocks.

Run with ``python benchmarks/scale/network.py``. An l2 logistic regression lies with worker
processes of a LocalCluster, which draw their blocks themselves. A byte is one that a comm of Dask's
says it wrote (what ``Comm.write`` returns), in any of the processes, heartbeats aside: data from
workers to each other and to the scheduler, from there to the client, and tasks to the workers. The
workers' ``transfer_outgoing_bytes_total`` estimates sizes in memory: it knows nothing of arrays
within other objects, nor of messages.

Newton's method starts from 0, without a sample, and is certified to 1e-6. An iteration is what the
solve sends, less what the certificate of its answer sends once more, by iterations. (A sample is
sent to the client once besides, of 10^7 entries at most.) The last line is least squares over all
others: c (d + 1)^2 8 workers + m.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Client, LocalCluster
from distributed.comm.tcp import TCP

import convexml as cml

LAM, TOL = 1e-4, 1e-6
NAMES = (
    "n",
    "d",
    "blocks",
    "iterations",
    "passes",
    "from workers",
    "from others",
    "an iteration",
    "certificate",
)
QUIET = 0.3
"""Seconds after which all that was sent has been counted."""


@dataclass(frozen=True)
class Drawn:
    """A block of a logistic model, drawn where it is asked for."""

    seed: int
    rows: int
    columns: int

    def __call__(self) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng([self.seed, self.columns])
        X = rng.standard_normal((self.rows, self.columns), dtype=np.float32)
        score = 2.0 * X.sum(axis=1) / np.sqrt(self.columns)
        return X, score + rng.logistic(size=self.rows) > 0.0


def count_writes() -> None:
    """Let every comm of this process note down the bytes that it writes."""
    write, sizes = TCP.write, []

    async def noted(comm: Any, message: Any, **options: Any) -> int:
        size: int = await write(comm, message, **options)
        if not (isinstance(message, dict) and message.get("op") == "heartbeat_worker"):
            sizes.append(size)
        return size

    TCP.write, TCP.sizes = noted, sizes


def written(client: Client) -> np.ndarray:
    """Bytes so far: of all workers, and of scheduler and client."""
    time.sleep(QUIET)
    found = client.run(lambda: sum(TCP.sizes))
    return np.array([sum(found.values()), sum(TCP.sizes)], dtype=float)


def sent(client: Client, action: Callable[[], Any]) -> tuple[np.ndarray, Any]:
    """Bytes that an action sends, those that count them taken off; and what it returns."""
    before = written(client)
    counting = written(client) - before
    found = action()
    return written(client) - before - 2.0 * counting, found


def measured(client: Client, n: int, d: int, blocks: int) -> dict[str, float]:
    """Bytes an iteration, and what these are made of."""
    rows = cml.RowBlocks([Drawn(k, n // blocks, d) for k in range(blocks)])
    problem = cml.LogisticRegression(rows, lam=LAM)
    problem.solve("newton", sample=0)  # what is computed once for a problem is there from here on
    read = rows.passes
    solve, solution = sent(client, lambda: problem.solve("newton", tol=TOL, sample=0))
    passes, (w, b) = rows.passes - read, solution.primal.values()
    certificate, _ = sent(client, lambda: problem.certify(w, b, u=solution.dual["u"]))
    each = (solve - certificate) / solution.iterations
    return {
        "n": n,
        "d": d,
        "blocks": blocks,
        "iterations": solution.iterations,
        "passes": passes,
        "from workers": each[0],
        "from others": each[1],
        "an iteration": each.sum(),
        "certificate": certificate.sum(),
    }


def fitted(lines: list[dict[str, float]]) -> tuple[float, float]:
    """(c, m) of c (d + 1)^2 8 workers + m."""
    A = [[8.0 * each["workers"] * (each["d"] + 1) ** 2, 1.0] for each in lines]
    (c, m), *_ = np.linalg.lstsq(np.array(A), np.array([each["an iteration"] for each in lines]))
    return float(c), float(m)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, nargs="+", default=[20_000, 80_000])
    parser.add_argument("--d", type=int, nargs="+", default=[100, 400])
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    parser.add_argument("--blocks", type=int, nargs="+", default=[8, 32])
    arguments = parser.parse_args()
    count_writes()
    lines = []
    names = ("workers", *NAMES)
    print("".join(f"{name:>16}" for name in names))
    for workers in arguments.workers:
        options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            client.run(count_writes)
            for n, d, blocks in itertools.product(arguments.n, arguments.d, arguments.blocks):
                found = {"workers": workers} | measured(client, n, d, blocks)
                lines.append(found)
                print("".join(f"{found[name]:>16.0f}" for name in names), flush=True)
    few = min(arguments.blocks)
    c, m = fitted([each for each in lines if each["blocks"] == few])
    print(f"bytes an iteration = {c:.2f} (d + 1)^2 8 workers + {m:.0f}, in {few} blocks")


if __name__ == "__main__":
    main()

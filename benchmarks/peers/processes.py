"""Start a fresh process for each measurement, and collect what it says."""

from __future__ import annotations

import json
import math
import os
import signal
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
TRIES = 4
"""Budgets that the search for a tol may take in all."""
GRACE = 120.0
"""Seconds for loading, warming and judging, beside the budget."""


def run(task: dict[str, Any], threads: int) -> tuple[dict[str, list[Any]], str]:
    """What a process said, by name, and why it ended: "" if by itself."""
    environment = os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads))
    here = str(Path(__file__).parents[1])
    environment["PYTHONPATH"] = os.pathsep.join(
        part for part in (here, os.environ.get("PYTHONPATH", "")) if part
    )
    command = [sys.executable, "-m", "peers.task", json.dumps(task)]
    output, errors, outcome = "", "", ""
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            tries = TRIES if task["mode"] == "tune" else 1
            output, errors = process.communicate(timeout=tries * task["budget"] + GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            outcome = "killed"
    if process.returncode == -signal.SIGALRM:
        outcome = "not within the budget"
    elif process.returncode and not outcome:
        outcome = (errors.strip().splitlines() or [f"exit {process.returncode}"])[-1][:200]
    return collected(output), outcome


def collected(output: str) -> dict[str, list[Any]]:
    """The values of each name, in the order said; lines that are not JSON are others' chatter."""
    found: dict[str, list[Any]] = {}
    for line in output.splitlines():
        if line.startswith("{"):
            for name, value in json.loads(line).items():
                found.setdefault(name, []).append(value)
    return found


@dataclass(frozen=True)
class Tuned:
    """The loosest tol that verifies and what a fit then took; or None, inf and why."""

    tol: float | None
    seconds: float = math.inf
    outcome: str = ""


def tuned(row: str, who: str, gap: float, budget: float, folder: Path) -> Tuned:
    """Search for a peer's tol."""
    task = {"mode": "tune", "row": row, "who": who, "gap": gap}
    said, outcome = run(task | {"budget": budget, "folder": str(folder)}, 1)
    if "tol" in said:
        return Tuned(said["tol"][-1], min(said["fitted"]))
    reached = f"no tol verifies, the best gap is {min(said['gap']):.1e}" if "gap" in said else ""
    return Tuned(None, outcome="; ".join(part for part in (outcome, reached) if part))


def measured(
    row: str, who: str, tol: float, threads: int, limits: dict[str, float], folder: Path
) -> dict[str, Any]:
    """A record: seconds (min, median, n), memory, verified gap, and the outcome."""
    task = {"mode": "measure", "row": row, "who": who, "tol": tol, "folder": str(folder)}
    said, outcome = run(task | limits, threads)
    seconds = said.get("seconds", [])
    verified = said.get("verified", [None])[0]
    if who != "floor" and seconds and verified is not None and not (verified <= limits["gap"]):
        outcome = outcome or f"verified gap {verified:.1e}"
    return {
        "who": who,
        "threads": threads,
        "tol": tol,
        "n": len(seconds),
        "min": min(seconds, default=None),
        "median": statistics.median(seconds) if seconds else None,
        "memory": said.get("memory", [None])[-1],
        "verified": verified,
        "outcome": outcome,
    }

"""Start a script of this folder in a process of its own, and read what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def said(
    script: str, task: dict[str, Any], threads: int = 1, limit: float | None = None
) -> dict[str, Any]:
    """The record that the script prints in its last line, or {"failed": why}.

    A process that takes more than ``limit`` wall seconds is killed.
    """
    environment = os.environ | dict.fromkeys(THREADS, str(threads))
    command = [sys.executable, str(HERE / script), json.dumps(task)]
    try:
        found = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"one round took more than {limit:.0f} s"}
    if found.returncode:
        return {"failed": (found.stderr.strip().splitlines() or ["no message"])[-1][:200]}
    record: dict[str, Any] = json.loads(found.stdout.strip().splitlines()[-1])
    return record

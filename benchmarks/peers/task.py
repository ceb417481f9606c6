"""One measurement in a process of its own; prints a line of JSON for everything that it finds.

What does not end within its budget is ended by the alarm, also inside compiled code.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from .contestants import contestant
from .data import Data, store, stored
from .ours import verified_gap
from .rows import NO_INTERCEPT, Row, find

TOLS = [10.0**-k for k in range(16)]
HALF_STEP = 3.0
"""After the loosest power of 10 that verifies, this multiple of it is tried too."""


def say(**found: Any) -> None:
    print(json.dumps(found), flush=True)


def peak() -> float:
    """The largest resident memory so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def forget_peak() -> None:
    """Start the peak anew, where Linux lets us: imports and compilers leave one behind."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def judged(row: Row, name: str, data: Data, found: Any, target: float) -> float:
    """The verified gap, off the clock."""
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    return verified_gap(row.kind, data, found, target, not name.endswith(NO_INTERCEPT))


def tune(row: Row, name: str, data: Data, target: float, budget: float) -> None:
    """Find the loosest tol whose point verifies."""
    fit = contestant(row, name)

    def passes(tol: float) -> bool:
        signal.setitimer(signal.ITIMER_REAL, budget)
        gap = judged(row, name, data, fit(data, tol), target)
        say(tried=tol, gap=gap)
        return gap <= target

    for tol in TOLS:
        if passes(tol):
            say(tol=tol)
            if tol < 1.0 and passes(HALF_STEP * tol):
                say(tol=HALF_STEP * tol)
            return


def measure(row: Row, name: str, data: Data, task: dict[str, Any]) -> None:
    """Repeat for ``least`` seconds, three times at least unless the budget is less."""
    fit, tol = contestant(row, name), task["tol"]
    budget, least = task["budget"], task["least"]
    signal.setitimer(signal.ITIMER_REAL, budget)
    forget_peak()
    before, total, n = peak(), 0.0, 0
    while True:
        start = time.perf_counter()
        found = fit(data, tol)
        seconds = time.perf_counter() - start
        total, n = total + seconds, n + 1
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        say(seconds=seconds)
        if n == 1:
            say(memory=peak() - before)
        if total + seconds > budget or n >= 100 or (n >= 3 and total >= least):
            break
    if name != "floor":
        say(verified=judged(row, name, data, found, task["gap"]))


def main(task: dict[str, Any]) -> None:
    warnings.simplefilter("ignore")  # a run that stops early is judged by its gap
    row, folder = find(task["row"]), Path(task["folder"])
    if task["mode"] == "data":
        store(row, folder)
        return
    data, name = stored(row, folder), task["who"]
    if name != "floor":
        contestant(row, name)(data.small(), 1e-4)  # imports and compilers
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    if task["mode"] == "tune":
        tune(row, name, data, task["gap"], task["budget"])
    else:
        measure(row, name, data, task)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

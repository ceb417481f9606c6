"""One measurement in a process of its own; prints a line of JSON for everything that it finds.

What does not end within its budget is ended by the alarm, also inside compiled code.
"""

from __future__ import annotations

import json
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from .contestants import contestant
from .contestants.ours import verified_gap
from .data import Data, store, stored
from .finding import find
from .memory import taken
from .rows import CONIC, NO_INTERCEPT, Row

TOLS = [10.0**-k for k in range(16)]
HALF_STEP = 3.0
"""After the loosest power of 10 that verifies, this multiple of it is tried too."""
MOST = 200
"""Repetitions."""


def say(**found: Any) -> None:
    print(json.dumps(found), flush=True)


def judged(row: Row, name: str, data: Data, found: Any, target: float) -> float:
    """The verified gap, off the clock."""
    return verified_gap(row.kind, data, found, target, not name.endswith(NO_INTERCEPT))


def tune(row: Row, name: str, data: Data, target: float, budget: float) -> None:
    """Find the loosest tol whose point verifies.

    The tol of a conic solver is a relative gap of its own: the search starts near ``target``.
    """
    fit = contestant(row, name)

    def passes(tol: float) -> bool:
        signal.setitimer(signal.ITIMER_REAL, budget)
        start = time.perf_counter()
        found = fit(data, tol)
        seconds = time.perf_counter() - start
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        gap = judged(row, name, data, found, target)
        say(tried=tol, gap=gap)
        if gap <= target:
            say(tol=tol, fitted=seconds)
        return gap <= target

    loosest = 30.0 * target if name in CONIC else 1.0
    for tol in (each for each in TOLS if each <= loosest):
        if passes(tol):
            if tol < 1.0:
                passes(HALF_STEP * tol)
            return


def measure(row: Row, name: str, data: Data, task: dict[str, Any]) -> None:
    """Repeat for ``least`` seconds, three times at least unless the budget is less.

    Memory is that of one more call, when everything is compiled, loaded and warm; of the first
    where the budget has no room for another.
    """
    fit, tol = contestant(row, name), task["tol"]
    budget, least = task["budget"], task["least"]
    clock = time.process_time if task["cpu"] else time.perf_counter
    signal.setitimer(signal.ITIMER_REAL, budget)

    def timed() -> tuple[Any, float]:
        start = clock()
        point = fit(data, tol)
        return point, clock() - start

    (found, seconds), memory = taken(timed)
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    say(seconds=seconds, memory=memory)
    total, n = seconds, 1
    while total + seconds <= budget and n < MOST and (n < 3 or total < least):
        found, seconds = timed()
        total, n = total + seconds, n + 1
        say(seconds=seconds)
    if n > 1:
        say(memory=taken(timed)[1])
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

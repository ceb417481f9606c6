"""What runs in the process of ``process``: solvers asked through CVXPY's interfaces to them.

Started by its path, it imports nothing of the library. A request is (interface, data, settings),
pickled; what comes back is "begun" and then either ("answer", ...) or ("error", ...), each with the
seconds that it took.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from types import SimpleNamespace
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """What can be sent: of an object of a compiled package its attributes, of an enum its name."""
    if value is None or isinstance(value, bool | int | float | str | np.ndarray | np.generic):
        return value
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if hasattr(value, "name"):
        return SimpleNamespace(name=value.name)
    found = {name: getattr(value, name) for name in dir(value) if not name.startswith("_")}
    return SimpleNamespace(**{k: plain(v) for k, v in found.items() if not callable(v)})


def answer(interface: Any, data: dict[str, Any], settings: dict[str, Any]) -> tuple[str, Any]:
    """What the solver says, or what it raised."""
    try:
        return "answer", plain(interface.solve_via_data(data, False, False, settings))
    except BaseException as error:  # a Rust panic is no Exception
        kinds = (TypeError, ValueError, AttributeError, KeyError)
        kind = next((each for each in kinds if isinstance(error, each)), RuntimeError)
        text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
        return "error", (kind, text)


def main() -> None:
    """Answer requests from the standard input until it ends."""
    sent = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a solver prints is no answer
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump("begun", sent)
        sent.flush()
        began = time.perf_counter()
        kind, content = answer(*request)
        pickle.dump((kind, content, time.perf_counter() - began), sent)
        sent.flush()


if __name__ == "__main__":
    main()

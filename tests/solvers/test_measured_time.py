"""The time of a solver in a process beside ours is what that process counted."""

from __future__ import annotations

import time
from io import BytesIO
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest

from convexml.solvers.reference.process import ENDED, Process


def heard(*words: Any) -> Process:
    """A process whose words were all heard before anybody looked."""
    process = Process.__new__(Process)
    process.popen = SimpleNamespace(stdin=BytesIO(), returncode=1)  # type: ignore[assignment]
    process.heard = SimpleQueue()
    process.stop = lambda: None  # type: ignore[method-assign]
    for word in words:
        process.heard.put(word)
    return process


def test_an_answer_that_is_there_already_took_its_time_all_the_same() -> None:
    answer, began = heard("begun", ("answer", "x", 0.25)).ask(None, 1.0)
    assert answer == "x"
    assert time.perf_counter() - began >= 0.25


def test_what_went_wrong_is_raised() -> None:
    with pytest.raises(ValueError, match="no"):
        heard("begun", ("error", (ValueError, "no"), 0.1)).ask(None, 1.0)
    with pytest.raises(RuntimeError, match="exit code 1"):
        heard(ENDED).ask(None, 1.0)

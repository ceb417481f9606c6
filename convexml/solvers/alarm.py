"""What ends a run in the midst of a step: an alarm, where the system has one, among others."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from ..deadline import LATE
from ..errors import WorkersLostError

PREPARES = ("importlib", "_frozen_importlib", "numba", "llvmlite")


class OutOfTime(BaseException):
    """Raised within what takes too long."""


ENDS = (KeyboardInterrupt, OutOfTime, WorkersLostError)
"""What ends a run in the midst of a step."""
LOST = "workers lost"
"""How a run ended that nobody was left to compute."""


def ended(end: BaseException) -> tuple[str, str]:
    """How a run ended, and what became of the workers where they are lost."""
    if isinstance(end, WorkersLostError):
        return LOST, str(end)
    return "max_seconds" if isinstance(end, OutOfTime) else "interrupted", ""


def lost_in(call: Callable[..., Any], *args: Any) -> str:
    """Call a function; what became of the workers, where it finds them lost."""
    try:
        call(*args)
    except WorkersLostError as error:
        return str(error)
    return ""


@contextmanager
def alarm(max_seconds: float | None) -> Iterator[None]:
    """Raise OutOfTime in this block, ``LATE`` seconds after a limit.

    Nothing is done without a limit, outside of the main thread, where the program has a timer of
    its own, or on Windows. Compiled code is not interrupted: only what calls it.
    """
    if max_seconds is None or not _is_free():
        yield
        return
    waiting = True

    def ring(_: int, frame: FrameType | None) -> None:
        if waiting and _is_preparing(frame):
            signal.setitimer(signal.ITIMER_REAL, LATE)
        elif waiting:
            raise OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, max_seconds + LATE)
        yield
    finally:
        try:
            waiting = False
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)


def _is_preparing(frame: FrameType | None) -> bool:
    """Whether something is imported or compiled, which counts as no step and must not be torn."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in PREPARES:
            return True
        frame = frame.f_back
    return False


def _is_free() -> bool:
    """Whether nobody else waits for the alarm."""
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
        and signal.getitimer(signal.ITIMER_REAL)[0] == 0.0
    )

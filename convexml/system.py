"""What the system gives: files, processors, and a limit of time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from .compiled import compile_seconds
from .errors import InputError

# Files that are written and read for the caller.


def writable(path: str | Path, owner: str) -> Path:
    """The path of a file to write, refused where its folder does not exist.

    Raises
    ------
    InputError
    """
    try:
        target = Path(path)
    except TypeError:
        raise InputError(f"{owner}: expected the path of a file, got {path!r}.") from None
    if not str(path):
        raise InputError(f"{owner}: expected the path of a file, got ''. Name one.")
    if not target.absolute().parent.is_dir() or target.is_dir():
        if target.is_dir():
            raise InputError(f"{owner}: {target} is a folder; name a file in it.")
        raise InputError(
            f"{owner}: {target} has no folder {target.parent} to go into; create the folder or "
            "name another file."
        )
    return target


def read_text(path: Path, owner: str) -> str:
    """What a text file holds.

    Raises
    ------
    InputError
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{owner}: {path} cannot be read ({error}); pass the path of a file that to_json "
            "wrote, or its text."
        ) from None


# What the machine gives this process.


def cores() -> int:
    """The processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# Until when searches go on for what is better but not needed: a bound found sooner is as true.


LATE = 1.0
"""Seconds beyond a limit of time: most of what is under way ends sooner, and leaves more."""
P = ParamSpec("P")
T = TypeVar("T")
_end: ContextVar[float] = ContextVar("_end", default=float("inf"))


def _now() -> float:
    """Seconds, without those of the compiler."""
    return time.perf_counter() - compile_seconds()


@contextmanager
def until(max_seconds: float | None) -> Iterator[None]:
    """Searches within this block end ``LATE`` seconds after the limit; None is no limit."""
    end = _end.get() if max_seconds is None else min(_end.get(), _now() + max_seconds + LATE)
    token = _end.set(end)
    try:
        yield
    finally:
        _end.reset(token)


def seconds_left() -> float:
    """Seconds until the searches under way are to end; inf without a limit, never below 0."""
    end = _end.get()
    return end if end == float("inf") else max(end - _now(), 0.0)


def is_late() -> bool:
    """Whether no more should be looked for."""
    return seconds_left() == 0.0


def limited(solve: Callable[P, T]) -> Callable[P, T]:
    """``solve`` with its ``max_seconds`` for the searches within; what is no limit it refuses."""

    @wraps(solve)
    def timed(*args: P.args, **options: P.kwargs) -> T:
        seconds = options.get("max_seconds")
        limit = seconds if isinstance(seconds, int | float) and seconds > 0.0 else None
        with until(limit):
            return solve(*args, **options)

    return timed

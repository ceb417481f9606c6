"""Until when searches go on for what is better but not needed: a bound found sooner is as true."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

from .compiled import compile_seconds

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

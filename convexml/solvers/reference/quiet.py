"""What a solver prints is no result: in its thread it goes nowhere, others print as before."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from threading import Lock, get_ident
from typing import Any

from ...certificates.algebra.highs import say_nothing

_lock = Lock()
_within: list[int] = []
"""The threads that are within a solver."""


class _Others:
    """``sys.stdout`` for all threads but those within a solver."""

    def __init__(self, whole: Any) -> None:
        self.whole = whole

    def write(self, text: str) -> int:
        target = StringIO() if self.whole is None or get_ident() in _within else self.whole
        return int(target.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole or StringIO(), name)


@contextmanager
def hushed(name: str) -> Iterator[None]:
    """Drop what a solver prints through Python in this block; HiGHS is told to print nothing.

    OSQP says "Polishing not needed ..." even when told not to be verbose.
    """
    if name == "highs":
        say_nothing()
    with _lock:
        _within.append(get_ident())
        if not isinstance(sys.stdout, _Others):
            sys.stdout = _Others(sys.stdout)
    try:
        yield
    finally:
        with _lock:
            _within.remove(get_ident())
            if not _within and isinstance(sys.stdout, _Others):
                sys.stdout = sys.stdout.whole

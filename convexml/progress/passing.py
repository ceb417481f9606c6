"""How far a pass over row blocks is: told where the pass is long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from .event import Stage
from .telling import Audience, current

T = TypeVar("T")
FIRST, EVERY = 1.0, 0.5
"""Seconds before anything is told of a pass, and from one time to the next."""
_number: ContextVar[int] = ContextVar("_number", default=0)


@contextmanager
def passing(number: int) -> Iterator[None]:
    """A pass over the rows, counted from 1; 0 is one over vectors of n numbers alone."""
    token = _number.set(number)
    try:
        yield
    finally:
        _number.reset(token)


class Passing:
    """Tells who watches how many blocks of a pass are done: from a second on, now and then."""

    def __init__(self, audience: Audience, total: int) -> None:
        self.audience, self.total = audience, total
        self.name = f"pass {_number.get()}, block" if _number.get() else "block"
        self.due, self.said = audience.clock() + FIRST, False

    def at(self, done: int) -> None:
        """So many blocks are done."""
        if self.audience.clock() >= self.due:
            self.said = True
            self._tell(Stage(self.name, done=done, total=self.total))
            self.due = self.audience.clock() + EVERY

    def end(self) -> None:
        """The pass is at its end."""
        if self.said:
            self._tell()

    def _tell(self, *stage: Stage) -> None:
        """Tell of the pass within the operations under way, and leave these as they are."""
        if current() is not self.audience:  # which has gone
            return
        around = self.audience.stages
        self.audience.stages = (*around, *stage)
        try:
            self.audience.tell()
        finally:
            self.audience.stages = around


def begun(total: int) -> Passing | None:
    """A pass over so many blocks, where anybody watches."""
    audience = current()
    return None if audience is None else Passing(audience, total)


def block_by_block(parts: Iterable[T], total: int) -> Iterator[T]:
    """What is computed of each block, as it comes; from a second on who watches hears how many."""
    told = begun(total)
    return iter(parts) if told is None else _told(told, parts)


def _told(told: Passing, parts: Iterable[T]) -> Iterator[T]:
    for done, part in enumerate(parts, 1):
        told.at(done)
        yield part
    told.end()

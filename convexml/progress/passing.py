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


def block_by_block(parts: Iterable[T], total: int) -> Iterator[T]:
    """What is computed of each block, as it comes; from a second on who watches hears how many."""
    audience = current()
    return iter(parts) if audience is None else _told(audience, parts, total)


def _told(audience: Audience, parts: Iterable[T], total: int) -> Iterator[T]:
    around, due, said = audience.stages, audience.clock() + FIRST, False
    name = f"pass {_number.get()}, block" if _number.get() else "block"
    for done, part in enumerate(parts, 1):
        if audience.clock() >= due:
            said = True
            _tell(audience, (*around, Stage(name, done=done, total=total)))
            due = audience.clock() + EVERY
        yield part
    if said:
        _tell(audience, around)


def _tell(audience: Audience, stages: tuple[Stage, ...]) -> None:
    """Tell of these stages, and leave those that are."""
    around, audience.stages = audience.stages, stages
    try:
        audience.tell()
    finally:
        audience.stages = around

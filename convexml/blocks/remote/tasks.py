"""What a worker does with the blocks of its group: lists of them come and go."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from distributed import get_worker

from ...errors import withheld
from .tree import Node, added

EVERY = 0.5
"""Seconds from one word of the blocks that are done to the next."""


@dataclass(frozen=True)
class Pointer:
    """An entry of a list, or of one of several lists, among those that a task is given."""

    group: int
    place: int | None
    index: int

    def among(self, groups: Sequence[Any]) -> Any:
        """The entry."""
        return column_of(groups[self.group], self.place)[self.index]


def visited(
    program: bytes, rows: bytes, count: int, topic: bytes, watched: int, *groups: Any
) -> Any:
    """The results of a function of each block: a list of them, or one for each of ``count``.

    What it warns of is told under a topic, where the user's process hears of it; where that is
    watched, so is now and then how many blocks are done.
    """
    function, arguments = pickle.loads(program), pickle.loads(rows)
    found, due = [], perf_counter() + EVERY
    with withheld() as warnings:
        try:
            for row in arguments:
                given = (a.among(groups) if isinstance(a, Pointer) else a for a in row)
                found.append(function(*given))
                if watched and perf_counter() >= due:
                    _tell(topic, [], {str(get_worker().get_current_task()): len(found)})
                    due = perf_counter() + EVERY
        finally:
            if warnings:
                _tell(topic, warnings, {})
    columns = [list(each) for each in zip(*found, strict=True)]
    return columns[0] if count == 1 else columns


def _tell(topic: bytes, warnings: list[Any], done: dict[str, int]) -> None:
    get_worker().log_event(topic.decode(), pickle.dumps((warnings, done)))


def column_of(group: Any, place: int | None) -> Any:
    """A list, or one of several."""
    return group if place is None else group[place]


def chosen(group: Any, place: int | None, index: bytes) -> list[Any]:
    """Some entries of a list."""
    entries: Iterable[int] = pickle.loads(index)
    return [column_of(group, place)[k] for k in entries]


def listed(*values: Any) -> list[Any]:
    """What other tasks gave, as a list."""
    return list(values)


def summed(places: bytes, count: int, *groups: Any) -> dict[Node, Any]:
    """Sums over a group, as far as the fixed tree over all blocks takes them together."""
    known: Mapping[Node, Pointer] = pickle.loads(places)
    return added({node: pointer.among(groups) for node, pointer in known.items()}, count)


def merged(count: int, *sums: Mapping[Node, Any]) -> dict[Node, Any]:
    """Sums over several groups."""
    return added({node: value for each in sums for node, value in each.items()}, count)

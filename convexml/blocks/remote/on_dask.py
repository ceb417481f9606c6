"""Blocks that lie with the workers of a dask.distributed cluster, and are computed there."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import ref

import cloudpickle
from distributed import Client, Future

from ...errors import InputError
from ...progress import is_watched
from .chunks import Chunk
from .news import UnderWay
from .sending import Tasks, gathered
from .tasks import Pointer, chosen, column_of, listed, merged, summed, visited
from .tree import shared_out
from .waiting import finished, shield

FEW = 1 << 16
"""Bytes of a function that every task carries; a larger one goes once to each worker."""
TOGETHER = 8
"""Groups whose sums are sent to one place."""


@dataclass(eq=False)
class BlockColumn:
    """A result of each block: for each home a list, or the place of one among several lists."""

    lists: dict[int, Future]
    own: Mapping[int, Sequence[int]]
    """The numbers of the blocks of each home."""
    place: int | None = None

    def handles(self) -> list[Any]:
        """Handles of the blocks, in their order."""
        found: list[Any] = [None] * sum(map(len, self.own.values()))
        for home, numbers in self.own.items():
            for index, k in enumerate(numbers):
                found[k] = Lying(self, home, index)
        return found


@dataclass(frozen=True, eq=False)
class Lying:
    """What belongs to a block: an entry of a list with a worker."""

    column: BlockColumn
    home: int
    index: int

    @property
    def group(self) -> Future:
        """Where the list is."""
        return self.column.lists[self.home]


class OnDask:
    """Blocks on the workers of a cluster: neighbours together, as many groups as there are threads.

    A task computes the blocks of a group one after the other, where they lie. So the scheduler is
    asked for each thread and not for each block, and there is no queue that another worker would
    take tasks from. When a worker is lost, dask computes what it held again with those that remain,
    from the loaders on: everything is a task, nothing is scattered.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Client) -> None:
        threads = client.nthreads()
        if not threads:
            raise InputError("RowBlocks: the dask client has no workers to compute on; start some.")
        shield(client)
        self.client, self.under_way = client, UnderWay(client)
        self.homes = [address for address in sorted(threads) for _ in range(threads[address])]
        self._latest: list[ref[BlockColumn]] = []
        """What the last visit gave: several lists in one result, until the next visit."""

    # -- the interface -----------------------------------------------------------------------

    def map(
        self, function: Callable[..., tuple[Any, ...]], columns: Sequence[Sequence[Any]], count: int
    ) -> list[list[Any]]:
        rows, tasks = list(zip(*columns, strict=True)), Tasks(self.client)
        program, own = self._program(tasks, function), _by_home(self._homes(rows))
        keys, told = [], (self.under_way.news.topic.encode(), int(is_watched()))
        for home, numbers in own.items():
            groups, pointed = _pointers([rows[k] for k in numbers])
            given = program, cloudpickle.dumps(pointed), count, *told, *groups
            keys.append(tasks.add(self.homes[home], visited, *given))
        apart = self._apart()
        for column, home in apart:
            given = column.lists[home], column.place
            keys.append(tasks.add(self.homes[home], column_of, *given))
        futures = iter(tasks.send(keys))
        found = {home: next(futures) for home in own}
        self.under_way.begin(list(found.values()), [len(numbers) for numbers in own.values()])
        for column, home in apart:
            column.lists[home], column.place = next(futures), None
        results = [BlockColumn(dict(found), own, None if count == 1 else j) for j in range(count)]
        self._latest = [ref(column) for column in results] if count > 1 else []
        return [column.handles() for column in results]

    @property
    def is_full(self) -> bool:
        """Workers see to their own memory."""
        return False

    def placed(self, values: Iterable[Any]) -> list[Any]:
        given, tasks = list(values), Tasks(self.client)
        if any(isinstance(value, Chunk) for value in given):
            futures = self._computed(given)
            own = _by_home(self._found_at(futures))
            groups = {home: [futures[k] for k in numbers] for home, numbers in own.items()}
            keys = [tasks.add(self.homes[home], listed, *each) for home, each in groups.items()]
        else:
            own = _by_home(self._spread(len(given)))
            lists = {home: [given[k] for k in numbers] for home, numbers in own.items()}
            keys = [
                tasks.add(self.homes[home], pickle.loads, cloudpickle.dumps(each))
                for home, each in lists.items()
            ]
        return BlockColumn(dict(zip(own, tasks.send(keys), strict=True)), own).handles()

    def values(self, handles: Sequence[Any]) -> list[Any]:
        asked: dict[tuple[BlockColumn, int], list[Lying]] = {}
        for handle in handles:
            asked.setdefault((handle.column, handle.home), []).append(handle)
        tasks, brought = Tasks(self.client), list[Any]()
        for (column, home), own in asked.items():
            index = [each.index for each in own]
            if column.place is None and index == list(range(len(column.own[home]))):
                brought.append(column.lists[home])
                continue
            given = column.lists[home], column.place, pickle.dumps(index)
            brought.append(tasks.add(self.homes[home], chosen, *given))
        sent = iter(tasks.send([each for each in brought if isinstance(each, str)]))
        futures = [next(sent) if isinstance(each, str) else each for each in brought]
        lists = self._gathered(futures)
        found = dict(zip(asked, map(iter, lists), strict=True))
        return [next(found[handle.column, handle.home]) for handle in handles]

    def total(self, handles: Sequence[Any]) -> Any:
        count, tasks, level = len(handles), Tasks(self.client), []
        for home, numbers in _by_home([handle.home for handle in handles]).items():
            groups, pointed = _pointers([(handles[k],) for k in numbers])
            places = {(0, k): pointer for k, [pointer] in zip(numbers, pointed, strict=True)}
            worker = self.homes[home]
            level.append((worker, tasks.add(worker, summed, pickle.dumps(places), count, *groups)))
        while len(level) > TOGETHER:
            bundles = [level[k : k + TOGETHER] for k in range(0, len(level), TOGETHER)]
            level = [
                (bundle[0][0], tasks.add(bundle[0][0], merged, count, *(key for _, key in bundle)))
                for bundle in bundles
            ]
        sums = self._gathered(tasks.send([key for _, key in level]))
        [result] = merged(count, *sums).values()
        return result

    def _gathered(self, futures: Sequence[Future]) -> list[Any]:
        """Results of tasks; who watches hears of the passes that these wait for."""
        try:
            return gathered(self.client, futures, self.under_way.tell)
        finally:
            self.under_way.end()

    # -- where blocks lie --------------------------------------------------------------------

    def _spread(self, count: int) -> list[int]:
        """Homes of blocks that lie nowhere yet: neighbours together."""
        groups = min(count, len(self.homes))
        return [group * len(self.homes) // groups for group in shared_out(count, groups)]

    def _homes(self, rows: Sequence[Sequence[Any]]) -> list[int]:
        """For each block the home of the first of what it is computed from."""
        spread = self._spread(len(rows))
        return [
            next((each.home for each in row if isinstance(each, Lying)), nowhere)
            for row, nowhere in zip(rows, spread, strict=True)
        ]

    def _computed(self, chunks: Sequence[Chunk]) -> list[Future]:
        """Chunks of a collection, computed where dask finds best: where they are, or come from."""
        futures: list[Future] = self.client.compute([chunk.delayed for chunk in chunks])
        finished(self.client, futures)
        for k, future in enumerate(futures):
            if future.status == "error":
                error = future.exception()
                raise InputError(
                    f"RowBlocks: dask could not compute block {k}: {type(error).__name__}: {error}"
                ) from error
        return futures

    def _found_at(self, futures: Sequence[Future]) -> list[int]:
        """The homes of results, those of a worker shared by its threads."""
        holders, taken, homes = self.client.who_has(list(futures)), Counter[int](), []
        for future, nowhere in zip(futures, self._spread(len(futures)), strict=True):
            at = set(holders.get(future.key, ()))
            near = [home for home, address in enumerate(self.homes) if address in at] or [nowhere]
            homes.append(min(near, key=lambda home: taken[home]))
            taken[homes[-1]] += 1
        return homes

    # -- what is sent ------------------------------------------------------------------------

    def _program(self, tasks: Tasks, function: Callable[..., Any]) -> Any:
        """A function as bytes, or a task that gives them: what is scattered would be lost."""
        program = cloudpickle.dumps(function)
        return program if len(program) < FEW else tasks.add(self.homes[0], bytes, program)

    def _apart(self) -> list[tuple[BlockColumn, int]]:
        """Results of the last visit that are held on: to be parted from those that are let go."""
        held = [column for each in self._latest if (column := each()) is not None]
        return [(column, home) for column in held for home in column.lists]


def _by_home(homes: Sequence[int]) -> dict[int, list[int]]:
    """The numbers of the blocks of each home."""
    found: dict[int, list[int]] = {}
    for k, home in enumerate(homes):
        found.setdefault(home, []).append(k)
    return found


def _pointers(rows: Sequence[Sequence[Any]]) -> tuple[list[Future], list[tuple[Any, ...]]]:
    """The lists that arguments lie in, and the arguments, with pointers in place of these."""
    numbers: dict[Future, int] = {}

    def pointed(value: Any) -> Any:
        if not isinstance(value, Lying):
            return value
        group = numbers.setdefault(value.group, len(numbers))
        return Pointer(group, value.column.place, value.index)

    found = [tuple(pointed(value) for value in row) for row in rows]
    return list(numbers), found

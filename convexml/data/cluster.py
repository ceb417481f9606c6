"""Blocks that lie with the workers of a dask.distributed cluster, and are computed there."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent import futures
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from time import monotonic, perf_counter
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary, ref

import cloudpickle
import dask
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from distributed import Client, Future, KilledWorker, LocalCluster, get_worker, wait

from ..deadline import is_late
from ..errors import InputError, WorkersLostError, warn, withheld
from ..progress import Passing, begun, is_watched
from .executor import Chunk

# What tasks tell while they run: what they warn of, and how many of their blocks are done.


@dataclass
class News:
    """What was told by the tasks of a client.

    Attributes
    ----------
    topic : str
        Where they tell it, before their results, which the client waits for.
    warnings : deque
        Until they are said.
    done : dict
        Blocks that are done, by the key of the task.
    """

    topic: str
    warnings: deque[tuple[str, type[Warning]]] = field(default_factory=deque)
    done: dict[str, int] = field(default_factory=dict)

    def take(self, event: tuple[float, bytes]) -> None:
        """Hear an event: warnings, or a task and the number of its blocks."""
        warnings, done = pickle.loads(event[1])
        self.warnings.extend(warnings)
        self.done.update(done)


_news: WeakKeyDictionary[Client, News] = WeakKeyDictionary()


def news_of(client: Client) -> News:
    """What the tasks of a client tell."""
    if client not in _news:
        _news[client] = News(f"convexml-{client.id}")
        client.subscribe_topic(_news[client].topic, _news[client].take)
    return _news[client]


class Sent:
    """The tasks of one pass that were sent, and the blocks of each; nothing of it is held."""

    def __init__(self, told: Passing, tasks: Sequence[Future], counts: Sequence[int]) -> None:
        self.told, self.counts = told, counts
        self.tasks = [(ref(task), str(task.key)) for task in tasks]

    def count(self, done: Mapping[str, int]) -> int:
        """The blocks that are done; all of those that nobody asks for any more."""
        count = 0
        for (there, key), whole in zip(self.tasks, self.counts, strict=True):
            task = there()
            count += whole if task is None or task.done() else min(done.get(key, 0), whole)
        return count


class UnderWay:
    """Passes whose tasks were sent, told in their order while results are waited for."""

    def __init__(self, client: Client) -> None:
        self.news = news_of(client)
        self.passes: list[Sent] = []

    def begin(self, tasks: Sequence[Future], counts: Sequence[int]) -> None:
        """A pass was sent: tasks, and the number of blocks of each."""
        told = begun(sum(counts))
        if told is not None:
            self.passes.append(Sent(told, tasks, counts))

    def tell(self) -> None:
        """Tell of the first pass that is not at its end."""
        while self.passes:
            first = self.passes[0]
            count = first.count(self.news.done)
            if count < first.told.total:
                first.told.at(count)
                return
            self._end(self.passes.pop(0))

    def end(self) -> None:
        """What was waited for is there."""
        while self.passes and self.passes[0].count({}) == self.passes[0].told.total:
            self._end(self.passes.pop(0))

    def _end(self, each: Sent) -> None:
        each.told.end()
        for _, key in each.tasks:
            self.news.done.pop(key, None)


# The fixed tree of a sum over blocks, in parts that are computed in different places.


Node = tuple[int, int]
"""A level of the tree, blocks being level 0, and the place in it."""


def added(known: Mapping[Node, Any], count: int) -> dict[Node, Any]:
    """Sums of the tree over ``count`` blocks, as far as some of its nodes determine them.

    A node is added to its neighbour when both are known; the last of an odd level goes up alone.
    All blocks together give one node, whose value is that of ``tree_sum``, whoever added which.
    """
    nodes = dict(known)
    level, width = 0, count
    while width > 1:
        for place in sorted(place for depth, place in nodes if depth == level and place % 2 == 0):
            if place == width - 1:
                nodes[level + 1, place // 2] = nodes.pop((level, place))
            elif (level, place + 1) in nodes:
                one, other = nodes.pop((level, place)), nodes.pop((level, place + 1))
                nodes[level + 1, place // 2] = one + other
        level, width = level + 1, (width + 1) // 2
    return nodes


def shared_out(count: int, groups: int) -> list[int]:
    """The group of each of ``count`` blocks: neighbours together, nearly as many in each group.

    Boundaries lie at multiples of a power of 2, where that moves few blocks: then few sums of a
    group wait for those of another.
    """
    groups = max(1, min(count, groups))
    step = 1 << max(0, (count // (8 * groups)).bit_length() - 1)
    cuts = [round(k * count / groups / step) * step for k in range(1, groups)]
    return [sum(k >= cut for cut in cuts) for k in range(count)]


# What a worker does with the blocks of its group: lists of them come and go.


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


# Results of a cluster are waited for as long as there is a worker who may give them.


LOOK = 0.5
"""Seconds from one look at who is there to the next."""
ALONE = 60.0
"""Seconds without a worker after which none is waited for: one that starts again takes a few."""
ANSWER = 10.0
"""Seconds that the scheduler has for an answer."""
_alone: WeakKeyDictionary[Client, float] = WeakKeyDictionary()
"""Since when there is no worker."""


def waited(client: Client, result: Coroutine[Any, Any, Any], told: Callable[[], None]) -> Any:
    """What a coroutine of the client comes back with; ``told`` is called now and then till then.

    Raises
    ------
    WorkersLostError
        Where there was no worker for ``ALONE`` seconds, or is none when the solve's time is over.
    """
    loop: Any = client.loop
    future = asyncio.run_coroutine_threadsafe(result, loop.asyncio_loop)
    while not futures.wait([future], LOOK).done:
        told()
        refuse_to_wait(client)
    _alone.pop(client, None)
    return future.result()


def finished(client: Client, tasks: Sequence[Future]) -> None:
    """Wait for the end of tasks, whatever it is; raises as ``waited`` does."""
    while True:
        try:
            wait(list(tasks), timeout=LOOK)
            return
        except TimeoutError:
            refuse_to_wait(client)


def refuse_to_wait(client: Client) -> None:
    """Raise WorkersLostError where there is nobody who could answer."""
    scheduler: Any = client.scheduler
    try:
        there = client.sync(scheduler.ncores, callback_timeout=ANSWER)
    except (OSError, TimeoutError):  # nor does the scheduler
        there = {}
    if there:
        _alone.pop(client, None)
        return
    now = monotonic()
    seconds = now - _alone.setdefault(client, now)
    if seconds >= ALONE or is_late():
        until = f"within {seconds:.0f} s" if seconds >= ALONE else "before max_seconds were over"
        raise WorkersLostError(
            f"No dask worker is left to compute on the blocks, and none came back {until}. "
            "Start workers, and solve again."
        )


def shield(client: Client) -> None:
    """Let workers that this process started live on when Ctrl-C is pressed, which is for the solve.

    A terminal sends it to all processes of a group: workers would be gone with what they hold.
    """
    if isinstance(client.cluster, LocalCluster) and hasattr(os, "getpgrp"):
        client.run(ignore_interrupts, os.getpgrp())


def ignore_interrupts(group: int) -> None:
    """Of a worker process: ignore the signal of Ctrl-C where it is in this process group."""
    alone = threading.current_thread() is threading.main_thread()
    if alone and os.getpgrp() == group:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


# Tasks for the workers of a dask.distributed cluster, each for one of them.


CLOSED = (
    "RowBlocks: the dask client is closed that was active when these blocks were passed. Pass them "
    "again while a client is active, or none."
)


class Tasks:
    """Tasks that are sent together.

    Each has a worker: another one takes it when that is gone. Every task is another one, whatever
    it computes.
    """

    def __init__(self, client: Client) -> None:
        self.client, self.token, self.count = client, uuid4().hex, 0
        self.layers: dict[str, dict[str, Any]] = {}

    def add(self, worker: str, function: Callable[..., Any], *arguments: Any) -> str:
        """The key of a task; arguments are futures, keys, numbers or bytes."""
        self.count += 1
        key = f"convexml-{function.__name__}-{self.token}-{self.count}"
        self.layers.setdefault(worker, {})[key] = (function, *arguments)
        return key

    def send(self, keys: Sequence[str]) -> list[Future]:
        """The futures of some of the tasks."""
        if self.client.status != "running":
            raise InputError(CLOSED)
        if not keys:
            return []
        layers = {
            f"{self.token}-{worker}": MaterializedLayer(
                tasks, annotations={"workers": [worker], "allow_other_workers": True}
            )
            for worker, tasks in self.layers.items()
        }
        graph = HighLevelGraph(layers, {name: set() for name in layers})
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
            found: list[Future] = self.client.get(graph, list(keys), sync=False)
        return found


def gathered(
    client: Client, futures: Sequence[Future], told: Callable[[], None] = lambda: None
) -> list[Any]:
    """Results of tasks, or the error of the first that has one; what they warn of is said here.

    ``told`` is called now and then while they are waited for.
    """
    try:
        return _results(client, futures, told)
    finally:
        warnings = news_of(client).warnings
        while warnings:
            warn(*warnings.popleft())


def _results(client: Client, futures: Sequence[Future], told: Callable[[], None]) -> list[Any]:
    if client.status != "running":
        raise InputError(CLOSED)
    try:
        found: list[Any] = waited(client, client.gather(list(futures), asynchronous=True), told)
    except WorkersLostError:
        raise
    except KilledWorker as error:
        raise WorkersLostError(
            f"Several dask workers were lost one after the other with the same blocks ({error}). "
            "Most often their memory is too small: pass smaller blocks, or take more workers."
        ) from error
    except CancelledError as error:
        raise InputError(CLOSED) from error
    except Exception:
        finished(client, futures)
        for future in futures:
            future.result()
        raise
    return found


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

"""Who computes on blocks: the interface that all algorithms over row blocks are written against."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from time import perf_counter
from typing import Any, Protocol
from weakref import finalize

import numpy as np

from ..progress import block_by_block
from ..system import cores

# Where vectors of n numbers are kept: in memory, and beyond a limit in files.


SMALL = 1 << 16
"""Bytes of an array that is not counted."""


class Held:
    """An array in memory, counted as long as somebody holds it."""

    def __init__(self, value: Any, release: Callable[[], None]) -> None:
        self.value, self.dtype = value, value.dtype
        finalize(self, release)

    def opened(self) -> Any:
        return self.value


class OnDisk:
    """An array in a file, which is gone with the last who holds it."""

    def __init__(self, value: Any, path: Path) -> None:
        self.path, self.dtype = path, value.dtype
        np.save(path, value)
        finalize(self, path.unlink, missing_ok=True)

    def opened(self) -> Any:
        return np.load(self.path)


def opened(handle: Any) -> Any:
    """What a handle stands for."""
    return handle.opened() if isinstance(handle, Held | OnDisk) else handle


@dataclass(eq=False)
class Keeper:
    """Keeps arrays: in memory up to a number of bytes altogether, others in temporary files."""

    memory: float

    def __post_init__(self) -> None:
        self._lock, self._bytes, self._files = threading.RLock(), 0, 0
        self.folder: Path | None = None
        """Where files are; it is gone with the keeper."""

    @property
    def is_full(self) -> bool:
        """Whether half of the memory is taken: the rest is for what is dear."""
        return self._bytes > 0.5 * self.memory

    def kept(self, value: Any) -> Any:
        """A handle of a value."""
        if not isinstance(value, np.ndarray) or value.nbytes <= SMALL or value.dtype.hasobject:
            return value
        size = value.nbytes
        with self._lock:
            if fits := self._bytes + size <= self.memory:
                self._bytes += size
            else:
                if self.folder is None:
                    self.folder = Path(tempfile.mkdtemp(prefix="convexml-"))
                    finalize(self, rmtree, self.folder, ignore_errors=True)
                self._files += 1
                path = self.folder / f"{self._files}.npy"
        if fits:
            return Held(value, lambda: self._released(size))
        return OnDisk(value, path)

    def _released(self, size: int) -> None:
        with self._lock:
            self._bytes -= size


WORTHWHILE = 2e-3
"""Seconds that the first block takes, from which on the others are computed by threads."""


class Executor(Protocol):
    """Maps functions over blocks and adds up what they return.

    A handle stands for what lies with a block: the thing itself, or where it is to be found.
    """

    def map(
        self, function: Callable[..., tuple[Any, ...]], columns: Sequence[Sequence[Any]], count: int
    ) -> list[list[Any]]:
        """Handles of the ``count`` results of a function, for each a list over the blocks.

        ``columns`` holds, for each argument, one entry a block: a handle, or a value.
        """
        ...

    @property
    def is_full(self) -> bool:
        """Whether vectors of n numbers had better be computed again than kept."""
        ...

    def placed(self, values: Iterable[Any]) -> list[Any]:
        """Handles of values that are here, taken one after the other."""
        ...

    def values(self, handles: Sequence[Any]) -> list[Any]:
        """What the handles stand for, brought here: for small things alone."""
        ...

    def total(self, handles: Sequence[Any]) -> Any:
        """The sum over all blocks, in the order of ``tree_sum``."""
        ...


def tree_sum(parts: Iterable[Any]) -> Any:
    """Neighbours are added, then neighbours of these: an order that no schedule changes.

    K terms are off by no more than those of a chain of ceil(log2 K) additions.
    """
    level = list(parts)
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [one + other for one, other in pairs] + level[len(level) // 2 * 2 :]
    return level[0]


class Here:
    """Blocks in this process: as many at a time as there are processors, results kept in order.

    Parameters
    ----------
    memory : float
        Bytes of vectors that are kept in memory; others lie in files of the temporary directory.
    threads : int or None
        Blocks that are computed at a time; None: one for each processor.
    """

    def __init__(self, memory: float = 2.0**29, threads: int | None = None) -> None:
        self.keeper = Keeper(memory)
        self.threads = threads or cores()

    def __reduce__(self) -> Any:
        return Here, (self.keeper.memory, self.threads)

    def map(
        self, function: Callable[..., tuple[Any, ...]], columns: Sequence[Sequence[Any]], count: int
    ) -> list[list[Any]]:
        rows = list(zip(*columns, strict=True))
        results = block_by_block(self._computed(function, rows), len(rows))
        return [list(each) for each in zip(*results, strict=True)]

    def _computed(
        self, function: Callable[..., tuple[Any, ...]], rows: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[Any, ...]]:
        """Handles of the results for each block in its turn."""

        def computed(row: tuple[Any, ...]) -> tuple[Any, ...]:
            found = function(*(opened(handle) for handle in row))
            return tuple(self.keeper.kept(each) for each in found)

        start = perf_counter()
        yield from map(computed, rows[:1])
        others = rows[1:]
        threads = min(self.threads, len(others)) if perf_counter() - start > WORTHWHILE else 1
        if threads < 2:
            yield from map(computed, others)
        else:
            with ThreadPoolExecutor(threads) as pool:
                yield from pool.map(computed, others)

    @property
    def is_full(self) -> bool:
        return self.keeper.is_full

    def placed(self, values: Iterable[Any]) -> list[Any]:
        return [self.keeper.kept(value) for value in values]

    def values(self, handles: Sequence[Any]) -> list[Any]:
        return [opened(handle) for handle in handles]

    def total(self, handles: Sequence[Any]) -> Any:
        return tree_sum(self.values(handles))


# Blocks of dask collections.


@dataclass(frozen=True, eq=False)
class Chunk:
    """A block that dask computes: on its workers, where it stays; or here, whenever it is called.

    ``delayed`` gives a function without arguments that returns the block.
    """

    delayed: Any

    def __call__(self) -> Any:
        return self.delayed.compute()()

"""Who computes on blocks: the interface that all algorithms over row blocks are written against."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any, Protocol

from ..machine import cores
from ..progress import block_by_block
from .keeping import Keeper, opened

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

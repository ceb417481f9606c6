"""Who computes on blocks: the interface that all algorithms over row blocks are written against."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class Executor(Protocol):
    """Maps functions over blocks and adds up what they return.

    A handle stands for what lies with a block: the thing itself, or where it is to be found.
    """

    def map(
        self,
        function: Callable[..., Any],
        columns: Sequence[Sequence[Any]],
        options: Sequence[Mapping[str, Any]],
    ) -> list[Any]:
        """Handles of what a function returns, block by block.

        ``columns`` holds, for each positional argument, one entry a block; ``options`` the named
        ones of each block.
        """
        ...

    def placed(self, values: Sequence[Any]) -> list[Any]:
        """Handles of values that are here."""
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


@dataclass(frozen=True)
class Here:
    """One block after the other, in this process."""

    def map(
        self,
        function: Callable[..., Any],
        columns: Sequence[Sequence[Any]],
        options: Sequence[Mapping[str, Any]],
    ) -> list[Any]:
        return [
            function(*arguments, **named)
            for *arguments, named in zip(*columns, options, strict=True)
        ]

    def placed(self, values: Sequence[Any]) -> list[Any]:
        return list(values)

    def values(self, handles: Sequence[Any]) -> list[Any]:
        return list(handles)

    def total(self, handles: Sequence[Any]) -> Any:
        return tree_sum(handles)

"""Functions of the rows alone: what they say of arrays in blocks, each block says by itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from .array import BlockArray, blockwise
from .parts import entry

F = TypeVar("F", bound=Callable[..., Any])


def rowwise(function: F) -> F:
    """Let a function whose results have a row for each row of its arguments take blocks as well.

    It is called as it stands unless one of its positional arguments is in blocks.
    """

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        for argument in args:
            if isinstance(argument, BlockArray):
                return _by_blocks(function, *args, **kwargs)
        return function(*args, **kwargs)

    return called  # type: ignore[return-value]


def _by_blocks(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    found = blockwise(function, *args, **kwargs)
    [keys] = found.executor.values(blockwise(_keys, found).parts[:1])
    if keys is None:
        return found
    parts = {key: found.mapped(entry, key) for key in keys}
    return tuple(parts.values()) if keys and keys[0] == 0 else parts


def _keys(found: Any) -> list[Any] | None:
    """The keys of a dict, the numbers of a tuple; None of an array."""
    if isinstance(found, dict):
        return list(found)
    return list(range(len(found))) if isinstance(found, tuple) else None

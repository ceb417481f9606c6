"""Functions of the rows alone: what they say of arrays in blocks, each block says by itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from .array import BlockArray, blockwise
from .form import RowForm
from .parts import entry
from .steps import CHEAP

F = TypeVar("F", bound=Callable[..., Any])


def rowwise(function: F) -> F:
    """Let a function whose results have a row for each row of its arguments take blocks as well.

    It is called as it stands unless one of its positional arguments is in blocks.
    """

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        for argument in args:
            if isinstance(argument, BlockArray):
                return _by_blocks(function, argument.lengths, *args, **kwargs)
        return function(*args, **kwargs)

    return called  # type: ignore[return-value]


def dear(function: F) -> F:
    """Let the results be kept where memory is full: they take longer than to write and read them.

    Of a function that does many steps in one.
    """
    function.__dict__["steps"] = CHEAP + 1
    return function


def _by_blocks(
    function: Callable[..., Any], lengths: tuple[int, ...], *args: Any, **kwargs: Any
) -> Any:
    """The results are those of no rows in their kind and shape."""
    with np.errstate(all="ignore"):
        none = function(*map(_without_rows, args), **kwargs)
    found = blockwise(function, *args, **kwargs)
    if isinstance(none, dict):
        return {key: _shaped(found.mapped(entry, key), each, lengths) for key, each in none.items()}
    if isinstance(none, tuple):
        each = (_shaped(found.mapped(entry, k), part, lengths) for k, part in enumerate(none))
        return tuple(each)
    return _shaped(found, none, lengths)


def _without_rows(value: Any) -> Any:
    """The array without its rows; numbers that are not computed yet count as real ones."""
    if not isinstance(value, BlockArray):
        return value
    shape = list(value.shape)
    shape[value.axis] = 0
    return np.empty(shape, float if value.step.handles is None else value.dtype)


def _shaped(found: BlockArray, none: Any, lengths: tuple[int, ...]) -> BlockArray:
    """The results, given those of no rows: their axis without entries is that of the samples."""
    axis = none.shape.index(0)
    shape = (*none.shape[:axis], sum(lengths), *none.shape[axis + 1 :])
    return BlockArray.like(found, RowForm(lengths, shape), axis - none.ndim)

"""What is done with the rows of one block: functions that a process elsewhere finds by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics import Array


def dtype(part: Array) -> np.dtype[Any]:
    """The type of its numbers."""
    return part.dtype


def astype(part: Array, dtype: Any) -> Array:
    """Its numbers in another type."""
    return part.astype(dtype)


def entry(part: Any, index: Any) -> Any:
    """What stands at an index of the block."""
    return part[index]


def only_entry(part: Any, index: Any) -> tuple[Any]:
    """The same, as the one result."""
    return (part[index],)


def whole(index: tuple[Any, ...]) -> tuple[Any, ...]:
    """The index of whole columns, as it was given."""
    if index[0] != slice(None):
        raise TypeError(f"An array in blocks is written to in whole columns, got {index!r}.")
    return index


def written(part: Array, index: Any, value: Any) -> Array:
    """A copy of the block, written to."""
    found = part.copy()
    found[index] = value
    return found


@dataclass(frozen=True)
class Into:
    """A ufunc that writes to a copy of its first argument."""

    ufunc: np.ufunc

    def __call__(self, out: Array, *inputs: Any, **kwargs: Any) -> Array:
        found: Array = self.ufunc(*inputs, out=out.copy(), **kwargs)
        return found

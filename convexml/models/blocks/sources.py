"""Where a block of rows comes from: memory, a function of the user's, mapped files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any
from zlib import crc32

import numpy as np

from ...design import is_single
from ...errors import InputError, warn
from ...numerics import Array

Loaded = tuple[Any, Any, Any]
"""(X, y, sample_weight) of one block; the weights may be None."""
Source = Callable[[], Loaded]
ONE_AT_A_TIME = RLock()


@dataclass(frozen=True)
class Passed:
    """A block that is in memory."""

    block: Loaded

    def __call__(self) -> Loaded:
        return self.block


@dataclass(frozen=True)
class Lent(Passed):
    """A block that another library keeps, and nobody writes to: it is not copied."""


@dataclass(frozen=True)
class Loader:
    """A block that a function of the user's loads: one at a time, whoever computes beside it."""

    function: Callable[[], Any]

    def __call__(self) -> Loaded:
        with ONE_AT_A_TIME:
            found = self.function()
        if callable(found):
            raise InputError(
                "its loader returns a function; it must return (X, y) or (X, y, sample_weight). "
                "Pass the function that it returns, or call that within it."
            )
        return as_block(found, "its loader must return (X, y) or (X, y, sample_weight)")


def mapped(path: Path) -> Array:
    """The array of a .npy file, mapped; InputError where it has none that can be."""
    try:
        found: Array = np.load(path, mmap_mode="r")
    except (ValueError, EOFError, OSError) as error:
        raise InputError(
            f"RowBlocks.from_npy: {path} holds no array of numbers that can be mapped, or is cut "
            "off. Write it with numpy.save."
        ) from error
    return found


@dataclass(frozen=True)
class FromNpy:
    """Some rows of .npy files, mapped when they are read and let go after that.

    Those of X are copied unless they are in single precision, which is converted as it is used.
    """

    X: Path
    y: Path
    first: int
    last: int
    weights: Path | None = None

    def __call__(self) -> Loaded:
        X, y = self._rows(self.X), np.array(self._rows(self.y))
        s = None if self.weights is None else np.array(self._rows(self.weights))
        return X if is_single(X) else np.array(X), y, s

    def _rows(self, path: Path) -> Array:
        found: Array = np.load(path, mmap_mode="r")[self.first : self.last]
        return found


@dataclass(frozen=True)
class Retried:
    """A source that is asked again so many times where it fails."""

    source: Source
    retries: int

    def __call__(self) -> Loaded:
        return self.source()


def as_block(block: Any, which: str) -> Loaded:
    """(X, y, weights) of what stands for a block."""
    if not isinstance(block, tuple | list) or len(block) not in (2, 3):
        raise InputError(f"{which}, got {type(block).__name__}.")
    X, y, *weights = block
    return X, y, weights[0] if weights else None


def checksum(y: Any, sample_weight: Any) -> int:
    """CRC-32 of all targets and weights of a block."""
    found = 0
    for each in (y, sample_weight):
        values = np.asarray(each)
        values = values.astype(str) if values.dtype.hasobject else values
        found = crc32(values.tobytes(), found)
    return found


def loaded(source: Source, name: str) -> Loaded:
    """A block; where a source is asked again a warning tells of it.

    Raises
    ------
    InputError
        Of the failure that was the last, naming the block.
    """
    retries = source.retries if isinstance(source, Retried) else 0
    for left in range(retries, -1, -1):
        try:
            return source()
        except InputError as error:
            raise InputError(f"{name}: {error}") from error
        except Exception as error:
            failed = f"{name}: its loader failed with {type(error).__name__}: {error}"
            if not left:
                times = f" ({retries + 1} times)" if retries else ""
                raise InputError(failed + times) from error
            warn(f"{failed}. It is called again.", RuntimeWarning)
    raise AssertionError

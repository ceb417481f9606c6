"""Where vectors of n numbers are kept: in memory, and beyond a limit in files."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any
from weakref import finalize

import numpy as np

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

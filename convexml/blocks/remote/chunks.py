"""Blocks of dask collections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Chunk:
    """A block that dask computes: on its workers, where it stays; or here, whenever it is called.

    ``delayed`` gives a function without arguments that returns the block.
    """

    delayed: Any

    def __call__(self) -> Any:
        return self.delayed.compute()()

"""Row blocks as their user brings them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...blocks import Executor, Here
from ...errors import InputError

Loaded = tuple[Any, Any, Any]
"""(X, y, sample_weight) of one block; the weights may be None."""
BROUGHT = object()
"""In place of y, where blocks bring it."""


@dataclass(frozen=True)
class Passed:
    """A block that is in memory."""

    block: Loaded

    def __call__(self) -> Loaded:
        return self.block


@dataclass(frozen=True)
class Loader:
    """A block that a function of the user's loads."""

    function: Callable[[], Any]

    def __call__(self) -> Loaded:
        return as_block(self.function())


@dataclass(frozen=True)
class FromNpy:
    """Some rows of two .npy files, mapped when they are read and let go after that."""

    X: Path
    y: Path
    first: int
    last: int

    def __call__(self) -> Loaded:
        rows = slice(self.first, self.last)
        X, y = (np.load(path, mmap_mode="r")[rows] for path in (self.X, self.y))
        return np.array(X), np.array(y), None


class RowBlocks:
    """The samples of a learning problem in blocks of rows, in place of X and y.

    A block is in memory while something is computed from it. Vectors of n numbers lie in the same
    blocks. Sums over the samples are added up in a fixed order, so that the same blocks give the
    same result to the last digit.

    Parameters
    ----------
    blocks : iterable
        For each block (X, y) or (X, y, sample_weight), X of shape (n_k, d), or a function without
        arguments that returns that; it is called whenever the block is read, and must return the
        same numbers. Blocks are numbered from 0, rows within their block.

    Raises
    ------
    InputError
        If there is no block, or one is neither.

    Examples
    --------
    >>> import numpy as np
    >>> import convexml as cml
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((1000, 3)), rng.standard_normal(1000)
    >>> blocks = cml.RowBlocks([(X[:300], y[:300]), (X[300:], y[300:])])
    >>> cml.Ridge(blocks, lam=0.1).solve().status
    'optimal'
    """

    def __init__(self, blocks: Iterable[Any]) -> None:
        if not isinstance(blocks, Iterable):
            raise InputError(
                f"RowBlocks: blocks must be a list of (X, y), got {type(blocks).__name__}."
            )
        found = list(blocks)
        if not found:
            raise InputError("RowBlocks: there is no block; pass (X, y) of one at least.")
        self.sources: list[Callable[[], Loaded]] = [
            Loader(block) if callable(block) else Passed(as_block(block, k))
            for k, block in enumerate(found)
        ]
        self.executor: Executor = Here()

    @classmethod
    def from_npy(cls, X_path: Any, y_path: Any, rows: int = 100_000) -> RowBlocks:
        """The rows of two .npy files, memory-mapped, ``rows`` of them a block.

        Parameters
        ----------
        X_path, y_path : path
            Arrays of shape (n, d) and (n,). Numbers of float32 are taken as the numbers they are.
        rows : int
            Of a block, >= 1.

        Raises
        ------
        InputError
            For files that do not exist, or whose arrays do not belong together.
        """
        if not isinstance(rows, int | np.integer) or rows < 1:
            raise InputError(f"RowBlocks.from_npy: rows must be an integer >= 1, got {rows!r}.")
        paths = Path(X_path), Path(y_path)
        for path in paths:
            if not path.is_file():
                raise InputError(f"RowBlocks.from_npy: there is no file {path}.")
        X, y = (np.load(path, mmap_mode="r") for path in paths)
        if X.ndim != 2 or y.shape != X.shape[:1] or not len(y):
            raise InputError(
                "RowBlocks.from_npy: X must have shape (n, d) and y (n,) with n >= 1, got "
                f"{X.shape} and {y.shape}."
            )
        starts = range(0, len(y), rows)
        found = cls.__new__(cls)
        found.sources = [FromNpy(*paths, k, min(k + rows, len(y))) for k in starts]
        found.executor = Here()
        return found

    def __len__(self) -> int:
        return len(self.sources)

    def __repr__(self) -> str:
        return f"RowBlocks({len(self)} blocks)"


def as_block(block: Any, number: int | None = None) -> Loaded:
    """(X, y, weights) of what stands for a block."""
    which = "a loaded block" if number is None else f"block {number}"
    if not isinstance(block, tuple | list) or len(block) not in (2, 3):
        raise InputError(
            f"RowBlocks: {which} must be (X, y) or (X, y, sample_weight), or a function that "
            f"returns that, got {type(block).__name__}."
        )
    X, y, *weights = block
    return X, y, weights[0] if weights else None

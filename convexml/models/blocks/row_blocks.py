"""Row blocks as their user brings them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

from ...blocks import Executor
from ...blocks.remote import active_executor
from ...blocks.remote.chunks import Chunk
from ...blocks.steps import Visits
from ...errors import InputError
from ...validation import nonnegative_integer, positive_integer
from .parquet import parquet_blocks
from .sources import FromNpy, Loader, Passed, Retried, Source, as_block, mapped

FORMS = "(X, y) or (X, y, sample_weight), or a function that returns that"
BROUGHT = object()
"""In place of y, where blocks bring it."""


class RowBlocks:
    """The samples of a learning problem in blocks of rows, in place of X and y.

    A block is in memory while something is computed from it, as many at a time as there are
    processors. Vectors of n numbers lie in the same blocks, those beyond 512 MB in files of the
    temporary directory. Sums over the samples are added up in a fixed order, so that the same
    blocks give the same result to the last digit.

    Parameters
    ----------
    blocks : iterable
        For each block (X, y) or (X, y, sample_weight), X of shape (n_k, d), or a function without
        arguments that returns that; it is called whenever the block is read, and must return the
        same numbers. Blocks are numbered from 0, rows within their block. All of y and of the
        weights, and some entries of X (one of each column and a thousand at least), are compared
        with those of the first time; a block that differs in these is an InputError.
    retries : int
        How often a function that raises is called again, each time it is called. A warning tells
        of it; the last failure is an InputError that names the block.

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

    def __init__(self, blocks: Iterable[Any], retries: int = 1) -> None:
        if not isinstance(blocks, Iterable):
            raise InputError(
                f"RowBlocks: blocks must be a list of (X, y), got {type(blocks).__name__}."
            )
        found = list(blocks)
        if not found:
            raise InputError("RowBlocks: there is no block; pass (X, y) of one at least.")
        sources = [
            block
            if isinstance(block, Chunk)
            else Loader(block)
            if callable(block)
            else Passed(as_block(block, f"RowBlocks: block {k} must be {FORMS}"))
            for k, block in enumerate(found)
        ]
        self._hold(sources, retries)

    def _hold(self, sources: Sequence[Source], retries: int) -> Self:
        again = nonnegative_integer(retries, "RowBlocks", "retries")
        self.sources: list[Source] = [
            each if isinstance(each, Passed | Chunk) else Retried(each, again) for each in sources
        ]
        self.executor: Executor = active_executor()
        self.visits = Visits()
        return self

    @property
    def passes(self) -> int:
        """How often all blocks were read so far."""
        return self.visits.count

    @classmethod
    def from_npy(
        cls,
        X_path: Any,
        y_path: Any,
        rows: int = 100_000,
        retries: int = 1,
        weights_path: Any = None,
    ) -> RowBlocks:
        """The rows of .npy files, memory-mapped, ``rows`` of them a block.

        Parameters
        ----------
        X_path, y_path : path
            Arrays of shape (n, d) and (n,). Numbers of float32 are taken as the numbers they are.
        rows : int
            Of a block, >= 1.
        retries : int
            As of ``RowBlocks``.
        weights_path : path, optional
            Sample weights, of shape (n,).

        Raises
        ------
        InputError
            For files that do not exist or hold no array of numbers, or whose arrays do not belong
            together.
        """
        rows = positive_integer(rows, "RowBlocks.from_npy", "rows")
        paths = [Path(path) for path in (X_path, y_path, weights_path) if path is not None]
        for path in paths:
            if not path.is_file():
                raise InputError(f"RowBlocks.from_npy: there is no file {path}.")
        X, y, *weights = (mapped(path) for path in paths)
        if X.ndim != 2 or y.shape != X.shape[:1] or not len(y):
            raise InputError(
                "RowBlocks.from_npy: X must have shape (n, d) and y (n,) with n >= 1, got "
                f"{X.shape} and {y.shape}."
            )
        if weights and weights[0].shape != y.shape:
            raise InputError(
                f"RowBlocks.from_npy: the weights must have shape {y.shape} as y, got "
                f"{weights[0].shape}."
            )
        starts = range(0, len(y), rows)
        found = [FromNpy(paths[0], paths[1], k, min(k + rows, len(y)), *paths[2:]) for k in starts]
        return cls.__new__(cls)._hold(found, retries)

    @classmethod
    def from_parquet(
        cls,
        path: Any,
        target: str = "y",
        rows: int = 100_000,
        features: Sequence[str] | None = None,
        weights: str | None = None,
        retries: int = 1,
    ) -> RowBlocks:
        """The rows of a parquet file, or of all files ``*.parquet`` of a folder by their names.

        A block is made of whole row groups of at most ``rows`` rows together, or is a part of a
        row group that has more. Such a group is read whole, and kept until another is read.

        Parameters
        ----------
        path : path
            Of a file or a folder. Columns that a data frame's index was written to are no features.
        target : str
            The column that is y: numbers or labels.
        rows : int
            Of a block at most, >= 1.
        features : sequence of str, optional
            The columns that are X, in this order; None: all others. They hold numbers, or true and
            false; their names go with the problem. What is null is nan, and refused.
        weights : str, optional
            The column that holds the sample weights.
        retries : int
            As of ``RowBlocks``.

        Raises
        ------
        InputError
            For files that do not exist or are no parquet, for columns that are missing or hold no
            numbers, and where pyarrow is not installed (``pip install 'convexml[scale]'``).
        """
        owner = "RowBlocks.from_parquet"
        rows = positive_integer(rows, owner, "rows")
        found = parquet_blocks(owner, path, target, rows, features, weights)
        return cls.__new__(cls)._hold(found, retries)

    def __len__(self) -> int:
        return len(self.sources)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise InputError(
            "RowBlocks are no array. Models of a loss and a penalty take them in place of X and y, "
            "as Ridge(blocks, lam=0.1); predict and score take the X and y of a block at a time."
        )

    def __repr__(self) -> str:
        return f"RowBlocks({len(self)} blocks)"

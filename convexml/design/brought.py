"""Blocks that bring their rows into memory, and what is asked of the rows of one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, Protocol

import numpy as np

from ..numerics import Array
from .base import Design
from .dense import DenseDesign
from .single import SingleDesign, cached_rows


class DesignBlock(Protocol):
    """Some rows of X, brought into memory when they are needed."""

    def design(self) -> Design:
        """The rows; who calls it lets them go."""
        ...


@dataclass(frozen=True, eq=False)
class InMemory:
    """A block that is in memory."""

    rows: Design

    def design(self) -> Design:
        return self.rows


def asked(design: Design, method: str, *args: Any) -> Any:
    """What a method of the rows says."""
    found = getattr(design, method, design.shape[0])  # of "chain", where X'u is one sum
    return found(*args) if callable(found) else found


def brought(block: DesignBlock) -> Design:
    """The rows of a block."""
    return block.design()


def moved(design: Design, centre: Array) -> Design:
    """X - 1 m', for centres m of shape (d,)."""
    return DenseDesign(design.dense() - centre)


def some_columns(design: Design, index: Array) -> Design:
    """ColumnSums of the rows."""
    return design.columns(index)


def rows_of(design: Design, index: Array) -> Design:
    """Some of the rows."""
    return design.rows(index)


@dataclass(frozen=True)
class ColumnFacts:
    """What is asked of all rows before anything is computed with them; a sum over the blocks.

    Attributes
    ----------
    entries : int
        That a product visits.
    chain : int
        The additions that an entry of X'u has gone through: see ``DenseDesign``.
    counts, squares, sums : array, shape (d,)
        The entries stored of each column, their squares and themselves added up.
    low, high : array, shape (d,)
        The least and the largest entry of each column, zeros of sparse ones included.
    """

    entries: int
    chain: int
    counts: Array
    squares: Array
    sums: Array
    low: Array
    high: Array

    def __add__(self, other: ColumnFacts) -> ColumnFacts:
        return ColumnFacts(
            self.entries + other.entries,
            max(self.chain, other.chain),
            self.counts + other.counts,
            self.squares + other.squares,
            self.sums + other.sums,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )


ALONGSIDE = 32
"""Rows whose extremes are taken side by side: loops over few columns are slow."""


def column_facts(design: Design) -> ColumnFacts:
    """That of some rows; of those in single precision, for some of them after the other."""
    n, d = design.shape
    if n and isinstance(design, SingleDesign):
        parts = [column_facts(rows) for _, rows in design.row_blocks(cached_rows(d))]
        return replace(reduce(add, parts), chain=design.chain)
    with np.errstate(all="ignore"):
        return ColumnFacts(
            design.entries,
            asked(design, "chain"),
            design.column_counts(),
            design.column_squares(),
            design.rmatvec(design.ones),
            *_extent(design),
        )


def _extent(design: Design) -> tuple[Array, Array]:
    """The least and the largest entry of each column."""
    n, d = design.shape
    if not n:
        return np.full(d, np.inf), np.full(d, -np.inf)
    X = design.constant
    if design.is_sparse:
        low, high = (end.toarray().ravel() for end in (X.min(axis=0), X.max(axis=0)))
        return low, high
    whole = n // ALONGSIDE * ALONGSIDE if X.flags.c_contiguous else 0
    if not whole:
        return X.min(axis=0), X.max(axis=0)
    wide, rest = X[:whole].reshape(-1, ALONGSIDE * d), X[whole:]
    low = np.concatenate([wide.min(axis=0).reshape(ALONGSIDE, d), rest]).min(axis=0)
    high = np.concatenate([wide.max(axis=0).reshape(ALONGSIDE, d), rest]).max(axis=0)
    return low, high

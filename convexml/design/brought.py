"""Blocks that bring their rows into memory, and what is asked of the rows of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..numerics import Array
from .base import Design
from .dense import DenseDesign


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
    """Columns of the rows."""
    return design.columns(index)


def rows_of(design: Design, index: Array) -> Design:
    """Some of the rows."""
    return design.rows(index)


def extremes(design: Design) -> tuple[Array, Array]:
    """The least and the largest entry of each column."""
    X = design.dense()
    if not len(X):
        return np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    return X.min(axis=0), X.max(axis=0)

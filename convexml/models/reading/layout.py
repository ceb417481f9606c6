"""Numbers of the samples in the blocks that their user passed, with empty ones and weights of 0."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...blocks import BlockArray
from ...errors import InputError
from ...numerics import Array, all_finite
from ...validation import finite_array


@dataclass(frozen=True)
class Layout:
    """The rows that were passed, and those that count.

    Attributes
    ----------
    totals : tuple of int
        The rows of each block, as it was passed.
    kept : tuple of array or None
        Those of positive weight; None where all are.
    """

    totals: tuple[int, ...]
    kept: tuple[Array | None, ...]

    @property
    def counting(self) -> Array:
        """The numbers of the rows that count, among all that were passed, shape (n,)."""
        starts = np.cumsum([0, *self.totals])
        own = (
            start + (np.arange(total) if kept is None else kept)
            for start, total, kept in zip(starts, self.totals, self.kept, strict=False)
        )
        return np.concatenate(list(own))

    def spread(self, parts: Iterable[Array], outputs: tuple[int, ...] = ()) -> Iterator[Array]:
        """Values of the rows that count as those of all rows, 0 for the others."""
        values = iter(parts)
        for total, kept in zip(self.totals, self.kept, strict=True):
            counting = total if kept is None else kept.size
            own = next(values) if counting else np.zeros((0, *outputs))
            if kept is None:
                yield own
                continue
            full = np.zeros((total, *own.shape[1:]), dtype=own.dtype)
            full[kept] = own
            yield full

    def chosen(
        self, owner: str, u: Any, like: BlockArray, outputs: tuple[int, ...] = ()
    ) -> BlockArray:
        """A dual point of the user's, in blocks or as one array, on the rows that count."""
        if isinstance(u, BlockArray):
            return u
        if isinstance(u, RowValues) and u.lies_with(like, self):
            return u.values
        given = self._given(owner, u, 1 + len(outputs))
        parts = []
        for k, (values, total, kept) in enumerate(zip(given, self.totals, self.kept, strict=True)):
            array = finite_array(values, owner, f"u of block {k}", " Leave u out.")
            if array.shape != (total, *outputs):
                wanted = f"shape {(total, *outputs)}" if outputs else f"one entry per row ({total})"
                raise InputError(
                    f"{owner}: u of block {k} must have {wanted}, got shape {array.shape}. Pass it "
                    "in the blocks of X."
                )
            counting = array if kept is None else array[kept]
            if np.count_nonzero(counting) != np.count_nonzero(array):
                raise InputError(f"{owner}: u must be 0 on the samples of weight 0.")
            if counting.size:
                parts.append(counting)
        return BlockArray(like.executor.placed(parts), like.executor, -1 - len(outputs))

    def _given(self, owner: str, u: Any, axes: int) -> list[Any]:
        if isinstance(u, np.ndarray) and u.ndim == axes and len(u) == sum(self.totals):
            return np.split(u, np.cumsum(self.totals)[:-1])
        given = list(u) if isinstance(u, Iterable) and not isinstance(u, str) else [u]
        if len(given) != len(self.totals):
            raise InputError(
                f"{owner}: u must be one array of {sum(self.totals)} entries, or one for each of "
                f"{len(self.totals)} blocks, got {len(given)}."
            )
        return given


class RowValues:
    """Numbers of the samples, an array for each block that was passed: go through them in turn.

    Parameters
    ----------
    values : BlockArray
        Of the samples that have a weight.
    layout : Layout
    """

    def __init__(self, values: BlockArray, layout: Layout) -> None:
        self.values, self.layout = values, layout

    def __len__(self) -> int:
        return len(self.layout.totals)

    def lies_with(self, like: BlockArray, layout: Layout) -> bool:
        """Whether these are finite numbers of the same rows in the same place: nothing is moved."""
        same = self.values.executor is like.executor and self.layout is layout
        return same and all_finite(self.values)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Array]:
        # Copies: what is known of these numbers stays true whatever is written to them.
        one_by_one = (self.values.executor.values([part])[0].copy() for part in self.values.parts)
        return self.layout.spread(one_by_one, self.values.shape[1:])

    def __repr__(self) -> str:
        return f"RowValues({len(self)} blocks)"

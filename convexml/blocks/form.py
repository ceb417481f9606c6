"""The shapes of arrays in blocks, known before these are computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class RowForm:
    """The shape of an array, and the rows of each of its blocks."""

    lengths: tuple[int, ...]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, shapes: Sequence[tuple[int, ...]], axis: int) -> RowForm:
        """From the shapes of the blocks, of which an axis is that of the samples."""
        lengths = tuple(shape[axis] for shape in shapes)
        found = list(shapes[0])
        found[axis] = sum(lengths)
        return cls(lengths, tuple(found))

    def indexed(self, index: Any, axis: int) -> RowForm | None:
        """That of some columns; None where rows are chosen too."""
        shape = np.broadcast_to(False, self.shape)[index].shape
        kept = -axis <= len(shape) and shape[axis] == sum(self.lengths)
        return RowForm(self.lengths, shape) if kept else None


def broadcast(arguments: Iterable[Any], kind: type[Any]) -> RowForm | None:
    """The form of what elementwise functions give: None where an argument's is not known."""
    shapes, lengths = [], None
    for each in arguments:
        if not isinstance(each, kind):
            shapes.append(() if isinstance(each, list) else np.shape(each))
            continue
        if each.known is None:
            return None
        lengths = lengths or each.known.lengths
        shapes.append(each.known.shape)
    return RowForm(lengths or (), np.broadcast_shapes(*shapes))

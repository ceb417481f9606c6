"""Affine expressions as linear maps of the variables and an offset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics import Array
from .maps import LinearMap


@dataclass(frozen=True)
class Affine:
    """sum of maps of variables + offset; every array has one entry for each of ``size``."""

    size: int
    maps: dict[int, LinearMap]
    offset: Array

    def __call__(self, values: dict[int, Array]) -> Array:
        """The value where each variable, by id, has these entries: of one point, or row by row."""
        if not self.maps:
            points = next((each.shape[:-1] for each in values.values()), ())
            return np.broadcast_to(self.offset.astype(float), (*points, self.size)).copy()
        total = self.offset
        for key, each in self.maps.items():
            total = total + each(values[key])
        return total

    def is_same(self, other: Affine) -> bool:
        """Whether both are the same, entry by entry."""
        return self is other or (
            self.maps.keys() == other.maps.keys()
            and bool(np.array_equal(self.offset, other.offset))
            and all(each.is_same(other.maps[key]) for key, each in self.maps.items())
        )

    def scaled(self, factor: Any) -> Affine:
        """Each entry times its factor."""
        maps = {key: each.scaled(factor) for key, each in self.maps.items()}
        return Affine(self.size, maps, self.offset * factor)

    def taken(self, rows: Array) -> Affine:
        """Some of the entries."""
        maps = {key: each.taken(rows) for key, each in self.maps.items()}
        return Affine(rows.size, maps, self.offset[rows])

    def __add__(self, other: Affine) -> Affine:
        maps = dict(self.maps)
        for key, each in other.maps.items():
            maps[key] = maps[key] + each if key in maps else each
        return Affine(self.size, maps, self.offset + other.offset)

    def terms(self, sizes: dict[int, Array]) -> Array:
        """A bound of the sum of the absolute terms of each entry: what rounding is relative to."""
        total = np.abs(self.offset)
        for key, each in self.maps.items():
            size = sizes[key]
            total = total + each.row_sizes * np.sqrt(np.vecdot(size, size))[..., None]
        return total

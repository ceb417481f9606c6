"""Pool adjacent violators: the monotone fit, in one pass."""

from __future__ import annotations

from collections.abc import Iterator

from ...numerics import Array
from ...objective.shape.pooling import multipliers_of_blocks, pooled


def pool_adjacent_violators(y: Array, c: Array, sign: float) -> Iterator[tuple[Array, Array]]:
    """Yield w, constant on blocks, each the mean of its samples, and alpha, their residuals summed.

    Source: Ayer, Brunk, Ewing, Reid and Silverman (1955,
    https://doi.org/10.1214/aoms/1177728423).
    """
    w = pooled(y, c, sign)
    yield w, multipliers_of_blocks(y, c, w, sign)

"""The k nearest of all distances, which is what the linear program of the neighbours asks for."""

from __future__ import annotations

from collections.abc import Iterator

from ...numerics import Array
from ...objective.linear.distances import Distances


def sorting(distances: Distances, k: int) -> Iterator[tuple[Array, Array]]:
    """Yield p, 1/k on the k nearest samples of each query, and nu.

    -nu is in the middle between the k-th and the next distance, or at a tie of both.
    """
    yield distances.weights(k), -distances.levels(k)

"""Farthest points: the smallest enclosing ball, by the few points that carry it."""

from __future__ import annotations

from collections.abc import Iterator

from ...numerics import Array
from ...objective.shape.enclosing import enclosing_balls


def farthest_points(X: Array) -> Iterator[Array]:
    """Yield the weights alpha of the points of growing balls, each with the farthest added.

    The ball through the active points is the largest D on their affine hull; D rises in every step,
    so that it ends after finitely many (Elzinga and Hearn, 1972,
    https://doi.org/10.1287/mnsc.19.1.96).
    """
    yield from enclosing_balls(X)

"""The boundary of a convex set in the plane, corners included."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..numerics import Array

ANGLES, HALVINGS = 120, 26
"""Rays around a point, and how exactly their ends are found."""
BEYOND = 3.0
"""Where a ray ends that leaves the panel, in its reach."""
TURN = 4.0
"""A corner turns so many times as much as a circle does between as many rays."""


def outline(holds: Callable[[Array], bool], center: Array, reach: float) -> Array:
    """The closed boundary of a convex set around one of its points, by bisection along rays.

    Between two rays whose neighbours' chords turn sharply there is a corner: one more ray goes to
    where these chords meet, so that polygons are drawn with their vertices.

    Parameters
    ----------
    holds : callable
        Whether a point (2,) is in the set.
    center : array, shape (2,)
        A point of the set.
    reach : float
        Half the side of the panel; what is unbounded is cut off well beyond it.

    Returns
    -------
    array, shape (m, 2)
        The first point once more at the end.
    """
    angles = np.linspace(0.0, 2.0 * np.pi, ANGLES, endpoint=False)
    edge = np.array([_end(holds, center, angle, reach) for angle in angles])
    found: list[Array] = []
    for k, point in enumerate(edge):
        found.append(point)
        before, after, later = edge[k - 1], edge[(k + 1) % ANGLES], edge[(k + 2) % ANGLES]
        meeting = _meeting(point, point - before, after, later - after)
        if meeting is not None:
            found.append(_end(holds, center, float(np.arctan2(*(meeting - center)[::-1])), reach))
    return np.array([*found, found[0]])


def _end(holds: Callable[[Array], bool], center: Array, angle: float, reach: float) -> Array:
    """The farthest point of the set in a direction, as far as the picture needs it."""
    ray = np.round([np.cos(angle), np.sin(angle)], 15)
    low, high = 0.0, BEYOND * reach
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(center + middle * ray) else (low, middle)
    end: Array = center + low * ray
    return end


def _meeting(start: Array, along: Array, end: Array, away: Array) -> Array | None:
    """Where start + s along meets end - t away, s, t > 0, if the two directions turn sharply."""
    sizes = float(np.linalg.norm(along) * np.linalg.norm(away))
    cross = float(along[0] * away[1] - along[1] * away[0])
    if not cross > np.sin(TURN * 4.0 * np.pi / ANGLES) * sizes:
        return None
    gap = end - start
    meeting: Array = start + along * (gap[0] * away[1] - gap[1] * away[0]) / cross
    return meeting

"""Means over seeds, with a one-sided confidence limit, at a few checkpoints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...numerics import Array

Z99 = 2.3263478740408408
"""The 99 % quantile of the normal distribution."""
CHECKPOINTS = 24


def checkpoints(length: int) -> Array:
    """Iterations 1 ... length - 1, thinned to a geometric grid, the last included."""
    if length < 2:
        return np.empty(0, dtype=int)
    grid = np.geomspace(1.0, length - 1.0, CHECKPOINTS)
    return np.unique(np.rint(grid).astype(int))


def upper_limit(samples: Sequence[Array], at: Array) -> Array:
    """The mean over the runs, plus 2.33 standard errors of it, at these iterations.

    The true mean lies below with 99 % confidence, so that a bound which holds for this holds for
    the expectation.
    """
    table = np.stack([each[at] for each in samples])
    spread = table.std(axis=0, ddof=1) if len(table) > 1 else np.zeros(len(at))
    return table.mean(axis=0) + Z99 * spread / np.sqrt(len(table))

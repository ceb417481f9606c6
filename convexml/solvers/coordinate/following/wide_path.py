"""Squares with l1 norms at one falling strength after another, for more columns than rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....numerics import Array
from ....penalties import Penalty
from ..support_factor import SupportFactor
from ..support_newton import minimise

TURNS = 20
"""Times that columns join at one strength, at most."""
STEP = 1.6
"""From one strength to the next, or to one between, at most: few columns join in vain."""
CROWD = 3000
"""Columns that are held at once, at most."""


class KnownColumns:
    """Columns of Z that were looked for once, and their Gram matrix.

    Attributes
    ----------
    index : array, shape (k,)
        Which columns, in the order in which they came.
    place : array, shape (d,)
        Where each column is among them; -1 for the others.
    """

    def __init__(self, Z: Array) -> None:
        self.Z, self.index = Z, np.zeros(0, dtype=int)
        self.place = np.full(Z.shape[1], -1)
        self._rows, self._gram = np.zeros((0, len(Z))), np.zeros((0, 0))

    def of(self, index: Array) -> tuple[Array, Array]:
        """(Z_A', Z_A'Z_A) for the columns A."""
        new = index[self.place[index] < 0]
        if new.size:
            first, size = self.index.size, self.index.size + new.size
            self.place[new] = np.arange(first, size)
            self.index = np.append(self.index, new)
            self._rows = np.vstack([self._rows, self.Z[:, new].T])
            gram = np.empty((size, size))
            gram[:first, :first] = self._gram
            gram[first:] = self._rows[first:] @ self._rows.T
            gram[:first, first:] = gram[first:, :first].T
            self._gram = gram
        at = self.place[index]
        return self._rows[at], self._gram[at].take(at, axis=1)


def follow_wide(
    Z: Array, target: Array, penalties: Sequence[Penalty], share: float, noise: Array
) -> Array:
    """Minima of |Z w - t|^2 / 2 + sum_j level_j |w_j| + (mu/2) |w|^2, one row for each penalty.

    Each starts on the columns that the slopes of the one before say may be nonzero (the sequential
    strong rule of Tibshirani et al., 2012, https://doi.org/10.1111/j.1467-9868.2011.01004.x); what
    violates its condition after that joins, until nothing does. Rows are nan from where that would
    be too many columns.

    Parameters
    ----------
    Z, target : arrays, shapes (n, d) and (n,)
    penalties : sequence of Penalty
        ``L1`` or ``ElasticNet`` of falling strength.
    share : float
        Of its level, what a condition may be missed by.
    noise : array, shape (d,)
        What rounding may leave of it.
    """
    d, known = Z.shape[1], KnownColumns(Z)
    found, w, slope = np.full((len(penalties), d), np.nan), np.zeros(d), -(target @ Z)
    above: Array | None = None
    for k, penalty in enumerate(penalties):
        blocks, mu = penalty.zero_blocks(d), penalty.strong_convexity
        assert blocks is not None  # of l1 norms there are
        own = blocks[1]
        if not own.all():
            return found
        above = np.full(d, np.max(np.abs(slope) / own)) * own if above is None else above
        far = max(float(np.max(above / own)), 1.0)
        count = max(1, int(np.ceil(np.log(far) / np.log(STEP))))
        for times in far ** (1.0 - np.arange(1, count + 1) / count):
            level = times * own
            room = share * level + noise
            joins = (w != 0.0) | (np.abs(slope) > 2.0 * level - np.maximum(above, level))
            for _ in range(TURNS):
                held = np.flatnonzero(joins)
                if held.size > CROWD:
                    return found
                rows, gram = known.of(held)
                x = w[held]
                ahead = gram @ x + mu * x - rows @ target
                x = minimise(gram, mu, ahead, x, level[held], room[held], SupportFactor())
                w = np.zeros(d)
                w[held] = x
                slope = (x @ rows - target) @ Z + mu * w
                missed = (np.abs(slope) > level + room) & ~joins
                if not missed.any():
                    break
                joins |= missed
            above = level
        found[k] = w
    return found

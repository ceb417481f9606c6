"""Steps on many rows and a norm: a sample shows which columns matter, all rows what they are."""

from __future__ import annotations

import numpy as np

from ...numerics import Array
from ...objective import Objective
from ..second_order.sampled_gram import centred
from .norms import Norms
from .support_factor import SupportFactor

ROWS = 8192
"""Whose columns are gathered at a time."""
NEAR = 0.8
"""Share of its level above which the slope of a column may reach it."""
ROUGH, EXACT = 1e-3, 1e-9
"""Share of what its start violates to which the model of a sample is minimised, and that of all."""
SAFE = 1e-3
"""Share of the squares of a column that its centre leaves where seven digits of them will do."""


class SampledSupport:
    """To the minimum of a model of min_b F(X w + b) plus norms plus mu |w|^2 / 2.

    The first step is on the sample. From the second on, when slopes of all rows are known, columns
    that stay at 0 are left out, and the others have the Gram matrix of all rows: then one step
    ends the search, if these are the right ones.
    """

    def __init__(self, objective: Objective, norms: Norms, mu: float) -> None:
        self.objective, self.norms, self.mu = objective, norms, mu
        self.index: Array | None = None
        self.gram = np.zeros((0, 0))

    def __call__(self, gram: Array, pull: Array, w: Array) -> Array:
        every, slope = np.arange(w.size), pull + self.mu * w
        if self.index is None:
            self.index = every[:0]
            return self._minimum(every, gram, slope, w, ROUGH)
        if self._outside(w, slope, 1.0).any():
            ahead = self._minimum(every, gram, slope, w, ROUGH)
            there = slope + gram @ (ahead - w) + self.mu * (ahead - w)
            wanted = np.flatnonzero((w != 0.0) | self._outside(ahead, there, NEAR))
            self.index = np.union1d(self.index, self.norms.whole(wanted))
            self.gram = gram_of(self.objective, self.index)
        found = w.copy()
        own = self.index, self.gram, slope[self.index], w[self.index]
        found[self.index] = self._minimum(*own, EXACT)
        return found

    def _outside(self, w: Array, slope: Array, share: float) -> Array:
        """The columns left out that are not 0, or whose slope is above this share of its level."""
        assert self.index is not None
        found = (w != 0.0) | (self.norms.sizes(slope) > share * self.norms.level)
        found[self.index] = False
        return found

    def _minimum(self, index: Array, gram: Array, slope: Array, w: Array, share: float) -> Array:
        norms = self.norms.at(index)
        tol = share * float(np.max(norms.distance(w, slope), initial=0.0))
        room = np.full(w.size, tol + np.finfo(float).tiny)
        return norms.minimise(gram, self.mu, slope, w, room, SupportFactor())


def gram_of(objective: Objective, index: Array) -> Array:
    """The matrix of min_b F(X w + b) on some columns, in single precision where that will do."""
    squares = SAFE * objective.column_sizes[index] ** 2
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        found = centred(_bordered(objective, index, np.float32), index.size)
    if np.isfinite(found).all() and (found.diagonal() >= squares).all():
        return found
    return centred(_bordered(objective, index, np.float64), index.size)


def _bordered(objective: Objective, index: Array, kind: type) -> Array:
    """[X, 1]'C [X, 1] for some columns of X, which are gathered a few rows at a time."""
    k = index.size
    total, root = np.zeros((k + 1, k + 1)), np.sqrt(objective.c)
    alike = bool((root == root[0]).all())
    room: Array = np.empty((k + 1, ROWS), dtype=kind)
    for some, rows in objective.design.row_blocks(ROWS):
        X = rows.constant
        part = room[:, : len(X)]
        part[k] = 1.0
        if X.flags.c_contiguous:
            part[:k] = X[:, index].T
        else:
            for row, j in zip(part, index, strict=False):
                row[:] = X[:, j]
        if not alike:
            part *= root[some]
        total += part @ part.T
    if alike:
        total *= objective.c[0]
    return total if objective.fit_intercept else total[:k, :k]

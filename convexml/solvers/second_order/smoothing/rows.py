"""What a Newton step on a smoothed loss asks of the rows: all of it in one pass over X."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....blocks import dear, rowwise
from ....design import Design, by_blocks, cached_rows, in_blocks
from ....numerics import Array
from ....objective import Objective
from ...box_dual import curvatures
from ..smoothed_loss import Smoothed

ROWS = 8192
"""Rows whose numbers stay in the cache from one elementwise step to the next."""


@dataclass(frozen=True)
class BandSums:
    """BandSums over the rows at predictions z, for bands of width omega.

    Attributes
    ----------
    matrix : array, shape (d + 1, d + 1)
        [X, 1]' diag(h) [X, 1] for the curvatures h of the smoothed loss.
    pulls : array, shape (d, 2)
        X'u for the slopes u of the smoothed loss at z, and for those that were expected of it.
    totals : array, shape (2,)
        1'u.
    loss : float
        F(z).
    terms : array, shape (2,)
        F(z) + F*(u) - u'z, not below 0.
    smoothed : array, shape (2,)
        The smoothed loss at z in these bands, and in those before.
    inside : float
        The samples in their bands.
    """

    matrix: Array
    pulls: Array
    totals: Array
    loss: float
    terms: Array
    smoothed: Array
    inside: float

    @classmethod
    def of(cls, flat: Array, d: int) -> BandSums:
        """From ``row_sums``."""
        square = (d + 1) ** 2
        matrix, pulls, rest = np.split(flat, [square, square + 2 * d])
        return cls(
            matrix.reshape(d + 1, d + 1),
            pulls.reshape(d, 2),
            rest[:2],
            float(rest[2]),
            rest[3:5],
            rest[5:7],
            float(rest[7]),
        )


@dataclass(frozen=True)
class BandedLoss:
    """How F is smoothed: about the middle of its box, in bands of width omega in z.

    Attributes
    ----------
    objective : Objective
        Whose F* is quadratic on a bounded box.
    """

    objective: Objective

    @property
    def _rows(self) -> tuple[Array, Array, Array, Array]:
        """What F* is made of, row by row; not to be kept, for it is much where rows are many."""
        objective = self.objective
        return objective.y, curvatures(objective), *objective.dual_bounds()

    @property
    def _epsilon(self) -> float:
        return float(getattr(self.objective.loss, "epsilon", 0.0))

    def sums(self, z: Array, omega: float, z0: Array, before: float) -> BandSums:
        """Those at z, after a step from z0 in bands of the width ``before``."""
        objective = self.objective
        losses = objective.c * objective.loss.value(objective.y, z)
        arguments: tuple[Any, ...] = (losses, *self._rows, self._epsilon, z, omega, z0, before)
        if in_blocks(objective.design):
            found = by_blocks(row_sums, objective.design, *arguments)
            return BandSums.of(found.executor.total(found.parts), objective.d)
        return BandSums.of(row_sums(objective.design, *arguments), objective.d)

    def slopes(self, z: Array, omega: float) -> Array:
        """The slopes of the smoothed loss at z."""
        found: Array = _slopes(*self._rows, z, epsilon=self._epsilon, omega=omega)
        return found

    def expected(self, z: Array, z0: Array, before: float) -> Array:
        """The slopes that its curvature at z0 lets expect at z."""
        found: Array = _expected(*self._rows, z, z0, epsilon=self._epsilon, omega=before)
        return found


def smoothed(y: Array, K: Array, lo: Array, hi: Array, epsilon: float, omega: float) -> Smoothed:
    """About the middle of the box, so that bands lie about the kinks."""
    return Smoothed(y, K, (lo, hi), epsilon, 0.5 * (lo + hi), omega)


def row_sums(
    design: Design,
    losses: Array,
    y: Array,
    K: Array,
    lo: Array,
    hi: Array,
    epsilon: float,
    z: Array,
    omega: float,
    z0: Array,
    before: float,
) -> Array:
    """The ``BandSums`` of some rows, one after the other."""
    n = len(z)
    h, slopes, sums = np.empty(n), np.empty((n, 2)), np.zeros(8)
    for start in range(0, n, ROWS):
        some = slice(start, start + ROWS)
        of_rows = tuple(each[some] for each in (losses, y, K, lo, hi, z, z0))
        h[some], slopes[some], more = _bands(of_rows, epsilon, omega, before)
        sums += more
    matrix, pulls = _products(design, h, slopes)
    return np.concatenate([matrix.ravel(), pulls.ravel(), sums])


def _bands(
    of_rows: tuple[Array, ...], epsilon: float, omega: float, before: float
) -> tuple[Array, Array, list[float]]:
    """Curvatures, both slopes, and what the samples alone add to the ``BandSums``."""
    losses, y, K, lo, hi, z, z0 = of_rows
    narrow, wide = (smoothed(y, K, lo, hi, epsilon, width) for width in (omega, before))
    u, inside = narrow.slope(z)
    v = wide.expected(z, z0)
    loss = float(losses.sum())
    terms = [loss + narrow.conjugate(each) - float(each @ z) for each in (u, v)]
    values = [_value(narrow, u, z), _value(wide, wide.slope(z)[0], z)]
    counts = float(np.count_nonzero(inside))
    sums = [float(u.sum()), float(v.sum()), loss, *terms, *values, counts]
    return np.where(inside, narrow.rate, 0.0), np.stack([u, v], axis=1), sums


def _products(design: Design, h: Array, slopes: Array) -> tuple[Array, Array]:
    """[X, 1]'diag(h) [X, 1] and X'u for two u, of rows that are brought to the cache once."""
    if design.is_sparse:
        return design.bordered_gram(h), design.rmatvec(slopes)
    d = design.shape[1]
    matrix, pulls = np.zeros((d + 1, d + 1)), np.zeros((d, 2))
    for some, rows in design.row_blocks(cached_rows(d)):
        matrix += rows.bordered_gram(h[some])
        pulls += rows.rmatvec(slopes[some])
    return matrix, pulls


def _value(smooth: Smoothed, u: Array, z: Array) -> float:
    """The smoothed loss at z, whose slopes there are u."""
    away = u - smooth.centre
    return float(u @ z) - smooth.conjugate(u) - 0.5 * float(smooth.D @ (away * away))


@rowwise
@dear
def _slopes(
    y: Array, K: Array, lo: Array, hi: Array, z: Array, *, epsilon: float, omega: float
) -> Array:
    return smoothed(y, K, lo, hi, epsilon, omega).slope(z)[0]


@rowwise
@dear
def _expected(
    y: Array, K: Array, lo: Array, hi: Array, z: Array, z0: Array, *, epsilon: float, omega: float
) -> Array:
    """As ``Smoothed.expected``."""
    return smoothed(y, K, lo, hi, epsilon, omega).expected(z, z0)

"""Sizes that the data suggest: of a coefficient, that a bound at 0 is measured by, of a product."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from ..design import BlockedDesign, Design, StackedDesign, unscaled
from ..losses import Loss
from ..numerics import LEAST_SQUARE, Array, gamma, lengths

ORDINARY = 1e100
"""Lengths up to here, times those of columns whose squares are finite, do not overflow."""


def coefficient_sizes(design: Design, y: Array, loss: Loss, centred: bool) -> Array:
    """Size of the predictions over that of each column, shape (d,): units move it along with w.

    Predictions have the size of the targets where the loss moves with them, else 1. With an
    intercept both sizes are measured about the means.
    """
    target = 1.0
    if loss.moves_with_y:
        middle = float(np.mean(y)) if centred else 0.0
        target = float(np.max(np.abs(y - middle), initial=0.0)) or float(np.max(np.abs(y))) or 1.0
    base = design.base if isinstance(design, StackedDesign) else design
    columns = _reach(base, centred)
    columns = np.where(columns > 0.0, columns, 1.0)
    return np.repeat(target / columns, design.shape[1] // columns.size)


def _reach(design: Design, centred: bool) -> Array:
    """The largest entry of each column, about its mean where it is dense and ``centred``, (d,)."""
    base, units = unscaled(design)
    if isinstance(base, BlockedDesign):
        low, high = base.extent
        centred, means = centred and not base.is_sparse, base.means
        middles = means if centred else np.zeros_like(means)
        found: Array = np.abs(units) * np.maximum(high - middles, middles - low)
        return found
    X = design.constant
    if sparse.issparse(X):
        return np.ravel(abs(X).max(axis=0).toarray())
    middles = X.mean(axis=0) if centred else np.zeros(X.shape[1])
    return np.maximum(X.max(axis=0) - middles, middles - X.min(axis=0))


def reach_of(norms: Array, x: Array) -> Array:
    """norms_j |x|_2, rounded up; norms (d,), of x (n, K) those of K columns for each feature."""
    up = 1.0 + gamma(len(x) + 17)
    if x.ndim == 1:
        square = float(np.vdot(x, x))
        if LEAST_SQUARE < square < ORDINARY**2 and np.vdot(norms, norms) < np.inf:
            return norms * (math.sqrt(square) * up)
    with np.errstate(invalid="ignore", over="ignore"):
        sizes = np.atleast_1d(lengths(x, 0))
        reach = (norms.reshape(-1, sizes.size) * sizes).ravel()
    return np.where(np.isnan(reach), np.inf, reach) * up

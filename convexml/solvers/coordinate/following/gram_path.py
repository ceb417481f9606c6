"""Squares with l1 and squared norms at one strength after another, on Gram matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg, sparse

from ....numerics import EPS, Array
from ....objective import Objective
from ....penalties import Penalty
from ..support_factor import SupportFactor
from ..support_newton import minimise

CLOSE = 1e-2
"""Of the relative gap that is asked for, the share of its level that a condition is met to."""


class Centred:
    """sum_i c_i (y_i - z_i)^2 / 2 with the best b, about the weighted means: Gram matrix and pull.

    Attributes
    ----------
    mean, level : array, float
        Weighted means of X and y; 0 without an intercept.
    gram, pull : arrays, shapes (d, d) and (d,)
        X'CX and X'Cy about them.
    """

    def __init__(self, objective: Objective) -> None:
        c, X, y = objective.c, objective.design.constant, objective.y
        self.mean, self.level = np.zeros(objective.d), 0.0
        if objective.fit_intercept:
            share = c / c.sum()
            self.mean, self.level = objective.design.rmatvec(share), float(share @ y)
        y = y - self.level
        if sparse.issparse(X):
            self.gram = objective.design.gram(c) - float(c.sum()) * np.outer(self.mean, self.mean)
            self.pull = objective.design.rmatvec(c * y) - self.mean * float(c @ y)
        else:
            X = X - self.mean
            half = X * np.sqrt(c)[:, None]
            self.gram, self.pull = half.T @ half, X.T @ (c * y)
        constant = self.gram.diagonal() <= EPS**1.5 * objective.column_norms**2 * float(c.max())
        self.gram[constant], self.gram[:, constant], self.pull[constant] = 0.0, 0.0, 0.0

    def intercepts(self, W: Array) -> Array:
        """The best b for each row of W."""
        found: Array = self.level - W @ self.mean
        return found


def follow_grid(
    objective: Objective, penalties: Sequence[Penalty], tol: float
) -> tuple[Array, Array]:
    """Minima (W, b), one row for each penalty: squares, or l1 and squares of falling strength.

    Parameters
    ----------
    objective : Objective
        Of the squared loss, and few columns.
    penalties : sequence of Penalty
        ``L2``, ``L1`` or ``ElasticNet``.
    tol : float
        A relative gap: conditions are met to a share of it.
    """
    centred = Centred(objective)
    if penalties[0].is_smooth:
        found = _squares(centred, [penalty.strong_convexity for penalty in penalties])
    else:
        noise = 4.0 * EPS * np.sqrt(float(objective.c @ objective.y**2)) * objective.column_sizes
        found = _norms(centred, penalties, CLOSE * tol, noise)
    return found, centred.intercepts(found)


def _squares(centred: Centred, strengths: Sequence[float]) -> Array:
    """(G + mu I)^-1 X'Cy for each mu, by one eigendecomposition and a step that undoes rounding."""
    values, vectors = linalg.eigh(centred.gram)
    mu = np.reshape(strengths, (-1, 1))
    curves = np.maximum(values, 0.0) + mu
    with np.errstate(divide="ignore", invalid="ignore"):
        W = (centred.pull @ vectors / curves) @ vectors.T
        left = centred.pull - W @ centred.gram - mu * W
        return W + (left @ vectors / curves) @ vectors.T


def _norms(centred: Centred, penalties: Sequence[Penalty], share: float, noise: Array) -> Array:
    """Minima with l1 norms, one from the other."""
    d, x, factor, mu = len(noise), np.zeros(len(noise)), SupportFactor(), np.nan
    found = np.zeros((len(penalties), d))
    for k, penalty in enumerate(penalties):
        blocks = penalty.zero_blocks(d)
        assert blocks is not None  # of l1 norms there are
        before, mu = mu, penalty.strong_convexity
        if mu != before:
            factor.forget()
        slope = centred.gram @ x + mu * x - centred.pull
        met = share * blocks[1] + noise
        found[k] = x = minimise(centred.gram, mu, slope, x, blocks[1], met, factor)
    return found

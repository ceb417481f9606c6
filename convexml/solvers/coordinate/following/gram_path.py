"""Squares with l1 or squared norms at one strength after another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg, sparse

from ....numerics import EPS, Array
from ....objective import Objective
from ....penalties import NonnegativeElasticNet, Penalty
from ..support_factor import SupportFactor, solve_positive
from ..support_newton import minimise
from .wide_path import follow_wide

CLOSE = 1e-2
"""Of the relative gap that is asked for, the share of its level that a condition is met to."""
EXCHANGES = 3
"""Of nonnegative coefficients, times their number: enough for supports found one by one."""
COLUMNS = 300
"""Up to so many columns their Gram matrix costs little beside what it saves."""


class Centred:
    """sum_i c_i (y_i - z_i)^2 / 2 with the best b, about the weighted means.

    Attributes
    ----------
    mean, level : array, float
        Weighted means of X and y; 0 without an intercept.
    """

    def __init__(self, objective: Objective) -> None:
        self.objective, self.root = objective, np.sqrt(objective.c)
        self.mean, self.level = np.zeros(objective.d), 0.0
        if objective.fit_intercept:
            share = objective.c / objective.c.sum()
            self.mean = objective.design.rmatvec(share)
            self.level = float(share @ objective.y)

    @property
    def target(self) -> Array:
        """C^1/2 y about the mean."""
        return self.root * (self.objective.y - self.level)

    def rows(self) -> Array:
        """C^1/2 X about the means, of a dense X."""
        return (self.objective.design.constant - self.mean) * self.root[:, None]

    def gram(self) -> tuple[Array, Array]:
        """X'CX and X'Cy about the means; 0 for constant columns."""
        objective = self.objective
        if sparse.issparse(objective.design.constant):
            c, means = objective.c, np.outer(self.mean, self.mean)
            gram = objective.design.gram(c) - float(c.sum()) * means
            side = self.root * self.target
            pull = objective.design.rmatvec(side) - self.mean * float(side.sum())
        else:
            half = self.rows()
            gram, pull = half.T @ half, half.T @ self.target
        largest = objective.column_norms**2 * float(objective.c.max())
        constant = gram.diagonal() <= EPS**1.5 * largest
        gram[constant], gram[:, constant], pull[constant] = 0.0, 0.0, 0.0
        return gram, pull

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
        Of the squared loss; of more than ``COLUMNS`` columns X is dense.
    penalties : sequence of Penalty
        ``L2``, ``L1``, ``ElasticNet``, or ``NonnegativeElasticNet`` of few columns.
    tol : float
        A relative gap: conditions are met to a share of it.
    """
    centred, few = Centred(objective), objective.d <= COLUMNS
    noise = 4.0 * EPS * float(np.linalg.norm(centred.target)) * objective.column_sizes
    if penalties[0].is_smooth:
        strengths = [penalty.strong_convexity for penalty in penalties]
        found = _squares(*centred.gram(), strengths) if few else _by_rows(centred, strengths)
    elif isinstance(penalties[0], NonnegativeElasticNet):
        found = _nonnegative(*centred.gram(), penalties, CLOSE * tol, noise)
    elif few:
        found = _norms(*centred.gram(), penalties, CLOSE * tol, noise)
    else:
        found = follow_wide(centred.rows(), centred.target, penalties, CLOSE * tol, noise)
    return found, centred.intercepts(found)


def _by_rows(centred: Centred, strengths: Sequence[float]) -> Array:
    """Z'(ZZ' + mu I)^-1 t for each mu, by one eigendecomposition of as many rows as Z has."""
    Z = centred.rows()
    values, vectors = linalg.eigh(Z @ Z.T)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = (centred.target @ vectors) / (
            np.maximum(values, 0.0) + np.reshape(strengths, (-1, 1))
        )
    found: Array = (shares @ vectors.T) @ Z
    return found


def _squares(gram: Array, pull: Array, strengths: Sequence[float]) -> Array:
    """(G + mu I)^-1 X'Cy for each mu, by one eigendecomposition and a step that undoes rounding."""
    values, vectors = linalg.eigh(gram)
    mu = np.reshape(strengths, (-1, 1))
    curves = np.maximum(values, 0.0) + mu
    with np.errstate(divide="ignore", invalid="ignore"):
        W = (pull @ vectors / curves) @ vectors.T
        left = pull - W @ gram - mu * W
        return W + (left @ vectors / curves) @ vectors.T


def _norms(
    gram: Array, pull: Array, penalties: Sequence[Penalty], share: float, noise: Array
) -> Array:
    """Minima with l1 norms, one from the other."""
    d, x, factor, mu = len(noise), np.zeros(len(noise)), SupportFactor(), np.nan
    found = np.zeros((len(penalties), d))
    for k, penalty in enumerate(penalties):
        blocks = penalty.zero_blocks(d)
        assert blocks is not None  # of l1 norms there are
        before, mu = mu, penalty.strong_convexity
        if mu != before:
            factor.forget()
        slope = gram @ x + mu * x - pull
        met = share * blocks[1] + noise
        found[k] = x = minimise(gram, mu, slope, x, blocks[1], met, factor)
    return found


def _nonnegative(
    gram: Array, pull: Array, penalties: Sequence[Penalty], share: float, noise: Array
) -> Array:
    """Minima over w >= 0, one from the other."""
    x, found = np.zeros(len(noise)), np.zeros((len(penalties), len(noise)))
    for k, penalty in enumerate(penalties):
        mu, l1 = penalty.strong_convexity, penalty.hyperparameters()["l1"]
        found[k] = x = _least_nonnegative(gram, mu, pull - l1, x, share * l1 + noise)
    return found


def _least_nonnegative(gram: Array, mu: float, pull: Array, x: Array, met: Array) -> Array:
    """Minimise x'(G + mu I)x / 2 - pull'x over x >= 0, from a feasible x.

    The active set method of Lawson and Hanson (1974, Solving Least Squares Problems, 23.3).
    """
    support = x > 0.0
    for _ in range(EXCHANGES * len(x) + 1):
        S = np.flatnonzero(support)
        best = np.zeros_like(x)
        found = solve_positive(gram[np.ix_(S, S)] + mu * np.eye(S.size), pull[S])[0]
        if found is None:
            return x
        best[S] = found
        below = S[~(found > 0.0)]
        if below.size:
            steps = x[below] / (x[below] - best[below])
            x = np.where(support, x + np.min(steps) * (best - x), 0.0)
            support[below[steps == np.min(steps)]] = False
            x = np.where(support, np.maximum(x, 0.0), 0.0)
            continue
        x = best
        slope = gram @ x + mu * x - pull
        j = int(np.argmin(np.where(support, np.inf, slope + met)))
        if support[j] or slope[j] >= -met[j]:
            break
        support[j] = True
    return x

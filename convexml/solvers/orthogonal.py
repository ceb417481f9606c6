"""Least squares by orthogonal factors of X itself, whose condition is not squared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from scipy import linalg

from ..certificates.algebra.sums import exact_pair
from ..numerics import EPS, Array, two_product, two_sum
from ..problem import Objective
from .composite import means
from .driver import Iterate

Solved = Iterator[tuple[Array, float, Array | None]]
"""(w, b) and, where it is known better than from them, u."""
CANDIDATES = 4
"""How many points there may be."""
ROUNDS, REFINED = 3, 1_000_000
"""Of refinement, each of which leaves a share of condition times eps of the error; and entries up
to which there is any."""


def shown(
    objective: Objective, w: Array, b: float, solved: Solved, candidate: int | None
) -> Iterator[Iterate]:
    """The start, and the points that were solved for, or one of them."""
    yield Iterate(w, b, None, 1.0, promise=np.inf)
    passes = 1.0
    for k, (point, shift, u) in enumerate(solved):
        passes += objective.d
        if candidate in (None, k):
            yield Iterate(point, shift, u, passes, promise=0.0)


class WeightedRows(NamedTuple):
    """P = sum_i c_i (t_i - a_i.x)^2 / 2, the rows of the penalty below those of the samples."""

    A: Array
    t: Array
    c: Array

    @property
    def root(self) -> Array:
        """sqrt(c_i); ones where all are equal, so that rows stay as they are."""
        return np.ones(len(self.c)) if np.ptp(self.c) == 0.0 else np.sqrt(self.c)

    def scaled(self) -> tuple[Array, Array]:
        """The rows and sides times sqrt(c_i)."""
        return self.root[:, None] * self.A, self.root * self.t


def rows_of(
    objective: Objective, weights: Array | None = None, centred: bool = False
) -> WeightedRows:
    """X, with a column of ones or centred where there is an intercept, and Lam_j for w_j = 0.

    With ``weights`` in place of the c_i all is in units of their ratio.
    """
    c, t, A = objective.c, objective.y, objective.design.dense()
    c = c if weights is None else weights
    if objective.fit_intercept:
        mean, middle = means(objective)
        A = A - mean if centred else np.column_stack([A, np.ones(objective.n)])
        t = t - middle if centred else t
    level = objective.penalty.gradient(np.ones(objective.d)) * (c[0] / objective.c[0])
    if not np.any(level):
        return WeightedRows(A, t, c)
    below = np.eye(objective.d, A.shape[1])
    return WeightedRows(
        np.vstack([A, below]), np.append(t, np.zeros(objective.d)), np.append(c, level)
    )


def refined(rows: WeightedRows, Q: Array, R: Array, order: Array, x: Array) -> tuple[Array, Array]:
    """X and r after steps for (x, r) of r + A x = t, A'C r = 0, whose residuals are exact.

    With Q R = sqrt(C) A, f = t - r - A x and g = -A'C r: h = R^-T g, dx = R^-1 (Q'sqrt(C) f - h)
    and sqrt(C) dr = sqrt(C) f - Q (Q'sqrt(C) f - h).
    """
    root, place = rows.root, np.argsort(order)
    c = root if np.all(root == 1.0) else rows.c
    r = rows.t - rows.A @ x
    for k in range(ROUNDS):
        value, rest = exact_pair(rows.A, x, rows.t)
        total, error = two_sum(value, r)
        f = -(total + (error + rest))
        high, low = two_product(c, r)
        g = -(exact_pair(rows.A.T, high)[0] + rows.A.T @ low)
        h = linalg.solve_triangular(R, g[order], trans="T", check_finite=False)
        along = Q.T @ (root * f) - h
        dx = linalg.solve_triangular(R, along, check_finite=False)[place]
        x = x + dx if k < ROUNDS - 1 else rounded(R, order, x, dx)
        r = r + (f - (Q @ along) / root)
    return x, r


def rounded(R: Array, order: Array, x: Array, dx: Array) -> Array:
    """Floats near x + dx whose image under R is as near: each makes good the rounding of the last.

    From the last pivot to the first, x_j is rounded after R_jk / R_jj of what each x_k, k > j, was
    rounded by is added: Babai's nearest plane, 1986, https://doi.org/10.1007/BF02579403.
    """
    old, step, new = x[order], dx[order], x[order]
    for j in reversed(range(len(x))):
        lost = (old[j + 1 :] - new[j + 1 :]) + step[j + 1 :]
        new[j] = old[j] + (step[j] + float(R[j, j + 1 :] @ lost) / R[j, j])
    return new[np.argsort(order)]


def least(objective: Objective) -> Solved:
    """The least |w| of those with the least residual, b being at its best."""
    mean, middle = means(objective)
    A, t = rows_of(objective, centred=True).scaled()
    with suppress(linalg.LinAlgError):
        cut = max(A.shape) * EPS
        w = linalg.lstsq(A, t, cond=cut, lapack_driver="gelsy", check_finite=False)[0]
        yield w, middle - float(mean @ w), None


def split(
    objective: Objective, x: Array, r: Array | None = None
) -> tuple[Array, float, Array | None]:
    """(w, b) of x, and u_i = -c_i r_i of the samples."""
    u = None if r is None else -objective.c * r[: objective.n]
    return (x[:-1], float(x[-1]), u) if objective.fit_intercept else (x, 0.0, u)


# Least squares by Householder's factors of X.


def qr(
    objective: Objective,
    w: Array,
    b: float,
    *,
    candidate: int | None = None,
    weights: Array | None = None,
) -> Iterator[Iterate]:
    """Minimise sum_i c_i (y_i - z_i)^2 / 2 + w'Lam w / 2 by Householder's factors Q R.

    The rows are sqrt(c_i) (x_i, 1), and sqrt(Lam) below them. Columns are pivoted; where R says
    that they depend on each other up to rounding, the answer has the least |w| of those with the
    least residual (a complete orthogonal factorisation of the centred columns, LAPACK's gelsy).
    Else the candidates are R^-1 Q't, the same refined with exact residuals (Bjorck, 1967,
    https://doi.org/10.1007/BF01939321), and that of factors without pivots. Golub and Van Loan,
    *Matrix Computations*, sections 5.2 to 5.5. Where they differ by rounding alone, the one with
    the least P need not be the one with the least gap: ``candidate`` = 0, 1, ... shows one alone,
    also those of enormous weights that dependent columns have. ``weights`` are proportional to the
    c_i, as they were passed: rows are then scaled by their roots, as in other software.
    """
    solved = _by_qr(objective, weights, candidate is not None)
    yield from shown(objective, w, b, solved, candidate)


def _by_qr(objective: Objective, weights: Array | None, all_of_them: bool) -> Solved:
    rows = rows_of(objective, weights)
    A, t = rows.scaled()
    with suppress(linalg.LinAlgError):
        Q, R, order = linalg.qr(A, mode="economic", pivoting=True, check_finite=False)
        sizes = np.abs(np.diag(R))
        if A.shape[0] < A.shape[1] or np.min(sizes) <= max(A.shape) * EPS * np.max(sizes):
            yield from least(objective)
            if not all_of_them:
                return
        if A.shape[0] >= A.shape[1] and np.all(sizes > 0.0):
            place = np.argsort(order)
            first = linalg.solve_triangular(R, Q.T @ t, check_finite=False)[place]
            yield split(objective, first)
            if A.size <= REFINED:
                yield split(objective, *refined(rows, Q, R, order, first))
            Q, R = np.linalg.qr(A)
            yield split(objective, linalg.solve_triangular(R, Q.T @ t, check_finite=False))

"""Least squares by Householder's factors of X."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
from scipy import linalg

from ...numerics import EPS, Array
from ...objective import Objective
from ..driver import Iterate
from .orthogonal import REFINED, Solved, least, refined, rows_of, shown, split


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
            yield from least(objective, "gelsy")
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

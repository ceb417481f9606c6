"""Least squares by the singular values of X."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from ...numerics import EPS, Array
from ...objective import Objective
from ..driver import Iterate
from .orthogonal import Solved, least, rows_of, shown, split


def svd(
    objective: Objective,
    w: Array,
    b: float,
    *,
    candidate: int | None = None,
    weights: Array | None = None,
) -> Iterator[Iterate]:
    """Minimise the same by singular values, which are cut off at max(n, d) eps or not at all.

    The candidates, in this order: the pseudo-inverse of the centred columns with singular values
    below max(n, d) eps of the largest left out, so that |w| is least; LAPACK's gelsd on the rows
    sqrt(c_i) (x_i, 1) with the same cut, as ``numpy.linalg.lstsq``; and without a cut, where that
    leaves out nothing. ``candidate`` and ``weights`` as for ``qr``.
    """
    solved = _by_svd(objective, weights, candidate is not None)
    yield from shown(objective, w, b, solved, candidate)


def _by_svd(objective: Objective, weights: Array | None, all_of_them: bool) -> Solved:
    yield from least(objective, "gelsd")
    A, t = rows_of(objective, weights).scaled()
    with suppress(np.linalg.LinAlgError):
        yield split(objective, np.linalg.lstsq(A, t, rcond=None)[0])
        U, s, V = np.linalg.svd(A, full_matrices=False)
        if all_of_them or np.min(s) > max(A.shape) * EPS * np.max(s):
            yield split(objective, V.T @ ((U.T @ t) / np.where(s > 0.0, s, np.inf)))

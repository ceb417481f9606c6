"""How far a symmetric matrix can be from positive semidefinite, proved."""

from __future__ import annotations

import numpy as np

from ...numerics import EPS, UNIT, Array
from .definite import eigenvalue_bound

TRIALS = 12
"""Shifts, each four times the last, until a Cholesky runs to its end."""


def semidefinite_within(M: Array, values: Array | None = None) -> float:
    """A t >= 0 with M + t I positive semidefinite, proved by a Cholesky; inf where none is.

    The entries of the symmetric M are taken as exact; ``values`` are about its eigenvalues, the
    smallest first. Where M is semidefinite t is a few times the rounding of its trace.
    """
    d = len(M)
    if not np.all(np.isfinite(M)):
        return np.inf
    largest = float(np.max(np.abs(M), initial=0.0))
    if largest == 0.0:
        return 0.0
    values = np.linalg.eigvalsh(M) if values is None else values
    shift = max(0.0, -float(values[0])) * (1.0 + 4.0 * EPS)
    more = 2.0 * EPS * (d + 2) * max(float(np.abs(values).max()), largest)
    for _ in range(TRIALS):
        total = shift + more
        lower = eigenvalue_bound(M + total * np.eye(d))
        if lower > -np.inf:
            rounded = UNIT * (largest + total)  # of each entry of the diagonal
            return (total - lower + rounded) * (1.0 + 8.0 * EPS)
        more *= 4.0
    return np.inf

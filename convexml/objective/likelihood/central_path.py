"""The central path of the dual: log det W on the box |W_ij - S_ij| <= L_ij, from its inside.

    maximise t log det W + sum_{i < j} [log(L_ij - U_ij) + log(L_ij + U_ij)],  W = S + U, U_jj = 0

by Newton's method for a growing t; Theta = W^-1 is then within d (d - 1) / t of the least value.
It minds neither how badly S is conditioned nor which entries of Theta will be 0, and tells these
only in the limit: a start for steps that do (Boyd and Vandenberghe, section 11.3).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import linalg

from ...numerics import Array

GROWTH = 10.0
CENTRED = 0.1
"""Half the squared Newton decrement at which t grows."""
STEPS = 200
PRODUCTS = 400
INSIDE = 0.99
"""Of the way to the walls of the box that a step may take."""


def central_path(S: Array, L: Array, gap: float) -> Iterator[tuple[Array, Array]]:
    """Theta and W step by step, the last within about ``gap`` of the least value.

    Parameters
    ----------
    S, L : array, shape (d, d)
        A covariance with a positive diagonal, and penalties > 0 off the diagonal.
    gap : float
    """
    d = len(S)
    off = ~np.eye(d, dtype=bool)
    largest = float(np.max(np.abs(S[off]) / L[off]))
    U = np.where(off, -min(0.9 / max(largest, 1e-300), 0.9) * S, 0.0)  # then W > 0
    t, last = 1.0, 2.0 * d * d / gap
    for _ in range(STEPS):
        Theta = _inverse(S + U)
        yield Theta, S + U
        low, high = np.where(off, L + U, 1.0), np.where(off, L - U, 1.0)
        gradient = np.where(off, t * Theta + 0.5 / low - 0.5 / high, 0.0)
        bend = np.where(off, 0.5 / low**2 + 0.5 / high**2, 0.0)
        D, decrement = _newton(Theta, gradient, bend, t, off)
        walls = np.where(D > 0.0, high, low)[off] / np.maximum(np.abs(D[off]), 1e-300)
        length = min(1.0, INSIDE * float(np.min(walls)))
        moved = _searched(S, U, L, D, t, length, off)
        if moved is not None:
            U = moved
        if moved is None or decrement < CENTRED:
            if t >= last or moved is None:
                break
            t = min(GROWTH * t, last)
    yield _inverse(S + U), S + U


def _newton(
    Theta: Array, gradient: Array, bend: Array, t: float, off: Array
) -> tuple[Array, float]:
    """Solve t Theta D Theta + bend D = gradient on the entries off the diagonal, about."""
    diagonal = np.diag(Theta)
    scale = np.where(off, 1.0 / (t * (np.outer(diagonal, diagonal) + Theta**2) + bend), 0.0)
    D, r = np.zeros_like(Theta), gradient
    z = scale * r
    p, rz = z, float(np.sum(r * z))
    enough = 1e-6 * rz
    for _ in range(PRODUCTS):
        if not rz > enough:
            break
        product = np.where(off, t * (Theta @ p @ Theta) + bend * p, 0.0)
        bent = float(np.sum(p * product))
        if not bent > 0.0:
            break
        D = D + (rz / bent) * p
        r = r - (rz / bent) * product
        z = scale * r
        old, rz = rz, float(np.sum(r * z))
        p = z + (rz / old) * p
    D = 0.5 * (D + D.T)
    return D, float(np.sum(gradient * D))


def _searched(
    S: Array, U: Array, L: Array, D: Array, t: float, length: float, off: Array
) -> Array | None:
    """The longest step, of its halves, that raises the barrier's value; None if there is none."""
    value = _value(S, U, L, t, off)
    for _ in range(40):
        trial = U + length * D
        if _value(S, trial, L, t, off) > value:
            return trial
        length *= 0.5
    return None


def _value(S: Array, U: Array, L: Array, t: float, off: Array) -> float:
    try:
        diagonal = np.diag(linalg.cholesky(S + U, lower=True, check_finite=False))
    except linalg.LinAlgError:
        return -np.inf
    room = (L**2 - U**2)[off]
    if not np.all(room > 0.0):
        return -np.inf
    return float(2.0 * t * np.sum(np.log(diagonal)) + 0.5 * np.sum(np.log(room)))


def _inverse(M: Array) -> Array:
    factor = linalg.cho_factor(M, lower=True, check_finite=False)
    found = linalg.cho_solve(factor, np.eye(len(M)), check_finite=False)
    return 0.5 * (found + found.T)

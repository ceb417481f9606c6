"""Peng and Wei's relaxation of k-means: <C, Z>, Z 1 = 1, tr Z = k, Z >= 0, Z semidefinite.

Two sets share the constraints: A, where Z 1 = 1, tr Z = k and Z is semidefinite, on which
eigenvectors project, and the nonnegative matrices. ADMM goes between them (Boyd et al., 2011,
https://doi.org/10.1561/2200000016), and its scaled prices are a guess of the multipliers N >= 0.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...numerics import Array

RELAXED = 1.6
"""Over-relaxation of the steps."""
SHARE = 0.3
"""Of n times the mean cost of a pair: the weight rho that the steps start with."""
BALANCE, CHANGE = 5.0, 1.5
"""Residuals further apart than the first make rho change by the second, ..."""
EVERY, SETTLE = 10, 500
"""... at every tenth of the first steps; it is constant after them, so that they converge."""


def splitting_steps(C: Array, k: int) -> Iterator[tuple[Array, Array]]:
    """Z in A, almost nonnegative, and N >= 0, step by step.

    Parameters
    ----------
    C : array, shape (n, n)
        Half the squared distances.
    k : int
    """
    n = len(C)
    rho = SHARE * n * float(C.mean()) or 1.0
    Y, U, step = mixed(n, k), np.zeros_like(C), 0
    while True:
        step += 1
        Z = averaging(Y - U - C / rho, k)
        near = RELAXED * Z + (1.0 - RELAXED) * Y
        before, Y = Y, np.maximum(near + U, 0.0)
        U = U + near - Y
        yield Z, np.maximum(-rho * U, 0.0)
        if step % EVERY == 0 and step <= SETTLE:
            primal, dual = np.linalg.norm(Z - Y), np.linalg.norm(Y - before)
            change = CHANGE ** (int(primal > BALANCE * dual) - int(dual > BALANCE * primal))
            rho, U = rho * change, U / change


def averaging(W: Array, k: int) -> Array:
    """The nearest Z with Z 1 = 1, tr Z = k, Z semidefinite: 11'/n and k - 1 beside it."""
    n = len(W)
    values, V = np.linalg.eigh(centred(0.5 * (W + W.T)))
    kept = on_simplex(values, k - 1.0)
    used = kept > 0.0
    Z: Array = (V[:, used] * kept[used]) @ V[:, used].T
    return centred(0.5 * (Z + Z.T)) + 1.0 / n


def centred(M: Array) -> Array:
    """J M J, J = I - 11'/n, for a symmetric M."""
    means = M.mean(axis=1)
    found: Array = M - means[:, None] - means + means.mean()
    return 0.5 * (found + found.T)


def on_simplex(values: Array, total: float) -> Array:
    """The nearest nonnegative vector with this sum (Held, Wolfe and Crowder, 1974)."""
    if not total > 0.0:
        return np.zeros_like(values)
    falling = np.sort(values)[::-1]
    levels = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    at = np.flatnonzero(falling > levels)
    return np.maximum(values - levels[at[-1] if at.size else 0], 0.0)


def mixed(n: int, k: int) -> Array:
    """(1 - b) I + b 11'/n of trace k: in A, with entries b / n > 0 off the diagonal if k < n."""
    b = (n - k) / (n - 1) if n > 1 else 0.0
    return (1.0 - b) * np.eye(n) + b / n


def nonnegative(Z: Array, k: int) -> Array:
    """Z of A moved towards ``mixed`` until no entry is negative."""
    below, middle = max(-float(Z.min()), 0.0), mixed(len(Z), k)
    if below == 0.0:
        return Z
    room = float(middle.min())
    share = below / (below + room)
    return np.maximum((1.0 - share) * Z + share * middle, 0.0)

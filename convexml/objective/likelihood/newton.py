"""Newton steps for -log det Theta + tr(S Theta) + sum_{i != j} L_ij |Theta_ij|.

W = Theta^-1 is what the second derivative D -> W D W needs. At each step the signs of the entries
off the diagonal are fixed: those of Theta, and where it is 0 those against the slope S - W if it
exceeds L; the others stay 0. In the orthant of these signs the objective is smooth. Conjugate
gradients minimise its quadratic model, and the step is taken as far as it lowers, entries that
change their sign set to 0 (Olsen, Oztoprak, Nocedal and Rennie, 2012, "Newton-like methods for
sparse inverse covariance estimation"). Without a penalty Theta = S^-1.

Where S is near singular the signs change for hundreds of steps; then the central path of the dual,
which knows no signs, comes near, and these steps finish.

Features that no |S_ij| > L_ij connects are independent in the solution (Witten, Friedman and Simon,
2011, https://doi.org/10.1198/jcgs.2011.11051a), so that their entries stay 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from scipy import linalg, sparse

from ...numerics import EPS, Array
from .central_path import central_path

DECREASE = 1e-3
"""Of the expected decrease: what a step must bring."""
SHORTEST = 2.0**-30
FORCING = 0.1
"""Of the slope: what conjugate gradients leave, at most."""
PRODUCTS = 200
PATIENCE = 15
"""Steps from the diagonal; S that is near singular may take hundreds."""
NEAR = 1e-7
"""Gap for a feature at which the central path is left."""
WALL = 0.9
"""Entries of Theta where W is further inside its box are 0 at the end of the path, about."""
MOST = 100
FLOOR = 64.0
"""Of the roundings of an eigenvalue: so large are all for an inverse that is positive definite."""


Step = tuple[Array, Array, float]
"""Theta, Theta^-1, and what the last step has lowered the objective by."""


def precision_steps(S: Array, L: Array) -> Iterator[Step]:
    """Step by step, until no step lowers the objective; past ``PATIENCE`` by the central path.

    Parameters
    ----------
    S, L : array, shape (d, d)
        A covariance with a positive diagonal, and penalties: all > 0, or all 0. Those of the
        diagonal do not count.

    Raises
    ------
    numpy.linalg.LinAlgError
        Where a variance is 0.
    """
    if not np.all(np.diag(S) > 0.0):
        raise np.linalg.LinAlgError("a variance is 0")
    units = np.exp2(-np.rint(0.5 * np.log2(np.diag(S))))
    both = np.outer(units, units)
    S, L = both * S, both * L
    np.fill_diagonal(L, 0.0)
    if not np.any(L):
        yield both * _regular_inverse(S), S / both, 0.0
        return
    Theta = np.diag(1.0 / np.diag(S))
    joined = _connected(S, L)
    for found, W, lowered in islice(_steps(S, L, Theta, joined), PATIENCE):
        yield both * found, W / both, lowered
    for Theta, V in central_path(S, L, NEAR * len(S)):
        yield both * Theta, V / both, np.inf
    end = both * Theta, V / both, 0.0
    at_wall = joined & ((np.abs(V - S) > WALL * L) | np.eye(len(S), dtype=bool))
    start = np.where(at_wall, Theta, 0.0)
    start = start if np.isfinite(_value(S, L, start)) else Theta
    for found, W, lowered in islice(_steps(S, L, start, joined), MOST):
        yield both * found, W / both, lowered
    yield end


def _connected(S: Array, L: Array) -> Array:
    """Pairs of features of one component of the graph |S_ij| > L_ij."""
    _, label = sparse.csgraph.connected_components(sparse.csr_array(np.abs(S) > L))
    return label[:, None] == label


def _steps(S: Array, L: Array, Theta: Array, joined: Array) -> Iterator[Step]:
    value, lowered = _value(S, L, Theta), np.inf
    while True:
        W = _inverse(Theta)
        yield Theta, W, lowered
        slope = S - W
        sign = np.where(Theta != 0.0, np.sign(Theta), -np.sign(slope))
        np.fill_diagonal(sign, 0.0)
        free = ((Theta != 0.0) | (np.abs(slope) > L)) & joined
        gradient = np.where(free, slope + L * sign, 0.0)
        for step in (_newton_step(W, gradient, free), -gradient / _curvature(W)):
            moved = _searched(S, L, Theta, value, gradient, step, sign)
            if moved is not None:
                break
        else:
            return
        lowered = value - moved[1]
        Theta, value = moved


def _newton_step(W: Array, gradient: Array, free: Array) -> Array:
    """Minimise <gradient, D> + tr(W D W D) / 2 over D on the free entries, about."""
    D, r = np.zeros_like(W), -gradient
    scale = 1.0 / _curvature(W)
    z = scale * r
    p, rz = z, float(np.sum(r * z))
    enough = min(FORCING, np.sqrt(max(rz, 0.0))) ** 2 * rz
    for _ in range(PRODUCTS):
        if not rz > max(enough, 0.0):
            break
        product = np.where(free, W @ p @ W, 0.0)
        bent = float(np.sum(p * product))
        if not bent > 0.0:
            break
        D = D + (rz / bent) * p
        r = r - (rz / bent) * product
        z = scale * r
        old, rz = rz, float(np.sum(r * z))
        p = z + (rz / old) * p
    return 0.5 * (D + D.T)


def _curvature(W: Array) -> Array:
    """The diagonal of D -> W D W, for symmetric D."""
    diagonal = np.diag(W)
    found = np.outer(diagonal, diagonal) + W * W
    np.fill_diagonal(found, diagonal**2)
    return found


def _searched(
    S: Array, L: Array, Theta: Array, value: float, gradient: Array, step: Array, sign: Array
) -> tuple[Array, float] | None:
    """The longest step, of its halves, that lowers the objective enough; None if there is none."""
    length = 1.0
    while length >= SHORTEST:
        trial = Theta + length * step
        trial = np.where((sign != 0.0) & (trial * sign < 0.0), 0.0, trial)
        expected = float(np.sum(gradient * (trial - Theta)))
        if expected < 0.0:
            reached = _value(S, L, trial)
            if reached < value and reached <= value + DECREASE * expected:
                return trial, reached
        length *= 0.5
    return None


def _value(S: Array, L: Array, Theta: Array) -> float:
    """The objective; inf where Theta is not positive definite."""
    try:
        diagonal = np.diag(linalg.cholesky(Theta, lower=True, check_finite=False))
    except linalg.LinAlgError:
        return np.inf
    return float(np.sum(S * Theta) + np.sum(L * np.abs(Theta)) - 2.0 * np.sum(np.log(diagonal)))


def _regular_inverse(S: Array) -> Array:
    """S^-1, with eigenvalues that are 0 up to rounding taken for as large as that."""
    try:
        return _inverse(S)
    except linalg.LinAlgError:
        values, V = linalg.eigh(S)
        found = (V / np.maximum(values, FLOOR * len(S) * EPS * values[-1])) @ V.T
        return 0.5 * (found + found.T)


def _inverse(M: Array) -> Array:
    """The inverse of a positive definite matrix, symmetric."""
    factor = linalg.cho_factor(M, lower=True)
    found = linalg.cho_solve(factor, np.eye(len(M)))
    return 0.5 * (found + found.T)

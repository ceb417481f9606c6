"""Gaussian likelihoods: moments of samples, Newton steps for an inverse covariance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from scipy import linalg, sparse

from ..numerics import EPS, Array, gamma

# Mean and covariance of weighted samples, and what rounding may have done to them.


@dataclass(frozen=True)
class Moments:
    """A covariance as computed, symmetric; the exact one is within ``noise``, entry by entry.

    Attributes
    ----------
    mean : array, shape (d,)
        The centre, rounded.
    S, noise : array, shape (d, d)
    """

    mean: Array
    S: Array
    noise: Array

    @property
    def d(self) -> int:
        """The number of features."""
        return len(self.S)


def moments(X: Array, weights: Array, centre: bool = True) -> Moments:
    """Sum_i c_i (x_i - m)(x_i - m)' with c = weights / sum(weights), m the weighted mean or 0.

    With any m, this is the same sum about m less e e', e = sum_i c_i (x_i - m): what rounding has
    done to m is taken back. Sums are taken over blocks of about sqrt(n) rows, whose roundings do
    not add up.
    """
    n, d = X.shape
    c = weights / math.fsum(weights.tolist())
    mean, e, off, R = np.zeros(d), np.zeros(d), np.zeros(d), X
    if centre:
        mean = c @ X
        mean = mean + c @ (X - mean)
        R = X - mean
        e, off = c @ R, gamma(n + 8) * (c @ np.abs(R))
    size = max(1, int(np.sqrt(n)))
    S, sizes = np.zeros((d, d)), np.zeros((d, d))
    for start in range(0, n, size):
        block, share = R[start : start + size], c[start : start + size, None]
        S += (share * block).T @ block
        sizes += (share * np.abs(block)).T @ np.abs(block)
    terms = size + -(-n // size) + 16
    S, far = S - np.outer(e, e), np.abs(e) + off
    noise = gamma(terms) * (sizes + np.outer(far, far)) + np.outer(far, off) + np.outer(off, far)
    return Moments(mean, 0.5 * (S + S.T), noise * (1.0 + gamma(terms + 8)))


def pooled(shares: Array, found: Sequence[Moments]) -> Moments:
    """Sum_k share_k S_k, about the means of the groups; its own centre is 0."""
    S, noise = np.zeros_like(found[0].S), np.zeros_like(found[0].S)
    for share, each in zip(shares, found, strict=True):
        S = S + share * each.S
        noise = noise + share * (each.noise + gamma(len(found) + 8) * np.abs(each.S))
    return Moments(np.zeros(len(S)), S, noise * (1.0 + gamma(len(found) + 8)))


# The central path of the dual: log det W on the box |W_ij - S_ij| <= L_ij, from its inside.
#
#     maximise t log det W + sum_{i < j} [log(L_ij - U_ij) + log(L_ij + U_ij)],  W = S + U, U_jj = 0
#
# by Newton's method for a growing t; Theta = W^-1 is then within d (d - 1) / t of the least value.
# It minds neither how badly S is conditioned nor which entries of Theta will be 0, and tells these
# only in the limit: a start for steps that do (Boyd and Vandenberghe, section 11.3).


GROWTH = 10.0
CENTRED = 0.1
"""Half the squared Newton decrement at which t grows."""
STEPS = 200
CENTRAL_PATH_PRODUCTS = 400
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
        moved = _climbed(S, U, L, D, t, length, off)
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

    def product(p: Array) -> Array:
        return np.where(off, t * (Theta @ p @ Theta) + bend * p, 0.0)

    D = _about_solved(product, gradient, scale, CENTRAL_PATH_PRODUCTS, lambda rz: 1e-6 * rz)
    return D, float(np.sum(gradient * D))


def _about_solved(
    product: Callable[[Array], Array],
    r: Array,
    scale: Array,
    steps: int,
    enough: Callable[[float], float],
) -> Array:
    """The symmetric D whose product is r, by conjugate gradients until <r, scale r> is enough."""
    z = scale * r
    D, p, rz = np.zeros_like(r), z, float(np.sum(r * z))
    least = max(enough(rz), 0.0)
    for _ in range(steps):
        if not rz > least:
            break
        moved = product(p)
        bent = float(np.sum(p * moved))
        if not bent > 0.0:
            break
        D = D + (rz / bent) * p
        r = r - (rz / bent) * moved
        z = scale * r
        old, rz = rz, float(np.sum(r * z))
        p = z + (rz / old) * p
    return 0.5 * (D + D.T)


def _climbed(
    S: Array, U: Array, L: Array, D: Array, t: float, length: float, off: Array
) -> Array | None:
    """The longest step, of its halves, that raises the barrier's value; None if there is none."""
    value = _barrier(S, U, L, t, off)
    for _ in range(40):
        trial = U + length * D
        if _barrier(S, trial, L, t, off) > value:
            return trial
        length *= 0.5
    return None


def _barrier(S: Array, U: Array, L: Array, t: float, off: Array) -> float:
    room = (L**2 - U**2)[off]
    if not np.all(room > 0.0):
        return -np.inf
    return t * _log_det(S + U) + 0.5 * float(np.sum(np.log(room)))


def _log_det(M: Array) -> float:
    """log det M; -inf where M is not positive definite."""
    try:
        diagonal = np.diag(linalg.cholesky(M, lower=True, check_finite=False))
    except linalg.LinAlgError:
        return -np.inf
    return 2.0 * float(np.sum(np.log(diagonal)))


# Newton steps for -log det Theta + tr(S Theta) + sum_{i != j} L_ij |Theta_ij|.
#
# W = Theta^-1 is what the second derivative D -> W D W needs. At each step the signs of the entries
# off the diagonal are fixed: those of Theta, and where it is 0 those against the slope S - W if it
# exceeds L; the others stay 0. In the orthant of these signs the objective is smooth. Conjugate
# gradients minimise its quadratic model, and the step is taken as far as it lowers, entries that
# change their sign set to 0 (Olsen, Oztoprak, Nocedal and Rennie, 2012, "Newton-like methods for
# sparse inverse covariance estimation"). Without a penalty Theta = S^-1.
#
# Where S is near singular the signs change for hundreds of steps; then the central path of the
# dual,
# which knows no signs, comes near, and these steps finish.
#
# Features that no |S_ij| > L_ij connects are independent in the solution (Witten, Friedman and
# Simon,
# 2011, https://doi.org/10.1198/jcgs.2011.11051a), so that their entries stay 0.


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
    return _about_solved(
        lambda p: np.where(free, W @ p @ W, 0.0),
        -gradient,
        1.0 / _curvature(W),
        PRODUCTS,
        lambda rz: min(FORCING, np.sqrt(max(rz, 0.0))) ** 2 * rz,
    )


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
    return float(np.sum(S * Theta) + np.sum(L * np.abs(Theta))) - _log_det(Theta)


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
    factor = linalg.cho_factor(M, lower=True, check_finite=False)
    found = linalg.cho_solve(factor, np.eye(len(M)), check_finite=False)
    return 0.5 * (found + found.T)

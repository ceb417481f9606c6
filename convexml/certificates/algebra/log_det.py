"""Log-determinants of symmetric matrices, with a bound on all that rounding may have done."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ...numerics import ELEMENTARY, EPS, Array, gamma


def log_det(M: Array, error: Array | float = 0.0) -> tuple[float, float]:
    """(v, r) with |log det A - v| <= r for every symmetric A with |A - M| <= error.

    A Cholesky that runs to its end is the exact one of C + E, |E_ij| <= gamma_(d+1) / (1 -
    gamma_(d+1)) sqrt(C_ii C_jj) (Higham, 2002, chapter 10), where C is M in units of powers of two
    that make its diagonal about 1. With N >= |C^-1| from a verified inverse and K = N |E|,

        |log det(C + E) - log det C| <= sum_ij N_ij |E_ij| + f^2 / (2 (1 - f)),  f = |K|_F < 1,

    and then all these A are positive definite.

    Parameters
    ----------
    M : array, shape (d, d)
        Symmetric.
    error : array, shape (d, d), or float
        Of its entries.

    Returns
    -------
    tuple of float
        (-inf, inf) where M has no Cholesky, (v, inf) where nothing is proved.
    """
    diagonal = np.diag(M)
    if not (np.all(diagonal > 0.0) and np.all(np.isfinite(M))):
        return -np.inf, np.inf
    powers = np.rint(0.5 * np.log2(diagonal)).astype(int)
    units = np.ldexp(1.0, -powers)
    with np.errstate(over="ignore", under="ignore"):
        C = units[:, None] * M * units
        beside = units[:, None] * np.broadcast_to(error, M.shape) * units
    lost = np.finfo(float).tiny * bool(np.any((C == 0.0) != (M == 0.0)))
    try:
        L = linalg.cholesky(C, lower=True)
        inverse = np.linalg.inv(C)
    except linalg.LinAlgError:
        return -np.inf, np.inf
    logs = np.log(np.diag(L))
    shift = 2.0 * np.log(2.0) * float(powers.sum())
    value = 2.0 * float(np.sum(logs)) + shift
    d = len(M)
    size = 2.0 * float(np.abs(logs).sum()) + 2.0 * float(np.abs(powers).sum())
    evaluation = (ELEMENTARY + gamma(2 * d + 8)) * size
    N = _at_least(C, inverse)
    if N is None:
        return value, np.inf
    share = gamma(d + 1) / (1.0 - gamma(d + 1))
    roots = np.sqrt(np.diag(C))
    E = (share * np.outer(roots, roots) + beside + lost) * (1.0 + 8.0 * EPS)
    first, f = float(np.sum(N * E)), float(np.linalg.norm(N @ E)) * (1.0 + gamma(d * d + d))
    if not f < 0.5:
        return value, np.inf
    radius = first + f * f / (2.0 * (1.0 - f)) + evaluation
    return value, radius * (1.0 + gamma(d * d + 16))


def _at_least(C: Array, Y: Array) -> Array | None:
    """N >= |C^-1|, entry by entry, from Y about C^-1; None where Y is too far from it.

    C^-1 - Y = (I - Y C) C^-1.
    """
    d = len(C)
    if not np.all(np.isfinite(Y)):
        return None
    left = np.abs(np.eye(d) - Y @ C) + gamma(d + 2) * (np.abs(Y) @ np.abs(C) + np.eye(d))
    eta = float(np.max(left.sum(axis=1))) * (1.0 + gamma(d + 4))
    if not eta < 0.5:
        return None
    size = np.abs(Y)
    found: Array = (size + eta / (1.0 - eta) * size.max(axis=0)) * (1.0 + 8.0 * EPS)
    return found

"""What a bound through the factor L of a rounded kernel matrix K says of the kernel itself."""

from __future__ import annotations

import numpy as np

from ...kernels.matrix import KernelMatrix
from ...numerics import EPS, Array, gamma
from ...objective import Objective
from ...objective.kernel import KernelObjective
from ..certificate import Certificate
from .points.primal_repair import scales

LOOSE = 1.0 + 1e-6
"""Covers the rounding of the account itself."""
COMPUTED = (
    "This is said for the matrix as computed, not for the kernel: what its entries may be off by "
    "is not known."
)
GIVEN = "This is said for the matrix as given."
ROUNDED = (
    "This is said for the matrix as given but for its rounding: that it has no negative eigenvalue "
    "is not proved."
)
PROJECTED = "This is said for the matrix with 0 for its negative eigenvalues, not as it was given."


def beside_kernel(
    objective: KernelObjective, q: Array, w: Array, b: float, u: Array, value: float
) -> float:
    """What P of q and D of u may be worse by for the kernel than for L L', at w near L'q.

    Of K as computed it is the last digits of |K||q|, more where large q and u cancel. The kernel's
    own values k(x_i, x_j) are within E_ij of K_ij: f is off by E|q| more, u'K u by |u|'E|u|.
    Where E is not known, the bound is for K as computed.

    Parameters
    ----------
    objective : KernelObjective
    q : array, shape (n,)
    w : array, shape (r,)
        The coordinates that P was evaluated at.
    b : float
    u : array, shape (n,)
        The dual point that D was evaluated at.
    value : float
        P, which for a margin is that of (w, b) divided by it.

    Returns
    -------
    float
        0 where L is exact; inf where nothing is known.
    """
    matrix, parts, lam = objective.matrix, objective.coordinates, objective.lam
    if matrix.exact_factor is not None:
        return 0.0
    if lam == 0.0 and np.any(u):
        return np.inf  # D(u) = -inf unless K u = 0, which rounding of K leaves open
    K, design = matrix.dense, parts.design
    share = gamma(sum(design.shape) + 8)
    sizes, f, z = np.abs(K), K @ q, design.matvec(w)
    of_q, of_u = _entries_off(matrix, q, u)
    off = np.abs(f - z) + share * (sizes @ np.abs(q) + design.abs_matvec(np.abs(w))) + of_q
    square = float(np.abs(q) @ (off + share * np.abs(f)))
    price = _of_predictions(parts, w, z + b, off, square, u, value)
    if lam > 0.0:
        inner = design.rmatvec(u)
        rounded = sizes @ np.abs(u) + design.abs_matvec(design.abs_rmatvec(np.abs(u)))
        apart = np.abs(K @ u - design.matvec(inner)) + share * rounded + of_u
        price += float(np.abs(u) @ apart) / (2.0 * lam)
    return price * LOOSE if np.isfinite(price) else np.inf


def _entries_off(matrix: KernelMatrix, q: Array, u: Array) -> Array:
    """E|q| and E|u|, for entries of K that are off by E; 0 where E is not known."""
    both = np.abs(np.stack([q, u]))
    errors = matrix.entry_errors
    return np.zeros_like(both) if errors is None else both @ errors * LOOSE


def _of_predictions(
    parts: Objective, w: Array, z: Array, off: Array, square: float, u: Array, value: float
) -> float:
    """What P is worse by where the predictions z are off by ``off`` and |w|^2 by ``square``.

    A margin m counts as that of f / (m - off); what targets are missed by is weighed with u.
    """
    lam, loss, reach = parts.penalty.strong_convexity, parts.loss, float(np.max(off, initial=0.0))
    if not loss.is_indicator:
        slopes = parts.c * loss.slope_bound(parts.y, z, reach)
        return float(slopes @ off) + 0.5 * lam * square
    if not scales(parts):
        return float(np.abs(u) @ off) + 0.5 * lam * square
    margin = min(1.0, float(np.min(parts.y * z - off - 2.0 * EPS * np.abs(z))))
    if not margin > 0.0:
        return np.inf
    scaled = 0.5 * lam * (float(w @ w) + square) / margin**2
    return max(scaled - value, 0.0) + 8.0 * EPS * scaled


def said_of_matrix(matrix: KernelMatrix, certificate: Certificate) -> Certificate:
    """The certificate, with words where it is one of K and not of a kernel."""
    if matrix.is_exact or matrix.exact_factor is not None or matrix.entry_errors is not None:
        return certificate
    words = _words(matrix)
    said = certificate.but(reason=f"{certificate.reason} {words}".strip())
    if words == GIVEN:
        return said
    doubt = certificate.unproved or f"Not proved: {words[0].lower()}{words[1:]}"
    return said.but(proved_gap=np.inf, unproved=doubt)


def _words(matrix: KernelMatrix) -> str:
    """What matrix a bound speaks of."""
    if matrix.kernel.takes_samples:
        return COMPUTED
    if matrix.projected:
        return PROJECTED
    return GIVEN if matrix.is_semidefinite else ROUNDED

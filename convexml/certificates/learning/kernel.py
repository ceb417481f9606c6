"""The certificate of a kernel problem: a function is judged by its values on the samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.matrix import KernelMatrix
from ...numerics import Array
from ...problem.kernel import KernelObjective
from ..certificate import Certificate, Verdict
from ..judge import refuted
from .function import certify_function
from .gap import certify_objective
from .repair import scales

# What a bound says where it is not one of the kernel itself.


COMPUTED = (
    "This is said for the matrix as computed, not for the kernel: what its entries may be off by "
    "is not known."
)
GIVEN = "This is said for the matrix as given."
BESIDE_KERNEL_ROUNDED = (
    "This is said for the matrix as given but for its rounding: that it has no negative eigenvalue "
    "is not proved."
)
PROJECTED = "This is said for the matrix with 0 for its negative eigenvalues, not as it was given."


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
    return GIVEN if matrix.is_semidefinite else BESIDE_KERNEL_ROUNDED


TIGHT = 1e-10
"""A relative gap that no better dual point is looked for."""
LARGE = 3000
"""Up to so many samples K is factored for the certificate of a point that needs it;"""
SMALL = 500
"""up to so many, also where the point is certified, for a smaller gap."""

ROUNDED = "What the rounding of K may be worth is not known here."
BARE = "With lam = 0 a better bound than that of u = 0 needs K u = 0: rounding of K leaves it open."


@np.errstate(over="ignore", invalid="ignore")
def certify_kernel(
    objective: KernelObjective,
    q: Array,
    b: float | None = None,
    u: Array | None = None,
    *,
    tol: float = 1e-6,
    refute: bool = True,
) -> Certificate:
    """Certify f = sum_j q_j k(x_j, .) + b, with the dual point u judged or constructed.

    Where -lam q tells too little, a dual point and a better function are looked for in the
    coordinates w = L'q of a factor, K = L L'; what is found is judged as any other. Of a factor
    without rounding their bound of P* is one of the problem, also where lam = 0 asks for K u = 0.

    Parameters
    ----------
    objective : KernelObjective
        The problem.
    q : array, shape (n,)
        Coefficients.
    b : float, optional
        The intercept; None takes the best one.
    u : array, shape (n,), optional
        Dual point to judge; None constructs one.
    tol : float
        Tolerance of the verdict.
    refute : bool
        Whether to look for a better point when the claim is not certified.

    Returns
    -------
    Certificate
    """
    matrix, loss, rounded = objective.matrix, objective.loss, objective.matrix.exact_factor is None
    bare = objective.lam == 0.0 and rounded
    found = certify_function(objective, q, b, u, tol=tol)
    if found.verdict is not Verdict.CERTIFIED and matrix.is_exact and matrix.begin_anew():
        found = certify_function(objective, q, b, u, tol=tol)
    # A better dual point or witness is looked for only where a factor is no matter.
    solved = found.verdict is Verdict.CERTIFIED and not (refute and objective.n <= SMALL)
    open_ = loss.is_indicator and not scales(objective.bare)  # whether it can be met exactly
    if ((solved or found.relative_gap <= TIGHT) and not open_) or objective.n > LARGE:
        return said_of_matrix(matrix, found)
    given = np.zeros(objective.n) if bare and u is None else u  # of no other is K u = 0 known
    at = objective.project(q), b
    inner = certify_objective(
        objective.coordinates, *at, given, tol=tol, refute=refute, stationary=False
    )
    known: dict[str, Any] = {"u": u, "closely": True}
    if u is None:
        known |= {"u": inner.dual["u"], "source": "constructed"}
    if not rounded:
        known["least"] = inner.primal_objective - inner.gap
    if not rounded and inner.within is not None:
        known |= {"within": inner.within, "reason": inner.reason}
    if open_ and inner.gap == np.inf:
        known |= {"gap": np.inf, "reason": inner.reason}
    other = certify_function(objective, q, b, tol=tol, **known)
    found = min(found, other, key=lambda each: (each.verdict is not Verdict.CERTIFIED, each.gap))
    if bare and found.relative_gap > tol:
        found = found.but(reason=BARE if u is None else ROUNDED)
    found = said_of_matrix(matrix, found)
    if inner.witness is None:
        return found
    # The better point as a function, better also as q says it.
    better = objective.lift(inner.witness["w"]), inner.witness["b"]
    again = certify_function(objective, *better, tol=tol)
    value, rounding = again.primal_objective, again.rounding + found.rounding
    return refuted(found, value, {"q": better[0], "b": better[1], "objective": value}, rounding)

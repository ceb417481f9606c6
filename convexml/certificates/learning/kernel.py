"""The certificate of a kernel problem: a function is judged by its coordinates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...formulas import Condition, worst
from ...kernels.matrix import KernelMatrix
from ...numerics import EPS, Array, gamma
from ...problem import Objective, frame_of
from ...problem.kernel import KernelObjective
from ..certificate import Certificate, Verdict
from ..judge import judge, refuted
from ..rounding import compensated_error, compensated_rmatvec
from ..scale import relative
from .function import certify_function
from .gap import best_intercept, certify_objective
from .repair import scales
from .rounding import AFFORDABLE
from .rows import NULL_SHARE, of_function, stationarity_of

# What a bound through the factor L of a rounded kernel matrix K says of the kernel itself.


LOOSE = 1.0 + 1e-6
"""Covers the rounding of the account itself."""
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


def beside_kernel(
    objective: KernelObjective, q: Array, w: Array, b: float, error: Array, u: Array, value: float
) -> float:
    """What P of q and D of u may be worse by for the kernel than for L L', at w near L'q.

    Of K as computed it is the last digits of |K||q|, more where large q and u cancel. The kernel's
    own values k(x_i, x_j) are within E_ij of K_ij: f is off by E|q| more, u'K u by |u|'E|u|.
    Where E is not known, the bound is for K as computed; where L is exact, only w may be off.

    Parameters
    ----------
    objective : KernelObjective
    q : array, shape (n,)
    w, error : array, shape (r,)
        The coordinates that P was evaluated at, and what they may be off by from L'q.
    b : float
    u : array, shape (n,)
        The dual point that D was evaluated at.
    value : float
        P, which for a margin is that of (w, b) divided by it.

    Returns
    -------
    float
        inf where nothing is known.
    """
    matrix, parts, lam = objective.matrix, objective.coordinates, objective.lam
    design, price = parts.design, 0.0
    off = design.abs_matvec(error) * (1.0 + gamma(parts.d + 4))
    square = 2.0 * float(np.abs(w) @ error) + float(error @ error)
    if matrix.exact_factor is None:
        if lam == 0.0 and np.any(u):
            return np.inf  # D(u) = -inf unless K u = 0, which rounding of K leaves open
        f = design.matvec(w)
        more = matrix.error_of(q, f, np.abs(w))
        off = off + more
        square += float(np.abs(q) @ (more + gamma(sum(design.shape) + 8) * np.abs(f)))
        if lam > 0.0:
            inner = design.matvec(design.rmatvec(u))
            apart = matrix.error_of(u, inner, design.abs_rmatvec(np.abs(u)))
            price = float(np.abs(u) @ apart) / (2.0 * lam)
    price += _of_predictions(parts, w, b, off, square, u, value)
    return price * LOOSE if np.isfinite(price) else np.inf


def _of_predictions(
    parts: Objective, w: Array, b: float, off: Array, square: float, u: Array, value: float
) -> float:
    """What P is worse by where predictions are off by ``off`` and |w|^2 by ``square``.

    A margin m counts as that of f / (m - off); what targets are missed by is weighed with u.
    """
    lam, loss, z = parts.penalty.strong_convexity, parts.loss, parts.predict(w, b)
    if not loss.is_indicator:
        reach = off + gamma(parts.d + 4) * (parts.design.abs_matvec(w) + abs(b))
        slopes = parts.c * loss.slope_bound(parts.y, z, float(np.max(reach, initial=0.0)))
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

    Where the rows of K at the nonzero coefficients tell enough, they do. Else the problem is that
    of a factor, K = L L', since a kernel matrix in floating point is no better than indefinite in
    its last digits, and then nothing bounds P from below: f has the coordinates w = L'q, formed in
    twice the digits, and what w may be off by counts into the gap.

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
    plain = None
    if objective.matrix.is_exact and objective.lam > 0.0 and not objective.loss.is_indicator:
        plain = certify_function(objective, q, b, u, tol=tol)
        if plain.verdict is not Verdict.CERTIFIED and objective.matrix.begin_anew():
            plain = certify_function(objective, q, b, u, tol=tol)
        # A point that is judged as it is passed: a better dual point or witness is looked for only
        # where a factor is no matter.
        solved = plain.verdict is Verdict.CERTIFIED and not (refute and objective.n <= SMALL)
        if solved or plain.relative_gap <= TIGHT or objective.n > LARGE:
            return plain
    found = said_of_matrix(objective.matrix, _through_factor(objective, q, b, u, tol, refute))
    if plain is None or found.verdict is Verdict.REFUTED or found.gap <= plain.gap:
        return found
    return plain


def _through_factor(
    objective: KernelObjective, q: Array, b: float | None, u: Array | None, tol: float, refute: bool
) -> Certificate:
    parts, rounded = objective.coordinates, objective.matrix.exact_factor is None
    constructed = u is None
    if constructed and rounded and objective.lam == 0.0:
        u = np.zeros(objective.n)  # of no other is it known that K u = 0
    w, error = coordinates(objective, q)
    if b is None:
        b = best_intercept(frame_of(parts, always=True), w)
    inner = certify_objective(parts, w, b, u, tol=tol, refute=refute, stationary=False)
    judged, rows = inner.dual["u"] if u is None else u, inner.conditions
    extra = beside_kernel(objective, q, w, b, error, inner.dual["u"], inner.primal_objective)
    gap = inner.gap + extra
    found = replace(
        inner,
        gap=gap,
        relative_gap=relative(gap, inner.scale),
        rounding=inner.rounding + extra,
        proved_gap=inner.proved_gap + extra,
        conditions=(_stationarity(objective, q, judged, inner.scale), *map(of_function, rows)),
        witness=None,
        reason=_reason(inner, extra, bare=constructed and u is not None),
        dual_source="constructed" if constructed else inner.dual_source,
        moved=None if constructed else inner.moved,
    )
    found = judge(found)
    if inner.witness is None:
        return found
    # The better point as a function, better also as q says it.
    better = objective.lift(inner.witness["w"]), inner.witness["b"]
    again = certify_kernel(objective, *better, tol=tol, refute=False)
    value, rounding = again.primal_objective, again.rounding + found.rounding
    return refuted(found, value, {"q": better[0], "b": better[1], "objective": value}, rounding)


def _reason(inner: Certificate, extra: float, *, bare: bool) -> str:
    """Why no more is known; ``bare`` where the only bound is that of u = 0."""
    if inner.witness is not None:
        return ""
    if bare and inner.relative_gap > inner.tol:
        return BARE
    return ROUNDED if np.isinf(extra) and np.isfinite(inner.gap) else inner.reason


def coordinates(objective: KernelObjective, q: Array) -> tuple[Array, Array]:
    """The coordinates w = L'q, and what it may be off by, shapes (r,)."""
    design = objective.coordinates.design
    n, r = design.shape
    sizes = design.abs_rmatvec(q)
    if n * r > AFFORDABLE:
        return design.rmatvec(q), gamma(n + 4) * sizes
    w = compensated_rmatvec(design, q)
    return w, compensated_error(w, n, sizes)


def _stationarity(objective: KernelObjective, q: Array, u: Array, scale: float) -> Condition:
    """The row K (lam q + u) = 0, by its terms; u never counts as much less than the null model's.

    A function f with lam |f|^2 = scale has values of size sqrt(K_ii scale / lam).
    """
    lam, name = objective.lam, stationarity_of(objective)
    least = NULL_SHARE * np.abs(objective.coordinates.null_slopes)
    terms = lam * np.abs(q) + np.maximum(np.abs(u), least)
    worth = np.sqrt(np.maximum(np.diag(objective.matrix.dense), 0.0) * lam * scale)
    size = np.abs(objective.matrix.dense) @ terms + worth
    return worst(name, "stationarity", objective.stationarity(q, u), size)

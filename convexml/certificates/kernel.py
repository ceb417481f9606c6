"""The certificate of a kernel problem: both values from the kernel matrix itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..numerics import ROUNDING, Array
from ..objective.kernel import KernelObjective
from .certificate import Certificate, Condition, Verdict, worst
from .conditions import Textbook
from .gap import certify_objective
from .learning_rows import INCLUSION
from .passed_point import NULL_SHARE
from .scale import learning_scale, relative


@np.errstate(over="ignore", invalid="ignore")
def certify_kernel(
    objective: KernelObjective,
    q: Array,
    b: float | None = None,
    u: Array | None = None,
    *,
    tol: float = 1e-6,
    textbook: Textbook | None = None,
    refute: bool = True,
) -> Certificate:
    """Certify f = sum_j q_j k(x_j, .) + b, with the dual point u judged or constructed.

    Dual points, conditions and better points are found in the coordinates w = L'q; P and D, and
    with them the gap and the verdict, are evaluated from K.

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
    textbook : callable, optional
        The model's own conditions, in the coordinates w.
    refute : bool
        Whether to look for a better point when the claim is not certified.

    Returns
    -------
    Certificate
    """
    parts = objective.coordinates
    if b is None:
        b = parts.best_intercept(objective.predict(q)) if parts.fit_intercept else 0.0
    inner = certify_objective(
        parts, objective.project(q), b, u, tol=tol, textbook=textbook, refute=refute
    )
    judged = inner.dual["u"] if u is None else u
    with np.errstate(over="ignore"):
        primal, dual = objective.primal(q, b), objective.dual(inner.dual["u"])
    if u is not None and np.any(u != inner.dual["u"]):  # what a repair gains is not credited
        dual = min(dual, objective.dual_formula(u))
    gap = primal - dual
    if gap < 0.0:  # rounding, also that of cancellation in u'K u / lam: its size is known by it
        gap = 0.0 if -gap <= ROUNDING * (abs(primal) + abs(dual)) else -gap
    scale = learning_scale(primal, dual, parts.null_value)
    others = [row for row in inner.conditions if row.says != INCLUSION]
    found = replace(
        inner,
        primal_objective=primal,
        dual_objective=dual,
        gap=gap,
        relative_gap=relative(gap, scale),
        scale=scale,
        conditions=(_stationarity(objective, q, judged, scale), *others),
        witness=_lifted(objective, inner, primal),
    )
    if found.holds(tol):
        return replace(found, verdict=Verdict.CERTIFIED, reason="")
    if inner.verdict is Verdict.REFUTED and found.witness is not None:
        return found
    reason = inner.reason or f"The relative gap {found.relative_gap:.3g} exceeds tol {tol:g}."
    return replace(found, verdict=Verdict.UNDECIDED, reason=reason)


def _stationarity(objective: KernelObjective, q: Array, u: Array, scale: float) -> Condition:
    """The row K (lam q + u) = 0, by its terms; u never counts as much less than the null model's.

    A function f with lam |f|^2 = scale has values of size sqrt(K_ii scale / lam).
    """
    lam, name = objective.lam, "K (lam q + u) = 0"
    least = NULL_SHARE * np.abs(objective.coordinates.null_slopes)
    terms = lam * np.abs(q) + np.maximum(np.abs(u), least)
    worth = np.sqrt(np.maximum(np.diag(objective.K), 0.0) * lam * scale)
    size = np.abs(objective.K) @ terms + worth
    return worst(name, "stationarity", objective.stationarity(q, u), size, says=INCLUSION)


def _lifted(
    objective: KernelObjective, inner: Certificate, primal: float
) -> dict[str, object] | None:
    """The better point as a function, better also when judged through K."""
    if inner.witness is None:
        return None
    q, b = objective.lift(inner.witness["w"]), inner.witness["b"]
    value = objective.primal(q, b)
    return {"q": q, "b": b, "objective": value} if value < primal else None

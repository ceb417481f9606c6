"""The certificate of a function sum_j q_j k(x_j, .), from the rows of its nonzero coefficients."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np

from ...formulas import Condition, worst
from ...numerics import EPS, ROUNDING, Array, gamma, same
from ...problem.kernel import KernelObjective
from ..certificate import Certificate
from ..judge import judged
from ..scale import learning_scale
from .repair import DualPoint, PrimalPoint, balance, box_inside, repair_dual, scales
from .rounding import primal_rounding, unproved
from .rows import PassedPoint, conditions_of_samples, is_feasible, stationarity_of

LOOSE = 1.0 + 1e-6
"""Covers the rounding of the account itself."""
INFEASIBLE = "No bound: the point is infeasible, so that P is infinite."


def square_of(q: Array, values: Array, error: Array) -> tuple[float, float]:
    """The square of the function with these values, and what it may be off by."""
    size = np.abs(q)
    doubt = float(size @ error + gamma(len(q) + 4) * (size @ np.abs(values)))
    return max(float(q @ values), 0.0), LOOSE * doubt


def apart(
    objective: KernelObjective, q: Array, u: Array, closely: bool = False
) -> tuple[Array, float]:
    """What lam f, f = sum_j q_j k(x_j, .), is off by from the function of -u, and its excess.

    That is sum_j (lam q_j + u_j) k(x_j, .) on the samples, and its square over 2 lam from above. No
    product is made where it is rounding. Without a penalty the function of u has to be 0, and is
    known to be where u is.
    """
    lam, sizes = objective.lam, objective.matrix.sizes
    rest, size = lam * q + u, float((lam * np.abs(q) + np.abs(u)) @ sizes)
    values, length = np.zeros_like(q), float(np.abs(rest) @ sizes)
    if not length <= ROUNDING * size:
        values, error = objective.matrix.valued(rest, closely)
        length = sqrt(sum(square_of(rest, values, error)))
    if lam == 0.0:
        return values, np.inf if np.any(u) else 0.0
    length += 2.0 * EPS * size
    return values, 0.5 * length * length / lam * LOOSE


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def certify_function(
    objective: KernelObjective,
    q: Array,
    b: float | None = None,
    u: Array | None = None,
    *,
    tol: float = 1e-6,
    source: str = "passed",
    closely: bool = False,
    least: float = -np.inf,
    **facts: Any,
) -> Certificate:
    """Certify f + b, with the dual point u judged, or with -lam q where it is None.

    Weak duality holds for the kernel itself, which is semidefinite by a theorem or as it was given:
    what entries and products in floating point may be off by counts into the gap, and no factor of
    K is needed. A margin that is missed is that of (q, b) divided by it.

    Parameters
    ----------
    objective : KernelObjective
    q, b, u, tol
        As for ``certify_kernel``.
    source : str
        Whose dual point u is.
    closely : bool
        Whether to make all of K for it.
    least : float
        A number that P* is at least, where one is known.
    **facts
        What is known better of the certificate.

    Returns
    -------
    Certificate
    """
    bare, lam, none = objective.bare, objective.lam, np.zeros(0)
    y, c, loss = bare.y, bare.c, bare.loss
    values, error = objective.matrix.valued(q, closely)
    square, doubt = square_of(q, values, error)
    chosen = 0.0  # a b that is looked for here may be any number between two floats
    if b is None:
        b = bare.best_intercept(values)
        chosen = EPS * abs(b)
    z = values + b
    error = error + EPS * np.abs(z)
    slack: Any = chosen + error if loss.is_indicator else chosen
    seen = PassedPoint(bare, none, b, none, z, none, 0.0, slack)
    losses, moved, best = np.zeros_like(z), 0.0, 0.0
    if not loss.is_indicator:
        losses = loss.value(y, z)
    elif scales(bare) and not (margin := float(np.min(y * z - error))) >= 1.0:
        best, margin = (0.0, margin) if margin > 0.0 else (np.inf, 1.0)
        moved = float(np.max(np.abs(q / margin - q)))
        q, z, square, doubt = q / margin, z / margin, square / margin**2, doubt / margin**2
        error, doubt = error / margin + 4.0 * EPS * np.abs(z), doubt + 16.0 * EPS * square
    point = PrimalPoint(none, b, z, float(c @ losses), 0.0, error, losses)
    primal = best + point.value + 0.5 * lam * square
    rounding = primal_rounding(bare, point, bare.zero_scores) + 0.5 * lam * doubt
    exactly, missed = np.zeros_like(z), error + loss.violation(y, z)

    def excess(u: Array) -> tuple[Array, float]:
        rest, beside = apart(objective, q, u, closely)
        terms = loss.excess(y, c, z, exactly, u, exactly)
        beside += float(np.abs(u) @ missed)  # slopes times the error are in ``rounding``
        return rest, (float(terms.sum()) + beside) * (1.0 + gamma(len(z) + 4))

    near = own_dual(objective, q) if u is None else repair_dual(bare, u, source=source)
    rest, gap = excess(near.u)
    if u is not None and not near.moved <= ROUNDING * float(np.max(np.abs(u), initial=0.0)):
        rest, other = excess(np.clip(u, *box_inside(bare)))
        gap = max(gap, other)  # what a repair gains is not credited
    gap = min(gap, max(primal - least, 0.0)) if primal < np.inf else np.inf
    scale = learning_scale(primal, primal - gap, bare.null_value)
    seen = replace(seen, u=near.u if u is None else u, scale=scale)

    def rows() -> list[Condition]:
        terms = lam * np.abs(values) + np.abs(rest - lam * values)
        terms = terms + objective.matrix.sizes * np.sqrt(lam * scale)
        first = worst(stationarity_of(objective), "stationarity", rest, terms)
        domain = Condition("-Ku in dom Omega*", "dual_feasibility", 0.0)
        if lam == 0.0:
            size = objective.matrix.sizes * float(np.abs(seen.u) @ objective.matrix.sizes)
            domain = worst("Ku = 0", domain.kind, rest, size)
        return [first, domain, *conditions_of_samples(seen)]

    met = u is None and is_feasible(seen, tol)
    known: dict[str, Any] = {
        "scale": scale,
        "gap": gap,
        "rounding": rounding + 4.0 * EPS * abs(primal),
        "reason": "" if primal < np.inf else INFEASIBLE,
        "repaired": moved if u is None else max(moved, near.moved),
        "dual_source": near.source,
        "dual": {"u": near.u.copy()},
        "unproved": unproved(bare),
    } | facts
    return judged(primal, primal - known["gap"], rows if met else rows(), tol, **known)


def own_dual(objective: KernelObjective, q: Array, u: Array | None = None) -> DualPoint:
    """U, or -lam q, in the box and with 1'u = 0; its value is not known. The last is remembered."""
    bare, given = objective.bare, -objective.lam * q if u is None else u
    known: list[tuple[Array, DualPoint]] = objective.__dict__.setdefault("_last_own_dual", [])
    if not (known and same(known[0][0], given)):
        ends = box_inside(bare)
        inside = balance(bare, np.clip(given, *ends), *ends)
        # The one passed may be written to.
        known[:] = [(given.copy(), DualPoint(inside, np.nan, np.zeros(0), np.inf, "solver"))]
    return known[0][1]


def quick_gap_of_function(
    objective: KernelObjective, q: Array, b: float, u: Array | None
) -> tuple[float, DualPoint]:
    """P(q, b) and a dual point, for stopping rules."""
    bare, values, dual = objective.bare, objective.matrix.product(q), own_dual(objective, q, u)
    primal = bare.loss_value(values + b) + 0.5 * objective.lam * max(float(q @ values), 0.0)
    terms = bare.sample_terms(values + b, dual.u)
    gap = float(terms.sum()) + apart(objective, q, dual.u)[1]
    return primal, replace(dual, value=primal - gap if primal < np.inf else -np.inf)

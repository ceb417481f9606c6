"""The certificate of a function sum_j q_j k(x_j, .), from the rows of its nonzero coefficients."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np

from ...formulas import Condition, worst
from ...numerics import EPS, ROUNDING, Array, gamma, same
from ...problem.kernel import KernelObjective
from ..certificate import Certificate
from ..judge import judged
from ..scale import learning_scale
from .repair import DualPoint, PrimalPoint, balance, box_inside, repair_dual
from .rounding import primal_rounding, unproved
from .rows import PassedPoint, conditions_of_samples, is_feasible, stationarity_of

LOOSE = 1.0 + 1e-6
"""Covers the rounding of the account itself."""


def square_of(q: Array, values: Array, error: Array) -> tuple[float, float]:
    """The square of the function with these values, and what it may be off by."""
    size = np.abs(q)
    doubt = float(size @ error + gamma(len(q) + 4) * (size @ np.abs(values)))
    return max(float(q @ values), 0.0), LOOSE * doubt


def apart(objective: KernelObjective, q: Array, u: Array) -> tuple[Array, float]:
    """What f = sum_j q_j k(x_j, .) is off by from the function of u, and its excess.

    That is sum_j (q_j + u_j / lam) k(x_j, .) on the samples, and lam / 2 times its square from
    above. No product is made where it is rounding.
    """
    lam, sizes = objective.lam, objective.matrix.sizes
    rest, size = q + u / lam, float((np.abs(q) + np.abs(u) / lam) @ sizes)
    values, length = np.zeros_like(q), float(np.abs(rest) @ sizes)
    if not length <= ROUNDING * size:
        values = objective.matrix.product(rest)
        length = sqrt(sum(square_of(rest, values, objective.matrix.product_error(rest))))
    length += 2.0 * EPS * size
    return values, 0.5 * lam * length * length * LOOSE


@np.errstate(over="ignore", invalid="ignore")
def certify_function(
    objective: KernelObjective,
    q: Array,
    b: float | None = None,
    u: Array | None = None,
    *,
    tol: float = 1e-6,
) -> Certificate:
    """Certify f + b, with the dual point u judged, or with -lam q where it is None.

    Weak duality holds for the kernel itself, which is semidefinite by a theorem: what entries and
    products in floating point may be off by counts into the gap, and no factor of K is needed.

    Parameters
    ----------
    objective : KernelObjective
        lam > 0, a finite loss, and ``matrix.is_exact``.
    q, b, u, tol
        As for ``certify_kernel``.

    Returns
    -------
    Certificate
    """
    bare, lam, none = objective.bare, objective.lam, np.zeros(0)
    y, c, values = bare.y, bare.c, objective.matrix.product(q)
    error = objective.matrix.product_error(q)
    square, doubt = square_of(q, values, error)
    chosen = 0.0  # a b that is looked for here may be any number between two floats
    if b is None:
        b = bare.best_intercept(values)
        chosen = EPS * abs(b)
    z = values + b
    error = error + EPS * np.abs(z)
    losses = bare.loss.value(y, z)
    point = PrimalPoint(none, b, z, float(c @ losses), 0.0, error, losses)
    primal = point.value + 0.5 * lam * square
    rounding = primal_rounding(bare, point, bare.zero_scores) + 0.5 * lam * doubt

    exactly = np.zeros_like(z)

    def excess(u: Array) -> tuple[Array, float]:
        rest, beside = apart(objective, q, u)
        terms = bare.loss.excess(y, c, z, exactly, u, exactly)
        beside += float(np.abs(u) @ error)  # slopes times the error are in ``rounding``
        return rest, (float(terms.sum()) + beside) * (1.0 + gamma(len(z) + 4))

    near = own_dual(objective, q) if u is None else repair_dual(bare, u, source="passed")
    rest, gap = excess(near.u)
    if u is not None and not near.moved <= ROUNDING * float(np.max(np.abs(u), initial=0.0)):
        rest, other = excess(np.clip(u, *box_inside(bare)))
        gap = max(gap, other)  # what a repair gains is not credited
    shown = near.u if u is None else u
    scale = learning_scale(primal, primal - gap, bare.null_value)
    seen = PassedPoint(bare, none, b, shown, z, none, scale, chosen)

    def rows() -> list[Condition]:
        terms = lam * (np.abs(values) + np.abs(rest - values))
        terms = terms + objective.matrix.sizes * np.sqrt(lam * scale)
        first = worst(stationarity_of(objective), "stationarity", lam * rest, terms)
        domain = Condition("-Ku in dom Omega*", "dual_feasibility", 0.0)  # finite everywhere
        return [first, domain, *conditions_of_samples(seen)]

    met = u is None and is_feasible(seen, tol)
    return judged(
        primal,
        primal - gap,
        rows if met else rows(),
        tol,
        scale=scale,
        gap=gap,
        rounding=rounding + 4.0 * EPS * abs(primal),
        repaired=0.0 if u is None else near.moved,
        dual_source=near.source,
        dual={"u": near.u.copy()},
        unproved=unproved(bare),
    )


def own_dual(objective: KernelObjective, q: Array, u: Array | None = None) -> DualPoint:
    """U, or -lam q, in the box and with 1'u = 0; its value is not known. The last is remembered."""
    bare, given = objective.bare, -objective.lam * q if u is None else u
    known: list[tuple[Array, DualPoint]] = objective.__dict__.setdefault("_last_own_dual", [])
    if not (known and same(known[0][0], given)):
        ends = box_inside(bare)
        inside = balance(bare, np.clip(given, *ends), *ends)
        # The one passed may be written to.
        none = np.zeros(0)
        known[:] = [(given.copy(), DualPoint(inside, np.nan, none, np.inf, "solver", none))]
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

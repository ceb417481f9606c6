"""The certificate of a function sum_j q_j k(x_j, .), from the rows of its nonzero coefficients."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...formulas import Condition, worst
from ...numerics import EPS, ROUNDING, Array, gamma, same
from ...problem.kernel import KernelObjective
from ..certificate import Certificate
from ..judge import judged
from ..scale import learning_scale
from .repair import DualPoint, PrimalPoint, balance, box_inside, dual_value, repair_dual
from .rounding import dual_rounding, primal_rounding, unproved
from .rows import PassedPoint, conditions_of_samples, is_feasible, stationarity_of

LOOSE = 1.0 + 1e-6
"""Covers the rounding of the account itself."""


@dataclass(frozen=True)
class Function:
    """Sum_j q_j k(x_j, .) on the samples.

    Attributes
    ----------
    values, error : array, shape (n,)
        K q, and what it may be off by.
    square, doubt : float
        q'K q, and what it may be off by.
    """

    values: Array
    error: Array
    square: float
    doubt: float


def function(objective: KernelObjective, q: Array) -> Function:
    """K q with its account."""
    return measured(q, objective.matrix.product(q), objective.matrix.product_error(q))


def measured(q: Array, values: Array, error: Array) -> Function:
    """The square of a function with these values, and what it may be off by."""
    size = np.abs(q)
    doubt = float(size @ error + gamma(len(q) + 4) * (size @ np.abs(values)))
    return Function(values, error, max(float(q @ values), 0.0), LOOSE * doubt)


def of_dual(objective: KernelObjective, q: Array, known: Function, u: Array) -> Function:
    """K u: minus lam K q where u = -lam q, and of the difference its size if that is rounding."""
    lam, sizes = objective.lam, objective.matrix.sizes
    values, error = -lam * known.values, lam * known.error + EPS * lam * np.abs(known.values)
    rest = u + lam * q
    if is_rounding(rest, u, sizes):
        error = error + LOOSE * float(np.abs(rest) @ sizes) * sizes
    else:
        values = values + objective.matrix.product(rest)
        error = error + objective.matrix.product_error(rest) + EPS * np.abs(values)
    rounded = EPS * float((np.abs(u) + 2.0 * lam * np.abs(q)) @ sizes)  # of lam q and of ``rest``
    return measured(u, values, error + rounded * sizes)


def is_rounding(rest: Array, u: Array, sizes: Array) -> bool:
    """Whether u differs by so little from -lam q that no product is made of ``rest``."""
    return bool(np.abs(rest) @ sizes <= ROUNDING * (np.abs(u) @ sizes))


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
    f = function(objective, q)
    chosen = 0.0  # a b that is looked for here may be any number between two floats
    if b is None:
        b = bare.best_intercept(f.values)
        chosen = EPS * abs(b)
    z = f.values + b
    losses = bare.loss.value(bare.y, z)
    error = f.error + EPS * np.abs(z)
    point = PrimalPoint(none, b, z, float(bare.c @ losses), 0.0, error, losses)
    primal = point.value + 0.5 * lam * f.square
    above = primal_rounding(bare, point, bare.zero_scores) + 0.5 * lam * f.doubt

    dual = own_dual(objective, q) if u is None else repair_dual(bare, u, source="passed")
    g = of_dual(objective, q, f, dual.u)
    bound = dual.value - 0.5 * g.square / lam
    below = dual_rounding(bare, point, dual).price + 0.5 * g.doubt / lam
    if u is not None and not dual.moved <= ROUNDING * float(np.max(np.abs(u), initial=0.0)):
        there = of_dual(objective, q, f, u)  # what a repair gains is not credited
        bound = min(bound, bare.dual_formula(u, none) - 0.5 * there.square / lam)
    shown = dual.u if u is None else u
    scale = learning_scale(primal, bound, bare.null_value)
    seen = PassedPoint(bare, none, b, shown, z, none, scale, chosen)

    def rows() -> list[Condition]:
        sizes = np.abs(g.values) + objective.matrix.sizes * np.sqrt(lam * scale)
        other = g.values if u is None else objective.matrix.product(u)
        residual, terms = lam * f.values + other, lam * np.abs(f.values) + sizes
        first = worst(stationarity_of(objective), "stationarity", residual, terms)
        return [first, *conditions_of_samples(seen)]

    met = u is None and is_feasible(seen, tol)
    return judged(
        primal,
        bound,
        rows if met else rows(),
        tol,
        scale=scale,
        rounding=above + below + 4.0 * EPS * (abs(primal) + abs(bound)),
        repaired=0.0 if u is None else dual.moved,
        dual_source=dual.source,
        dual={"u": dual.u.copy()},
        unproved=unproved(bare),
    )


def own_dual(objective: KernelObjective, q: Array, u: Array | None = None) -> DualPoint:
    """U, or -lam q, in the box and with 1'u = 0; its value is -F*(u). The last is remembered."""
    bare, given = objective.bare, -objective.lam * q if u is None else u
    known: list[tuple[Array, DualPoint]] = objective.__dict__.setdefault("_last_own_dual", [])
    if known and same(known[0][0], given):
        return known[0][1]
    lo, hi = box_inside(bare)
    inside = balance(bare, np.clip(given, lo, hi), lo, hi)
    value, conjugates = dual_value(bare, inside, np.zeros(0))
    found = DualPoint(inside, value, np.zeros(0), np.inf, "solver", np.zeros(0), conjugates)
    known[:] = [(given.copy(), found)]  # u may be written to
    return found


def quick_gap_of_function(
    objective: KernelObjective, q: Array, b: float, u: Array | None
) -> tuple[float, DualPoint]:
    """P(q, b) and a dual point, for stopping rules."""
    bare, lam, values = objective.bare, objective.lam, objective.matrix.product(q)
    primal = bare.loss_value(values + b) + 0.5 * lam * max(float(q @ values), 0.0)
    dual = own_dual(objective, q, u)
    u = dual.u
    rest = u + lam * q
    there = -lam * values
    if not is_rounding(rest, u, objective.matrix.sizes):
        there = there + objective.matrix.product(rest)
    return primal, replace(dual, value=dual.value - 0.5 * max(float(u @ there), 0.0) / lam)

"""A penalty so small that no dual point meets it in floats: the bound of the problem without it.

Where Omega >= Omega', P* >= inf F(X w + b) + Omega'(w), and that problem's certificate has a bound
of its own: Omega' = 0, or the l1 norm of an elastic net alone, or that of the coefficients of
ordinary columns where others are in units of 1e-8. Where lam is 1e-40 of the size of
X'X, rounding of X'u makes Omega*(-X'u) as large as P; without the penalty the price of X'u = 0 is a
share of 1e-13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import isfinite

import numpy as np

from ...deadline import is_late
from ...numerics import EPS, Array
from ...penalties import L1, L2, ElasticNet, GroupL2, NonnegativeElasticNet, Penalty, Zero
from ..certificate import Certificate, Verdict
from ..judge import bounded, judge
from ..scale import learning_scale
from .conditions import conditions_at
from .passed_point import PassedPoint

LESS = 1.0 - 4.0 * EPS
"""Times a product of two hyperparameters it is surely no more than that."""
NOTHING, SPENT = 1e-6, 0.1
"""lam counts as nothing beside a column of which it is at most this share; and what such columns'
penalties may be together, as a share of what the verdict leaves room for."""
TINY = float(np.finfo(float).tiny)
MOST = 100_000
"""Entries of X up to which a second certificate costs nothing."""


def lesser(penalty: Penalty, w: Array, sizes: Array, room: float) -> Iterator[Penalty]:
    """Penalties that are nowhere larger, of the largest first.

    An l1 norm is one without what lam is nothing beside: coefficients w_j of columns that are so
    many ``sizes`` times as large, together no more than a share of ``room``.
    """
    if isinstance(penalty, L1):
        level = penalty.zero_blocks(len(w))[1]
        share = np.where((level > 0.0) & (sizes > 0.0), level / np.maximum(sizes, TINY), np.inf)
        order = np.argsort(share, kind="stable")
        spent = np.cumsum((level * np.abs(w))[order])
        dropped = order[(spent <= SPENT * room) & (share[order] < NOTHING)]
        weights = np.ones(len(w)) if penalty.weights is None else penalty.weights.copy()
        weights[dropped] = 0.0
        if dropped.size and weights.any():  # none is dropped twice
            yield L1(penalty.lam, weights)
    if isinstance(penalty, ElasticNet | NonnegativeElasticNet):
        parts = penalty.hyperparameters()
        level = LESS * parts["l1"]
        if level > 0.0 and parts["l2"] > 0.0:
            yield L1(level) if isinstance(penalty, ElasticNet) else NonnegativeElasticNet(level)
    if type(penalty) in (L1, L2, ElasticNet, GroupL2, NonnegativeElasticNet):
        yield Zero()


def bounded_without_penalty(
    point: PassedPoint,
    certificate: Certificate,
    stationary: bool,
    certify: Callable[..., Certificate],
) -> Certificate:
    """The certificate with the bound of the problem without its penalty, where that is better.

    Parameters
    ----------
    point : PassedPoint
    certificate : Certificate
        Of the point, judged, with a dual point that was constructed.
    stationary : bool
        Whether stationarity in w is among the conditions.
    certify : callable
        ``certify_objective``.
    """
    objective, w, tol = point.objective, point.w, certificate.tol
    penalty, primal = objective.penalty, certificate.primal_objective
    small = objective.n * objective.d <= MOST and w.any() and not objective.loss.is_indicator
    if certificate.verdict is not Verdict.UNDECIDED or not small or is_late():
        return certificate
    room = tol * learning_scale(primal, primal, objective.null_value)
    for less in lesser(penalty, w, objective.column_sizes, room):
        omega = penalty.value(w) - less.value(w)
        if not 0.0 <= omega <= room < certificate.gap:
            continue
        free = certify(replace(objective, penalty=less), w, point.b, tol=tol, refute=False)
        if free.within is None:
            break
    else:
        return certificate
    bound, u = free.dual_objective, free.dual["u"]
    repaired = u
    for _ in range(2):  # with room in dom Omega* that u may be repaired: then it needs no price
        own = certify(objective, w, point.b, repaired, tol=tol, refute=False)
        if own.verdict is Verdict.CERTIFIED:
            return own.but(dual_source="constructed")
        repaired = own.dual["u"]
    scale = learning_scale(primal, bound, objective.null_value)
    seen = replace(point, u=u, v=-objective.design.rmatvec(u), scale=scale)
    rounding = 2.0 * penalty.value_rounding(w, penalty.value(w))
    # P(w, b) - P* <= Omega(w) - Omega'(w) + what it is above inf F + Omega'.
    found = bounded(
        primal,
        bound,
        conditions_at(seen, stationary=stationary),
        tol,
        scale=scale,
        rounding=free.rounding + rounding,
        gap=omega + free.gap - free.rounding,
        is_proved=isfinite(free.proved_gap),
        unproved=free.unproved,
        repaired=certificate.repaired,
        dual=free.dual,
        dual_source="constructed without the penalty",
    )
    return judge(found) if found.gap < certificate.gap else certificate

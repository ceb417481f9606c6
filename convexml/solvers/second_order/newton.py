"""Damped Newton."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...design import rows_in_blocks
from ...numerics import EPS, Array
from ...objective import LossModel, Objective, loss_model, newton_point
from ..driver import Iterate
from ..line_search import search
from .sampled_start import from_a_sample

FAR = 0.1
"""A step that was to gain more of P ends far from the solution: it is not evaluated."""


def newton(
    objective: Objective, w: Array, b: float, *, sample: int = 0, seed: int = 0
) -> Iterator[Iterate]:
    """Minimise a smooth objective by Newton steps with Armijo backtracking.

    Solves (X'HX + Hess Omega) dw = -grad P, H = diag(c_i l''_i), by a Cholesky factorisation
    (least squares where it is singular, conjugate gradients where d is large), and halves the step
    until P(w + t dw) <= P(w) + 1e-4 t <grad P, dw>, or doubles it where P falls faster than its
    quadratic model, as far as that pays. Each step yields the dual point
    u = c l'(z) + H X dw, feasible to second order; none where c l'(z) at the new point is better.
    The first point is the solution on ``sample`` rows drawn at random, where that is lower, as good
    as gradients of all rows make it at little cost: see ``sampled_start``.
    """
    passes = 1.0
    yield Iterate(w, b, None, passes, promise=np.inf)
    z = objective.predict(w, b)
    value = objective.primal(w, b, z)
    if 0 < sample < objective.n:
        start = (w, b, z, value)
        (w, b, z, value), passes = yield from from_a_sample(
            newton, objective, start, sample, np.random.default_rng(seed)
        )
    ones, reads = np.ones_like(w), rows_in_blocks(objective)
    loss = loss_model(objective, z)
    manifold = objective.penalty.manifold(w, -loss.pull, ones)
    slope_w = loss.pull + manifold.gradient
    while True:
        slope_b = loss.total if objective.fit_intercept else 0.0 * b
        point = newton_point(objective, w, b, manifold, known=loss)
        passes += 2.0 + objective.d
        if point is None:
            dw, db, u, dz = -slope_w, -slope_b, None, None
        else:
            dw, db, u, dz = point.w - w, point.b - b, point.u, point.dz
        descent = float(slope_w @ dw) + float(np.vdot(slope_b, db))
        if not descent < 0.0:
            yield Iterate(w, b, u, passes)
            return
        dz = objective.predict(dw, db) if dz is None else dz
        there = z + dz
        # Blocks are read once for the product and for what is asked there, if the step is taken.
        guess = loss_model(objective, there) if reads else None

        def along(t: float, w: Array = w, z: Array = z, dw: Array = dw, dz: Array = dz) -> float:
            return objective.loss_value(z + t * dz) + objective.penalty.value(w + t * dw)

        step, value, _ = search(along, value, descent)
        if step == 0.0:
            yield Iterate(w, b, u, passes)
            return
        w, b, z = w + step * dw, b + step * db, there if step == 1.0 else z + step * dz
        loss = guess if guess and step == 1.0 else loss_model(objective, z)
        manifold = objective.penalty.manifold(w, -loss.pull, ones)
        slope_w = loss.pull + manifold.gradient
        promise = np.inf
        if not -descent > FAR * abs(value):
            plain, own = _gaps(slope_w, manifold.hessian, loss, u if step == 1.0 else None)
            promise = min(plain, own) / abs(value) if value else np.nan
            promise = promise if 0.0 < promise < np.inf else np.nan
            u = u if not plain < own else None
        yield Iterate(w, b, u, passes, promise=promise)
        if -descent <= EPS * abs(value):  # no further step changes P beyond rounding
            return


def _gaps(g: Array, level: Array, loss: LossModel, u: Array | None) -> tuple[float, float]:
    """P - D as the model sees it: with c l'(z), and with u after a full step that was solved for.

    g'Lam^-1 g / 2 for Omega = w'Lam w / 2 and the slope g of P; and sum_i (u_i - c_i l'_i)^2 /
    (2 c_i l''_i).
    """
    plain = own = np.inf
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if level.ndim == 1:
            plain = 0.5 * float(np.where(g == 0.0, 0.0, g**2 / level).sum())
        if u is not None and u.ndim == 1:
            off = u - loss.u
            own = 0.5 * float(np.where(off == 0.0, 0.0, off**2 / loss.h).sum())
    return plain, own

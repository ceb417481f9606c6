"""Damped Newton."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...numerics import EPS, Array
from ...objective import LossModel, Objective, loss_model, newton_point
from ..driver import Iterate
from ..line_search import search

FAR = 0.1
"""A step that was to gain more of P ends far from the solution: it is not evaluated."""
FIRST = 8
"""Steps on a sample of the rows, at most."""


def newton(
    objective: Objective, w: Array, b: float, *, sample: int = 0, seed: int = 0
) -> Iterator[Iterate]:
    """Minimise a smooth objective by Newton steps with Armijo backtracking.

    Solves (X'HX + Hess Omega) dw = -grad P, H = diag(c_i l''_i), by a Cholesky factorisation
    (least squares where it is singular, conjugate gradients where d is large), and halves the step
    until P(w + t dw) <= P(w) + 1e-4 t <grad P, dw>, or doubles it where P falls faster than its
    quadratic model, as far as that pays. Each step yields the dual point
    u = c l'(z) + H X dw, feasible to second order; none where c l'(z) at the new point is better.
    The first point is the solution on ``sample`` rows drawn at random, where that is lower.
    """
    passes = 1.0
    yield Iterate(w, b, None, passes, promise=np.inf)
    z = objective.predict(w, b)
    value = objective.primal(w, b, z)
    if 0 < sample < objective.n:
        x, steps = _on_a_sample(objective, w, b, sample, np.random.default_rng(seed))
        there = objective.predict(*x)
        passes += steps * (objective.d + 2.0) * sample / objective.n + 1.0
        if (found := objective.primal(*x, there)) < value:
            (w, b), z, value = x, there, found
            yield Iterate(w, b, None, passes, promise=np.inf)
    ones = np.ones_like(w)
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

        def along(t: float, w: Array = w, z: Array = z, dw: Array = dw, dz: Array = dz) -> float:
            return objective.loss_value(z + t * dz) + objective.penalty.value(w + t * dw)

        step, value, _ = search(along, value, descent)
        if step == 0.0:
            yield Iterate(w, b, u, passes)
            return
        w, b, z = w + step * dw, b + step * db, z + step * dz
        loss = loss_model(objective, z)
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


def _on_a_sample(
    objective: Objective, w: Array, b: float, sample: int, rng: np.random.Generator
) -> tuple[tuple[Array, Any], int]:
    """The solution on some of the rows, as exactly as it stands for that on all: (w, b), steps."""
    rows = np.sort(rng.choice(objective.n, sample, replace=False))
    c = objective.c[rows]
    part = replace(
        objective,
        design=objective.design.rows(rows),
        y=objective.y[rows],
        c=c * (objective.c.sum() / c.sum()),
    )
    point, k = Iterate(w, b), 0
    for k, point in enumerate(newton(part, w, b)):
        if k == FIRST or point.promise <= 0.1 * objective.d / sample:
            break
    return (point.w, point.b), k


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

"""Damped Newton."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...numerics import EPS, Array
from ...objective import Objective, newton_point
from ..driver import Iterate
from ..line_search import along, search


def newton(objective: Objective, w: Array, b: float) -> Iterator[Iterate]:
    """Minimise a smooth objective by Newton steps with Armijo backtracking.

    Solves (X'HX + Hess Omega) dw = -grad P, H = diag(c_i l''_i), by a Cholesky factorisation
    (least squares where it is singular, conjugate gradients where d is large), and halves the step
    until P(w + t dw) <= P(w) + 1e-4 t <grad P, dw>, or doubles it where P falls faster than its
    quadratic model, as far as that pays. Each step yields the dual point
    u = c l'(z) + H X dw, feasible to second order.
    """
    value = objective.primal(w, b)
    passes = 1.0
    yield Iterate(w, b, None, passes)
    while True:
        slope_w, slope_b = objective.gradient(w, b)
        point = newton_point(
            objective, w, b, objective.penalty.manifold(w, -slope_w, np.ones_like(w))
        )
        passes += 2.0 + objective.d
        if point is None:
            dw, db, u = -slope_w, -slope_b, None
        else:
            dw, db, u = point.w - w, point.b - b, point.u
        descent = float(slope_w @ dw) + float(np.sum(slope_b * db))
        if not descent < 0.0:
            yield Iterate(w, b, u, passes)
            return
        step, value, tried = search(along(objective, w, b, dw, db), value, descent)
        passes += tried
        if step == 0.0:
            yield Iterate(w, b, u, passes)
            return
        w, b = w + step * dw, b + step * db
        yield Iterate(w, b, u, passes)
        if -descent <= EPS * abs(value):  # no further step changes P beyond rounding
            return

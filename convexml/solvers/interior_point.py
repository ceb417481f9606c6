"""A primal-dual interior point method for losses with a box dual."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np
from scipy import linalg

from ..numerics import EPS, Array
from ..objective import Objective
from .box_dual import BoxDual, box_dual
from .driver import Iterate

BACK_OFF = 0.995
"""Share of the way to the boundary that a step goes."""
SIDES = np.array([1.0, -1.0])[:, None, None]
"""Slacks s and multipliers z have shape (2, k, n): those of p >= lo, and those of p <= hi."""


def interior_point(objective: Objective, w: Array, b: float) -> Iterator[Iterate]:
    """Solve the dual QP by Mehrotra's predictor-corrector steps, all variables at once.

    With F*(u) = min { q'p + p'K p / 2 : sum_k p_k = u, lo <= p <= hi } and Omega = w'Lam w / 2
    the conditions are Lam w + X'u = 0, 1'u = 0, K p + q - (X w + b) = z_lo - z_hi, and
    s z = mu with mu -> 0 for both slacks s. Eliminating p and z leaves one weighted ridge
    regression for each step: (Lam + X'H X) dw + ... with H = 1 / (K + sum z/s), a matrix (d, d).

    It needs no start, (w, b) is ignored but for the first iterate.
    """
    box = box_dual(objective)
    level = objective.penalty.manifold(w, np.zeros_like(w), np.ones_like(w)).hessian
    design, free_b = objective.design, objective.fit_intercept
    finite = np.stack([np.isfinite(box.lo), np.isfinite(box.hi)])
    count = max(int(finite.sum()), 1)
    passes, left = 1.0, 1.0
    yield Iterate(w, b, None, passes)
    p, s, z = start(objective, box, finite)
    w, b = np.zeros_like(w), objective.best_intercept(objective.zero_scores)
    while True:
        u = p.sum(axis=0)
        mu = float(np.sum(s * z)) / count
        r_w = level * w + design.rmatvec(u)
        r_b = u.sum() if free_b else 0.0
        r_p = box.K * p + box.q - objective.predict(w, b) - np.sum(SIDES * z, axis=0)
        residual = max(float(np.abs(r).max(initial=0.0)) for r in (r_w, r_p, np.array(r_b)))
        passes += 2.0
        size = max(float(np.abs(part).max(initial=0.0)) for part in (r_p + box.q, box.q, z, w))
        facts = {"complementarity": mu, "residual": residual, "left": left, "size": size}
        yield Iterate(w, b, u, passes, facts)
        with np.errstate(divide="ignore", over="ignore"):
            h = 1.0 / (box.K + np.sum(z / s, axis=0))
        cost = float(np.sum(np.abs(box.q * p) + 0.5 * box.K * p**2) + 0.5 * level @ w**2)
        if (mu * count <= EPS * cost and left <= EPS) or not np.all(np.isfinite(h)):
            return
        solve = normal_equations(objective, level, h.sum(axis=0))
        passes += objective.d

        def direction(target: Array) -> tuple[Array, Array, float, Array, Array]:
            pull = finite * (target / s - z)  # what dz is, but for -(z/s) ds
            g = np.sum(SIDES * pull, axis=0) - r_p
            hg = np.sum(h * g, axis=0)
            dw, db = solve(-r_w - design.rmatvec(hg), -r_b - hg.sum())
            dp = h * (design.matvec(dw) + db + g)
            ds = finite * SIDES * dp
            return dp, dw, db, ds, pull - z / s * ds

        _, _, _, ds, dz = direction(np.zeros_like(s))
        predicted = longest_step(s, ds, z, dz)
        ahead = float(np.sum((s + predicted * ds) * (z + predicted * dz))) / count
        centring = (ahead / mu) ** 3 if mu > 0.0 else 0.0
        dp, dw, db, ds, dz = direction(centring * mu - ds * dz)
        step = min(1.0, BACK_OFF * longest_step(s, ds, z, dz))
        passes += 4.0
        if not (step > EPS and np.isfinite(step) and np.all(np.isfinite(dw))):
            return
        p, w, b, s, z = p + step * dp, w + step * dw, b + step * db, s + step * ds, z + step * dz
        left *= 1.0 - step


def start(objective: Objective, box: BoxDual, finite: Array) -> tuple[Array, Array, Array]:
    """The centre p of the box, and its slacks and multipliers where w = 0."""
    ends = np.stack([box.lo, box.hi])
    p = np.where(finite, ends, SIDES[::-1] * objective.c * finite[::-1]).mean(axis=0)
    s = np.where(finite, SIDES * (p - np.where(finite, ends, 0.0)), 1.0)
    z_0 = objective.zero_scores
    slope = box.K * p + box.q - z_0 - objective.best_intercept(z_0)
    size = float(np.abs(slope).mean()) or 1.0
    return p, s, finite * (np.maximum(SIDES * slope, 0.0) + size)


def normal_equations(
    objective: Objective, level: Array, h: Array
) -> Callable[[Array, float], tuple[Array, float]]:
    """Factor [Lam + X'HX, X'H1; 1'HX, 1'H1] once; returns its solver."""
    k = objective.d + int(objective.fit_intercept)
    matrix = np.zeros((k, k))
    matrix[: objective.d, : objective.d] = objective.design.gram(h) + np.diag(level)
    if objective.fit_intercept:
        matrix[-1, :-1] = matrix[:-1, -1] = objective.design.rmatvec(h)
        matrix[-1, -1] = h.sum()
    unit = 1.0 / np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    scaled = matrix * unit[:, None] * unit
    for jitter in (0.0, 1e-14, 1e-11, 1e-8):  # a singular matrix: unpenalised, dependent columns
        with suppress(linalg.LinAlgError):
            factor = linalg.cho_factor(scaled + jitter * np.eye(k), check_finite=False)
            break

    def solve(right: Array, last: float) -> tuple[Array, float]:
        r = unit * (np.append(right, last) if k > objective.d else right)
        x = linalg.cho_solve(factor, r, check_finite=False)
        x += linalg.cho_solve(factor, r - scaled @ x, check_finite=False)
        x *= unit
        return x[: objective.d], float(x[-1]) if k > objective.d else 0.0

    return solve


def longest_step(s: Array, ds: Array, z: Array, dz: Array) -> float:
    """The largest step <= 1/BACK_OFF that keeps s and z nonnegative."""
    with np.errstate(divide="ignore", invalid="ignore"):
        lengths = [np.where(dx < 0.0, -x / dx, np.inf).min() for x, dx in ((s, ds), (z, dz))]
    return float(min(1.0 / BACK_OFF, *lengths))

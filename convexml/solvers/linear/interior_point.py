"""Mehrotra's predictor-corrector method for linear programs, with sparse normal equations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...numerics import Array
from ...objective.linear.data import LinearData
from ..second_order.interior_system import BACK_OFF, longest, reach
from .system import newton_step, normal_equations

HUGE = 1e60


@dataclass(frozen=True)
class LinearIterate:
    """A point, its multipliers by name, the complementarity, the largest residual, s and z."""

    x: Array
    multipliers: dict[str, Array]
    complementarity: float
    residual: float
    s: Array
    z: Array


def predictor_corrector(data: LinearData) -> Iterator[LinearIterate]:
    """Minimise c'x s.t. G x + s = h, s >= 0, A x = b: G holds A_ub and the finite bounds.

    With c + G'z + A'nu = 0 and s z = mu each step solves [G'W G, A'; A, 0], W = z/s, twice: for
    mu = 0, which tells how far one can go, and for the mu that this allows, second-order terms
    included (Mehrotra, 1992, https://doi.org/10.1137/0802028). The steps of (x, s) and of (nu, z)
    have lengths of their own.
    """
    from scipy import sparse

    eye = sparse.eye_array(data.n, format="csr")
    lower, upper = np.isfinite(data.lower), np.isfinite(data.upper)
    G = sparse.vstack([sparse.csr_array(data.A_ub), -eye[lower], eye[upper]], format="csr")
    h = np.concatenate([data.b_ub, -data.lower[lower], data.upper[upper]])
    A, b, c = sparse.csr_array(data.A_eq), data.b_eq, data.c
    solve = normal_equations(G, A, np.ones(len(h)))
    x, _ = solve(G.T @ h, b)
    q, nu = solve(-c, np.zeros_like(b))
    s, z = inward(h - G @ x), inward(G @ q)
    cuts = np.cumsum([len(data.b_ub), int(lower.sum())])
    while True:
        mu = float(s @ z) / max(len(s), 1)
        r_dual, r_x, r_eq = c + G.T @ z + A.T @ nu, G @ x + s - h, A @ x - b
        worst = max(float(np.abs(r).max(initial=0.0)) for r in (r_dual, r_x, r_eq))
        yield LinearIterate(x, named(data, z, nu, cuts, lower, upper), mu, worst, s, z)
        weight = z / s
        if not np.all((weight > 1.0 / HUGE) & (weight < HUGE) & (z < HUGE)):
            return  # solved to the last digit, or running away: there is no solution
        solve = normal_equations(G, A, weight)

        direction = partial(newton_step, solve, G, s, z, (r_dual, r_x, r_eq))
        _, _, ds, dz = direction(np.zeros_like(s))
        far = [min(1.0, length) for length in lengths(s, ds, z, dz)]
        ahead = float((s + far[0] * ds) @ (z + far[1] * dz)) / max(len(s), 1)
        centring = (ahead / mu) ** 3 if mu > 0.0 else 0.0
        dx, dnu, ds, dz = direction(centring * mu - ds * dz)
        primal, dual = (min(1.0, BACK_OFF * length) for length in lengths(s, ds, z, dz))
        if not (np.all(np.isfinite(dx)) and max(primal, dual) > 1e-12):
            return
        x, s = x + primal * dx, s + primal * ds
        nu, z = nu + dual * dnu, z + dual * dz


def lengths(s: Array, ds: Array, z: Array, dz: Array) -> tuple[float, float]:
    """How far (x, s) and (nu, z) may go."""
    return longest(reach(s, ds)), longest(reach(z, dz))


def inward(s: Array) -> Array:
    """Mehrotra's start: s moved by a constant, so that it is well inside s > 0."""
    s = s + max(0.0, -1.5 * float(s.min(initial=0.0)))
    total = float(s.sum())
    return s + (0.5 * float(s @ s) / total if total > 0.0 else 1.0)


def named(
    data: LinearData, z: Array, nu: Array, cuts: Array, lower: Array, upper: Array
) -> dict[str, Array]:
    """The multipliers by name, those of the bounds in full length."""
    lambda_ub, below, above = np.split(z, cuts)
    lambda_lower, lambda_upper = np.zeros(data.n), np.zeros(data.n)
    lambda_lower[lower], lambda_upper[upper] = below, above
    return {
        "lambda_ub": lambda_ub,
        "nu": nu,
        "lambda_lower": lambda_lower,
        "lambda_upper": lambda_upper,
    }

"""Mehrotra's predictor-corrector method for linear programs, with sparse normal equations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics import Array
from ..objective.linear_data import LinearData
from .interior_point import BACK_OFF, longest_step

DAMPING = 1e-10
"""Share of the largest entry added to (and, by refinement, removed from) the normal equations."""

HUGE = 1e60


@dataclass(frozen=True)
class LinearIterate:
    """A point, its multipliers by name, the complementarity, and the largest residual."""

    x: Array
    multipliers: dict[str, Array]
    complementarity: float
    residual: float


def predictor_corrector(data: LinearData) -> Iterator[LinearIterate]:
    """Minimise c'x s.t. G x + s = h, s >= 0, A x = b: G holds A_ub and the finite bounds.

    With c + G'z + A'nu = 0 and s z = mu each step solves [G'W G, A'; A, 0], W = z/s, twice: for
    mu = 0, which tells how far one can go, and for the mu that this allows, second-order terms
    included (Mehrotra, 1992, https://doi.org/10.1137/0802028). The steps of (x, s) and of (nu, z)
    have lengths of their own.
    """
    from scipy import sparse

    n, eye = data.n, sparse.eye_array(data.n, format="csr")
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
        yield LinearIterate(x, named(data, z, nu, cuts, lower, upper), mu, worst)
        weight = z / s
        if not np.all((weight > 1.0 / HUGE) & (weight < HUGE) & (z < HUGE)):
            return  # solved to the last digit, or running away: there is no solution
        solve = normal_equations(G, A, weight)

        def direction(target: Array) -> tuple[Array, Array, Array, Array]:
            # ds = -r_x - G dx and dz = target/s - z - weight ds, put into G'dz + A'dnu = -r_dual.
            pull = target / s - z + weight * r_x
            dx, dnu = solve(-r_dual - G.T @ pull, -r_eq)
            ds = -r_x - G @ dx
            return dx, dnu, ds, target / s - z - weight * ds

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
    still = np.zeros_like(s)
    return longest_step(s, ds, z, still), longest_step(s, still, z, dz)


def inward(s: Array) -> Array:
    """Mehrotra's start: s moved by a constant, so that it is well inside s > 0."""
    s = s + max(0.0, -1.5 * float(s.min(initial=0.0)))
    total = float(s.sum())
    return s + (0.5 * float(s @ s) / total if total > 0.0 else 1.0)


def normal_equations(
    G: Any, A: Any, weight: Array
) -> Callable[[Array, Array], tuple[Array, Array]]:
    """Factor [G'W G, A'; A, 0], damped so that dependent rows do no harm; returns its solver."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    n = G.shape[1]
    gram = G.T @ (sparse.diags_array(weight) @ G)
    small = DAMPING * max(float(gram.diagonal().max(initial=0.0)), 1.0)
    matrix = sparse.block_array([[gram, A.T], [A, None]] if A.shape[0] else [[gram]], format="csc")
    signs = np.concatenate([np.ones(n), -np.ones(A.shape[0])])
    damped = matrix + sparse.diags_array(small * signs, format="csc")
    factor = splu(damped, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.01)

    def solve(right: Array, below: Array) -> tuple[Array, Array]:
        r = np.concatenate([right, below])
        y = factor.solve(r)
        for _ in range(2):
            y = y + factor.solve(r - matrix @ y)
        return y[:n], y[n:]

    return solve


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

"""Mehrotra's predictor-corrector method for linear programs, with sparse normal equations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..certificates.certificate import Verdict
from ..certificates.conic.linear_bound import linear_units
from ..certificates.conic.linear_optimum import certify_linear
from ..numerics import Array
from ..problem.linear_program import LinearData
from ..progress import at, evaluated, judged
from .reference import ReferenceRun
from .second_order.interior_point import BACK_OFF, longest, reach

# Newton steps for a linear program, by sparse normal equations.


DAMPING = 1e-10
"""Share of the largest entry added to (and, by refinement, removed from) the normal equations."""
Solve = Callable[[Array, Array], tuple[Array, Array]]


def newton_step(
    solve: Solve, G: Any, s: Array, z: Array, residuals: tuple[Array, Array, Array], target: Array
) -> tuple[Array, Array, Array, Array]:
    """(dx, dnu, ds, dz) with ds = -r_x - G dx and dz = target/s - z - (z/s) ds."""
    r_dual, r_x, r_eq = residuals
    pull = target / s - z + z / s * r_x
    dx, dnu = solve(-r_dual - G.T @ pull, -r_eq)
    ds = -r_x - G @ dx
    return dx, dnu, ds, target / s - z - z / s * ds


def normal_equations(G: Any, A: Any, weight: Array) -> Solve:
    """Factor [G'W G, A'; A, 0], damped so that dependent rows do no harm; returns its solver."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    n = G.shape[1]
    gram = G.T @ (sparse.diags_array(weight) @ G)
    small = DAMPING * max(float(gram.diagonal().max(initial=0.0)), 1.0)
    matrix = sparse.block_array([[gram, A.T], [A, None]] if A.shape[0] else [[gram]], format="csc")
    signs = np.concatenate([np.ones(n), -np.ones(A.shape[0])])
    damped = matrix + sparse.diags_array(small * signs, format="csc")
    try:
        factor = splu(damped, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.01)
    except RuntimeError as error:  # SuperLU's word for an exact 0 among the pivots
        raise np.linalg.LinAlgError(str(error)) from None

    def solve(right: Array, below: Array) -> tuple[Array, Array]:
        r = np.concatenate([right, below])
        y = factor.solve(r)
        for _ in range(2):
            y = y + factor.solve(r - matrix @ y)
        return y[:n], y[n:]

    return solve


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
    (rows, sides), equal, c = data.constraints, data.equal, data.c
    G, h, A, b = rows[~equal], sides[~equal], rows[equal], sides[equal]
    y = np.zeros(equal.size)
    solve = normal_equations(G, A, np.ones(len(h)))
    x, _ = solve(G.T @ h, b)
    q, nu = solve(-c, np.zeros_like(b))
    s, z = inward(h - G @ x), inward(G @ q)
    while True:
        mu = float(s @ z) / max(len(s), 1)
        r_dual, r_x, r_eq = c + G.T @ z + A.T @ nu, G @ x + s - h, A @ x - b
        worst = max(float(np.abs(r).max(initial=0.0)) for r in (r_dual, r_x, r_eq))
        y[~equal], y[equal] = z, nu
        yield LinearIterate(x, data.by_name(y.copy()), mu, worst, s, z)
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


# Run the hand-written interior point method on a linear program, until it is good enough.


MAX_ITER = 100


def run_linear(
    data: LinearData, *, tol: float, max_seconds: float | None, max_iter: int | None
) -> tuple[ReferenceRun, LinearIterate | None]:
    """Iterate until the certificate holds, time is up, or no step is possible."""
    began = time.perf_counter()
    limit = MAX_ITER if max_iter is None else int(max_iter)
    last: LinearIterate | None = None
    claimed, iteration = "user_limit", -1
    at("interior_point")
    for iteration, each in enumerate(_while_it_can(predictor_corrector(data))):
        if not all(np.all(np.isfinite(values)) for values in (each.x, *each.multipliers.values())):
            break
        last = each
        evaluated(iteration)
        size = max(float(np.abs(data.c @ each.x)), linear_units(data).size)
        close = each.complementarity * max(len(each.x), 1) <= tol * size
        if close and _certified(data, each, tol):
            claimed = "optimal"
            break
        late = max_seconds is not None and time.perf_counter() - began > max_seconds
        if iteration >= limit or late:
            break
    seconds = time.perf_counter() - began
    return ReferenceRun(claimed, seconds, 0.0, max(iteration, 0)), last


def _while_it_can(iterates: Iterator[LinearIterate]) -> Iterator[LinearIterate]:
    """The iterates, up to a system that cannot be factored: entries of 1e308 make it singular."""
    try:
        yield from iterates
    except np.linalg.LinAlgError:
        return


def _certified(data: LinearData, each: LinearIterate, tol: float) -> bool:
    certificate = certify_linear(data, each.x, each.multipliers, tol=tol, owner="interior_point")
    judged(certificate)
    return certificate.verdict is Verdict.CERTIFIED

"""Newton steps that are solved inexactly: descent, forcing terms, and what they leave near x*."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from ...numerics import ROUNDING, Array
from ...objective import Objective, loss_hessian
from ..claim import Claim
from ..domains import NONNEGATIVE, POSITIVE, domains
from ..monotone import never_increases
from ..moves import ALIKE, gradient, pack, split
from ..spectrum import row_squares
from ..theorem import Theorem
from ..trajectory import Trajectory
from .newton import hessian_lipschitz, least_curvature, unknown_constant

FORCED = "|H_T s_T + g_T| <= eta_T |g_T|"
PHASE = "|x_{T+1} - x*| <= (M r^2 / 2 + |H_T s_T + g_T|) / (m - M r)"


@domains(distance=NONNEGATIVE, residual=NONNEGATIVE, m=POSITIVE, M=NONNEGATIVE)
def inexact_distance(
    distance: Array | float, residual: Array | float, *, m: float, M: float
) -> Array:
    """Bound on |x_{t+1} - x*| after a full step s with |H s + g| = residual.

    x + s - x* = (x - x* - H^-1 g) + H^-1 (H s + g): Newton's own error, and at most
    residual / (m - M r), as no eigenvalue of H(x) is below m - M r.

    Parameters
    ----------
    distance : float or array
        r = |x_t - x*|; the bound is inf unless r < 2 m / (3 M).
    residual : float or array
        |H s + g|, what the step leaves of its equations.
    m : float
        Least eigenvalue of the Hessian at x*, > 0.
    M : float
        Lipschitz constant of the Hessian, >= 0.

    Returns
    -------
    float or array

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Dembo, Eisenstat and Steihaug, 1982, theorems 2.3 and 3.3; Nesterov, *Lectures on Convex
    Optimization*, theorem 1.2.5.
    """
    r = np.asarray(distance, dtype=float)
    near = 3.0 * M * r < 2.0 * m
    left = np.where(near, m - M * r, 1.0)
    return np.where(near, (0.5 * M * r**2 + residual) / left, np.inf)


class InexactNewtonRate(Theorem):
    """No increase of f; steps as exact as told; once close, errors as small as that allows.

    m is the least curvature at x*, M the Lipschitz constant of the Hessian H, g the gradient, s
    the step and eta the share of g that is told to remain.
    """

    statement = f"f does not increase; {FORCED}; once r = |x_T - x*| < 2m/(3M), {PHASE}"
    source = "Dembo, Eisenstat and Steihaug, 1982, with Nesterov, theorem 1.2.5"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """Descent; the residuals, recomputed from the points; the phase of full steps near x*."""
        (run,) = runs
        yield never_increases("f(x_{T+1}) <= f(x_T)", run.values)
        rows = np.array(list(step_residuals(run)), dtype=float).reshape(-1, 4)
        residual, size, room, full = rows.T
        at = np.arange(1, len(rows) + 1)
        told = run.facts.get("forcing", np.full(len(run.values), np.nan))[1:]
        reason = "" if at.size else "no step was taken"
        both = room * (1.0 + np.abs(told))  # |g| is rounded too
        yield Claim(FORCED, residual, told * size, both, at, is_rate=False, reason=reason)
        M, m = hessian_lipschitz(run.objective), least_curvature(run.objective, run.reference)
        missing = unknown_constant(run, m, M)
        if missing:
            yield Claim.untested(PHASE, f"the phase near x* is not known: {missing}")
            return
        error = np.sqrt(run.distances)
        bound = inexact_distance(error[:-1], residual, m=m, M=M)
        near = np.flatnonzero(np.isfinite(bound) & (full == 1.0)) + 1
        allowed = 2.0 * run.reference.radius + 1e-12 * float(np.linalg.norm(run.reference.w))
        reason = "" if near.size else "no iterate came close to x* before a full step"
        rounding = allowed + room[near - 1] / m
        yield Claim(PHASE, error[near], bound[near - 1], rounding, near, reason=reason)


def step_residuals(run: Trajectory) -> Iterator[tuple[float, float, float, float]]:
    """(|H s + g|, |g|, its rounding, the step told) of each move, s = (x_{T+1} - x_T) / step."""
    objective, squares = run.objective, row_squares(run.objective)
    for before, after in pairwise(run.replay()):
        x, reached = pack(before), pack(after)
        t = float(after.facts.get("step", np.nan))
        g, s = gradient(objective, x), (reached - x) / t
        bent = hessian_product(objective, x, s)
        z = objective.predict(*split(objective, x))
        h = objective.loss_curvature(z).reshape(objective.n, -1).sum(axis=1)
        trace = float(h @ squares)  # what the rounding of x itself may do
        ends = (_length(x) + _length(reached)) / abs(t)
        terms = _length(objective.column_reach(objective.loss_derivative(z))) + trace * ends
        yield _length(bent + g), _length(g), ALIKE * _length(g) + ROUNDING * terms, t


def hessian_product(objective: Objective, x: Array, s: Array) -> Array:
    """The Hessian of P at x = (w, b) times s."""
    w, b = split(objective, x)
    dw, db = split(objective, s)
    shift = db if objective.fit_intercept else np.zeros_like(db)
    t = loss_hessian(objective, objective.predict(w, b))(objective.design.matvec(dw) + shift)
    slope = objective.penalty.gradient(w)
    level = objective.penalty.manifold(w, -slope, np.ones_like(w)).hessian
    head = objective.design.rmatvec(t) + (level * dw if level.ndim == 1 else level @ dw)
    return np.append(head, t.sum(axis=0) if objective.fit_intercept else np.zeros_like(db))


def _length(x: Array) -> float:
    return float(np.linalg.norm(x))

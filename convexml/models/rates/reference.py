"""The point and the lower bound that theorems compare a run with, in the coordinates of the run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import InputError
from ...losses import HardMargin
from ...numerics import EPS
from ...objective import Frame, Objective
from ...penalties import L2
from ...solvers.driver import drive
from ...solvers.registry import ALGORITHMS
from ...theory import Reference, hessian_lipschitz, least_curvature, strong_convexity


def reference_of(problem: Any, objective: Objective, frame: Frame | None = None) -> Reference:
    """A solution and a certified floor of P*, by the best means that there are.

    They are found in the problem's own units, and told in those of ``frame``, if there is one.
    """
    solution = problem.snapshot().solve("auto", tol=1e-12)
    if not np.isfinite(solution.gap):
        raise InputError(
            f"rate_audit: {problem.name} has no reference solution ({solution.status})."
        )
    w = problem.coordinates(solution.primal)
    b = solution.primal["b"] if objective.fit_intercept else 0.0
    floor = solution.dual_objective - solution.certificate.rounding
    if frame is not None and not frame.is_trivial:
        w, b, _ = frame.inside(w, b)
        floor /= frame.factor
    value = objective.primal(w, b)
    floor = min(floor - 4.0 * EPS * abs(floor), value)
    return located(objective, Reference(w, b, value, floor))


def located(objective: Objective, reference: Reference) -> Reference:
    """The reference with its radius, where strong convexity or the Hessian there gives one.

    With curvature m at w and a Hessian that is M-Lipschitz, the curvature is m - M s at distance s,
    so that a gap e < m^3 / (16 M^2) confines x* to |x - x*| <= 2 sqrt(e / m).
    """
    gap = reference.value - reference.floor + 4.0 * EPS * abs(reference.value)
    mu = strong_convexity(objective)
    if mu > 0.0:
        return replace(reference, radius=float(np.sqrt(2.0 * gap / mu)))
    M = hessian_lipschitz(objective)
    m = least_curvature(objective, reference) if np.isfinite(M) else 0.0
    if m > 0.0 and 16.0 * M**2 * gap < m**3:
        return replace(reference, radius=float(2.0 * np.sqrt(gap / m)))
    return reference


def separating(objective: Objective) -> Reference:
    """The hard-margin solution (w, b), scaled to margin 1 exactly; it need not be the best one."""
    machine = replace(objective, loss=HardMargin(), penalty=L2(1.0))
    zero = np.zeros(objective.d)
    run = drive(machine, ALGORITHMS["interior_point"].start(machine, zero, 0.0, 0, {}), tol=1e-8)
    margin = float(np.min(objective.y * objective.predict(run.best.w, run.best.b)))
    if not margin > 0.0:
        raise InputError("rate_audit: no separating direction was found as a reference.")
    w, b = run.best.w / margin, run.best.b / margin
    value = objective.primal(w, b)
    return Reference(w, b, value, -np.inf)

"""Newton's method: descent, and the quadratic phase near the solution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import linalg

from ...numerics import Array
from ...objective import Objective
from ..claim import Claim
from ..constants import radius
from ..domains import NONNEGATIVE, POSITIVE, domains
from ..monotone import never_increases
from ..spectrum import joint_gram, top_eigenvalue
from ..theorem import Theorem
from ..trajectory import Reference, Trajectory

THIRD_DERIVATIVE = {"squared": 0.0, "logistic": 1.0 / (6.0 * np.sqrt(3.0))}
"""sup |l'''| over z, by the name of the loss; losses without a bound are left out."""


@domains(distance=NONNEGATIVE, m=POSITIVE, M=NONNEGATIVE)
def newton_distance(distance: Array | float, *, m: float, M: float) -> Array:
    """Bound on |x_{t+1} - x*| after a full step: M r^2 / (2 (m - M r)), r = |x_t - x*|.

    Parameters
    ----------
    distance : float or array
        Distance r = |x_t - x*|; the bound is inf unless r < 2 m / (3 M).
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
    Nesterov, *Lectures on Convex Optimization*, theorem 1.2.5.
    """
    r = np.asarray(distance, dtype=float)
    near = 3.0 * M * r < 2.0 * m
    return np.where(near, M * r**2 / (2.0 * np.where(near, m - M * r, 1.0)), np.inf)


def hessian_lipschitz(objective: Objective) -> float:
    """Lipschitz constant M of the Hessian of P: sup|l'''| R lambda_max(X~' diag(c) X~).

    Parameters
    ----------
    objective : Objective
        Design, loss, penalty and coefficients; the penalty quadratic.

    Returns
    -------
    float
        The bound inf where none is known for the loss.
    """
    third = THIRD_DERIVATIVE.get(objective.loss.name, np.inf)
    if third in (0.0, np.inf):
        return third
    return third * radius(objective) * top_eigenvalue(objective)


PHASE = "|x_{T+1} - x*| <= M r^2 / (2 (m - M r))"


class NewtonRate(Theorem):
    """No increase of f; and once close, each error is of the order of the last one squared.

    The second is said of Newton steps, not of those by the Hessian of a sample. m is the least
    curvature at x*, M the Lipschitz constant of the Hessian.

    Parameters
    ----------
    searched : bool
        Whether steps are searched; f may rise where none is.
    """

    statement = (
        "f does not increase; once r = |x_T - x*| < 2m/(3M), "
        "|x_{T+1} - x*| <= M r^2 / (2 (m - M r))"
    )
    source = "Nesterov, theorem 1.2.5"

    def __init__(self, searched: bool = True) -> None:
        self.searched = searched

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """Descent, and the quadratic phase where its constants are known."""
        (run,) = runs
        if self.searched:
            yield never_increases("f(x_{T+1}) <= f(x_T)", run.values)
        M, m = hessian_lipschitz(run.objective), least_curvature(run.objective, run.reference)
        unknown = unknown_constant(run, m, M)
        if unknown:
            yield Claim.untested(PHASE, f"the quadratic phase is not known: {unknown}")
            return
        error = np.sqrt(run.distances)
        bound = newton_distance(error[:-1], m=m, M=M)
        is_newton = np.isnan(run.facts.get("sampled", np.full(len(error), np.nan)))
        at = np.flatnonzero(np.isfinite(bound) & is_newton[1:]) + 1
        room = 2.0 * run.reference.radius + 1e-12 * float(np.linalg.norm(run.reference.w))
        close = f"no iterate came closer to x* than {2 * m / (3 * M) if M else np.inf:.3g}"
        reason = "" if at.size else close
        yield Claim(PHASE, error[at], bound[at - 1], room, at, reason=reason)


def unknown_constant(run: Trajectory, m: float, M: float) -> str:
    """Which constant of the phase near the solution is missing, in words."""
    if len(run.values) < 2:
        return "no step was taken"
    if not np.isfinite(M):
        return f"no bound of the third derivative is on record for {run.objective.loss.name}"
    if m <= 0.0:
        return "the Hessian at x* is singular, or was not computed"
    return "" if np.isfinite(run.reference.radius) else "the place of x* is not known"


def least_curvature(objective: Objective, reference: Reference) -> float:
    """Bound from below the eigenvalues of the Hessian of P at the reference.

    Parameters
    ----------
    objective : Objective
        Design, loss, penalty and coefficients.
    reference : Reference
        The point; the loss is differentiable twice there.

    Returns
    -------
    float
        Exact for smooth penalties, else that of the loss part; 0 where it is not computed.
    """
    z = objective.predict(reference.w, reference.b)
    if z.ndim > 1 or objective.d > 1000:
        return 0.0
    hessian = joint_gram(objective, objective.c * objective.loss.curvature(objective.y, z))
    if objective.penalty.is_smooth:  # else its curvature counts as 0
        slope, d = objective.penalty.gradient(reference.w), objective.d
        level = objective.penalty.manifold(reference.w, -slope, np.ones(d)).hessian
        hessian[:d, :d] += np.diag(level) if level.ndim == 1 else level
    return float(linalg.eigvalsh(hessian)[0])

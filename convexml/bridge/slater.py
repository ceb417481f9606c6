"""Slater's condition of a convex problem: a strictly feasible point, or multipliers against it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..certificates.certificate import Verdict
from ..certificates.conic.infeasible import certify_infeasible
from ..certificates.conic.search import deepest
from ..certificates.conic.slater import no_interior, strict_point
from ..duality.checking import check_problem, constraint_names, require_problem, substituted
from ..errors import InputError
from ..modelling import cp
from ..numerics import EPS, Array, without_warnings
from ..progress import operation
from ..validation import PublicNames
from .layout import constraint_violation, dense
from .point import Posed, pose, soft_rows, sparse_values
from .rounding import enclosed

# How much room the values of CVXPY's variables leave in a constraint, as it is written.


def is_linear(constraint: Any) -> bool:
    """Whether a constraint is one or several linear ones."""
    kinds = (
        cp.constraints.Inequality,
        cp.constraints.NonPos,
        cp.constraints.NonNeg,
        cp.constraints.Equality,
        cp.constraints.Zero,
    )
    return isinstance(constraint, kinds) and all(arg.is_pwl() for arg in constraint.args)


def slack_of(constraint: Any) -> float:
    """The least room of its entries, less what rounding may have added; < 0 where it is violated.

    Of a matrix its least eigenvalue, of a second-order cone t - |v|, of an exponential or power
    cone the room of its inequality; of an equality minus the residual.
    """
    match constraint:
        case cp.constraints.Inequality():
            return _least(constraint.args[1] - constraint.args[0])
        case cp.constraints.NonNeg():
            return _least(constraint.args[0])
        case cp.constraints.NonPos():
            return _least(-constraint.args[0])
    args = [dense(argument.value) for argument in constraint.args]
    match constraint:
        case cp.constraints.PSD():
            matrix = np.atleast_2d(args[0])
            half = 0.5 * (matrix + np.conj(np.swapaxes(matrix, -2, -1)))
            lost = 8.0 * half.shape[-1] * EPS * float(np.linalg.norm(half))
            return float(np.min(np.linalg.eigvalsh(half))) - lost
        case cp.constraints.SOC():
            vectors = args[1].reshape(-1, 1) if args[1].ndim < 2 else args[1]
            vectors = vectors.T if constraint.axis == 1 and args[1].ndim == 2 else vectors
            norms = np.linalg.norm(vectors, axis=0)
            return _room(args[0].ravel(), norms)
        case cp.constraints.ExpCone():
            x, y, z = (part.ravel() for part in args)
            return _room(z, y * np.exp(x / y)) if np.all(y > 0.0) else -np.inf
        case cp.constraints.PowCone3D():
            x, y, z = (part.ravel() for part in args)
            alpha = np.broadcast_to(dense(constraint.alpha.value).ravel(), x.shape)
            if not (np.all(x > 0.0) and np.all(y > 0.0)):
                return -np.inf
            return _room(x**alpha * y ** (1.0 - alpha), np.abs(z))
    return -float(np.max(constraint_violation(constraint), initial=0.0))


def _least(room: Any) -> float:
    """The least entry of an expression, less the radius of its evaluation."""
    found = enclosed(room)
    lower = np.real(dense(found.value)) - found.reach
    return float(np.min(lower, initial=np.inf))


def _room(high: Any, low: Any) -> float:
    """The least of high - low, each rounded by a few units and the length of a sum."""
    lost = 32.0 * (np.size(low) + 8) * EPS * (np.abs(high) + np.abs(low))
    return float(np.min(high - low - lost))


@dataclass(frozen=True)
class Slater(PublicNames):
    """Whether a convex problem meets the refined condition of Slater.

    Attributes
    ----------
    holds : bool or None
        True: some point meets all constraints, those that are not linear strictly. False: none
        does. None: neither was verified; ``reason`` says why.
    point : dict of arrays
        Where True, by names of variables. An exactly feasible point is within ``distance``.
    slack : dict of float
        Where True, by label: the least room of each constraint at ``point``, less what rounding
        may have added; > 0 for each that is not linear. Of an equality minus its residual, of a
        linear inequality what is left: they need only be met, by a point within ``distance``.
    multipliers : dict of arrays
        Where False, by label: of the signs that CVXPY's have. The sum of the constraints g(x) <= 0
        times them is >= 0 everywhere, and would be < 0 at a strictly feasible point.
    distance : float
        Of an exactly feasible point from ``point`` (2-norm, auxiliary variables included).
    reason : str
    """

    holds: bool | None
    point: dict[str, Any] = field(default_factory=dict)
    slack: dict[str, float] = field(default_factory=dict)
    multipliers: dict[str, Any] = field(default_factory=dict)
    distance: float = 0.0
    reason: str = ""

    def __str__(self) -> str:
        said = {True: "holds", False: "fails", None: "is undecided"}[self.holds]
        rows = [f"  {name}: slack {value:.3g}" for name, value in self.slack.items()]
        return "\n".join([f"Slater's condition {said}", f"  {self.reason}", *rows])


@operation("slater")
@without_warnings
@sparse_values()
def slater(problem: Any) -> Slater:
    """Look for a strictly feasible point, or for multipliers that show that there is none.

    The refined condition: equalities and linear inequalities (also of maxima and l1 norms, which
    are several of these) need only be met, all other constraints, and the domains of the atoms,
    strictly. Where it holds and the optimal value is finite, the dual has a solution of the same
    value.

    Parameters
    ----------
    problem : cvxpy.Problem, or a posed problem
        DCP and continuous; of a posed problem its ``primal``. Values of variables stay.

    Returns
    -------
    Slater
        True only where a point has been verified: linear constraints are met exactly by a point
        nearby, and everything as near is inside of the others, both in CVXPY's conic form; the
        slacks are those of the constraints as they are written. False only where multipliers prove
        it of the conic form, whose coefficients are taken as they are: in rationals, or priced
        (those of an infeasible problem). Everything else is None.

    Raises
    ------
    InputError
        For what is neither.

    References
    ----------
    Boyd and Vandenberghe, *Convex Optimization* (2004), section 5.2.3; Rockafellar, *Convex
    Analysis* (1970), theorem 28.2.
    """
    from ..models.base import Problem

    problem = problem.primal if isinstance(problem, Problem) else problem
    require_problem(problem, "slater")
    if not problem.variables():
        raise InputError("slater: the problem has no variables; there is no point to look for.")
    check_problem(problem, "slater")
    posed = pose(problem, "slater")
    if words := posed.curvature:
        return Slater(None, reason=words)
    x, y = deepest(posed.program) or (None, None)
    if (strict := strict_point(posed.program, x)) is not None:
        return _told(posed, *strict)
    y = None if y is None else no_interior(posed.program, y)
    if y is not None:
        reason = (
            "every feasible point, if there is one, is on the border of a constraint that is not "
            "linear, or of a domain"
        )
        return Slater(False, multipliers=posed.named(y), reason=reason)
    farkas = certify_infeasible(posed.program, lambda: posed.units, soft_rows(posed), None, 1e-6)
    if farkas.verdict is Verdict.CERTIFIED:
        named = posed.named(farkas.dual["y"])
        return Slater(False, multipliers=named, reason=f"infeasible: {farkas.reason}")
    reason = "no point with room was verified, and no multipliers that exclude one exactly"
    return Slater(None, reason=reason)


def _told(posed: Posed, x: Array, distance: float) -> Slater:
    """The point in the user's variables, with the slacks of the constraints as they are written."""
    names = constraint_names(posed.problem)
    with substituted(posed.values(x)):
        slack = {names[c.id]: slack_of(c) for c in posed.problem.constraints}
        strict = [names[c.id] for c in posed.problem.constraints if not is_linear(c)]
    tight = [name for name in strict if not slack[name] > 0.0]
    if tight:
        reason = f"{tight[0]}: no room is left of it once rounding is taken off"
        return Slater(None, slack=slack, reason=reason)
    point = {name: np.array(value) for name, value in posed.point(x).items()}
    reason = f"strictly feasible; an exactly feasible point is within {distance:.3g}"
    return Slater(True, point, slack, distance=distance, reason=reason)

"""The smallest lam for which w = 0 is optimal, and paths that are certified at every lam."""

from __future__ import annotations

import copy
import warnings
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..certificates.learning.paths import Tangent, crossing, relative_gap_at, worst_between
from ..certificates.learning.repair import PrimalPoint, repair_primal
from ..certificates.learning.rounding import primal_rounding
from ..data import in_memory, rows_in_blocks
from ..errors import ConvexmlError, InputError, SolverError
from ..modelling import cp
from ..numerics import ROUNDING, Array
from ..penalties import ElasticNet, NonnegativeElasticNet, Penalty, Zero
from ..problem import Frame, Objective, frame_of
from ..solvers.driver import drive
from ..solvers.second_order.newton import newton
from ..validation import finite_number
from .pictures.path import PicturedPath
from .solution import Solution

# The smallest lam for which w = 0 is optimal.


NEAR = 1e-6
"""The relative gap at which a fit of unpenalised features is taken."""
GATHERED = 4_000_000
"""Entries of rows in blocks that are brought together."""


def lam_max(objective: Objective, owner: str = "lam_max") -> float:
    """Return the least lam with 0 in dP(0), for penalties that are lam times a norm.

    That is the least gauge of -X'u over u in dF(z) with 1'u = 0, where z are the predictions of
    the null model (best b and unpenalised coefficients). A differentiable loss has one such u; a
    kinked one has an interval at every sample on its kink, and the minimum is a convex program.
    """
    penalty = objective.penalty
    try:
        penalty.lam_max(np.zeros(objective.d))
    except TypeError as error:
        raise InputError(
            f"{owner}: {error} Penalties with a kink at 0 have one, such as the lasso's."
        ) from None
    if objective.loss.is_indicator:  # w = 0 is optimal wherever it is feasible
        level = objective.y[0] if objective.fit_intercept else 0.0
        feasible = np.isfinite(objective.loss_value(np.full(objective.n, level)))
        return 0.0 if feasible else np.inf
    unpenalised = _unpenalised(penalty, objective.d)
    frame = frame_of(objective)
    inner = frame.objective
    if objective.loss.is_smooth:
        z = _null_predictions(inner, unpenalised)
        v = -inner.design.rmatvec(inner.loss_derivative(z))
        return penalty.lam_max(frame.factor * v / frame.unit)
    if unpenalised.any():
        raise InputError(
            f"lam_max: unpenalised features need a differentiable loss, got {objective.loss!r}."
        )
    z = inner.zero_scores
    return _over_the_kinks(frame, penalty, z + inner.best_intercept(z))


def _unpenalised(penalty: Penalty, d: int) -> Array:
    """Mask of the features of weight 0; not all of them at lam = 0."""
    if getattr(penalty, "weights", None) is None:
        return np.zeros(d, dtype=bool)
    twin: Any = copy.copy(penalty)
    twin.lam = 1.0
    return twin.free(d)


def _null_predictions(objective: Objective, unpenalised: Array) -> Array:
    z = objective.zero_scores
    shift = objective.best_intercept(z)
    if not unpenalised.any():
        return z + shift
    part = replace(objective, design=objective.design.columns(unpenalised), penalty=Zero())
    run = drive(part, newton(part, np.zeros(part.d), shift), tol=1e-14, max_iter=50)
    if not (run.trace and run.trace[-1].relative_gap <= NEAR):
        raise SolverError(
            "lam_max: the fit of the unpenalised features, from which it is computed, was not "
            "reached. Give the columns of X units that are alike, and far from 1e100 and 1e-100."
        )
    return part.predict(run.best.w, run.best.b)


def _over_the_kinks(frame: Frame, penalty: Penalty, z: Array) -> float:
    """The least lam with a dual point in lam dOmega(0), in the coordinates of the frame."""
    objective, share = frame.objective, 1.0
    if isinstance(penalty, ElasticNet | NonnegativeElasticNet):
        share, penalty = penalty.l1_ratio, penalty.norm
    unit: Any = copy.copy(penalty)
    unit.lam = 1.0
    scaled: Any = unit if frame.is_trivial else unit.in_units(frame.unit, 1.0 / frame.factor)
    lo, hi = _subdifferential(objective, z)
    # Off the kinks u is known: all that is asked of those rows are X'u and 1'u.
    known = np.where(lo < hi, 0.0, lo)
    pull, total = objective.design.rmatvec(known), float(known.sum())
    count = int((lo < hi).sum())
    if rows_in_blocks(objective) and count * objective.d > GATHERED:
        raise InputError(
            f"lam_max: {count} samples lie on a kink of {objective.loss!r} in the null model, and "
            "their rows are needed in memory. Pass X and y, or some of the blocks."
        )
    kinked = np.flatnonzero(lo < hi)
    # The level grows with X: the program is posed in units in which both are near 1.
    X = objective.design.rows(kinked).constant
    size = max(float(abs(X).max()) if min(X.shape) else 0.0, float(np.abs(pull).max()))
    own = 2.0 ** -np.round(np.log2(size)) if 0.0 < size < np.inf else 1.0
    X, pull = X * own, pull * own
    low, high = in_memory(lo[kinked]), in_memory(hi[kinked])
    u, level = cp.Variable(len(low)), cp.Variable(nonneg=True)
    products = pull + X.T @ u if len(low) else cp.Constant(pull)
    dual_norm = scaled.conjugate_expression(
        products, objective.d, dict.fromkeys(("lam", "l1"), level)
    )
    constraints = [u >= low, u <= high, *dual_norm.constraints.values()]
    if objective.fit_intercept:
        constraints.append(total + cp.sum(u) == 0.0)
    problem = cp.Problem(cp.Minimize(level), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the last digits may be "inaccurate"
        try:
            problem.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10)
        except cp.SolverError as error:
            raise SolverError(f"lam_max: clarabel failed: {error}") from None
    if level.value is None:
        raise SolverError(f"lam_max: clarabel ended {problem.status}.")
    return float(np.asarray(level.value) / own / (scaled.lam * share)) if share else np.inf


def _subdifferential(objective: Objective, z: Array) -> tuple[Array, Array]:
    """The ends of c_i dl(y_i, z_i), from the derivatives on either side of a kink.

    The null model's b is a breakpoint: a sample is on its kink to the last digits or not at all,
    however large the other targets are.
    """
    kinks = np.stack(objective.loss.kinks(objective.y))
    apart = np.abs(kinks - z)
    at = apart.min(axis=0) <= ROUNDING * np.abs(z)
    others = np.where(apart > ROUNDING * np.abs(z), apart, np.inf).min(axis=0)
    step = np.where(np.isfinite(others), 0.5 * others, np.maximum(np.abs(z), 1.0))
    here = objective.loss_derivative(z)
    below = objective.loss_derivative(z - step)
    above = objective.loss_derivative(z + step)
    return np.where(at, np.minimum(below, here), here), np.where(at, np.maximum(above, here), here)


def exact_zeros(objective: Objective, point: PrimalPoint) -> tuple[Array, Any]:
    """Exactly w = 0 where the null model fits exactly or lam >= lam_max; else (w, b) as it is."""
    w, b, reached = point.w, point.b, point.value
    if not w.any():
        return w, b
    zero, (shift, value) = np.zeros_like(w), objective.null_model
    if value == 0.0 < reached:
        return zero, shift
    level = getattr(objective.penalty, "lam", None)
    if level is None or objective.penalty.is_smooth or not np.isfinite(value):
        return w, b
    if value > reached * (1.0 + 1e-9):
        return w, b  # the null model is worse, so that lam is below lam_max
    try:
        largest = lam_max(objective)
    except ConvexmlError:
        return w, b
    return (zero, shift) if level >= largest * (1.0 - 1e-9) else (w, b)


# A path whose grid is chosen so that every parameter between its ends is solved within tol.


POINTS = 40.0
"""On two decades, at a tol of 1e-3: what the first step is guessed from."""
EAGER, LONGEST = 0.9, 2.0
"""Of the step that would just do, by the last one; a step is at most this many times the last."""
SHORTEST = 1e-10
"""Neighbours this close, relatively, are not parted: nothing is gained there any more."""
INSIDE = 0.1
"""Where two neighbours are parted, the new point is this share of their distance from both."""


@dataclass(frozen=True)
class IntervalPath(PicturedPath):
    """Solutions of a grid, and a bound of the gap at every parameter between its ends.

    Attributes
    ----------
    name : str
        "lam", "C" or "nu".
    tol : float
        The relative gap that was asked for everywhere.
    solutions : list of Solution
        By falling parameter.
    lines : list of Tangent
        What each of them says of other parameters.
    """

    name: str
    tol: float
    solutions: list[Solution]
    lines: list[Tangent]

    @property
    def lams(self) -> list[float]:
        """The grid, falling."""
        return [line.at for line in self.lines]

    @property
    def worst_gap(self) -> float:
        """A bound of the relative gap of ``at(lam)``, for every lam of the interval."""
        return max(worst_between(*pair) for pair in zip(self.lines, self.lines[1:], strict=False))

    @property
    def holds(self) -> bool:
        """Whether ``worst_gap`` is at most ``tol``."""
        return self.worst_gap <= self.tol

    def at(self, lam: float) -> Solution:
        """The solution of the grid that is within ``gap_at(lam)`` of the optimum at ``lam``.

        Parameters
        ----------
        lam : float
            Between the ends.

        Returns
        -------
        Solution
            That of one of the two neighbours; its own certificate speaks of its own parameter.

        Raises
        ------
        InputError
            For a parameter outside of the interval.
        """
        k = self._after(lam)
        better = min((k - 1, k), key=lambda i: self.lines[i].upper(lam))
        return self.solutions[better]

    def gap_at(self, lam: float) -> float:
        """A bound of the relative gap of ``at(lam)`` at ``lam``.

        Parameters
        ----------
        lam : float
            Between the ends.

        Returns
        -------
        float

        Raises
        ------
        InputError
            For a parameter outside of the interval.
        """
        k = self._after(lam)
        return relative_gap_at(self.lines[k - 1], self.lines[k], float(lam))

    def _after(self, lam: float) -> int:
        """The index of the right one of the two neighbours of ``lam``."""
        low, high = self.lines[-1].at, self.lines[0].at
        if not low <= finite_number(lam, "path", self.name) <= high:
            raise InputError(f"path: {self.name} must be from {low:g} to {high:g}, got {lam!r}.")
        return max(bisect_left([-at for at in self.lams], -float(lam)), 1)

    def __len__(self) -> int:
        return len(self.solutions)

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.solutions)

    def __repr__(self) -> str:
        ends = f"{self.name} = {self.lines[0].at:g} ... {self.lines[-1].at:g}"
        return f"IntervalPath({ends}: {len(self)} solutions, worst gap {self.worst_gap:.3g})"


def follow(
    problem: Any, name: str, ends: Any, tol: float, solve: Callable[[float], Solution]
) -> IntervalPath:
    """Solve from the high end to the low one, each step about as long as ``tol`` allows.

    Parameters
    ----------
    problem : Problem
    name : str
        The parameter, which enters P linearly.
    ends : pair of floats
    tol : float
    solve : callable
        The solution for a value of the parameter, near the one before.
    """
    if name not in ("lam", "C", "nu"):
        raise InputError(f"{problem.name}.path: P is not linear in {name}; everywhere needs that.")
    high, low = read_ends(problem.name, name, ends)
    path = IntervalPath(name, tol, [], [])

    def add(value: float) -> Tangent:
        solution = solve(value)
        found = line_of(solution, name)
        k = bisect_left([-each for each in path.lams], -value)
        path.solutions.insert(k, solution)
        path.lines.insert(k, found)
        return found

    def part(first: Tangent, second: Tangent) -> None:
        """Take points between two until each pair of neighbours does."""
        open_pairs = [(first, second)]
        while open_pairs:
            first, second = open_pairs.pop()
            width = first.at - second.at
            if worst_between(first, second) <= tol or not are_near(first, second, tol):
                continue
            if width <= SHORTEST * first.at:
                continue
            room = INSIDE * width
            middle = float(np.clip(crossing(first, second), second.at + room, first.at - room))
            between = add(middle)
            open_pairs += [(first, between), (between, second)]

    last = add(high)
    step = np.sqrt(tol / 1e-3) * np.log(100.0) / POINTS
    while last.at > low:
        value = last.at * np.exp(-step)
        following = add(low if value <= low * np.exp(0.1 * step) else value)
        worst = worst_between(last, following)
        part(last, following)
        if are_near(last, following, tol):
            just = np.sqrt(tol / worst) if worst > 0.0 else np.inf
            taken = np.log(last.at / following.at)
            step = taken * float(np.clip(EAGER * just, 1.0 / LONGEST**2, LONGEST))
        last = following
    return path


def are_near(first: Tangent, second: Tangent, tol: float) -> bool:
    """Whether both ends leave room to ``tol``: what they miss is not missed by less between."""
    return all(relative_gap_at(first, second, line.at) <= 0.5 * tol for line in (first, second))


def read_ends(owner: str, name: str, ends: Any) -> tuple[float, float]:
    """(high, low) of an interval; low > 0."""
    try:
        first, second = (float(end) for end in ends)
    except (TypeError, ValueError):
        raise InputError(
            f"{owner}.path: everywhere needs two ends, (high, low), got {ends!r}."
        ) from None
    high, low = max(first, second), min(first, second)
    if not (0.0 < low < high < np.inf):
        raise InputError(
            f"{owner}.path: the ends of {name} must be two different finite numbers > 0, "
            f"got {ends!r}."
        )
    return high, low


def line_of(solution: Solution, name: str) -> Tangent:
    """P of a solution as ``name`` moves: by its ``slope``, what that may be off by, and P_0."""
    problem = solution.problem
    at = float(getattr(problem, name))
    if not solution.primal:
        raise InputError(
            f"{problem.name}.path: everywhere needs a point at each {name}; at {at:g} the problem "
            f"is {solution.status}."
        )
    return Tangent.of(solution.certificate, at, *problem._slope(solution.primal, name))


def slope_of(problem: Any, primal: Mapping[str, Array], name: str) -> tuple[float, float, float]:
    """dP/d name: Omega at lam = 1, or the loss at C = 1; what it may be off by, and P_0."""
    if "q" in primal:
        raise InputError(f"{problem.name}.path: everywhere does not follow functions of kernels.")
    unit = problem.snapshot()
    setattr(unit, name, 1.0)
    objective: Objective = unit.objective_parts
    w = problem.coordinates(primal)
    if name == "C":
        b: Any = primal["b"]
        point = repair_primal(objective, w, b if b.ndim else float(b))
        slope = objective.loss_value(point.z)
        error = primal_rounding(objective, point, objective.zero_scores)
    else:
        slope = objective.penalty.value(w)
        error = objective.penalty.value_rounding(w, slope)
    return slope, error, problem.objective_parts.null_value

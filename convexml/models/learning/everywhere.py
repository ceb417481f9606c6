"""A path whose grid is chosen so that every parameter between its ends is solved within tol."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...certificates.learning.account import primal_rounding
from ...certificates.learning.between import Tangent, crossing, relative_gap_at, worst_between
from ...certificates.learning.points.primal_repair import repair_primal
from ...errors import InputError
from ...objective import Objective
from ...validation import finite_number
from ..pictures.along import PicturedPath
from ..solution import Solution

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
    problem: Any,
    name: str,
    ends: Any,
    tol: float,
    solve: Callable[[float], Solution],
    line: Callable[[Solution, str], Tangent] | None = None,
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
    line : callable, optional
        What a solution says of other parameters; None is ``line_of``, for weights w.
    """
    if name not in ("lam", "C", "nu"):
        raise InputError(f"{problem.name}.path: P is not linear in {name}; everywhere needs that.")
    high, low = read_ends(problem.name, name, ends)
    path = IntervalPath(name, tol, [], [])

    def add(value: float) -> Tangent:
        solution = solve(value)
        found = (line or line_of)(solution, name)
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
    """P of a solution as ``name`` moves: its slope is Omega at lam = 1, or the loss at C = 1."""
    problem = solution.problem
    at = float(getattr(problem, name))
    if "q" in solution.primal:
        raise InputError(f"{problem.name}.path: everywhere does not follow functions of kernels.")
    if "w" not in solution.primal:
        raise InputError(
            f"{problem.name}.path: everywhere needs weights w at each {name}; at {at:g} "
            f"the problem is {solution.status}."
        )
    unit = problem.snapshot()
    setattr(unit, name, 1.0)
    objective: Objective = unit.objective_parts
    w = problem.coordinates(solution.primal)
    if name == "C":
        b: Any = solution.primal["b"]
        point = repair_primal(objective, w, b if b.ndim else float(b))
        slope = objective.loss_value(point.z)
        error = primal_rounding(objective, point, objective.zero_scores)
    else:
        slope = objective.penalty.value(w)
        error = objective.penalty.value_rounding(w, slope)
    null = problem.objective_parts.null_value
    return Tangent.of(solution.certificate, at, slope, error, null)

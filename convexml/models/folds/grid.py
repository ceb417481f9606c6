"""One problem at each value of its hyperparameter: points and their verified gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...blocks import in_memory
from ...design import BlockedDesign
from ...numerics import Array
from ...progress import counted, operation
from ..learning.posed import Values
from .quick import quick_points


@dataclass(frozen=True)
class Grid:
    """Points of a problem at the values of its hyperparameter.

    Attributes
    ----------
    problem : posed problem
    points : list of dicts of arrays
        By name; empty where nothing reached a point.
    gaps : array, shape (m,)
        The verified relative gap of each; inf where there is no bound.
    iterations : list of int
        Steps of the solver; 1 where all were solved at once.
    """

    problem: Any
    points: list[Values]
    gaps: Array
    iterations: list[int]

    def predictions(self, X: Any) -> list[Array | None]:
        """X w + b, before that becomes labels, of each point; None where there is none."""
        there = [point for point in self.points if point]
        if isinstance(X, BlockedDesign):
            return [in_memory(X.matvec(p["w"]) + p["b"]) if p else None for p in self.points]
        if there and all(
            "w" in point and point["w"].ndim == 1 for point in there
        ):  # one product for all
            W, b = (np.array([point[key] for point in there]) for key in ("w", "b"))
            found = iter((X @ W.T + b).T)
        else:
            found = iter([self.problem.decision_function(X, point) for point in there])
        return [next(found) if point else None for point in self.points]


def solve_grid(
    problem: Any, name: str, values: Array, tol: float, near: Grid | None = None
) -> Grid:
    """Solve from the strongest value to the weakest, warm started, and certify every point.

    Parameters
    ----------
    problem : learning problem
    name : str
        "lam", "C" or "radius".
    values : array, shape (m,)
    tol : float
        Relative gap that every point is to reach.
    near : Grid, optional
        That of another fold, whose changes from one value to the next are much the same.
    """
    with operation(f"{problem.name} along {name}"):
        return _solve_grid(problem, name, values, tol, near)


def _solve_grid(problem: Any, name: str, values: Array, tol: float, near: Grid | None) -> Grid:
    """The same, where who watches hears of it."""
    falling = np.argsort(-values if name == "lam" else values, kind="stable")
    points: list[Values] = [{}] * len(values)
    gaps, steps = np.full(len(values), np.inf), [1] * len(values)
    quick = quick_points(problem, name, values[falling], tol)
    if quick is not None:
        W, b, gaps[falling] = quick
        for at, w, shift in zip(falling.tolist(), W, b, strict=True):
            points[at] = {"w": w, "b": np.asarray(shift)}
    left: list[int] = falling[~(gaps[falling] <= tol)].tolist()
    more: dict[str, Any] = {"carried": {}} if problem._hands_on else {}
    last: int | None = None
    for at in counted(left, lambda k: f"{name} = {values[k]:.4g}"):
        setattr(problem, name, values[at])
        solution = problem.solve(tol=tol, w0=_start(problem, points, near, last, at), **more)
        points[at], gaps[at], steps[at] = {}, verified_gap(solution), solution.iterations
        if "b" in solution.primal:
            points[at] = {k: solution.primal[k] for k in ("q", "w", "b") if k in solution.primal}
        last = at
    return Grid(problem, points, gaps, steps)


def _start(
    problem: Any, points: list[Values], near: Grid | None, last: int | None, at: int
) -> Array | None:
    """The point before, moved as that of a neighbour moves where no coordinate is to stay 0."""
    before = {} if last is None else points[last]
    start = before.get("q", before.get("w"))
    if near is None or "w" not in near.points[at] or not problem._parts[1].is_smooth:
        return start
    there: Array = near.points[at]["w"]
    if start is None or last is None or "w" not in near.points[last]:
        return there
    return start + (there - near.points[last]["w"])


def verified_gap(solution: Any) -> float:
    """The relative gap; inf where there is no point, or it misses something else."""
    gap = float(solution.relative_gap)
    missed = gap <= solution.certificate.tol and solution.status != "optimal"
    return np.inf if missed or "b" not in solution.primal else gap

"""The smallest enclosing ball."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from ...certificates import Certificate
from ...certificates.shape.enclosing import Enclosing
from ...errors import InputError
from ...numerics import LEAST_SQUARE
from ...objective import Statement, label_all
from ...solvers.exact.farthest_points import farthest_points
from ...terms import constant
from ..arrays.problem import ArrayProblem, Arrays, Shapes
from ..latex import Latex, such_that
from ..likelihood.samples import Rows, read_rows
from ..pictures.points import draw_ball
from ..solution import Solution


class EnclosingBall(ArrayProblem):
    r"""Minimise r^2 s.t. |x_i - c|^2 <= r^2: the smallest ball that holds all points.

    Parameters
    ----------
    X : array, shape (n, d)
        Points in rows.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, and points whose squared distances are beyond
        float64.

    Notes
    -----
    "center" (d,) and "radius" (), in the units of X; the radius that is not passed is the largest
    distance from the center. The dual maximises sum alpha_i |x_i|^2 - |sum alpha_i x_i|^2 over the
    simplex; center = sum alpha_i x_i. ``support`` of a solution are the points with alpha_i > 0,
    all of them at the distance r. Where X is so far from 0 that float64 cannot tell the center well
    enough, the answer is "inaccurate" with an honest gap. Any alpha >= 0, divided by its sum, gives
    a lower bound, in which rounding is accounted for. CVXPY's dual values of |x_i - c| <= r are 2 r
    alpha_i.

    References
    ----------
    Elzinga and Hearn, *The minimum covering sphere problem* (1972),
    https://doi.org/10.1287/mnsc.19.1.96.
    """

    methods: ClassVar[tuple[str, ...]] = ("farthest_points",)
    why: ClassVar[str] = "a few points carry the ball, and each step finds another or drops some"
    slater = r"c = 0,\ r = 1 + \max_i \|x_i\|"
    _asks = False
    _samples: Rows
    program: Enclosing
    """The problem as its certificate sees it."""

    def __init__(self, X: Any) -> None:
        self._samples = rows = read_rows(self.name, X, None)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            self.program = Enclosing(rows.X)
            null, apart = self.program.null, bool(np.any(np.ptp(rows.X, axis=0) > 0.0))
        if not (LEAST_SQUARE < null < np.inf or (null == 0.0 and not apart)):
            raise InputError(
                f"{self.name}: squared distances of X are beyond float64 (entries up to "
                f"{np.max(np.abs(rows.X)):g}); change its unit."
            )
        self._hyper = {}

    def solve(self, solver: str = "auto", **options: Any) -> Solution:
        """Solve and certify, as every problem; ``support`` are the points with alpha > 0.

        Of solvers that end inside, alpha_i counts as > 0 where it is more than the share of r^2
        that is between x_i and the sphere.
        """
        solution = super().solve(solver, **options)
        if "alpha" in solution.dual:
            square = float(solution.primal["radius"]) ** 2
            slack = np.maximum(square - self.program.squares(solution.primal["center"]), 0.0)
            solution.support = np.flatnonzero(solution.dual["alpha"] > slack / (square or 1.0))
        return solution

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        n, d = self.program.X.shape
        return {"center": (d,), "radius": ()}, {"alpha": (n,)}

    def _complete(self, point: Arrays) -> Arrays:
        if "center" not in point or "radius" in point:
            return point
        return {**point, "radius": np.array(self.program.reach(point["center"]))}

    def _value(self, point: Arrays) -> float:
        return self.program.value(point["center"], float(point["radius"]))

    def _dual_value(self, dual: Arrays) -> float:
        return self.program.dual_value(dual["alpha"])

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        center, radius = point["center"], float(point["radius"])
        return self.program.certify(center, radius, dual.get("alpha"), tol, search=search)

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        for alpha in farthest_points(self.program.units()[0]):
            center, radius = self.program.ball(alpha)
            yield {"center": center, "radius": np.array(radius)}, {"alpha": alpha}

    def draw(self, axes: Any, solution: Solution) -> None:
        """The ball with its center and the points, those on its sphere by their multipliers."""
        X, center = self._samples.X, solution.primal["center"]
        alpha = solution.dual.get("alpha", np.zeros(len(X)))
        holds = np.zeros(len(X), dtype=bool)
        holds[[] if solution.support is None else solution.support] = True
        draw_ball(axes, X, center, float(solution.primal["radius"]), alpha, holds, self.features)

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose(self) -> Statement:
        import cvxpy as cp

        X = self.program.X
        center, radius = cp.Variable(X.shape[1], name="center"), cp.Variable(name="radius")
        away = constant(X, "X") - constant(np.ones((len(X), 1)), "1") @ center[None, :]
        constraints = {"enclosed": cp.norm(away, 2, axis=1) <= radius}
        problem = cp.Problem(cp.Minimize(cp.square(radius)), label_all(constraints))
        return Statement(problem, {"center": center, "radius": radius}, constraints)

    def _pose_dual(self) -> Statement:
        import cvxpy as cp

        about = constant(self.program.X - self.program.mean, "(X - 1 mean(X))")
        alpha = cp.Variable(len(self.program.X), name="alpha")
        constraints = {"sum": cp.sum(alpha) == 1.0, "signs": alpha >= 0.0}
        value = cp.sum(cp.square(about), axis=1) @ alpha - cp.sum_squares(about.T @ alpha)
        problem = cp.Problem(cp.Maximize(value), label_all(constraints))
        return Statement(problem, {"alpha": alpha}, constraints)

    def _read_duals(self) -> Arrays:
        found = self.constraints["enclosed"].dual_value
        if found is None or not np.sum(np.maximum(found, 0.0)) > 0.0:
            return {}
        pushes = np.maximum(np.ravel(found), 0.0)
        return {"alpha": pushes / pushes.sum()}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        return point, {"enclosed": 2.0 * float(point["radius"]) * dual["alpha"]}

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.name, **self._samples.to_dict()}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> EnclosingBall:
        """Pose the problem again that ``to_dict`` described."""
        return cls(Rows.from_dict(stored)[0])

    def _formulas(self) -> Latex:
        inside, simplex = r"\|x_i - c\|^2 \le r^2", (r"\sum_i \alpha_i = 1", r"\alpha \ge 0")
        slack = r"\alpha_i (r^2 - \|x_i - c\|^2) = 0"
        return Latex(
            r"\min_{c, r}\ r^2" + such_that(inside),
            r"r^2 + \sum_i \alpha_i (\|x_i - c\|^2 - r^2)",
            r"\max_\alpha\ \sum_i \alpha_i \|x_i\|^2 - \|\textstyle\sum_i \alpha_i x_i\|^2"
            + such_that(*simplex),
            (r"c = \sum_i \alpha_i x_i", inside, *simplex, slack),
            r"c = \text{center},\ r = \text{radius}",
            over=("c", "r^2"),
        )

    def __repr__(self) -> str:
        n, d = self.program.X.shape
        return f"{self.name}({n} points, {d} features)"

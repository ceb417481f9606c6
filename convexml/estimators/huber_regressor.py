"""Huber's regression with its scale, as scikit-learn has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import optimize
from sklearn import linear_model

from ..audit.sklearn.parts import Subproblem
from ..models.solution import Solution
from ..numerics import EPS
from .base import OURS, Given, posed
from .linear import LinearFit

DEEP = 10.0
"""Log-scales below that of y at which it is asked whether any scale > 0 is best."""
SMALLEST = 10.0 * EPS
"""Of the largest |y|: the scale of an exact fit, of which there is no least one."""
EXACT = 1e-9
"""Relative gap to which the problems of fixed scale are solved."""


class HuberRegressor(LinearFit, linear_model.HuberRegressor):
    """Minimise sum_i s_i (sigma + sigma H(r_i / sigma)) + alpha |w|^2 over (w, b, sigma).

    r = X w + b - y; H(t) = t^2 where |t| <= epsilon, 2 epsilon |t| - epsilon^2 beyond. The scale
    sigma > 0 is estimated with the coefficients, in one convex problem, and certified with them.
    ``cml.HuberRegression`` has a fixed delta = epsilon sigma.

    Parameters
    ----------
    epsilon : float
        Residuals beyond epsilon sigma count linearly; >= 1.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    alpha : float
        Strength >= 0.
    warm_start : bool
        Has no effect: every fit starts anew.
    fit_intercept : bool
        The intercept is not penalised.
    tol : float
        Verified relative gap that the fit is to reach.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _parameter_constraints: ClassVar = linear_model.HuberRegressor._parameter_constraints | OURS
    _reading: ClassVar = {"y_numeric": True}

    def __init__(
        self,
        *,
        epsilon: float = 1.35,
        max_iter: int | None = None,
        alpha: float = 0.0001,
        warm_start: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        engine: str = "auto",
    ) -> None:
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.alpha = alpha
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.engine = engine

    def _begin(self, given: Given) -> None:
        super()._begin(given)
        self.scale_ = 1.0

    def _solved(self, part: Any, tol: float) -> Solution:
        """The solution at the best scale, where sum_i u_i^2 / (4 s_i) = sum_i s_i.

        The left side is minus the derivative of the least value at a scale, which is convex in it.
        Where none is best, that of the least absolute deviations, at the smallest scale.
        """
        found: dict[float, Solution] = {}
        exact = min(tol, EXACT)

        def slope(log_scale: float) -> float:
            objective = part.at_scale(float(np.exp(log_scale)))
            found[log_scale] = solution = self._solution(posed(objective), exact)
            return -float(part.excess(np.asarray(solution.dual["u"])))

        size = float(np.max(np.abs(part.y - np.median(part.y)), initial=0.0)) or 1.0
        least, high = np.log(SMALLEST * max(size, float(np.max(np.abs(part.y))))), np.log(size)
        while slope(high) < 0.0:
            high += 2.0
        low, step, deep = high - 2.0, 4.0, np.log(size) - DEEP
        while low > least and slope(low) > 0.0:
            high, low, step = low, low - step, 2.0 * step
            if low < deep <= high:
                limit = self._solution(posed(part.without_scale()), exact)
                if limit.status == "optimal" and part.excess(np.asarray(limit.dual["u"])) <= 0.0:
                    self.scale_ = float(np.exp(least))
                    return limit
        best = max(low, least)
        if low > least:
            best = optimize.brentq(slope, low, high, xtol=1e-14, rtol=4.0 * EPS)
        if best not in found:
            slope(best)
        solution = found[best]
        solution.iterations = sum(each.iterations for each in found.values())
        return solution

    def _end(self, given: Given, parts: Sequence[Any], solutions: Sequence[Solution]) -> None:
        solution = solutions[0]
        self.coef_ = np.array(solution.primal["w"])
        self.intercept_ = float(solution.primal["b"])
        delta = getattr(solution.problem.objective_parts.loss, "delta", self.scale_ * self.epsilon)
        self.scale_ = delta / self.epsilon
        away = np.abs(given.y - given.X @ self.coef_ - self.intercept_)
        self.outliers_ = away > self.scale_ * self.epsilon

    def _standing(
        self, given: Given, parts: Sequence[Any], solutions: Sequence[Solution]
    ) -> Sequence[Subproblem]:
        return self._parts(given)

"""Fits of a given shape: convex and monotone functions, and the smallest enclosing ball."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..certificates.convex_regression import Convex
from ..certificates.scale import learning_scale, relative
from ..certificates.shape import Enclosing, Monotone
from ..errors import InputError
from ..formulas import constant, listed
from ..losses import Squared
from ..numerics import Array
from ..penalties import Zero
from ..problem import Objective, Statement
from ..solvers.dual.combinations import piece_steps, slopes_of
from ..solvers.exact import farthest_points, pool_adjacent_violators
from ..validation import finite_array, yes_or_no
from .arrays import ArrayProblem, Arrays, Shapes, SumProblem
from .inputs import (
    Samples,
    dense,
    read_new,
    read_rows,
    read_samples,
    read_weights,
    refuse_squares,
)
from .latex import WEIGHTS, Latex, such_that
from .pictures.answers import draw_ball, draw_curve
from .prediction import Predictor
from .solution import Solution

# Least squares over convex functions.


class ConvexRegression(Predictor, ArrayProblem):
    r"""Minimise mean (y - theta)^2 / 2 s.t. theta_j >= theta_i + g_i'(x_j - x_i) for all i, j.

    The values theta_i = f(x_i) of the convex function that fits best, and a slope g_i of it at each
    point; f(x) = max_i theta_i + g_i'(x - x_i) is one such function, and what ``predict`` gives.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows; n up to a few hundred: there are n (n - 1) constraints.
    y : array, shape (n,)
        Real targets.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, and y whose squares are beyond float64.

    Notes
    -----
    "theta" (n,), "g" (n, d); slopes that are not passed are looked for. With "lambda" (n, n) >= 0,
    of zero diagonal, and t_k = sum_i lambda_ik - sum_j lambda_kj the dual maximises
    -sum n t_k^2 / 2 + y_k t_k s.t. sum_j lambda_ij (x_j - x_i) = 0 for every i, and theta = y + n t
    at the optimum. Multipliers that somebody brings are moved by as little as balances them, and
    become 0 at points that are no mean of others; what rounding leaves is priced. theta is unique,
    the slopes are not.

    References
    ----------
    Boyd and Vandenberghe, *Convex Optimization* (2004), 6.5.5. Seijo and Sen, *Nonparametric least
    squares estimation of a multivariate convex regression function*, Annals of Statistics 39
    (2011), https://doi.org/10.1214/10-AOS852.
    """

    methods: ClassVar[tuple[str, ...]] = ("interior_point",)
    why: ClassVar[str] = "its slopes leave one system in the values"
    classes: None = None
    _samples: Samples
    program: Convex
    """The problem as its certificate sees it."""

    def __init__(self, X: Any, y: Any) -> None:
        self._samples = samples = read_samples(self.name, X, y, None, "real")
        dense = samples.X.toarray() if hasattr(samples.X, "indptr") else samples.X
        self.program = Convex(np.asarray(dense), samples.y)
        refuse_squares(self.name, "squares of y", samples.y, self.program.null, 1e280)
        self._hyper = {}

    @property
    def sample_parts(self) -> Objective:
        """The samples and the loss."""
        s, names = self._samples, tuple(self._samples.feature_names or ())
        c = np.full(len(s.y), 1.0 / len(s.y))
        return Objective(s.design, s.y, Squared(), Zero(), c, False, names)

    def decision_function(self, X: Any, primal: Any) -> Array:
        """max_i theta_i + g_i'(x - x_i) for new samples, (k,); an InputError for another d."""
        known = self.program.X
        new = dense(read_new(self.name, X, self.features, known.shape[1]))
        theta, g = primal["theta"], primal["g"]
        pieces = [each + (new - x) @ slope for each, slope, x in zip(theta, g, known, strict=True)]
        return np.asarray(np.max(pieces, axis=0))

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        n, d = self.program.X.shape
        return {"theta": (n,), "g": (n, d)}, {"lambda": (n, n)}

    def _complete(self, point: Arrays) -> Arrays:
        if "theta" not in point or "g" in point:
            return point
        return {**point, "g": slopes_of(self.program.X, point["theta"])}

    def _taken(self, point: Arrays) -> tuple[Any, ...]:
        return ((point["theta"], point["g"]),)

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        program, before = self.program, np.inf
        if np.ptp(program.y) == 0.0:
            n, d = program.X.shape
            yield {"theta": program.y, "g": np.zeros((n, d))}, {"lambda": np.zeros((n, n))}
            return
        for theta, g, lam in piece_steps(program.X, program.y):
            gap = float(np.sum(lam * np.maximum(program.slacks(theta, g)[0], 0.0)))
            cost = program.cost((theta, g))
            share = relative(gap, learning_scale(cost, cost - gap, program.null))
            # Where it no longer falls rounding has been reached, and each point is judged.
            self._promise = share if share < before else 0.0
            before = share
            yield {"theta": theta, "g": g}, {"lambda": lam}

    def solve(self, solver: str = "auto", **options: Any) -> Any:
        """Solve and certify, as every problem."""
        self._samples.refuse_changed(self.name)
        return super().solve(solver, **options)

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pairs(self) -> tuple[Array, Array]:
        """The i and the j of each constraint."""
        i, j = np.nonzero(~np.eye(len(self.program.y), dtype=bool))
        return i, j

    def _pose(self) -> Statement:
        import cvxpy as cp

        (n, d), (i, j) = self.program.X.shape, self._pairs()
        theta, g = cp.Variable(n, name="theta"), cp.Variable((n, d), name="g")
        constraints = {}
        if n > 1:
            I_i, I_j = (
                constant(sparse.eye_array(n).tocsr()[k], f"I_{name}")
                for k, name in ((i, "i"), (j, "j"))
            )
            steps = constant(self.program.X[j] - self.program.X[i], "(I_j X - I_i X)")
            rises = cp.sum(cp.multiply(I_i @ g, steps), axis=1)
            constraints["convex"] = I_j @ theta - I_i @ theta - rises >= 0.0
        fit = cp.sum_squares(theta - constant(self.program.y, "y")) / (2.0 * n)
        return Statement.of(cp.Minimize(fit), {"theta": theta, "g": g}, constraints)

    def _pose_dual(self) -> Statement:
        import cvxpy as cp

        X, y = constant(self.program.X, "X"), constant(self.program.y, "y")
        n = len(self.program.y)
        lam = cp.Variable((n, n), name="lambda")
        leaving = cp.sum(lam, axis=1)
        t = cp.sum(lam, axis=0) - leaving
        balance = lam @ X - cp.multiply(cp.reshape(leaving, (n, 1), order="C"), X) == 0.0
        constraints = {"signs": lam >= 0.0, "diagonal": cp.diag(lam) == 0.0, "balance": balance}
        value = -0.5 * n * cp.sum_squares(t) - (y - cp.sum(y) / n) @ t
        return Statement.of(cp.Maximize(value), {"lambda": lam}, constraints)

    def _read_duals(self) -> Arrays:
        found = [constraint.dual_value for constraint in self.constraints.values()]
        lam = np.zeros((len(self.program.y),) * 2)
        if not found or found[0] is None:
            return {} if found else {"lambda": lam}
        lam[self._pairs()] = found[0]
        return {"lambda": lam}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        return point, {"convex": dual["lambda"][self._pairs()]} if self.constraints else {}

    def _formulas(self) -> Latex:
        fit = r"\tfrac{1}{2n} \|y - \theta\|_2^2"
        below = r"\theta_j \ge \theta_i + g_i^\top (x_j - x_i)"
        tilt = r"t_k = \sum_i \lambda_{ik} - \sum_j \lambda_{kj}"
        signs, balance = r"\lambda \ge 0", r"\sum_j \lambda_{ij} (x_j - x_i) = 0"
        slack = r"\theta_i + g_i^\top (x_j - x_i) - \theta_j"
        return Latex(
            rf"\min_{{\theta, g}}\ {fit}" + such_that(below),
            rf"{fit} + \sum_{{i, j}} \lambda_{{ij}} \left({slack}\right)",
            r"\max_\lambda\ -\sum_k \left[\tfrac n2 t_k^2 + y_k t_k\right]"
            + such_that(tilt, balance, signs),
            (
                r"\tfrac1n (\theta_k - y_k) = t_k",
                balance,
                below,
                signs,
                rf"\lambda_{{ij}} \left({slack}\right) = 0",
            ),
            over=(r"\theta", "g_i"),
        )

    def __repr__(self) -> str:
        n, d = self.program.X.shape
        return f"{self.name}({n} samples, {d} feature{'s' * (d != 1)})"


# The smallest enclosing ball.


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
    _samples: Samples
    program: Enclosing
    """The problem as its certificate sees it."""

    def __init__(self, X: Any) -> None:
        self._samples = rows = read_rows(self.name, X, None)
        self.program = Enclosing(rows.X)
        refuse_squares(self.name, "squared distances of X", rows.X, self.program.null)
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

    def _taken(self, point: Arrays) -> tuple[Any, ...]:
        return point["center"], float(point["radius"])

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        return map(self._told, farthest_points(self.program.units()[0]))

    def _improved(self, start: Any, tol: float) -> tuple[Arrays, Arrays]:
        return self._told(self.program.best)

    def _told(self, alpha: Array) -> tuple[Arrays, Arrays]:
        center, radius = self.program.ball(alpha)
        return {"center": center, "radius": np.array(radius)}, {"alpha": alpha}

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
        return Statement.of(
            cp.Minimize(cp.square(radius)), {"center": center, "radius": radius}, constraints
        )

    def _pose_dual(self) -> Statement:
        import cvxpy as cp

        about = constant(self.program.X - self.program.mean, "(X - 1 mean(X))")
        alpha = cp.Variable(len(self.program.X), name="alpha")
        constraints = {"sum": cp.sum(alpha) == 1.0, "signs": alpha >= 0.0}
        value = cp.sum(cp.square(about), axis=1) @ alpha - cp.sum_squares(about.T @ alpha)
        return Statement.of(cp.Maximize(value), {"alpha": alpha}, constraints)

    def _read_duals(self) -> Arrays:
        found = self.constraints["enclosed"].dual_value
        if found is None or not np.sum(np.maximum(found, 0.0)) > 0.0:
            return {}
        pushes = np.maximum(np.ravel(found), 0.0)
        return {"alpha": pushes / pushes.sum()}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        return point, {"enclosed": 2.0 * float(point["radius"]) * dual["alpha"]}

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


# Monotone (isotonic) regression.


class MonotoneRegression(SumProblem):
    r"""Minimise sum_i s_i (y_i - w_i)^2 / 2 / sum_i s_i s.t. w_1 <= w_2 <= ... <= w_n.

    Parameters
    ----------
    y : array, shape (n,)
        Targets, in the order in which w is to rise.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0. A sample of weight 0 has no say, and the w of the one before it.
    increasing : bool
        False: w_1 >= ... >= w_n.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, bad weights, and y whose squares are beyond
        float64.

    Notes
    -----
    With c_i = s_i / sum s the multipliers alpha >= 0 of w_i <= w_{i+1} are the cumulative sums of
    residuals, alpha_i = sum_{j <= i} c_j (y_j - w_j) (with the other sign where w is to fall), and
    the gap is a sum of terms >= 0 that are computed as such, measured on max(|P|, |D|, 1e-6 P_0),
    P_0 = sum_i c_i (y_i - c'y)^2 / 2 of the mean alone. w is constant on blocks, the mean of each.

    References
    ----------
    Barlow, Bartholomew, Bremner and Brunk, *Statistical Inference under Order Restrictions* (1972).
    """

    methods: ClassVar[tuple[str, ...]] = ("pool_adjacent_violators",)
    why: ClassVar[str] = "one pass over the samples ends at the optimum"
    _asks = False
    program: Monotone
    """The problem as its certificate sees it."""

    def __init__(self, y: Any, *, sample_weight: Any = None, increasing: bool = True) -> None:
        target = finite_array(y, self.name, "y")
        if target.ndim == 2 and target.shape[1] == 1:
            target = target[:, 0]
        if target.ndim != 1 or not target.size:
            raise InputError(
                f"{self.name}: y must be a vector with one entry or more, got shape {target.shape}."
                " Pass the targets in the order in which w is to rise."
            )
        self._y, s = target, read_weights(self.name, sample_weight, len(target))
        self._sample_weight = s
        sign = 1.0 if yes_or_no(increasing, self.name, "increasing") else -1.0
        self.program = Monotone(target, s / fsum(s), sign)
        refuse_squares(self.name, "squares of y", target[s > 0.0], self.program.null)
        self._hyper = {}

    @property
    def increasing(self) -> bool:
        """Whether w rises."""
        return self.program.sign > 0.0

    # -- as the base asks ------------------------------------------------------------------------

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        program = self.program
        for w, alpha in pool_adjacent_violators(program.y, program.c, program.sign):
            yield {"w": w}, {"alpha": alpha}

    def draw(self, axes: Any, solution: Solution) -> None:
        """The targets in their order, and w."""
        w = solution.primal["w"]
        words = f"{len(np.unique(w))} levels of {w.size} samples"
        draw_curve(axes, np.arange(w.size), self.program.y, w, words)

    # -- stored, told in LaTeX -------------------------------------------------------------------

    def _formulas(self) -> Latex:
        order = r"w_i \le w_{i+1}" if self.increasing else r"w_i \ge w_{i+1}"
        step = "w_i - w_{i+1}" if self.increasing else "w_{i+1} - w_i"
        pull = r"\alpha_i - \alpha_{i-1}" if self.increasing else r"\alpha_{i-1} - \alpha_i"
        value = r"\tfrac12 \sum_i c_i (y_i - w_i)^2"
        signs, some = r"\alpha \ge 0", bool(np.any(self.program.c == 0.0))
        over, absent = ("{i : c_i > 0}", r"t_i = 0\ (i : c_i = 0)") if some else ("i", "")
        return Latex(
            rf"\min_w\ {value}" + such_that(order),
            rf"{value} + \sum_i \alpha_i ({step})",
            rf"\max_\alpha\ \sum_i y_i t_i - \sum_{over} \tfrac{{1}}{{2 c_i}} t_i^2"
            + such_that(f"t_i = {pull}", signs, absent),
            (
                f"c_i (w_i - y_i) + {pull} = 0",
                order,
                signs,
                rf"\alpha_i ({step}) = 0",
            ),
            listed(r"c_i = \tfrac{s_i}{\sum_l s_l}", r"\alpha_0 = \alpha_n = 0", WEIGHTS),
        )

    def __repr__(self) -> str:
        way = "increasing" if self.increasing else "decreasing"
        return f"{self.name}({len(self.program.y)} samples, {way})"

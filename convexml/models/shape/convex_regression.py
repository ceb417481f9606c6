"""Least squares over convex functions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ...certificates import Certificate, Verdict
from ...certificates.scale import learning_scale, relative
from ...certificates.shape.convex import Convex
from ...errors import InputError
from ...losses import Squared
from ...numerics import LEAST_SQUARE, Array
from ...objective import Objective, Statement, label_all
from ...penalties import Zero
from ...solvers.dual.convex_pieces import piece_steps, slopes_of
from ...terms import constant
from ..arrays.problem import ArrayProblem, Arrays, Shapes
from ..arrays.searching import compared
from ..latex import Latex, such_that
from ..learning.predictor import Predictor
from ..reading.inputs import Samples, read_samples
from ..reading.matrix import read_matrix
from ..reading.names import NamedColumns, match_columns


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
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            self.program = Convex(np.asarray(dense), samples.y)
            null = self.program.null
        if not (LEAST_SQUARE < null < 1e280 or (np.ptp(samples.y) == 0.0 and null < np.inf)):
            raise InputError(
                f"{self.name}: squares of y are beyond float64 (entries up to "
                f"{np.max(np.abs(samples.y)):g}); change its unit."
            )
        self._hyper = {}

    @property
    def sample_parts(self) -> Objective:
        """The samples and the loss."""
        s, names = self._samples, tuple(self._samples.feature_names or ())
        c = np.full(len(s.y), 1.0 / len(s.y))
        return Objective(s.design, s.y, Squared(), Zero(), c, False, names)

    def decision_function(self, X: Any, primal: Any) -> Array:
        """max_i theta_i + g_i'(x - x_i) for new samples, (k,); an InputError for another d."""
        new = read_matrix(self.name, match_columns(self.name, X, self.features))
        new = np.asarray(new.toarray() if hasattr(new, "indptr") else new)
        known = self.program.X
        if new.shape[1] != known.shape[1]:
            raise InputError(
                f"{self.name}: X has {new.shape[1]} columns, the model was posed with "
                f"{known.shape[1]}."
            )
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

    def _joined(self, point: Arrays) -> Array:
        return np.column_stack([point["theta"], point["g"]])

    def _split(self, point: Array) -> Arrays:
        return {"theta": point[:, 0], "g": point[:, 1:]}

    def _value(self, point: Arrays) -> float:
        return self.program.value(point["theta"], point["g"])

    def _dual_value(self, dual: Arrays) -> float:
        return self.program.dual_value(dual["lambda"])

    def _certify(self, point: Array, lam: Array | None, tol: float, passed: bool) -> Certificate:
        return self.program.certify(point[:, 0], point[:, 1:], lam, tol, passed=passed)

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        joined, lam = self._joined(point), dual.get("lambda")
        found = self._certify(joined, lam, tol, lam is not None)
        rows = [row for row in found.conditions if row.kind == "primal_feasibility"]
        if not search or found.verdict is not Verdict.UNDECIDED or not rows[0].meets(tol):
            return found
        return compared(
            found,
            joined,
            self._promising(0.01 * tol),
            partial(self._certify, passed=False),
            lambda each: self.program.value_rounding(each[:, 0]),
            self._split,
            with_own=lam is None,
        )

    def _promising(self, most: float) -> Iterator[tuple[Array, Array]]:
        for point, dual in self._iterates("interior_point"):
            if self._promise <= most:
                yield self._joined(point), dual["lambda"]

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        program, before = self.program, np.inf
        if np.ptp(program.y) == 0.0:
            n, d = program.X.shape
            yield {"theta": program.y, "g": np.zeros((n, d))}, {"lambda": np.zeros((n, n))}
            return
        for theta, g, lam in piece_steps(program.X, program.y):
            gap = float(np.sum(lam * np.maximum(program.slacks(theta, g)[0], 0.0)))
            cost = program.cost(theta)
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
        problem = cp.Problem(cp.Minimize(fit), label_all(constraints))
        return Statement(problem, {"theta": theta, "g": g}, constraints)

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
        problem = cp.Problem(cp.Maximize(value), label_all(constraints))
        return Statement(problem, {"lambda": lam}, constraints)

    def _read_duals(self) -> Arrays:
        found = [constraint.dual_value for constraint in self.constraints.values()]
        lam = np.zeros((len(self.program.y),) * 2)
        if not found or found[0] is None:
            return {} if found else {"lambda": lam}
        lam[self._pairs()] = found[0]
        return {"lambda": lam}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        return point, {"convex": dual["lambda"][self._pairs()]} if self.constraints else {}

    def to_dict(self) -> dict[str, Any]:
        X, y, names = self.program.X.tolist(), self.program.y.tolist(), self.features
        return {"kind": self.name, "X": X, "y": y, "features": names}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> ConvexRegression:
        """Pose the problem again that ``to_dict`` described."""
        X, names = np.array(stored["X"], dtype=float), stored.get("features")
        return cls(NamedColumns(X, names) if names else X, stored["y"])

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

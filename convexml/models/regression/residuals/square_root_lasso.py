"""The square-root lasso, whose strength does not depend on the size of the noise."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ....certificates import Certificate, Verdict
from ....certificates.judge import refuted
from ....certificates.residuals.products import in_balance, push
from ....certificates.residuals.square_root import SquareRoot
from ....deadline import seconds_left
from ....numerics import Array
from ....objective import Statement
from ....solvers.exact.scaled_lasso import Fit, scaled_lasso
from ...arrays.problem import Arrays
from ...latex import Latex
from ...reading.inputs import Samples, expand
from ..lasso import Lasso
from ..least_squares import LeastSquares
from .base import ResidualProblem
from .square_root_statement import (
    pose_square_root,
    pose_square_root_dual,
    square_root_latex,
)

CLOSE = 1e-9
"""Relative gap of the lassos on the way: enough to tell their supports."""


class SquareRootLasso(ResidualProblem):
    r"""Minimise sqrt(mean (y - X w - b)^2) + lam |w|_1.

    lam has no unit of y: the solution of t y is t w for every t > 0, so that a good lam does not
    depend on the size of the noise. Where the residuals do not vanish it is the lasso of strength
    lam sigma, sigma the size sqrt(mean r^2) of its own residuals.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    lam : float
        Strength, >= 0, in units of 1 / X.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, NaN or infinite entries, wrong shapes, bad weights, and y whose squares
        are beyond float64.

    Notes
    -----
    The dual maximises -y'u s.t. |x_j'u| <= lam, sum_i u_i^2 / c_i <= 1 and 1'u = 0, with the
    weights c_i = s_i / sum s. KKT: u = -c r / sigma where sigma > 0, any such u where the fit is
    exact, and x_j'u = -lam sign(w_j) where w_j is not 0. w = 0 exactly for lam >= ``lam_max``.

    References
    ----------
    Belloni, Chernozhukov and Wang, *Square-root lasso: pivotal recovery of sparse signals via conic
    programming*, Biometrika 98 (2011), https://doi.org/10.1093/biomet/asr043.
    """

    methods: ClassVar[tuple[str, ...]] = ("scaled_lasso",)
    why: ClassVar[str] = "few lassos, each warm started, and the last support is solved exactly"

    def __init__(
        self, X: Any, y: Any, lam: float, *, fit_intercept: bool = True, sample_weight: Any = None
    ) -> None:
        self._start(X, y, lam, fit_intercept, sample_weight)

    @property
    def program(self) -> SquareRoot:
        """The problem as its certificate sees it."""
        return SquareRoot(self.residuals, self.lam)

    @property
    def lam_max(self) -> float:
        """The smallest lam for which w = 0."""
        u = in_balance(self.residuals, self.residuals.null_slopes())
        return float(np.max(np.abs(push(self.residuals, u)[0])))

    def dual_objective(self, u: Any) -> float:
        """D(u), u of shape (n,); -inf where u is infeasible beyond rounding."""
        return super().dual_objective(u)

    # -- as the base asks ------------------------------------------------------------------------

    def _value(self, point: Arrays) -> float:
        return self.program.cost(point["w"], float(point["b"]))[0]

    def _dual_value(self, dual: Arrays) -> float:
        return self.program.dual_value(dual["u"][self._samples.kept])

    def _judged(
        self, w: Array, b: float, dual: Array | None, tol: float, search: bool
    ) -> Certificate:
        program = self.program
        found = program.certify(w, b, dual, tol)
        if not search or found.verdict is not Verdict.UNDECIDED:
            return found
        best = self._best(tol)
        if best is None:
            return found
        point, own = best
        if dual is None:
            other = program.certify(w, b, own, tol).but(dual_source="constructed")
            found = other if other.gap < found.gap else found
        value, lost = program.cost(point["w"], float(point["b"]))
        witness = {**point, "objective": value}
        return refuted(found, value, witness, lost + program.cost(w, b)[1])

    def _best(self, tol: float) -> tuple[Arrays, Array | None] | None:
        """The last point and u of our own method, or the first that are certified."""
        best = None
        for point, dual in self._iterates("scaled_lasso"):
            u = dual["u"][self._samples.kept] if dual else None
            found = self.program.certify(point["w"], float(point["b"]), u, 0.01 * tol)
            best = point, u
            if found.verdict is Verdict.CERTIFIED:
                break
        return best

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        it, program = self.residuals, self.program
        zero = np.zeros(it.design.shape[1])
        best = zero, it.best_intercept(zero)
        slopes = [it.null_slopes()]
        if self.lam >= self.lam_max:
            yield self._told(*best, slopes[0] if self.lam == 0.0 else program.best_of(slopes).u)
            return
        if self.lam == 0.0:
            yield self._told(*self._least_squares(), None)
            return
        for w, b, more in scaled_lasso(it, self.lam, self._fit()):
            best = min(best, (w, b), key=lambda each: program.cost(*each)[0])
            slopes = [program.best_of([*slopes, *more]).u]
            yield self._told(*best, slopes[0])

    def _told(self, w: Array, b: float, u: Array | None) -> tuple[Arrays, Arrays]:
        return {"w": w, "b": np.array(b)}, {} if u is None else {"u": self._whole(u)}

    def _fit(self) -> Fit:
        """The lasso of strength lam sigma, as a function of sigma, warm started."""
        lasso = self._lasso
        options: dict[str, Any] = {"tol": CLOSE, "carried": {}, "w0": None}

        def fit(sigma: float) -> tuple[Array, float, Array] | None:
            lasso.lam = self.lam * sigma
            found = lasso.solve("working_set", **options, max_seconds=_limit())
            if not {"w", "b"} <= found.primal.keys() or "u" not in found.dual:
                return None
            options["w0"] = found.primal["w"]
            return found.primal["w"], float(found.primal["b"]), found.dual["u"]

        return fit

    def _least_squares(self) -> tuple[Array, float]:
        """The solution without a penalty, of least norm."""
        s, it = self._samples, self.residuals
        posed = LeastSquares(s.X, s.y, fit_intercept=it.fit_intercept, sample_weight=s.weights)
        primal = posed.solve("newton", tol=CLOSE, max_seconds=_limit()).primal
        zero = np.zeros(it.design.shape[1])
        w = np.array(primal.get("w", zero))
        return w, float(primal.get("b", it.best_intercept(w)))

    @cached_property
    def _lasso(self) -> Lasso:
        s, it = self._samples, self.residuals
        return Lasso(s.X, s.y, 1.0, fit_intercept=it.fit_intercept, sample_weight=s.weights)

    def _compose(self, samples: Samples, intercept: bool) -> None:
        super()._compose(samples, intercept)
        self.__dict__.pop("_lasso", None)

    def _whole(self, u: Array) -> Array:
        return expand(u, self._samples)

    # -- posed with CVXPY, told in LaTeX ---------------------------------------------------------

    def _pose(self) -> Statement:
        return pose_square_root(self.residuals, self.lam)

    def _pose_dual(self) -> Statement:
        return pose_square_root_dual(self.residuals, self.lam)

    def _read_point(self) -> Arrays:
        """What a solver left; w = 0 exactly from ``lam_max`` on."""
        found = super()._read_point()
        if found.get("w") is not None and self.lam >= self.lam_max:
            zero = np.zeros_like(found["w"])
            return {"w": zero, "b": np.array(self.residuals.best_intercept(zero))}
        return found

    def _read_duals(self) -> Arrays:
        """The multipliers that a solver left, moved to where they are feasible."""
        found = self.constraints["prediction"].dual_value
        if found is None or self.lam == 0.0 or not np.all(np.isfinite(found)):
            return {}
        return {"u": self._whole(self.program.best_of([np.array(found)]).u)}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        z = self.residuals.design.matvec(point["w"]) + point["b"]
        values = {name: each for name, each in point.items() if name in self.variables}
        return {**values, "z": z}, {"prediction": dual["u"][self._samples.kept]}

    def _formulas(self) -> Latex:
        return square_root_latex(self.residuals.fit_intercept, self._samples.weighted)


def _limit() -> float | None:
    """The time that a lasso on the way may take."""
    left = seconds_left()
    return None if left == np.inf else max(left, 1e-3)

"""The Dantzig selector, a linear program."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ....certificates import Certificate, Verdict
from ....certificates.judge import refuted
from ....certificates.residuals.correlations import Correlations
from ....certificates.residuals.dantzig import Dantzig
from ....certificates.residuals.selection import Selection
from ....numerics import UNIT, Array
from ....objective import Statement
from ...arrays.problem import Arrays
from ...latex import Latex
from ...reading.inputs import Samples
from .base import ResidualProblem
from .dantzig_statement import dantzig_latex, pose_dantzig, pose_dantzig_dual


class DantzigSelector(ResidualProblem):
    r"""Minimise |w|_1 s.t. |sum_i c_i x_ij (y_i - x_i.w - b)| <= lam for every j.

    c_i = s_i / sum s, 1/n without weights. No intercept by default; with one, sum_i c_i (y_i -
    x_i.w - b) = 0 too. The solution of the lasso of the same lam meets these constraints.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    lam : float
        The largest correlation of a column with the residuals, >= 0, in units of X y.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, NaN or infinite entries, wrong shapes, bad weights, and y whose squares
        are beyond float64.

    Notes
    -----
    The dual maximises y'Cq - lam |v|_1 s.t. |X'Cq| <= 1, q = X v + v_0 1 with 1'Cq = 0 (q = X v
    without intercept). KKT: x_j'Cq = sign(w_j) where w_j is not 0, x_j'C(y - X w - b) =
    lam sign(v_j) where v_j is not 0. Least squares solutions are feasible: it always has an
    optimum. w = 0 exactly for lam >= ``lam_max``. "auto" solves the linear program of few columns
    by HiGHS, and lets those enter that it misses; the certificate asks all. Gaps are measured on
    max(|P|, |D|, 1e-3 size), size the geometric mean of |y| / |x_j|.

    References
    ----------
    Candes and Tao, *The Dantzig selector: statistical estimation when p is much larger than n*,
    Annals of Statistics 35 (2007), https://doi.org/10.1214/009053606000001523.
    """

    methods: ClassVar[tuple[str, ...]] = ("highs",)
    why: ClassVar[str] = "it is a linear program, and few columns of many are needed"
    _dual_name = "v"
    _dual_of_samples = False

    def __init__(
        self, X: Any, y: Any, lam: float, *, fit_intercept: bool = False, sample_weight: Any = None
    ) -> None:
        self._start(X, y, lam, fit_intercept, sample_weight)

    def _compose(self, samples: Samples, intercept: bool) -> None:
        super()._compose(samples, intercept)
        self.__dict__.pop("_correlations", None)

    @cached_property
    def _correlations(self) -> Correlations:
        return Correlations(self.residuals)

    @property
    def program(self) -> Dantzig:
        """The problem as its certificate sees it."""
        return Dantzig(self._correlations, self.lam)

    @property
    def lam_max(self) -> float:
        """The smallest lam for which w = 0."""
        it = self._correlations
        found, lost = it.against(it.targets, 0.0 * it.targets)
        return float(np.max(np.abs(found) + lost))

    def dual_objective(self, v: Any) -> float:
        """D(v), v of shape (d,); -inf where v is infeasible beyond rounding."""
        return super().dual_objective(v)

    # -- as the base asks ------------------------------------------------------------------------

    def _value(self, point: Arrays) -> float:
        return self.program.value(point["w"], float(point["b"]))

    def _dual_value(self, dual: Arrays) -> float:
        return self.program.dual_value(dual["v"])

    def _judged(
        self, w: Array, b: float, dual: Array | None, tol: float, search: bool
    ) -> Certificate:
        found = self.program.certify(w, b, dual, tol)
        feasible = all(r.meets(tol) for r in found.conditions if r.kind == "primal_feasibility")
        if not (search and feasible and found.verdict is Verdict.UNDECIDED):
            return found
        best = self._best()
        if best is None:
            return found
        point, v = best
        if dual is None:
            other = self.program.certify(w, b, v, tol).but(dual_source="constructed")
            found = other if other.gap < found.gap else found
        judged = self.program.certify(point["w"], float(point["b"]), v, tol)
        if not all(r.meets(tol) for r in judged.conditions if r.kind == "primal_feasibility"):
            return found
        value = judged.primal_objective
        near = judged.rounding + found.rounding + 4.0 * UNIT * found.primal_objective
        return refuted(found, value, {**point, "objective": value}, near)

    def _best(self) -> tuple[Arrays, Array] | None:
        """The last point and v of our own method; None where its program was not solved."""
        for point, dual in self._iterates("highs"):
            if self._promise == 0.0:
                return point, dual["v"]
        return None

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        if self.lam >= self.lam_max:
            zero = np.zeros(self._samples.design.shape[1])
            self._promise = 0.0
            yield self._told(zero), {"v": zero}
            return
        for w, v, is_last in Selection(self.program).rounds():
            self._promise = 0.0 if is_last else np.inf
            yield self._told(w), {"v": self.program.best_of([v]).v}

    def _told(self, w: Array) -> Arrays:
        return {"w": w, "b": np.array(self.residuals.best_intercept(w))}

    # -- posed with CVXPY, told in LaTeX ---------------------------------------------------------

    def _pose(self) -> Statement:
        return pose_dantzig(self.residuals, self.lam)

    def _pose_dual(self) -> Statement:
        return pose_dantzig_dual(self.residuals, self.lam)

    def _read_point(self) -> Arrays:
        """What a solver left; w = 0 exactly from ``lam_max`` on."""
        found = super()._read_point()
        if found.get("w") is not None and self.lam >= self.lam_max:
            return self._told(np.zeros_like(found["w"]))
        return found

    def _read_duals(self) -> Arrays:
        """The multipliers that a solver left, moved to where they are feasible."""
        held = [self.constraints[label].dual_value for label in ("upper", "lower")]
        if any(each is None or not np.all(np.isfinite(each)) for each in held):
            return {}
        return {"v": self.program.best_of([np.ravel(held[0] - held[1])]).v}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        it, v = self.residuals, dual["v"]
        r = it.y - it.design.matvec(point["w"]) - point["b"]
        values = {name: each for name, each in point.items() if name in self.variables}
        q, _, shift = self._correlations.scores(v)
        held = {"upper": np.maximum(v, 0.0), "lower": np.maximum(-v, 0.0), "residual": it.c * q}
        if it.fit_intercept:
            held["balance"] = np.array(shift - self._correlations.middle @ v)
        return {**values, "r": r}, held

    def _formulas(self) -> Latex:
        return dantzig_latex(self.residuals.fit_intercept, self._samples.weighted)

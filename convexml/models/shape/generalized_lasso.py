"""The generalized lasso: least squares with an l1 penalty on combinations of coefficients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ...certificates import Certificate, Verdict
from ...certificates.shape.generalized import Generalized
from ...certificates.shape.stacked import with_ones
from ...errors import InputError
from ...losses import Squared
from ...numerics import LEAST_SQUARE, Array
from ...objective import Objective, Statement
from ...penalties import Zero
from ...solvers.dual.combinations import combination_steps, promising
from ...solvers.exact.without_combinations import smallest_box, without_combinations
from ...validation import nonnegative_number, yes_or_no
from ..arrays.problem import ArrayProblem, Arrays, Shapes
from ..arrays.searching import compared
from ..base import Hyperparameter
from ..folds.cross_validation import CrossValidated
from ..kernel.nu_samples import samples_from_dict, samples_to_dict
from ..latex import Latex
from ..learning.predictor import Predictor
from ..reading.inputs import Samples, expand, read_dual, read_intercept, read_samples
from ..reading.matrix import read_matrix, refuse_lost
from ..reading.names import match_coefficients
from ..solution import Solution
from .generalized_statement import generalized_latex, pose_generalized, pose_generalized_dual


class GeneralizedLasso(CrossValidated, Predictor, ArrayProblem):
    r"""Minimise (1/2) mean (y - X w - b)^2 + lam |A w|_1.

    Each row of A is a combination of coefficients that is to be 0: differences of neighbours on a
    graph (the fused lasso), of all pairs, contrasts. A = I is the lasso.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    lam : float
        Strength >= 0.
    A : array or sparse matrix, shape (m, d)
        Combinations in rows; of any rank, m may be more than d.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, an A with other columns than X, NaN or infinite entries, wrong shapes,
        bad weights, y whose squares are beyond float64.

    Notes
    -----
    With c_i = s_i / sum s the dual maximises -(1/2) sum u_i^2 / c_i - y'u over "u" (n,) and "s"
    (m,) s.t. X'u + A's = 0, 1'u = 0 (with an intercept) and |s_k| <= lam; u_i = c_i (x_i'w + b -
    y_i) at the optimum, and lam |(A w)_k| = s_k (A w)_k. From ``lam_max`` on A w = 0, to the
    rounding of A. Dual points that leave a residual are moved by as little as removes it, at a
    price. Where columns of X and A together depend up to rounding only, no bound is known.

    References
    ----------
    Tibshirani and Taylor, *The solution path of the generalized lasso*, Annals of Statistics 39
    (2011), https://doi.org/10.1214/11-AOS878.
    """

    methods: ClassVar[tuple[str, ...]] = ("interior_point",)
    why: ClassVar[str] = "its dual is a quadratic over a box"
    lam = Hyperparameter()
    classes = _kernel = None
    _parts: ClassVar[tuple[Any, ...]] = Squared(), Zero(), "mean"
    _samples: Samples

    def __init__(
        self,
        X: Any,
        y: Any,
        lam: float,
        A: Any,
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        samples = read_samples(self.name, X, y, sample_weight, "real")
        self._compose(samples, yes_or_no(fit_intercept, self.name, "fit_intercept"))
        self._A = read_matrix(self.name, A, "A")
        y, d = samples.y, samples.X.shape[1]
        if self._A.shape[1] != d:
            shape = f"A must have one column per feature ({d}), got shape {self._A.shape}."
            raise InputError(f"{self.name}: {shape} Its rows are combinations of coefficients.")
        refuse_lost(self.name, self._A, "A")
        self._hyper = self._check(lam=lam)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            null = self.program.null
        if not (LEAST_SQUARE < null < 1e280 or (np.ptp(y) == 0.0 and null < np.inf)):
            lost = f"squares of y are beyond float64 (entries up to {np.max(np.abs(y)):g})"
            raise InputError(f"{self.name}: {lost}; change its unit.")

    def _compose(self, samples: Samples, intercept: bool) -> None:
        self._samples, self._intercept = samples, intercept
        self.__dict__.pop("program", None)

    def _check(self, **hyper: Any) -> dict[str, Any]:
        self.__dict__.pop("program", None)
        return {"lam": nonnegative_number(hyper["lam"], self.name, "lam")}

    @property
    def sample_parts(self) -> Objective:
        """The samples and the loss, without the penalty."""
        s, names = self._samples, tuple(self._samples.feature_names or ())
        c = s.weights / s.weights.sum()
        return Objective(s.design, s.y, Squared(), Zero(), c, self._intercept, names)

    @cached_property
    def program(self) -> Generalized:
        """The problem as its certificate sees it."""
        s, pair = self._samples, (self._samples.X, self._A)
        X, A = with_ones(*pair) if self._intercept else pair
        return Generalized(X, A, s.y, s.weights / s.weights.sum(), self.lam, self._intercept)

    @property
    def lam_max(self) -> float:
        """The smallest lam with A w = 0, to the rounding of A; InputError if that is not solved."""
        program = replace(self.program, lam=float(np.sqrt(self.program.null)) or 1.0)  # of any lam
        found = without_combinations(program.stack, program.side)
        if found is None:
            raise InputError(f"{self.name}.lam_max: {program.unknown or 'A w = 0 is not solved.'}")
        return float(np.max(np.abs(smallest_box(program.stack.A, found[1])), initial=0.0))

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        d, n = int(self._samples.X.shape[1]), self._samples.total
        return {"w": (d,), "b": ()}, {"u": (n,), "s": (int(self._A.shape[0]),)}

    def _complete(self, point: Arrays) -> Arrays:
        if "w" not in point or "b" in point:
            return point
        at = np.append(point["w"], 0.0)
        b = -self.program.c @ self.program.residual(at) if self._intercept else 0.0
        return {**point, "b": np.array(b)}

    def _joined(self, point: Arrays) -> Array:
        read_intercept(self.name, point["b"], self.sample_parts)  # refuses one that is not there
        return np.append(point["w"], point["b"]) if self._intercept else point["w"]

    def _split(self, w: Array) -> Arrays:
        w, b = (w[:-1], w[-1]) if self._intercept else (w, 0.0)
        return {"w": w, "b": np.array(b)}

    def _value(self, point: Arrays) -> float:
        return self.program.value(self._joined(point))

    def _dual_value(self, dual: Arrays) -> float:
        u = read_dual(f"{self.name}.dual_objective", dual["u"], self._samples)
        return self.program.dual_value(u, dual["s"])

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        w, program, u = self._joined(point), self.program, dual.get("u")
        u = None if u is None else read_dual(f"{self.name}.certify", u, self._samples)
        found = program.certify(w, u, dual.get("s"), tol, passed=bool(dual))
        if search and found.verdict is Verdict.UNDECIDED:
            found = compared(
                found,
                w,
                promising(combination_steps(program), 0.01 * tol),
                lambda better, own, tol: program.certify(better, None, own, tol, passed=False),
                program.value_rounding,
                self._split,
                with_own=not dual,
            )
        return found.but(dual={**found.dual, "u": expand(found.dual["u"], self._samples)})

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        for w, s, promise in combination_steps(self.program):
            self._promise = promise
            yield self._split(w), {"s": s}

    def solve(self, solver: str = "auto", **options: Any) -> Solution:
        """Solve and certify, as every problem."""
        self._samples.refuse_changed(self.name)
        return super().solve(solver, **options)

    def certify(self, *point: Any, tol: float = 1e-6, **arrays: Any) -> Certificate:
        """Judge (w, b, u, s), by position or by name; what is None is constructed."""
        self._samples.refuse_changed(self.name)
        return super().certify(*point[4:], tol=tol, **self._named(point, arrays))

    def objective(self, *point: Any, **arrays: Any) -> float:
        """P(w, b); b is 0 where it is not passed."""
        return super().objective(*point[2:], **{"b": 0.0} | self._named(point[:2], arrays))

    def _named(self, point: tuple[Any, ...], arrays: dict[str, Any]) -> dict[str, Any]:
        found = dict(zip(("w", "b", "u", "s"), point, strict=False)) | arrays
        if "w" in found:
            found["w"] = match_coefficients(self.name, found["w"], self.features)
        return {name: value for name, value in found.items() if value is not None}

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose(self) -> Statement:
        return pose_generalized(self._samples, self._A, self.lam, self._intercept)

    def _pose_dual(self) -> Statement:
        return pose_generalized_dual(self._samples, self._A, self.lam, self._intercept)

    def _read_duals(self) -> Arrays:
        u, s = (self.constraints[name].dual_value for name in ("prediction", "combinations"))
        return (
            {}
            if u is None or s is None
            else {"u": expand(np.array(u), self._samples), "s": np.array(s)}
        )

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        w, program = self._joined(point), self.program
        values = {**point, "z": program.X @ w, "v": program.combinations(w)}
        known = {name: value for name, value in values.items() if name in self.variables}
        return known, {"prediction": dual["u"][self._samples.kept], "combinations": dual["s"]}

    def to_dict(self) -> dict[str, Any]:
        A = self._A.toarray() if sparse.issparse(self._A) else self._A
        own = {"lam": self.lam, "A": A.tolist(), "fit_intercept": self._intercept}
        own["y"] = self._samples.y.tolist()
        return {"kind": self.name, **samples_to_dict(self._samples, None), **own}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> GeneralizedLasso:
        """Pose the problem again that ``to_dict`` described; dropped rows have weight 0."""
        (X, y), _, s = samples_from_dict(stored)
        named = {"fit_intercept": stored["fit_intercept"], "sample_weight": s}
        return cls(X, y, stored["lam"], stored["A"], **named)

    def _formulas(self) -> Latex:
        return generalized_latex(self._intercept, self._samples.weighted)

    def __repr__(self) -> str:
        (n, d), m = self._samples.X.shape, self._A.shape[0]
        return f"{self.name}(n={n}, d={d}, {m} combinations, lam={self.lam!r})"

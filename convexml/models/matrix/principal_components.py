"""Principal components as a semidefinite program over the Fantope."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from ...certificates import Certificate
from ...certificates.matrix.fantope import Fantope
from ...errors import InputError
from ...numerics import Array
from ...objective import Statement, label_all
from ...objective.likelihood.moments import Moments, moments
from ...validation import positive_integer
from ..arrays.problem import ArrayProblem, Arrays, Shapes
from ..base import Hyperparameter
from ..latex import Latex, such_that
from ..likelihood.samples import Rows, read_rows
from ..pictures.answers import draw_plane
from ..solution import Solution


class PrincipalComponents(ArrayProblem):
    r"""Minimise -<S, P> s.t. 0 <= P <= I, tr P = k: the k directions of the largest variance.

    S is the covariance of the samples about their mean, with 1/n. The matrices P are the convex
    hull of the projections on k dimensions, so that P* = -(lambda_1 + ... + lambda_k), the largest
    eigenvalues of S, reached by the projection on their eigenvectors.

    Parameters
    ----------
    X : array, shape (n, d)
        Samples in rows.
    k : int
        Number of components, 1 <= k <= d.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0 in place of ones, n = sum(s); rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, bad weights, a k that is no whole number from 1
        to d.

    Notes
    -----
    The dual maximises -k nu - tr Z_upper subject to Z_upper - Z_lower = S - nu I, both >= 0. P is
    unique where ``eigengap`` > 0; else every P between the solutions is one. Overton and Womersley,
    *On the sum of the largest eigenvalues of a symmetric matrix* (1992),
    https://doi.org/10.1137/0613006.
    """

    k = Hyperparameter()
    methods: ClassVar[tuple[str, ...]] = ("proximal_gradient",)
    why: ClassVar[str] = (
        "of a linear objective a step of any length is allowed, and a long one ends at the "
        "leading eigenvectors"
    )
    _asks = False
    _samples: Rows
    moments: Moments
    """Mean and covariance of the samples."""

    def __init__(self, X: Any, k: int, *, sample_weight: Any = None) -> None:
        self._samples = rows = read_rows(self.name, X, sample_weight)
        with np.errstate(over="ignore", invalid="ignore"):
            self.moments = moments(rows.X, rows.weights)
        rows.refuse_lost(self.name, self.moments)
        self._hyper = self._check(k=k)

    def _check(self, **hyper: Any) -> dict[str, Any]:
        k, d = positive_integer(hyper["k"], self.name, "k"), self.moments.d
        if k > d:
            raise InputError(f"{self.name}: k = {k}; there are {d} columns, take 1 <= k <= {d}.")
        return {"k": k}

    @property
    def fantope(self) -> Fantope:
        """The problem as its certificate sees it."""
        return Fantope(self.moments.S, self.moments.noise, self.k)

    @property
    def components(self) -> Array:
        """The k leading eigenvectors of S in rows, (k, d), the largest variance first.

        Of each the entry of the largest size is positive.
        """
        return self.components_of({"P": self.fantope.leading()})

    @property
    def eigengap(self) -> float:
        """lambda_k - lambda_(k+1), read off the multipliers of the constraints; inf for k = d."""
        return self.eigengap_of({})

    def components_of(self, primal: Arrays) -> Array:
        """The directions of the largest variance among the k leading ones of P, (k, d)."""
        V = np.linalg.eigh(primal["P"])[1][:, -self.k :]
        turned: Array = V @ np.linalg.eigh(V.T @ self.moments.S @ V)[1][:, ::-1]
        top = np.argmax(np.abs(turned), axis=0)
        return (turned * np.sign(turned[top, np.arange(self.k)])).T

    def eigengap_of(self, dual: Arrays) -> float:
        """The k-th largest eigenvalue of Z_upper plus the (d-k)-th largest of Z_lower."""
        fantope = self.fantope
        return fantope.eigengap(fantope.multipliers(dual))

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        square = self.moments.S.shape
        return {"P": square}, {"nu": (), "Z_upper": square, "Z_lower": square}

    def _value(self, point: Arrays) -> float:
        return self.fantope.value(point["P"])

    def _dual_value(self, dual: Arrays) -> float:
        return self.fantope.dual_value(dual)

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        return self.fantope.certify(point["P"], dual, tol, search=search)

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        yield {"P": self.fantope.leading()}, {}

    def draw(self, axes: Any, solution: Solution) -> None:
        """The samples in the plane of the first components."""
        X = self._samples.X
        words = f"samples on the {self.k} leading of {X.shape[1]} directions"
        draw_plane(axes, (X - X.mean(axis=0)) @ self.components_of(solution.primal).T, words)

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose(self) -> Statement:
        import cvxpy as cp

        d = self.moments.d
        P = cp.Variable((d, d), name="P", symmetric=True)
        k = cp.Parameter(name="k", nonneg=True, value=self.k)
        constraints = {"trace": cp.trace(P) == k, "upper": np.eye(d) - P >> 0, "lower": P >> 0}
        value = -cp.trace(cp.Constant(self.moments.S, name="S") @ P)
        problem = cp.Problem(cp.Minimize(value), label_all(constraints))
        return Statement(problem, {"P": P}, constraints, {"k": k})

    def _pose_dual(self) -> Statement:
        import cvxpy as cp

        S, d = self.moments.S, self.moments.d
        k = cp.Parameter(name="k", nonneg=True, value=self.k)
        nu = cp.Variable(name="nu")
        upper, lower = (
            cp.Variable((d, d), name=name, symmetric=True) for name in ("Z_upper", "Z_lower")
        )
        constraints = {
            "stationarity": upper - lower == S - nu * np.eye(d),
            "upper": upper >> 0,
            "lower": lower >> 0,
        }
        problem = cp.Problem(cp.Maximize(-k * nu - cp.trace(upper)), label_all(constraints))
        names = {"nu": nu, "Z_upper": upper, "Z_lower": lower}
        return Statement(problem, names, constraints, {"k": k})

    def _read_duals(self) -> Arrays:
        labels = {"nu": "trace", "Z_upper": "upper", "Z_lower": "lower"}
        values = {name: self.constraints[label].dual_value for name, label in labels.items()}
        return {name: np.array(value) for name, value in values.items() if value is not None}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        labels = {"trace": "nu", "upper": "Z_upper", "lower": "Z_lower"}
        return point, {label: dual[name] for label, name in labels.items() if name in dual}

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.name, "k": self.k, **self._samples.to_dict()}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> PrincipalComponents:
        """Pose the problem again that ``to_dict`` described."""
        X, s = Rows.from_dict(stored)
        return cls(X, stored["k"], sample_weight=s)

    def latex(self) -> str:
        value, upper, lower = r"-\langle S, P\rangle", r"Z_\text{upper}", r"Z_\text{lower}"
        rows = r"\operatorname{tr} P = k", r"P \preceq I", r"P \succeq 0"
        slope = rf"S - \nu I = {upper} - {lower}"
        cone = rf"{upper} \succeq 0", rf"{lower} \succeq 0"
        slack = rf"\langle {upper}, I - P\rangle = 0", rf"\langle {lower}, P\rangle = 0"
        terms = rf"\langle {upper}, P - I\rangle - \langle {lower}, P\rangle"
        return str(
            Latex(
                rf"\min_P\ {value}" + such_that(*rows),
                rf"{value} + \nu (\operatorname{{tr}} P - k) + {terms}",
                rf"\max_{{\nu, {upper}, {lower}}}\ -k\nu - \operatorname{{tr}} {upper}"
                + such_that(slope, *cone),
                (slope, *rows, *cone, *slack),
            )
        )

    def __repr__(self) -> str:
        return f"{self.name}({self.moments.d} features, k={self.k})"

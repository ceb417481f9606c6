"""Principal components as a semidefinite program over the Fantope."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..certificates import Certificate
from ..certificates.fantope import NAMES, Directions, Fantope, directions_of
from ..errors import InputError
from ..formulas import constant, listed
from ..modelling import cp
from ..numerics import Array
from ..problem import Statement
from ..problem.likelihood import Moments, moments
from ..validation import positive_integer
from .arrays import ArrayProblem, Arrays, SampledProblem, Shapes
from .base import Hyperparameter
from .inputs import read_rows, refuse_lost_variances
from .latex import COVARIANCE, Latex, such_that
from .pictures.answers import draw_plane
from .solution import Solution

WIDE = 2000
"""Features, more of which make no matrix of their products where there are fewer samples."""


class PrincipalComponents(SampledProblem):
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

    With more than 2000 features, and fewer samples, no d x d matrix is made: the point is
    "components" (k, d), P = components' components, the dual point "nu", and the bound is that of
    the n x n matrix of products of samples, whose eigenvalues are those of S. ``certify(P=...)``
    judges a matrix there as well.
    """

    k = Hyperparameter()
    methods: ClassVar[tuple[str, ...]] = ("proximal_gradient",)
    why: ClassVar[str] = (
        "of a linear objective a step of any length is allowed, and a long one ends at the "
        "leading eigenvectors"
    )
    slater = r"P = \tfrac{k}{d} I\ \text{for } k < d,\ d = \text{number of features}"
    _asks = False
    _constraint_of: ClassVar = {"nu": "trace", "Z_upper": "upper", "Z_lower": "lower"}
    _is_closed = True
    _makes_matrices = False

    def __init__(self, X: Any, k: int, *, sample_weight: Any = None) -> None:
        self._samples = rows = read_rows(self.name, X, sample_weight)
        self._hyper = self._check(k=k)
        if self.is_wide:
            with np.errstate(over="ignore", invalid="ignore"):
                squares = np.square(self._few_samples.A).sum(axis=0)
            refuse_lost_variances(self.name, rows, squares, squares)
        else:
            found = self.moments
            refuse_lost_variances(self.name, rows, np.diag(found.S), np.diag(found.noise))

    def _check(self, **hyper: Any) -> dict[str, Any]:
        k, d = positive_integer(hyper["k"], self.name, "k"), self._samples.X.shape[1]
        if k > d:
            raise InputError(f"{self.name}: k = {k}; there are {d} columns, take 1 <= k <= {d}.")
        return {"k": k}

    @property
    def is_wide(self) -> bool:
        """Whether directions stand for P: few samples of many features."""
        n, d = self._samples.X.shape
        return n < d and d > WIDE and not self._makes_matrices

    @cached_property
    def moments(self) -> Moments:
        """Mean and covariance of the samples, (d, d)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return moments(self._samples.X, self._samples.weights)

    @property
    def program(self) -> Fantope:
        """The problem as its certificate sees it."""
        return replace(self._few_samples, k=self.k) if self.is_wide else self._fantope

    @property
    def _fantope(self) -> Fantope:
        return Fantope(self.moments.S, self.moments.noise, self.k)

    @cached_property
    def _few_samples(self) -> Directions:
        with np.errstate(over="ignore", invalid="ignore"):
            return directions_of(self._samples.X, self._samples.weights, self.k)[0]

    @property
    def components(self) -> Array:
        """The k leading eigenvectors of S in rows, (k, d), the largest variance first.

        Of each the entry of the largest size is positive.
        """
        return self.components_of({self.program.name: self.program.leading()})

    @property
    def eigengap(self) -> float:
        """lambda_k - lambda_(k+1), read off the multipliers of the constraints; inf for k = d."""
        return self.eigengap_of({})

    def components_of(self, primal: Arrays) -> Array:
        """The directions of the largest variance among the k leading ones of P, (k, d)."""
        V = primal["components"].T if self.is_wide else np.linalg.eigh(primal["P"])[1][:, -self.k :]
        turned: Array = V @ np.linalg.eigh(self.program.spread(V.T))[1][:, ::-1]
        top = np.argmax(np.abs(turned), axis=0)
        return (turned * np.sign(turned[top, np.arange(self.k)])).T

    def eigengap_of(self, dual: Arrays) -> float:
        """The k-th largest eigenvalue of Z_upper plus the (d-k)-th largest of Z_lower."""
        return self.program.eigengap(*(dual.get(name) for name in self.shapes()[1]))

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        d = self._samples.X.shape[1]
        if self.is_wide:
            return {"components": (self.k, d)}, {"nu": ()}
        return {"P": (d, d)}, {"nu": (), "Z_upper": (d, d), "Z_lower": (d, d)}

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        yield {self.program.name: self.program.leading()}, {}

    def certify(self, *point: Any, tol: float = 1e-6, **arrays: Any) -> Certificate:
        with_matrices = self._with_matrices(point, arrays)
        return ArrayProblem.certify(with_matrices, *point, tol=tol, **arrays)

    def objective(self, *point: Any, **arrays: Any) -> float:
        return ArrayProblem.objective(self._with_matrices(point, arrays), *point, **arrays)

    def _with_matrices(self, point: tuple[Any, ...], arrays: Arrays) -> PrincipalComponents:
        """The same problem in matrices P, where one is passed."""
        d = self._samples.X.shape[1]
        if self.is_wide and ("P" in arrays or any(np.shape(each) == (d, d) for each in point)):
            twin = self.snapshot()
            twin._makes_matrices = True
            return twin
        return self

    def draw(self, axes: Any, solution: Solution) -> None:
        """The samples in the plane of the first components."""
        draw_plane(axes, self._samples.X, self.components_of(solution.primal))

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose(self) -> Statement:
        """-<S, P> over the Fantope."""
        S, k = self.moments.S, self.k
        d = len(S)
        P = cp.Variable((d, d), name="P", symmetric=True)
        count = cp.Parameter(name="k", nonneg=True, value=k)
        constraints = {
            "trace": cp.trace(P) == count,
            "upper": constant(np.eye(d), "I") - P >> 0,
            "lower": P >> 0,
        }
        value = -cp.trace(constant(S, "S") @ P)
        return Statement.of(cp.Minimize(value), {"P": P}, constraints, {"k": count})

    def _pose_dual(self) -> Statement:
        """Over nu and the multipliers of the two sides."""
        S, k = self.moments.S, self.k
        d = len(S)
        count = cp.Parameter(name="k", nonneg=True, value=k)
        nu = cp.Variable(name="nu")
        upper, lower = (
            cp.Variable((d, d), name=name, symmetric=True) for name in ("Z_upper", "Z_lower")
        )
        constraints = {
            "stationarity": upper - lower == constant(S, "S") - nu * constant(np.eye(d), "I"),
            "upper": upper >> 0,
            "lower": lower >> 0,
        }
        value, names = -count * nu - cp.trace(upper), {"nu": nu, "Z_upper": upper, "Z_lower": lower}
        return Statement.of(cp.Maximize(value), names, constraints, {"k": count})

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        if self.is_wide:  # posed with CVXPY there is a matrix
            C = point["components"]
            known = self._fantope.completed(None, dual["nu"])
            point, dual = {"P": C.T @ C}, dict(zip(NAMES, known, strict=True))
        return super()._posed_values(point, dual)

    def _formulas(self) -> Latex:
        value, upper, lower = r"-\langle S, P\rangle", r"Z_{\text{upper}}", r"Z_{\text{lower}}"
        rows = r"\operatorname{tr} P = k", r"P \preceq I", r"P \succeq 0"
        slope = rf"S - \nu I = {upper} - {lower}"
        cone = rf"{upper} \succeq 0", rf"{lower} \succeq 0"
        slack = rf"\langle {upper}, I - P\rangle = 0", rf"\langle {lower}, P\rangle = 0"
        terms = rf"\langle {upper}, P - I\rangle - \langle {lower}, P\rangle"
        return Latex(
            rf"\min_P\ {value}" + such_that(*rows),
            rf"{value} + \nu (\operatorname{{tr}} P - k) + {terms}",
            rf"\max_{{\nu, {upper}, {lower}}}\ -k\nu - \operatorname{{tr}} {upper}"
            + such_that(slope, *cone),
            (slope, *rows, *cone, *slack),
            listed(COVARIANCE, self.is_wide * r"P = C^\top C,\ C = \text{components}"),
        )

    def __repr__(self) -> str:
        return f"{self.name}({self._samples.X.shape[1]} features, k={self.k})"

"""What chooses its penalty by cross-validation, over paths of certified fits."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..errors import InputError
from ..models import ElasticNet as PosedElasticNet
from ..models import Lasso as PosedLasso
from ..numerics import Array
from .base import Given
from .folds import folded
from .linear import LinearFit

FINEST = float(np.finfo(np.float64).resolution)
"""The penalty where w = 0 fits for every one."""


class PathFit(LinearFit):
    """A certified fit with the penalty of least mean squared error over the folds.

    Attributes
    ----------
    alpha_, l1_ratio_ : float
        The choice.
    alphas_, mse_path_ : array
        The grid, and the errors of its fits on each fold, as in the namesake.
    gap_path_ : array
        The verified relative gap of each of these fits, in the shape of ``mse_path_``.
    """

    alphas: Any
    cv: Any
    eps: float
    tol: float
    positive: bool
    _reading: ClassVar = {"y_numeric": True}

    def _begin(self, given: Given) -> None:
        super()._begin(given)
        owner = type(self).__name__
        if self.positive:
            raise InputError(f"{owner}.fit: positive=True is not supported.")
        ratios = np.atleast_1d(getattr(self, "l1_ratio", 1.0)).astype(float)
        given, folds = folded(owner, given, self.cv)
        grids = np.array([self._grid(given, rho) for rho in ratios])
        found = [
            [self._fold(given, train, test, grid, rho) for train, test in folds]
            for rho, grid in zip(ratios, grids, strict=True)
        ]
        errors, gaps = np.moveaxis(np.array(found), 2, 0)  # by ratio, fold, alpha
        at = np.unravel_index(np.argmin(errors.mean(axis=1)), grids.shape)
        self.alpha_ = float(grids[at])
        if hasattr(self, "l1_ratio"):
            self.l1_ratio_ = float(ratios[at[0]])
        each = isinstance(self.alphas, Integral) and len(ratios) > 1
        self.alphas_ = grids if each else grids[0]
        self.mse_path_, self.gap_path_ = (
            np.squeeze(np.moveaxis(table, 2, 1)) for table in (errors, gaps)
        )
        if not np.max(gaps) <= self.tol:
            warnings.warn(
                f"{owner}: {np.sum(~(gaps <= self.tol))} of {gaps.size} fits on folds are not "
                f"verified at tol={self.tol:g}; gap_path_ has their relative gaps.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _posed(self, X: Any, y: Array, weights: Any, rho: float, alpha: float = 1.0) -> Any:
        """The problem on some samples: alpha is lam."""
        common = {"fit_intercept": self.fit_intercept, "sample_weight": weights}
        if rho == 1.0:
            return PosedLasso(X, y, alpha, **common)
        return PosedElasticNet(X, y, alpha, rho, **common)

    def _grid(self, given: Given, rho: float) -> Array:
        """Penalties in decreasing order."""
        if not isinstance(self.alphas, Integral):
            return np.sort(np.asarray(self.alphas, dtype=float))[::-1]
        if rho == 0.0:
            raise InputError(
                f"{type(self).__name__}.fit: l1_ratio=0 has no largest alpha; pass alphas."
            )
        top = self._posed(given.X, given.y, given.weights, rho).lam_max
        if top <= FINEST:
            return np.full(int(self.alphas), FINEST)
        return np.geomspace(top, top * self.eps, num=int(self.alphas))

    def _fold(self, given: Given, train: Array, test: Array, grid: Array, rho: float) -> Array:
        """Errors on the one part of the fits to the other, and the gaps of these; (2, alphas)."""
        s = given.weights
        problem = self._posed(given.X[train], given.y[train], None if s is None else s[train], rho)
        path = problem.path(grid, tol=self.tol)
        W = np.column_stack([solution.primal["w"] for solution in path])
        Z = given.X[test] @ W + np.array([float(solution.primal["b"]) for solution in path])
        square = (given.y[test, None] - Z) ** 2
        error = np.average(square, axis=0, weights=None if s is None else s[test])
        return np.array([error, [solution.relative_gap for solution in path]])

"""What chooses its penalty by cross-validation, over paths of certified fits."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError
from ..losses import Squared
from ..models import ElasticNet as PosedElasticNet
from ..models import Lasso as PosedLasso
from ..models.folds.cross_validation import on_folds, scores_of, tell_doubt
from ..models.folds.splits import Split, splits_of
from ..numerics import Array
from .base import Given
from .linear import LinearFit
from .net import Net

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
        owner, s = type(self).__name__, given.weights
        ratios = np.atleast_1d(getattr(self, "l1_ratio", 1.0)).astype(float)
        problems = [self._posed(given, rho) for rho in ratios]
        splits = splits_of(f"{owner}.fit", "cv", self.cv, given.y, s)
        grids = np.array(
            [self._grid(each, rho) for each, rho in zip(problems, ratios, strict=True)]
        )
        tables = [
            self._table(each, grid, splits) for each, grid in zip(problems, grids, strict=True)
        ]
        errors, gaps = np.moveaxis(np.array(tables), 1, 0)  # by ratio, fold, alpha
        at = np.unravel_index(np.argmin(errors.mean(axis=1)), grids.shape)
        self.alpha_ = float(grids[at])
        if hasattr(self, "l1_ratio"):
            self.l1_ratio_ = float(ratios[at[0]])
        each = isinstance(self.alphas, Integral) and len(ratios) > 1
        self.alphas_ = grids if each else grids[0]
        self.mse_path_, self.gap_path_ = (
            np.squeeze(np.moveaxis(table, 2, 1)) for table in (errors, gaps)
        )
        tell_doubt(owner, gaps, self.tol, "gap_path_")

    def _posed(self, given: Given, rho: float) -> Any:
        """The problem with lam = alpha."""
        common = {"fit_intercept": self.fit_intercept, "sample_weight": given.weights}
        if self.positive:
            return Net(given.X, given.y, Squared(), rho, positive=True, **common)
        if rho == 1.0:
            return PosedLasso(given.X, given.y, 1.0, **common)
        return PosedElasticNet(given.X, given.y, 1.0, rho, **common)

    def _grid(self, problem: Any, rho: float) -> Array:
        """Penalties in decreasing order."""
        if not isinstance(self.alphas, Integral):
            return np.sort(np.asarray(self.alphas, dtype=float))[::-1]
        if rho == 0.0:
            raise InputError(
                f"{type(self).__name__}.fit: l1_ratio=0 has no largest alpha; pass alphas."
            )
        top = problem.lam_max
        if top <= FINEST:
            return np.full(int(self.alphas), FINEST)
        return np.geomspace(top, top * self.eps, num=int(self.alphas))

    def _table(self, problem: Any, grid: Array, splits: Sequence[Split]) -> Array:
        """Errors on the one part of each fold of the fits to the other, and the gaps of these."""
        found = on_folds(problem, "lam", splits, self.tol, lambda part: grid)
        errors = [
            scores_of(problem, each, *split) for each, split in zip(found, splits, strict=True)
        ]
        return np.array([errors, [each.gaps for each in found]])

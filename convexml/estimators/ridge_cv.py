"""Ridge regression that chooses its penalty, as scikit-learn has it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn import linear_model

from ..errors import InputError
from ..models import Ridge as PosedRidge
from ..models.folds.cross_validation import on_folds, tell_doubt
from ..models.folds.leave_one_out import left_out
from ..models.folds.splits import splits_of
from .base import OURS, Given
from .linear import LinearFit
from .scoring import FoldScores, counted

LARGEST = 1e149
"""Size of numbers of which float64 holds sums of squares."""


class RidgeCV(LinearFit, linear_model.RidgeCV):
    """Ridge with the best alpha, and a certificate of the last fit.

    Without ``cv`` the closed form of leaving one out of the samples of positive weight chooses;
    with it every fit on a fold is certified, and told of where it is not verified.

    Parameters
    ----------
    alphas : array
        Strengths to choose from.
    fit_intercept : bool
        The intercept is not penalised.
    scoring : str or callable, optional
        As of scikit-learn.
    cv : int, splitter or list of splits, optional
        The folds; None leaves one out.
    gcv_mode : str, optional
        As of scikit-learn.
    store_cv_results : bool
        As of scikit-learn.
    alpha_per_target : bool
        As of scikit-learn.
    tol : float
        Verified relative gap that the fits are to reach.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _parameter_constraints: ClassVar = linear_model.RidgeCV._parameter_constraints | OURS
    _reading: ClassVar = {"multi_output": True, "y_numeric": True}

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        gcv_mode: str | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
        tol: float = 1e-6,
        max_iter: int | None = None,
        engine: str = "auto",
    ) -> None:
        super().__init__(
            alphas,
            fit_intercept=fit_intercept,
            scoring=scoring,
            cv=cv,
            gcv_mode=gcv_mode,
            store_cv_results=store_cv_results,
            alpha_per_target=alpha_per_target,
        )
        self.tol = tol
        self.max_iter = max_iter
        self.engine = engine

    def _begin(self, given: Given) -> None:
        if self.cv is None or self.store_cv_results or self.alpha_per_target:
            self._leave_one_out(counted(given))
        else:
            self._over_folds(given)
        super()._begin(given)

    def _over_folds(self, given: Given) -> None:
        """The alpha of the best mean score; of several targets each has its problem."""
        owner, kept, alphas = type(self).__name__, counted(given), np.atleast_1d(self.alphas)
        splits = splits_of(f"{owner}.fit", "cv", self.cv, given.y, given.weights)
        targets = np.reshape(kept.y, (len(kept.y), -1)).T
        common = {"fit_intercept": self.fit_intercept, "sample_weight": kept.weights}
        grids = [
            on_folds(
                PosedRidge(kept.X, y, 1.0, **common),
                "lam",
                splits,
                self.tol,
                lambda part: alphas / part._samples.weights.sum(),
            )
            for y in targets
        ]
        gaps = np.array([[fold.gaps for fold in each] for each in grids])
        self.gap_path_ = np.squeeze(np.max(gaps, axis=0).T)
        tell_doubt(owner, gaps, self.tol, "gap_path_")
        scorer = FoldScores(linear_model.Ridge(), self.scoring)
        scores = np.empty((len(splits), alphas.size))
        for fold, (_, test) in enumerate(splits):
            for k in range(alphas.size):
                points = [each[fold].points[k] for each in grids]
                model = linear_model.Ridge(fit_intercept=self.fit_intercept)
                model.coef_ = np.reshape([p["w"] for p in points], (*kept.y.shape[1:], -1))
                model.intercept_ = np.reshape([p["b"] for p in points], kept.y.shape[1:])
                model.n_features_in_ = kept.X.shape[1]
                scores[fold, k] = scorer.of(model, kept, test)
        mean = scores.mean(axis=0)
        self.alpha_, self.best_score_ = alphas[np.argmax(mean)], float(mean.max())

    def _leave_one_out(self, kept: Given) -> None:
        """The choice by leaving one out, of numbers whose squares do not overflow.

        scikit-learn's own where another score, stored results or several targets ask for it.
        """
        owner = type(self).__name__
        if kept.X.shape[0] < 2:
            raise InputError(f"{owner}.fit: leaving one out takes two samples, got n_samples=1.")
        root = 1.0 if kept.weights is None else np.sqrt(np.max(kept.weights))
        for name, values in (("X", kept.X), ("y", kept.y)):
            largest = float(abs(values).max()) * max(root, 1.0)
            if not largest <= LARGEST:
                raise InputError(
                    f"{owner}.fit: {name} holds numbers of size {largest:.1e}, weighted, and the "
                    f"closed form of leaving one out squares them; scale {name} down, or pass cv."
                )
        alphas = np.atleast_1d(self.alphas)
        plain = self.scoring is None and not (self.store_cv_results or self.alpha_per_target)
        if not plain or kept.y.ndim > 1 or not np.all(alphas > 0.0):
            linear_model.RidgeCV.fit(self, *kept)
            return
        intercept = {"fit_intercept": self.fit_intercept}
        problem = PosedRidge(kept.X, kept.y, 1.0, sample_weight=kept.weights, **intercept)
        weights = problem._samples.weights
        residuals = left_out(problem.objective_parts, weights, alphas[:, None])
        scores = -(residuals**2 @ weights) / len(weights)
        self.alpha_, self.best_score_ = alphas[np.argmax(scores)], float(scores.max())

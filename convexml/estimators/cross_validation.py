"""Estimators that choose their own penalty, as scikit-learn has them."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter, signature
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn import linear_model
from sklearn.metrics import check_scoring, make_scorer

from ..errors import InputError, SolverError
from ..losses import Squared
from ..models import Ridge as PosedRidge
from ..models.cross_validation import Split, on_folds, scores_of, splits_of, tell_doubt
from ..models.grid import Grid, left_out
from ..models.prediction import predictions
from ..numerics import Array
from .base import Given
from .linear import OF_SOLVERS, LinearFit, LogisticRegression, Net

# What chooses its penalty by cross-validation, over paths of certified fits.


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

    eps: float
    alphas: Any
    cv: Any
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
        return Net(given.X, given.y, Squared(), rho, positive=self.positive, **common)

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


# Scores of fits on folds by scikit-learn's scorers, with weights where these take them.


class FoldScores:
    """A scorer as the namesake asks it.

    Parameters
    ----------
    model : estimator
        Of the kind that is scored.
    scoring : str, callable or None
        None is its own ``score``.
    classes : array, optional
        All labels: those to test may lack one.
    """

    def __init__(self, model: Any, scoring: Any, classes: Any = None) -> None:
        self.scorer: Any = check_scoring(model, scoring)
        function = getattr(self.scorer, "_score_func", None)
        asked = set() if function is None else set(signature(function).parameters)
        if classes is not None and "labels" in asked:
            fixed = {"labels": classes, **self.scorer._kwargs}
            if len(classes) == 2 and "pos_label" in asked:
                fixed["pos_label"] = classes[1]
            self.scorer = make_scorer(
                function,
                response_method=self.scorer._response_method,
                greater_is_better=self.scorer._sign > 0,
                **fixed,
            )
        known = signature(self.scorer).parameters.values()
        self.takes_weights = any(
            each.name == "sample_weight" or each.kind is Parameter.VAR_KEYWORD for each in known
        )

    def of(self, model: Any, given: Given, rows: Any) -> float:
        """The score of a fitted model on some of the samples."""
        X, y, s = given
        weighted = {"sample_weight": s[rows]} if s is not None and self.takes_weights else {}
        return float(self.scorer(model, X[rows], y[rows], **weighted))


def counted(given: Given) -> Given:
    """The samples of positive weight."""
    if given.weights is None or np.all(given.weights > 0.0):
        return given
    kept = np.flatnonzero(given.weights)
    return Given(given.X[kept], given.y[kept], given.weights[kept])


# The lasso that chooses its penalty, as scikit-learn has it.


class LassoCV(PathFit, linear_model.LassoCV):
    """Lasso with the alpha of least cross-validated squared error, certified.

    The last fit is that of ``Lasso`` on all samples. Every fit on a fold is certified as well:
    ``gap_path_`` has their verified relative gaps, in the shape of ``mse_path_``.

    Parameters
    ----------
    eps : float
        Of a grid of its own: the least alpha divided by the largest.
    alphas : int or array
        How many, from where w vanishes down to eps times that; or the grid.
    fit_intercept : bool
        The intercept is not penalised.
    precompute : str, bool or array
        Has no effect: Gram matrices are made where they pay.
    max_iter : int, optional
        Steps of the solver in the last fit; None is its own limit.
    tol : float
        Verified relative gap that every fit is to reach.
    copy_X : bool
        Has no effect: X is never changed.
    cv : int, splitter or list of splits, optional
        The folds; five by default.
    verbose : bool
        Has no effect.
    n_jobs : int, optional
        Has no effect.
    positive : bool
        Whether w >= 0.
    random_state : int, optional
        Has no effect: nothing is random.
    selection : str
        Has no effect.
    engine : str
        A solver of convexml for the last fit; "auto" chooses.
    """


# The elastic net that chooses its penalty, as scikit-learn has it.


class ElasticNetCV(PathFit, linear_model.ElasticNetCV):
    """ElasticNet with the alpha and l1_ratio of least cross-validated squared error, certified.

    The last fit is that of ``ElasticNet`` on all samples. Every fit on a fold is certified as well:
    ``gap_path_`` has their verified relative gaps, in the shape of ``mse_path_``.

    Parameters
    ----------
    l1_ratio : float or array
        Shares of the l1 norm to choose from.
    eps : float
        Of a grid of its own: the least alpha divided by the largest.
    alphas : int or array
        How many, from where w vanishes down to eps times that; or the grid.
    fit_intercept : bool
        The intercept is not penalised.
    precompute : str, bool or array
        Has no effect: Gram matrices are made where they pay.
    max_iter : int, optional
        Steps of the solver in the last fit; None is its own limit.
    tol : float
        Verified relative gap that every fit is to reach.
    cv : int, splitter or list of splits, optional
        The folds; five by default.
    copy_X : bool
        Has no effect: X is never changed.
    verbose : bool
        Has no effect.
    n_jobs : int, optional
        Has no effect.
    positive : bool
        Whether w >= 0.
    random_state : int, optional
        Has no effect: nothing is random.
    selection : str
        Has no effect.
    engine : str
        A solver of convexml for the last fit; "auto" chooses.
    """


# Ridge regression that chooses its penalty, as scikit-learn has it.


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

    _reading: ClassVar = {"multi_output": True, "y_numeric": True}

    def _begin(self, given: Given) -> None:
        if self.cv is None or self.store_cv_results or self.alpha_per_target:
            self._leave_one_out(counted(given))
        else:
            self._over_folds(given)
        super()._begin(given)

    def _over_folds(self, given: Given) -> None:
        """The alpha of the best mean score; of several targets each has its problem."""
        owner, kept = type(self).__name__, counted(given)
        alphas = np.atleast_1d(self.alphas).astype(float)
        splits = splits_of(f"{owner}.fit", "cv", self.cv, given.y, given.weights)
        common = {"fit_intercept": self.fit_intercept, "sample_weight": kept.weights}
        grids = [
            on_folds(
                PosedRidge(kept.X, y, 1.0, **common),
                "lam",
                splits,
                self.tol,
                lambda part: alphas / part._samples.weights.sum(),
            )
            for y in np.reshape(kept.y, (len(kept.y), -1)).T
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
        alphas = np.atleast_1d(self.alphas).astype(float)
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


# Logistic regression that chooses its penalty, as scikit-learn has it.


class LogisticRegressionCV(LogisticRegression, linear_model.LogisticRegressionCV):
    """LogisticRegression with the C and l1_ratio of the best mean score over folds, certified.

    The last fit is that of ``LogisticRegression`` on all samples. Every fit on a fold is certified
    as well: ``gap_path_`` has their verified relative gaps, by fold, l1_ratio and C.

    Parameters
    ----------
    Cs : int or array
        How many, from 1e-4 to 1e4; or the weights > 0 of the losses themselves.
    l1_ratios : array
        Shares of the l1 norm to choose from; None is 0.
    fit_intercept : bool
        The intercept is not penalised.
    cv : int, splitter or list of splits, optional
        The folds, alike in their classes; five by default.
    dual : bool
        Has no effect: both problems are solved.
    penalty : str, optional
        As of scikit-learn, which wants l1_ratios in its place.
    scoring : str or callable, optional
        As of scikit-learn; None is accuracy.
    solver : str
        A solver of scikit-learn, or "auto": it names the problem; ``engine``
        solves it.
    tol : float
        Verified relative gap that every fit is to reach.
    max_iter : int, optional
        Steps of the solver in the last fit; None is its own limit.
    class_weight : dict or "balanced", optional
        Weights of the classes, times those of the samples.
    n_jobs : int, optional
        Has no effect.
    verbose : int
        Has no effect.
    refit : bool
        True: means of coefficients over folds minimise nothing, and have no certificate.
    intercept_scaling : float
        Has no effect: the intercept is not penalised.
    random_state : int, optional
        Has no effect: nothing is random.
    use_legacy_attributes : bool
        As of scikit-learn: shapes of ``C_``, ``l1_ratio_``, ``scores_``, ``coefs_paths_`` and
        ``n_iter_``.
    engine : str
        A solver of convexml for the last fit; "auto" chooses.
    """

    _defaults: ClassVar = OF_SOLVERS | {
        "l1_ratios": (0.0,),
        "scoring": None,
        "use_legacy_attributes": True,
    }
    C_: Any
    l1_ratio_: Any
    scores_: Any
    coefs_paths_: Any

    def _begin(self, given: Given) -> None:
        super()._begin(given)
        owner = f"{type(self).__name__}.fit"
        if not self.refit:
            raise InputError(
                f"{owner}: refit=False takes means of coefficients over folds, which minimise "
                "nothing and cannot be certified; leave refit=True."
            )
        kept, ratios = counted(given), self._ratios(owner)
        self.Cs_ = (
            np.logspace(-4, 4, self.Cs) if isinstance(self.Cs, Integral) else np.array(self.Cs)
        )
        splits = splits_of(owner, "cv", self.cv, given.y, given.weights, by_class=True)
        self.C_, self.l1_ratio_ = 1.0, 0.0  # read so, the losses have the weights of samples
        [part] = self._parts(kept)
        read = part.objective

        def strengths(part: Any) -> Array:
            return np.array(1.0 / (self.Cs_ * part._samples.weights.sum()))

        grids = []
        for rho in ratios:
            common = {"fit_intercept": self.fit_intercept, "sample_weight": read.c}
            problem = Net(kept.X, kept.y, read.loss, rho, **common)
            grids.append(on_folds(problem, "lam", splits, self.tol, strengths, owner))
        self.gap_path_ = np.swapaxes([[fold.gaps for fold in each] for each in grids], 0, 1)
        tell_doubt(owner, self.gap_path_, self.tol, "gap_path_")
        scoring = None if self.scoring == "warn" else self.scoring
        scorer = FoldScores(linear_model.LogisticRegression(), scoring, self.classes_)
        scores, paths = np.empty(self.gap_path_.shape), []
        for fold, (_, test) in enumerate(splits):
            models = [[self._at(point, owner) for point in each[fold].points] for each in grids]
            paths.append([[self._row(model) for model in row] for row in models])
            if scoring is None:
                scores[fold] = [_accuracies(each[fold], kept, test) for each in grids]
            else:
                scores[fold] = [[scorer.of(model, kept, test) for model in row] for row in models]
        steps = np.swapaxes([[fold.iterations for fold in each] for each in grids], 0, 1)
        self._tell_choice(ratios, scores, np.array(paths), np.maximum(steps, 1))

    def _ratios(self, owner: str) -> Array:
        """Shares of the l1 norm, by the deprecated penalty where it is set."""
        given = (0.0,) if self.l1_ratios is None else self.l1_ratios
        given = (0.0,) if isinstance(given, str) else given
        if self.penalty in ("l1", "l2"):
            given = (1.0,) if self.penalty == "l1" else (0.0,)
        ratios = np.ravel(np.asarray(given, dtype=float))
        if not ratios.size or not np.all((ratios >= 0.0) & (ratios <= 1.0)):
            raise InputError(f"{owner}: l1_ratios must be numbers from 0 to 1, got {given!r}.")
        return ratios

    def _at(self, point: Any, owner: str) -> Any:
        """The namesake without CV with the coefficients of a point."""
        if not point:
            raise SolverError(f"{owner}: a fit on a fold reached no point; take smaller Cs.")
        model = linear_model.LogisticRegression()
        model.classes_ = self.classes_
        model.coef_ = np.atleast_2d(point["w"].T)
        model.intercept_ = np.atleast_1d(point["b"])
        model.n_features_in_ = model.coef_.shape[1]
        return model

    def _row(self, model: Any) -> Array:
        """Coefficients and intercepts, one row for each class or one for two."""
        own = [model.coef_, model.intercept_[:, None]] if self.fit_intercept else [model.coef_]
        return np.hstack(own)

    def _tell_choice(self, ratios: Array, scores: Array, paths: Array, steps: Array) -> None:
        """The choice and what led to it, all by fold, l1_ratio and C; in older shapes if asked."""
        i, k = np.unravel_index(np.argmax(scores.sum(axis=0).T.ravel()), scores.shape[:0:-1])
        self.l1_ratios_ = ratios
        self.C_, self.l1_ratio_ = float(self.Cs_[i]), float(ratios[k])
        self.scores_, self.coefs_paths_, self._steps = scores, paths, steps
        if self.use_legacy_attributes is False:
            return
        names = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        self.C_, self.l1_ratio_ = (np.full(len(names), v) for v in (self.C_, self.l1_ratio_))
        scores, steps = (np.swapaxes(table, 1, 2) for table in (scores, steps))
        paths = np.moveaxis(paths, (3, 0, 2, 1), (0, 1, 2, 3))
        if self.l1_ratios is None or isinstance(self.l1_ratios, str):
            scores, steps, paths = scores[..., 0], steps[..., 0], paths[..., 0, :]
        self.scores_ = dict.fromkeys(names, scores)
        self.coefs_paths_ = dict(zip(names, paths, strict=True))
        self._steps = steps[None]

    def _iterations(self, solutions: Any) -> Any:
        return self.__dict__.pop("_steps")


def _accuracies(grid: Grid, given: Given, test: Array) -> list[float]:
    """The share of right predictions of each point, by one product for all."""
    X, y, s = given
    found = [predictions(grid.problem, z) for z in grid.predictions(X[test]) if z is not None]
    right = np.array(found) == y[test]
    return np.average(right, axis=1, weights=None if s is None else s[test]).tolist()

"""Logistic regression that chooses its penalty, as scikit-learn has it."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn import linear_model
from sklearn.utils.class_weight import compute_class_weight

from ..errors import InputError, SolverError
from ..losses import Logistic, Softmax
from ..models.folds.cross_validation import on_folds, tell_doubt
from ..models.folds.grid import Grid
from ..models.folds.splits import splits_of
from ..models.learning.prediction import predictions
from ..numerics import Array
from .base import OURS, Given
from .logistic_regression import LogisticRegression
from .net import Net
from .scoring import FoldScores, counted


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

    C_: Any
    l1_ratio_: Any
    scores_: Any
    coefs_paths_: Any
    _parameter_constraints: ClassVar = (
        linear_model.LogisticRegressionCV._parameter_constraints | OURS
    )

    def __init__(
        self,
        *,
        Cs: Any = 10,
        l1_ratios: Any = (0.0,),
        fit_intercept: bool = True,
        cv: Any = None,
        dual: bool = False,
        penalty: Any = "deprecated",
        scoring: Any = None,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        random_state: Any = None,
        use_legacy_attributes: Any = True,
        engine: str = "auto",
    ) -> None:
        linear_model.LogisticRegressionCV.__init__(
            self,
            Cs=Cs,
            l1_ratios=l1_ratios,
            fit_intercept=fit_intercept,
            cv=cv,
            dual=dual,
            penalty=penalty,
            scoring=scoring,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            class_weight=class_weight,
            n_jobs=n_jobs,
            verbose=verbose,
            refit=refit,
            intercept_scaling=intercept_scaling,
            random_state=random_state,
            use_legacy_attributes=use_legacy_attributes,
        )
        self.engine = engine

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
        loss = Logistic() if len(self.classes_) == 2 else Softmax()
        weights = self._all_weights(kept)

        def strengths(part: Any) -> Array:
            return np.array(1.0 / (self.Cs_ * part._samples.weights.sum()))

        grids = []
        for rho in ratios:
            problem = Net(
                kept.X,
                kept.y,
                loss,
                rho,
                fit_intercept=self.fit_intercept,
                sample_weight=weights,
            )
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

    def _all_weights(self, kept: Given) -> Array | None:
        """Weights of the samples times those of their classes."""
        if self.class_weight is None:
            return kept.weights
        balanced = {} if kept.weights is None else {"sample_weight": kept.weights}
        own = compute_class_weight(self.class_weight, classes=self.classes_, y=kept.y, **balanced)
        found: Array = own[np.searchsorted(self.classes_, kept.y)]
        return found if kept.weights is None else found * kept.weights

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
    shares: list[float] = np.average(right, axis=1, weights=None if s is None else s[test]).tolist()
    return shares

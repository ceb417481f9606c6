"""Linear classifiers, the linear machines and discriminant analysis, as scikit-learn has them."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg
from sklearn import discriminant_analysis, linear_model, svm
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from ..errors import InputError, warn
from ..models import DiscriminantAnalysis
from ..numerics import Array
from ..sklearn.covariance import class_moments, covariance
from .base import CertifiedFit, Given, Parts, Solutions
from .linear import ClassifierFit, LinearFit

# Ridge regression of labels, as scikit-learn has it.


class RidgeClassifier(ClassifierFit, linear_model.RidgeClassifier):
    """Minimise sum_i v_i s_i (y_i - x_i.w - b)^2 + alpha |w|^2, y = -1 or 1, and certify it.

    v are the class weights. With K > 2 classes there are K problems, each class against the rest;
    with several labels for a sample, y of shape (n, K) of 0 and 1, one for each column.

    Parameters
    ----------
    alpha : float
        Strength >= 0.
    fit_intercept : bool
        The intercept is not penalised.
    copy_X : bool
        Has no effect: X is never changed.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    tol : float
        Verified relative gap that the fit is to reach.
    class_weight : dict or "balanced", optional
        Weights of the classes, times those of the samples.
    solver : str
        A solver of scikit-learn, or "auto": it names the problem; ``engine`` solves it.
    positive : bool
        Whether w >= 0.
    random_state : int, optional
        Has no effect: nothing is random.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _reading: ClassVar = {"multi_output": True}

    def _read(self, X: Any, y: Any) -> tuple[Any, Any]:
        X, y = super()._read(X, y)
        several = type_of_target(y).startswith("multilabel")
        return X, y if several else column_or_1d(y, warn=True)

    def _begin(self, given: Given) -> None:
        self._label_binarizer = LabelBinarizer(neg_label=-1)  # what the namesake predicts with
        Y = self._label_binarizer.fit(given.y).transform(given.y)
        if np.ndim(given.y) == 1:
            super()._begin(given)
            if len(self.classes_) == 2 and _is_flat():
                self.coef_ = self.coef_[0]
            return
        self.classes_ = self._label_binarizer.classes_
        self.coef_ = np.zeros((Y.shape[1], given.X.shape[1]))
        self.intercept_ = self._no_intercept(Y.shape[1])


@cache
def _is_flat() -> bool:
    """Whether this release of scikit-learn holds a vector ``coef_`` for two classes."""
    return linear_model.RidgeClassifier().fit(np.eye(2), [0, 1]).coef_.ndim == 1


# The linear support vector machine of liblinear, as scikit-learn has it.


class LinearSVC(ClassifierFit, svm.LinearSVC):
    """Minimise Omega(w, b/m) + C sum_i v_i s_i (1 - y_i z_i)_+^2, z = X w + b, and certify it.

    The intercept is penalised, as in the namesake: m = intercept_scaling. v are the class weights;
    ``loss="hinge"`` does not square. With K > 2 classes there are K problems, each class against
    the rest. Not ``cml.SoftMarginSVM``, whose intercept is free.

    Parameters
    ----------
    penalty : str
        "l2": Omega = |.|^2 / 2, "l1": |.|_1.
    loss : str
        Or "hinge".
    dual : bool or "auto"
        Has no effect: both problems are solved.
    tol : float
        Verified relative gap that the fit is to reach.
    C : float
        Weight > 0 of the losses.
    multi_class : str
        Only "ovr".
    fit_intercept : bool
        Whether there is an intercept.
    intercept_scaling : float
        Entry of the column whose coefficient is the intercept.
    class_weight : dict or "balanced", optional
        Weights of the classes, times those of the samples.
    verbose : int
        Has no effect.
    random_state : int, optional
        Has no effect: nothing is random.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    engine : str
        A solver of convexml; "auto" chooses.
    """


# The linear support vector regression of liblinear, as scikit-learn has it.


class LinearSVR(LinearFit, svm.LinearSVR):
    """Minimise |(w, b/m)|^2 / 2 + C sum_i s_i (|y_i - x_i.w - b| - epsilon)_+, and certify it.

    The intercept is penalised, as in the namesake: m = intercept_scaling.
    ``loss="squared_epsilon_insensitive"`` squares each loss.

    Parameters
    ----------
    epsilon : float
        Half of the width of the tube without loss, >= 0.
    tol : float
        Verified relative gap that the fit is to reach.
    C : float
        Weight > 0 of the losses.
    loss : str
        Or "squared_epsilon_insensitive".
    fit_intercept : bool
        Whether there is an intercept.
    intercept_scaling : float
        Entry of the column whose coefficient is the intercept.
    dual : bool or "auto"
        Has no effect: both problems are solved.
    verbose : int
        Has no effect.
    random_state : int, optional
        Has no effect: nothing is random.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    def _end(self, given: Given, parts: Parts, solutions: Solutions) -> None:
        super()._end(given, parts, solutions)
        self.intercept_ = np.atleast_1d(self.intercept_) if self.fit_intercept else 0.0


# Linear discriminant analysis, as scikit-learn has it.


class LinearDiscriminantAnalysis(CertifiedFit, discriminant_analysis.LinearDiscriminantAnalysis):
    """Minimise w_k'Sigma w_k / 2 - (mu_k - m)'w_k for each class k (one for two), and certify it.

    mu_k are the means of the classes, pi_k their priors. With "lsqr" and "eigen" Sigma =
    sum_k pi_k S_k with the covariances S_k (1/n_k), and m = 0; with "svd" Sigma =
    sum_k n_k S_k / n (older releases: n - K), and m = sum_k pi_k mu_k. b_k = log pi_k -
    (mu_k + m)'w_k / 2, and w_k = Theta (mu_k - m) with the Theta of ``cml.DiscriminantAnalysis``.

    Parameters
    ----------
    solver : "svd", "lsqr" or "eigen"
        Names the problem; "svd" and "eigen" make projections as well, for ``transform``.
    shrinkage : float, "auto" or None
        Sigma is moved towards a multiple of the identity; "auto" as Ledoit and Wolf do. Not with
        "svd".
    priors : array, shape (K,), optional
        Shares of the classes; those among y by default.
    n_components : int, optional
        Columns of ``transform``; at most min(d, K - 1), which is the default.
    store_covariance : bool
        Has no effect: ``covariance_`` is there.
    tol : float
        Verified relative gap that the fit is to reach.
    covariance_estimator : estimator, optional
        Makes the S_k, by its ``covariance_``.

    Attributes
    ----------
    problem_ : DiscriminantAnalysis
        As posed.
    """

    _takes_sparse = _holds_solution = False
    _reading: ClassVar = {"ensure_min_samples": 2}
    _defaults: ClassVar = {"tol": 1e-6}
    _parameter_constraints: ClassVar = (
        discriminant_analysis.LinearDiscriminantAnalysis._parameter_constraints
        | {"tol": "no_validation"}
    )

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Solve to a verified relative gap of ``tol``.

        Parameters
        ----------
        X : array or data frame, shape (n, d)
        y : array, shape (n,)
            Labels.

        Returns
        -------
        self : object
            Fitted.

        Raises
        ------
        InputError
            For data that it cannot be fitted on.
        """
        return super().fit(X, y)

    def _read(self, X: Any, y: Any) -> tuple[Any, Any]:
        from sklearn.utils.multiclass import check_classification_targets

        asked = self.shrinkage is not None or self.covariance_estimator is not None
        if self.solver == "svd" and asked:
            raise InputError(
                "LinearDiscriminantAnalysis.fit: solver='svd' takes neither shrinkage nor a "
                "covariance_estimator; take 'lsqr' or 'eigen'."
            )
        X, y = super()._read(X, y)
        check_classification_targets(y)
        return X, y

    def _begin(self, given: Given) -> None:
        X, y, owner = given.X, given.y, "LinearDiscriminantAnalysis.fit"
        self.classes_, index, counts = np.unique(y, return_inverse=True, return_counts=True)
        K = len(self.classes_)
        if K < 2:
            raise InputError(f"{owner}: y must hold at least two classes, got {K} class.")
        if len(X) == K:
            raise InputError(f"{owner}: there must be more samples than classes, got {K} of each.")
        if self.shrinkage is not None and self.covariance_estimator is not None:
            raise InputError(f"{owner}: shrinkage belongs to no covariance_estimator; take one.")
        self.priors_ = _priors(self.priors, counts, owner)
        found = class_moments(X, index, self)
        self.means_, self.covariance_ = found.means, found.covariance
        most = min(K - 1, X.shape[1])
        if self.n_components is not None and self.n_components > most:
            raise InputError(
                f"{owner}: n_components cannot be larger than min(n_features, n_classes - 1) = "
                f"{most}, got {self.n_components}."
            )
        self._max_components = self._n_features_out = self.n_components or most
        rows = 1 if K == 2 else K
        self.coef_, self.intercept_ = np.zeros((rows, X.shape[1])), np.zeros(rows)
        S = 0.5 * (found.Sigma + found.Sigma.T)
        if self.solver != "lsqr":
            self._project(X, S, found.m)
        names = getattr(self, "feature_names_in_", None)
        moments = self.classes_, self.priors_, self.means_, [S], names
        self.problem_ = DiscriminantAnalysis.of_moments(*moments)

    def _solutions(self, parts: Parts, tol: float) -> Solutions:
        return [self.problem_.solve("newton", tol=tol)]

    def _end(self, given: Given, parts: Parts, solutions: Solutions) -> None:
        Theta = solutions[0].primal.get("Theta")
        if Theta is None or not np.isfinite(solutions[0].gap):  # of least norm
            W = np.array([linalg.lstsq(part.Sigma, part.mu)[0] for part in parts])
        else:
            W = np.array([Theta @ part.mu for part in parts])
        self.coef_, means = W, self.means_
        if len(self.classes_) == 2:
            self.intercept_ = np.diff(np.log(self.priors_)) - 0.5 * means.sum(axis=0) @ W.T
        else:
            m = self.xbar_ if self.solver == "svd" else 0.0
            self.intercept_ = np.log(self.priors_) - 0.5 * np.sum((means + m) * W, axis=1)

    def _project(self, X: Array, Sigma: Array, m: Array) -> None:
        """``scalings_``: directions v with v'Sigma v = 1, by the variance of the means along them.

        They are the eigenvectors of the scatter of the means ("svd": with n pi_k / (K - 1)) or of
        the covariance of X less Sigma ("eigen"), in the metric of Sigma.
        """
        values, vectors = linalg.eigh(Sigma)
        kept = values > len(values) * np.finfo(float).eps * max(values[-1], 0.0)
        white = vectors[:, kept] / np.sqrt(values[kept])
        if self.solver == "svd":
            share = len(X) * self.priors_ / (len(self.classes_) - 1)
            rows = np.sqrt(share)[:, None] * (self.means_ - m) @ white
            between, self.xbar_ = rows.T @ rows, m
        else:
            between = white.T @ (covariance(X, self) - Sigma) @ white
        spread, turned = linalg.eigh(between)
        spread, turned = spread[::-1], turned[:, ::-1]
        most = self._max_components
        self.explained_variance_ratio_ = (spread / np.sum(spread))[:most]
        rank = most if self.solver == "svd" else len(spread)
        self.scalings_ = white @ turned[:, :rank]


def _priors(given: Any, counts: Array, owner: str) -> Array:
    """Shares of the classes, which add up to 1."""
    if given is None:
        return counts / counts.sum()
    priors = np.asarray(given, dtype=float)
    if priors.shape != counts.shape or not np.all(np.isfinite(priors)):
        raise InputError(
            f"{owner}: priors must be one number for each of {len(counts)} classes, got {given!r}."
        )
    if np.any(priors < 0.0):
        raise InputError(f"{owner}: priors must be non-negative, got {given!r}.")
    if abs(priors.sum() - 1.0) > 1e-5:
        warn("The priors do not sum to 1. Renormalizing", UserWarning)
    return priors / priors.sum()

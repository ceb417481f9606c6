"""Linear discriminant analysis, as scikit-learn has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg
from sklearn import discriminant_analysis

from ..audit.sklearn.families.discriminant import class_moments, covariance
from ..audit.sklearn.parts import Subproblem
from ..errors import InputError, warn
from ..models import DiscriminantAnalysis
from ..models.solution import Solution
from ..numerics import Array
from .base import CertifiedFit, Given
from .reading import read_samples


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

    _parameter_constraints: ClassVar = (
        discriminant_analysis.LinearDiscriminantAnalysis._parameter_constraints
        | {"tol": "no_validation"}
    )

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-6,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

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
        X, y = read_samples(self, X, y, {"accept_sparse": False, "ensure_min_samples": 2})
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

    def _solutions(self, parts: Sequence[Any], tol: float) -> list[Solution]:
        return [self.problem_.solve("newton", tol=tol)]

    def _end(self, given: Given, parts: Sequence[Any], solutions: Sequence[Solution]) -> None:
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

    def _standing(
        self, given: Given, parts: Sequence[Subproblem], solutions: Sequence[Solution]
    ) -> Sequence[Subproblem]:
        return self._parts(given)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


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

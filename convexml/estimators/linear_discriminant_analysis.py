"""Linear discriminant analysis, as scikit-learn has it with ``solver="lsqr"``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg
from sklearn import discriminant_analysis
from sklearn.utils.metaestimators import available_if

from ..audit.sklearn.families.discriminant import covariance
from ..audit.sklearn.parts import Subproblem
from ..errors import InputError, warn
from ..models import DiscriminantAnalysis
from ..models.solution import Solution
from ..numerics import Array
from .base import CertifiedFit, Given
from .reading import read_samples


def _never(estimator: Any) -> bool:
    """Whether there is a ``transform``: ``solver="lsqr"`` has none."""
    return False


class LinearDiscriminantAnalysis(  # type: ignore[call-arg]
    CertifiedFit, discriminant_analysis.LinearDiscriminantAnalysis, auto_wrap_output_keys=None
):
    """Minimise w_k'Sigma w_k / 2 - mu_k'w_k for each class k (one problem for two), and certify it.

    mu_k are the means of the classes, pi_k their priors, Sigma = sum_k pi_k S_k with the
    covariances S_k (1/n_k), and b_k = log pi_k - mu_k'w_k / 2. w_k = Theta mu_k with the Theta of
    ``cml.DiscriminantAnalysis``.

    Parameters
    ----------
    solver : "lsqr"
        The namesake's default "svd" minimises nothing, and "eigen" makes projections; both are
        refused.
    shrinkage : float, "auto" or None
        Sigma is moved towards a multiple of the identity; "auto" as Ledoit and Wolf do.
    priors : array, shape (K,), optional
        Shares of the classes; those among y by default.
    n_components : int, optional
        Has no effect, as with the namesake's "lsqr", which makes no projections.
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
        solver: str = "lsqr",
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
            For data that it cannot be fitted on, for the solvers "svd" and "eigen".
        """
        return super().fit(X, y)

    def _read(self, X: Any, y: Any) -> tuple[Any, Any]:
        from sklearn.utils.multiclass import check_classification_targets

        if self.solver != "lsqr":
            raise InputError(
                f"LinearDiscriminantAnalysis.fit: solver={self.solver!r} is not there: 'svd' "
                "minimises nothing, 'eigen' makes projections; take 'lsqr'."
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
        groups = [X[index == k] for k in range(K)]
        self.means_ = np.array([group.mean(axis=0) for group in groups])
        each = [covariance(group, self) for group in groups]
        self.covariance_ = np.einsum("k,kij->ij", self.priors_, each)
        most = min(K - 1, X.shape[1])
        if self.n_components is not None and self.n_components > most:
            raise InputError(
                f"{owner}: n_components cannot be larger than min(n_features, n_classes - 1) = "
                f"{most}, got {self.n_components}."
            )
        self._max_components = self._n_features_out = self.n_components or most
        rows = 1 if K == 2 else K
        self.coef_, self.intercept_ = np.zeros((rows, X.shape[1])), np.zeros(rows)
        S = 0.5 * (self.covariance_ + self.covariance_.T)
        names = getattr(self, "feature_names_in_", None)
        moments = self.classes_, self.priors_, self.means_, [S], names
        self.problem_ = DiscriminantAnalysis.of_moments(*moments)

    def _solutions(self, parts: Sequence[Any], tol: float) -> list[Solution]:
        return [self.problem_.solve("newton", tol=tol)]

    def _end(self, given: Given, parts: Sequence[Any], solutions: Sequence[Solution]) -> None:
        Theta, Sigma = solutions[0].primal.get("Theta"), self.covariance_
        if Theta is None or not np.isfinite(solutions[0].gap):  # of least norm
            W = np.array([linalg.lstsq(Sigma, part.mu)[0] for part in parts])
        else:
            W = np.array([Theta @ part.mu for part in parts])
        self.coef_, middle = W, 0.5 * self.means_ @ W.T
        if len(self.classes_) == 2:
            middle, logs = middle.sum(axis=0), np.diff(np.log(self.priors_))
            self.intercept_ = logs - middle
        else:
            self.intercept_ = np.log(self.priors_) - np.diag(middle)

    def _standing(
        self, given: Given, parts: Sequence[Subproblem], solutions: Sequence[Solution]
    ) -> Sequence[Subproblem]:
        return self._parts(given)

    @available_if(_never)
    def transform(self, X: Any) -> Array:
        """Projections are not there with ``solver="lsqr"``."""
        raise NotImplementedError

    @available_if(_never)
    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Projections are not there with ``solver="lsqr"``."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.transformer_tags = None
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

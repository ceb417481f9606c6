"""The graphical lasso, as scikit-learn has it."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn import covariance

from ..errors import InputError
from ..models import GaussianLikelihood
from ..models.solution import Solution
from .base import CertifiedFit, Given, Parts, Solutions, named


class GraphicalLasso(CertifiedFit, covariance.GraphicalLasso):
    """Minimise -log det Theta + tr(S Theta) + alpha sum_{i != j} |Theta_ij|, and certify it.

    That is ``cml.GaussianLikelihood`` with lam = alpha; S is the covariance of X with 1/n.

    Parameters
    ----------
    alpha : float
        Strength > 0.
    mode : str
        Has no effect.
    covariance : None or "precomputed"
        Whether ``fit`` is given S in place of X.
    tol : float
        Verified gap, in nats for a feature, that the fit is to reach.
    enet_tol : float
        Has no effect.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    verbose : bool
        Has no effect.
    eps : float
        Has no effect.
    assume_centered : bool
        Whether S is taken about 0 instead of the mean.
    engine : str
        A solver of convexml; "auto" chooses.

    Attributes
    ----------
    dual_ : dict
        The dual point "W".
    problem_ : GaussianLikelihood
        As posed.
    """

    store_precision = True
    _takes_sparse = _holds_solution = False
    _reading: ClassVar = {"ensure_min_features": 2, "ensure_min_samples": 2}

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Solve to a verified gap of ``tol`` nats for a feature.

        Parameters
        ----------
        X : array or data frame, shape (n, d), n, d >= 2
            The covariance, (d, d), where it is "precomputed".
        y : None
            Is not looked at.

        Returns
        -------
        self : object
            Fitted.

        Raises
        ------
        InputError
            For data that it cannot be fitted on: a constant column leaves no best Theta.
        SolverError
            If nothing reached a point.
        """
        return super().fit(X)

    def _begin(self, given: Given) -> None:
        X, d = given.X, given.X.shape[1]
        self.precision_, self.covariance_ = np.eye(d), np.eye(d)
        self.location_ = np.zeros(d)
        if self.covariance == "precomputed":
            if X.shape != (d, d):
                raise InputError(
                    f"GraphicalLasso.fit: a precomputed covariance is square, got {X.shape}."
                )
            self.problem_ = GaussianLikelihood.of_covariance(0.5 * (X + X.T), self.alpha)
            return
        table = named(X, list(getattr(self, "feature_names_in_", ())))
        about = bool(self.assume_centered)
        self.problem_ = GaussianLikelihood(table, self.alpha, assume_centered=about)
        self.location_ = np.zeros(d) if about else X.mean(axis=0)

    def _solved(self, part: Any, tol: float) -> Solution:
        return self._solution(self.problem_, tol, part.name)

    def _end(self, given: Given, parts: Parts, solutions: Solutions) -> None:
        found = np.linalg.inv(solutions[0].primal["Theta"])
        self.precision_ = np.array(solutions[0].primal["Theta"])
        self.covariance_ = 0.5 * (found + found.T)

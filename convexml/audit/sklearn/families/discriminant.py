"""LinearDiscriminantAnalysis: quadratic functions of w.

    w_k'Sigma w_k / 2 - (mu_k - m)'w_k  for each class k,  b_k = log pi_k - (mu_k + m)'w_k / 2

mu_k are the means of the classes, pi_k their priors. With ``solver="lsqr"`` or "eigen"
Sigma = sum_k pi_k S_k with the covariances S_k (1/n_k, shrunk where ``shrinkage`` says so), m = 0.
With "svd" Sigma = sum_k n_k S_k / n (older releases: n - K) and m = sum_k pi_k mu_k. Two classes
are one problem, in the difference of their means, where m has no say. The minimum is
-mu'Sigma^{-1}mu / 2, and the gap r'Sigma^{-1}r / 2 of the residual r = Sigma w - mu.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from ....certificates import Certificate
from ....certificates.judge import bounded, judge, refuted
from ....certificates.scale import learning_scale
from ....conditions import worst
from ....numerics import Array, gamma
from ..fitted import Fitted

UNPROVED = "the account of rounding of a covariance and its factor is of first order only"


def discriminant_analysis(fitted: Fitted) -> Iterator[QuadraticPart]:
    """LinearDiscriminantAnalysis, one problem for each class, or one for two."""
    fitted.refuse_sparse()
    if np.any(fitted.s != fitted.s[0]):
        raise fitted.refuse("it takes no sample_weight.")
    X, estimator = np.asarray(fitted.X), fitted.estimator
    found = class_moments(X, fitted.labels(every=True), estimator)
    _hold(fitted, X, found)
    priors, means, _, Sigma, m = found
    W, b, logs = np.atleast_2d(fitted.coef), fitted.intercepts, np.log(priors)
    if W.shape != (1 if len(means) == 2 else len(means), X.shape[1]):
        raise fitted.refuse(f"coef_ of shape {W.shape} does not fit X {X.shape}.")
    if len(means) == 2:
        middle = 0.5 * float((means[0] + means[1]) @ W[0])
        best = float(logs[1] - logs[0]) - middle
        yield QuadraticPart(
            Sigma, means[1] - means[0], W[0], float(b[0]), best, "", fitted.features
        )
        return
    for k, label in enumerate(np.asarray(estimator.classes_)):
        best = float(logs[k] - 0.5 * (means[k] + m) @ W[k])
        name = f"class {label}"
        yield QuadraticPart(Sigma, means[k] - m, W[k], float(b[k]), best, name, fitted.features)


class ClassMoments(NamedTuple):
    """Priors, means of the classes, the covariance that is held, Sigma, and m."""

    priors: Array
    means: Array
    covariance: Array
    Sigma: Array
    m: Array


def class_moments(X: Array, index: Array, estimator: Any) -> ClassMoments:
    """What the solver of a LinearDiscriminantAnalysis makes of X and the classes of its rows."""
    groups = [X[index == k] for k in range(int(index.max()) + 1)]
    counts = np.array([len(group) for group in groups])
    given = estimator.priors
    priors = counts if given is None else np.asarray(given, dtype=float)
    priors = priors / priors.sum()
    means = np.array([group.mean(axis=0) for group in groups])
    each = [covariance(group, estimator) for group in groups]
    held = np.einsum("k,kij->ij", priors, each)
    if estimator.solver != "svd":
        return ClassMoments(priors, means, held, held, np.zeros(X.shape[1]))
    free = len(X) - len(groups) if _loses_degrees() else len(X)
    Sigma = np.einsum("k,kij->ij", counts / free, each)
    return ClassMoments(priors, means, held, Sigma, priors @ means)


@cache
def _loses_degrees() -> bool:
    """Whether "svd" of this release of scikit-learn divides by n - K: n is 4 here, and K is 2."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    X = np.array([[0.0], [2.0], [4.0], [6.0]])  # within 4, means apart by 4: 4 / (4 / n) is 4
    return bool(LinearDiscriminantAnalysis().fit(X, [0, 0, 1, 1]).coef_[0, 0] < 3.0)


def _hold(fitted: Fitted, X: Array, found: ClassMoments) -> None:
    """Refuse priors, means and a covariance that are not those of the data, but for rounding."""
    estimator, size = fitted.estimator, np.max(np.abs(X), axis=0)
    eps = float(np.finfo(np.asarray(estimator.means_).dtype).eps)
    rounding, near = 4.0 * (len(X) + 16) * eps, max(1e-6, eps**0.5)
    S = found.covariance
    for name, own, off in (
        ("priors_", found.priors, 2e-5),  # scikit-learn keeps given ones whose sum is off by 1e-5
        ("means_", found.means, rounding * size),
        ("covariance_", S, near * np.max(np.abs(S)) + rounding * np.outer(size, size)),
    ):
        held = np.asarray(getattr(estimator, name, own))  # "svd" may keep no covariance
        if held.shape != own.shape or not np.all(np.abs(held - own) <= off):
            raise fitted.refuse(
                f"its {name} are not those of X and y; pass the data that it was fitted on."
            )


def covariance(group: Array, estimator: object) -> Array:
    """S_k as documented, shrunk where it is asked for."""
    from sklearn.covariance import ledoit_wolf, shrunk_covariance

    shrinkage = getattr(estimator, "shrinkage", None)
    own = getattr(estimator, "covariance_estimator", None)
    if own is not None:
        from sklearn.base import clone

        return np.atleast_2d(clone(own).fit(group).covariance_)
    if shrinkage == "auto":
        scale = group.std(axis=0)
        scale = np.where(scale > 0.0, scale, 1.0)
        found = ledoit_wolf((group - group.mean(axis=0)) / scale)[0]
        return np.atleast_2d(scale[:, None] * found * scale)
    R = group - group.mean(axis=0)
    S = R.T @ R / len(group)
    return np.atleast_2d(S if shrinkage in (None, "empirical") else shrunk_covariance(S, shrinkage))


@dataclass(frozen=True)
class QuadraticPart:
    """Minimise w'Sigma w / 2 - mu'w, with b = ``best_b`` beside it; and the point (w, b)."""

    Sigma: Array
    mu: Array
    w: Array
    b: float
    best_b: float
    name: str = ""
    features: tuple[str, ...] = ()

    def value_at(self, w: Array) -> float:
        """The quadratic function."""
        return float(0.5 * w @ self.Sigma @ w - self.mu @ w)

    @property
    def value(self) -> float:
        """The quadratic function at the fitted point."""
        return self.value_at(self.w)

    def certify(self, tol: float) -> Certificate:
        """Judge w by the residual of Sigma w = mu, and b by its formula."""
        primal, r = self.value, self.Sigma @ self.w - self.mu
        sizes = np.abs(self.Sigma) @ np.abs(self.w) + np.abs(self.mu)
        rounding = float(gamma(2 * len(self.w) + 16) * (sizes @ np.abs(self.w)))
        gap, best, reason = np.inf, None, ""
        try:
            factor = linalg.cho_factor(self.Sigma)
            gap = 0.5 * float(r @ linalg.cho_solve(factor, r))
            best = linalg.cho_solve(factor, self.mu)
        except linalg.LinAlgError:
            reason = "The covariance is singular to working precision; shrinkage makes it regular."
        dual = primal - gap
        level = max(abs(self.best_b), float(np.abs(self.mu) @ np.abs(self.w)), 1e-300)
        certificate = judge(
            bounded(
                primal,
                dual,
                [
                    worst("Sigma w = mu", "stationarity", r, sizes).of_columns(self.features),
                    worst("b = log pi - mu'w/2", "primal_feasibility", self.b - self.best_b, level),
                ],
                tol,
                scale=learning_scale(primal, dual, 0.0),
                rounding=rounding,
                gap=gap,
                reason=reason,
                dual_source="constructed",
                unproved=UNPROVED,
            )
        )
        if best is None:
            return certificate
        better = self.value_at(best)
        return refuted(certificate, better, {"w": best, "objective": better}, rounding)

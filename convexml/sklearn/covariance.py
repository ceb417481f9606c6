"""Covariances, discriminants, principal components and clusters of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from ..certificates import Certificate, Verdict
from ..certificates.algebra.definite import log_det
from ..certificates.clustering import Partition
from ..certificates.fantope import Fantope, directions_of
from ..certificates.judge import Better, judge, judged, settled
from ..certificates.likelihood import Precision
from ..formulas import worst
from ..models.clustering import KMeansBound
from ..numerics import UNIT, Array, gamma
from ..problem.likelihood import moments
from .fitted import Fitted

# GraphicalLasso: an inverse covariance with zeros.
#
#     -log det Theta + tr(S Theta) + alpha sum_{i != j} |Theta_ij|
#
# Theta is ``precision_``; S the covariance of X with 1/n, about the mean unless
# ``assume_centered``,
# or X itself where ``covariance="precomputed"``: ``GaussianLikelihood`` with lam = alpha. The dual
# is
#
#     maximise log det W + d  subject to  W_jj = S_jj, |W_ij - S_ij| <= alpha
#
# and ``covariance_`` is a guess of W, which must be Theta^-1 as closely as Theta is judged: within
# tol for a feature in tr(Theta W) - log det(Theta W) - d >= 0, which is 0 there alone. The gap is
# measured on d: in nats for a feature.


def graphical_lasso(fitted: Fitted) -> Iterator[PrecisionPart]:
    """GraphicalLasso with its ``precision_``."""
    fitted.refuse_sparse()
    estimator, X = fitted.estimator, np.asarray(fitted.X)
    if np.any(fitted.s != fitted.s[0]):
        raise fitted.refuse("it takes no sample_weight.")
    ready = getattr(estimator, "covariance", None) == "precomputed"
    centre = X.mean(axis=0)
    if ready or estimator.assume_centered:
        centre = np.zeros(X.shape[1])
    if ready:
        S, noise = 0.5 * (X + X.T), UNIT * np.abs(X + X.T)
    else:
        found = moments(X, fitted.s, not estimator.assume_centered)
        S, noise = found.S, found.noise
    Theta, W = (np.asarray(each) for each in (estimator.precision_, estimator.covariance_))
    if any(part.shape != S.shape or not np.all(np.isfinite(part)) for part in (Theta, W)):
        raise fitted.refuse(f"precision_ and covariance_ must be finite, of shape {S.shape}.")
    fitted.holds_mean("location_", centre)
    problem = Precision(S, noise, float(estimator.alpha))
    yield PrecisionPart(problem, Theta, W, features=fitted.features)


@dataclass(frozen=True)
class PrecisionPart:
    """The problem in Theta, and the pair (Theta, W) that the estimator holds."""

    problem: Precision
    Theta: Array
    W: Array
    name: str = ""
    features: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """The objective at the fitted point."""
        return self.problem.cost(self.Theta)

    def certify(self, tol: float) -> Certificate:
        """Judge Theta, by ``covariance_`` moved into the dual's box, and that as its inverse."""
        near = self.problem.nearest(self.W)
        found = self.problem.certify(self.Theta, near, tol=tol, passed=True)
        if found.verdict is not Verdict.CERTIFIED:
            found = self.problem.compared(self.Theta, None, tol)
        rows = tuple(row.of_columns(self.features, len(self.W)) for row in found.conditions)
        found = found.but(dual_source="constructed", conditions=rows)
        if found.verdict is not Verdict.CERTIFIED:
            return found
        row = worst("covariance_ = Theta^-1", "primal_feasibility", self._apart(), len(self.W))
        return judge(found.but(conditions=(*found.conditions, row)))

    def _apart(self) -> float:
        """Divergence of ``covariance_`` from Theta^-1, without rounding; inf if not symmetric."""
        Theta, W = 0.5 * (self.Theta + self.Theta.T), self.W
        if not np.array_equal(W, W.T):
            return np.inf
        (one, lost), (other, more) = log_det(Theta), log_det(W)
        found = float(np.sum(Theta * W)) - len(W) - one - other
        rounding = gamma(2 * W.size + 8) * float(np.sum(np.abs(Theta * W))) + lost + more
        return max(found - rounding, 0.0) if found < np.inf else np.inf


# LinearDiscriminantAnalysis: quadratic functions of w.
#
#     w_k'Sigma w_k / 2 - (mu_k - m)'w_k  for each class k,  b_k = log pi_k - (mu_k + m)'w_k / 2
#
# mu_k are the means of the classes, pi_k their priors. With ``solver="lsqr"`` or "eigen"
# Sigma = sum_k pi_k S_k with the covariances S_k (1/n_k, shrunk where ``shrinkage`` says so), m =
# 0.
# With "svd" Sigma = sum_k n_k S_k / n (older releases: n - K) and m = sum_k pi_k mu_k. Two classes
# are one problem, in the difference of their means, where m has no say. The minimum is
# -mu'Sigma^{-1}mu / 2, and the gap r'Sigma^{-1}r / 2 of the residual r = Sigma w - mu.


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
        certificate = judged(
            primal,
            dual,
            [
                worst("Sigma w = mu", "stationarity", r, sizes).of_columns(self.features),
                worst("b = log pi - mu'w/2", "primal_feasibility", self.b - self.best_b, level),
            ],
            tol,
            rounding=rounding,
            gap=gap,
            reason=reason,
            unproved=UNPROVED,
        )
        if best is None:
            return certificate
        return settled(certificate, lambda: Better({"w": best}, self.value_at(best), rounding))


# PCA and KMeans: what looks for structure in X alone, by its convex relaxation.
#
# PCA maximises the variance that its k directions C explain: ``PrincipalComponents``,
#
#     -<S, P>  over  0 <= P <= I, tr P = k,  at  P = C'C,  S the covariance with 1/n.
#
# Where its P is certified its directions must also be eigenvectors, with the variances that it
# says.
#
# KMeans minimises sum_i min_j |x_i - c_j|^2, which is not convex. ``KMeansBound`` is below what any
# clustering costs, so that the gap bounds how far this one is from the best. A better point of the
# relaxation is no clustering, and refutes nothing; one that Lloyd's steps from these centers reach
# does.


STEPS = 300
"""Of Lloyd's, at most."""
MOST = 1000
"""Samples of a clustering: a step of the relaxation takes n^3."""
ROUGH = 1e-3
"""Gap of a relaxation that is known to lie below the clustering."""


def principal_components(fitted: Fitted) -> Iterator[ComponentsPart]:
    """PCA with its ``components_``."""
    X, C = _samples(fitted), np.asarray(fitted.estimator.components_, dtype=np.float64)
    n, d = X.shape
    if C.ndim != 2 or C.shape[1] != d or not len(C) or not np.all(np.isfinite(C)):
        raise fitted.refuse(f"components_ must be finite, of shape (k, {d}), k > 0.")
    if not len(C) <= n < d:
        found = moments(X, fitted.s)
        problem, mean = Fantope(found.S, found.noise, len(C)), found.mean
    else:  # the products of samples are the smaller matrix
        problem, mean = directions_of(X, fitted.s, len(C))
    fitted.holds_mean("mean_", mean)
    variances = np.asarray(fitted.estimator.explained_variance_, dtype=np.float64)
    share = (fitted.n - 1) / fitted.n
    yield ComponentsPart(problem, C, share * variances)


def k_means(fitted: Fitted) -> Iterator[ClusteringPart]:
    """KMeans with its ``cluster_centers_``."""
    X, centers = _samples(fitted), np.asarray(fitted.estimator.cluster_centers_, dtype=np.float64)
    n, d = X.shape
    if centers.ndim != 2 or centers.shape[1] != d or not np.all(np.isfinite(centers)):
        raise fitted.refuse(f"cluster_centers_ must be finite, of shape (k, {d}).")
    if n > MOST:
        raise fitted.refuse(
            f"the relaxation takes n^3 a step, and X has {n} rows; at most {MOST} are judged. "
            "Fit and judge it on a sample of the rows."
        )
    squares = squared_distances(X, centers)
    labels = squares.argmin(axis=1)
    cost = float(squares.min(axis=1).sum())
    yield ClusteringPart(KMeansBound(X, len(centers)), centers, labels, cost)


def squared_distances(X: Array, centers: Array) -> Array:
    """|x_i - c_j|^2, (n, k)."""
    return np.stack([np.square(X - center).sum(axis=1) for center in centers], axis=1)


def _samples(fitted: Fitted) -> Array:
    """X, dense, of samples that weigh the same."""
    fitted.refuse_sparse()
    if np.any(fitted.s != fitted.s[0]):
        raise fitted.refuse("with a sample_weight it is not judged; repeat the rows.")
    return np.asarray(fitted.X, dtype=np.float64)


@dataclass(frozen=True)
class ComponentsPart:
    """The problem in P, the directions C in rows, and the variances that are said of them."""

    problem: Fantope
    C: Array
    variances: Array
    name: str = ""

    @property
    def value(self) -> float:
        """-<S, C'C>."""
        return -float(np.trace(self.problem.spread(self.C)))

    def certify(self, tol: float) -> Certificate:
        """Judge C'C; where it is certified, C as its eigenvectors in turn."""
        point = self.C if self.problem.name == "components" else self.C.T @ self.C
        found = self.problem.certify(point, tol=tol, passed=False)
        if found.verdict is not Verdict.CERTIFIED:
            near, it = self.problem.leading(), self.problem
            lost = it.value_rounding(point) + it.value_rounding(near)
            return settled(found, lambda: Better({it.name: near}, it.cost(near), lost))
        apart = self.problem.spread(self.C) - np.diag(self.variances)
        name = "components_ S components_' = diag(variances)"
        row = worst(name, "primal_feasibility", apart, float(np.trace(self.problem.S)))
        return judge(found.but(conditions=(*found.conditions, row)))


@dataclass(frozen=True)
class ClusteringPart:
    """The relaxation, the labels of the nearest centers, and what these centers cost."""

    problem: KMeansBound
    centers: Array
    labels: Array
    value: float
    name: str = ""

    def certify(self, tol: float) -> Certificate:
        """Judge the centers by the multipliers of a splitting."""
        it, Z = self.problem.program, self.problem.matrix(self.labels)
        inner = it.certify(Z, None, self._multipliers(it, tol), tol=tol, passed=True)
        cost = max(inner.primal_objective, self.value)
        n, d = self.X.shape
        found = judged(
            cost,
            inner.dual_objective,
            inner.conditions,
            tol,
            scale=inner.scale,
            rounding=inner.rounding + gamma(n + d + 8) * cost,
            dual=inner.dual,
        )
        if found.verdict is not Verdict.UNDECIDED:
            return found
        labels = self._after_steps()
        value = self.problem.cost(labels)
        lost = 2.0 * gamma(n + d + 8) * cost
        found = settled(found, lambda: Better({"labels": labels}, value, lost))
        if found.verdict is Verdict.REFUTED:
            return found
        most = 100.0 * found.relative_gap
        words = f"No better clustering was found; none is better by more than {most:.2g} %."
        return found.but(reason=words)

    @property
    def X(self) -> Array:
        """The samples."""
        return self.problem._samples.X

    def _after_steps(self) -> Array:
        """The labels that Lloyd's steps from these centers end at: means of the nearest samples."""
        labels, centers = self.labels, self.centers.copy()
        for _ in range(STEPS):
            for j in np.unique(labels):
                centers[j] = self.X[labels == j].mean(axis=0)
            before, labels = labels, squared_distances(self.X, centers).argmin(axis=1)
            if np.array_equal(before, labels):
                break
        return labels

    def _multipliers(self, partition: Partition, tol: float) -> Array:
        """N, closer where the clustering may be optimal for the relaxation itself."""
        found = np.zeros_like(partition.C)
        for Z, N, share in partition.rounds():
            found, value = N, float(np.sum(partition.C * Z))
            below = value < (1.0 - 2.0 * tol) * self.value
            if share <= 0.25 * tol or (below and share <= ROUGH):
                break
        return found

"""PCA and KMeans: what looks for structure in X alone, by its convex relaxation.

PCA maximises the variance that its k directions C explain: ``PrincipalComponents``,

    -<S, P>  over  0 <= P <= I, tr P = k,  at  P = C'C,  S the covariance with 1/n.

Where its P is certified its directions must also be eigenvectors, with the variances that it says.

KMeans minimises sum_i min_j |x_i - c_j|^2, which is not convex. ``KMeansBound`` is below what any
clustering costs, so that the gap bounds how far this one is from the best. A better point of the
relaxation is no clustering, and refutes nothing; one that Lloyd's steps from these centers reach
does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ....certificates import Certificate, Verdict
from ....certificates.judge import bounded, judge, refuted
from ....certificates.matrix.directions import Directions, directions_of
from ....certificates.matrix.fantope import Fantope
from ....certificates.matrix.partition import Partition
from ....conditions import worst
from ....models.matrix.k_means_bound import KMeansBound
from ....numerics import Array, gamma
from ....objective.likelihood.moments import moments
from ..fitted import Fitted

STEPS = 300
"""Of Lloyd's, at most."""
MOST = 1000
"""Samples of a clustering: a step of the relaxation takes n^3."""
ROUGH = 1e-3
"""Gap of a relaxation that is known to lie below the clustering."""


def principal_components(fitted: Fitted) -> Iterator[ComponentsPart]:
    """PCA with its ``components_``."""
    X, C = _samples(fitted), np.asarray(fitted.estimator.components_, dtype=np.float64)
    d = X.shape[1]
    if C.ndim != 2 or C.shape[1] != d or not len(C) or not np.all(np.isfinite(C)):
        raise fitted.refuse(f"components_ must be finite, of shape (k, {d}), k > 0.")
    problem, mean = _plane(X, fitted.s, len(C))
    held = np.asarray(fitted.estimator.mean_)
    off = 4.0 * (fitted.n + 16) * np.finfo(held.dtype).eps * np.max(np.abs(X), axis=0)
    if held.shape != (d,) or not np.all(np.abs(held - mean) <= off):
        raise fitted.refuse("its mean_ is not that of X; pass the data that it was fitted on.")
    variances = np.asarray(fitted.estimator.explained_variance_, dtype=np.float64)
    share = (fitted.n - 1) / fitted.n
    yield ComponentsPart(problem, C, share * variances)


def _plane(X: Array, s: Array, k: int) -> tuple[Fantope | Directions, Array]:
    """The problem of k directions, by the smaller of S and the products of samples; the mean."""
    n, d = X.shape
    if k <= n < d:
        problem = directions_of(X, s, k)
        return problem, problem.mean
    found = moments(X, s)
    return Fantope(found.S, found.noise, k), found.mean


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

    problem: Fantope | Directions
    C: Array
    variances: Array
    name: str = ""

    @property
    def value(self) -> float:
        """-<S, C'C>."""
        return -float(np.trace(self.problem.spread(self.C)))

    def certify(self, tol: float) -> Certificate:
        """Judge C'C; where it is certified, C as its eigenvectors in turn."""
        found = self.problem.certify_directions(self.C, tol)
        if found.verdict is not Verdict.CERTIFIED:
            return found
        apart = self.problem.spread(self.C) - np.diag(self.variances)
        row = worst(
            "components_ S components_' = diag(variances)",
            "primal_feasibility",
            apart,
            self.problem.total,
        )
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
        partition, Z = self.problem.partition, self.problem.matrix(self.labels)
        inner = partition.certify(Z, None, self._multipliers(partition, tol), tol)
        cost = max(inner.primal_objective, self.value)
        n, d = self.X.shape
        found = bounded(
            cost,
            inner.dual_objective,
            inner.conditions,
            tol,
            scale=inner.scale,
            rounding=inner.rounding + gamma(n + d + 8) * cost,
            dual=inner.dual,
            dual_source="constructed",
            is_proved=True,
        )
        found = judge(found)
        if found.verdict is not Verdict.UNDECIDED:
            return found
        labels = self._after_steps()
        value = self.problem.cost(labels)
        better = {"labels": labels, "objective": value}
        found = refuted(found, value, better, 2.0 * gamma(n + d + 8) * cost)
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

"""Clusters, neighbours, trees of linkage and boosting, as printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors import InputError
from ..numerics import Array

JOINS: dict[str, Callable[[Array], Any]] = {
    "single": np.min,
    "complete": np.max,
    "average": np.mean,
}
"""The distance of two clusters, of the distances of their pairs."""


def lloyd(X: Array, centers: Array) -> Iterator[tuple[Array, Array, float]]:
    """Lloyd's algorithm for k-means: labels of the nearest centers, then means of the clusters.

    The cost sum_i |x_i - center of i|^2 never increases. A cluster that is empty keeps its center.
    Source: [G] 8.1, [P] 16.1, [E] 2.2, [C] 4.

    Parameters
    ----------
    X : array, shape (n, d)
        The samples, a row each.
    centers : array, shape (k, d)
        The start.

    Yields
    ------
    tuple of (array of shape (k, d), array of shape (n,), float)
        Centers, labels (the nearest centers) and the cost, until the labels stay.
    """
    before = None
    while True:
        squares = ((X[:, None, :] - centers) ** 2).sum(axis=2)
        labels = squares.argmin(axis=1)
        yield centers, labels, float(squares[np.arange(len(X)), labels].sum())
        if before is not None and np.array_equal(labels, before):
            return
        before, centers = labels, centers.copy()
        for k in set(labels.tolist()):
            centers[k] = X[labels == k].mean(axis=0)


def kmeans_plus_plus(X: Array, k: int, seed: int = 0) -> Array:
    """Seeding of k-means: the next center is x_i with probability D_i^2 / sum_j D_j^2.

    D_i is the distance of x_i to the centers chosen so far; the first is uniform. The expected cost
    is at most 8 (2 + ln k) times the least. Source: Arthur and Vassilvitskii, 2007; [C] 4.

    Parameters
    ----------
    X : array, shape (n, d)
        With at least k different rows.
    k : int
        How many.
    seed : int
        Of the draws.

    Returns
    -------
    array, shape (k, d)
        Rows of X.
    """
    rng = np.random.default_rng(seed)
    centers = [X[rng.integers(len(X))]]
    while len(centers) < k:
        squares = np.min([((X - c) ** 2).sum(axis=1) for c in centers], axis=0)
        centers.append(X[rng.choice(len(X), p=squares / squares.sum())])
    return np.array(centers)


def linkage(
    distances: Array, between: str = "single"
) -> Iterator[tuple[list[int], list[int], float]]:
    """Agglomerative clustering: merge the two nearest clusters, again and again.

    Between clusters the distance is the least of their pairs ("single"), the largest ("complete")
    or the mean ("average"). Source: [G] 7, [E] 2.2.

    Parameters
    ----------
    distances : array, shape (n, n)
        Symmetric.
    between : str
        "single", "complete" or "average".

    Yields
    ------
    tuple of (list of int, list of int, float)
        The two clusters that are merged, and their distance: n - 1 times.

    Raises
    ------
    InputError
        Another ``between``.
    """
    if between not in JOINS:
        raise InputError(f"linkage: between must be one of {', '.join(JOINS)}, got {between!r}.")
    join = JOINS[between]
    clusters = [[i] for i in range(len(distances))]
    while len(clusters) > 1:
        pairs = [(a, b) for b in range(len(clusters)) for a in range(b)]
        height = [join(distances[np.ix_(clusters[a], clusters[b])]) for a, b in pairs]
        a, b = pairs[int(np.argmin(height))]
        yield clusters[a], clusters[b], float(min(height))
        clusters[a] = clusters[a] + clusters.pop(b)


def nearest_neighbors(X: Array, y: Array, queries: Array, k: int) -> Array:
    """k nearest neighbours: the label that most of the k nearest samples have.

    Ties of votes go to the smallest label, ties of distance to the first sample.
    Source: [P] 16.4.1, [C] 5.1, [G] 7.

    Parameters
    ----------
    X : array, shape (n, d)
        The samples, a row each.
    y : array, shape (n,)
        Labels.
    queries : array, shape (m, d)
        The samples to label.
    k : int
        How many.

    Returns
    -------
    array, shape (m,)
        Labels.
    """
    squares = ((queries[:, None, :] - X) ** 2).sum(axis=2)
    nearest = np.argsort(squares, axis=1, kind="stable")[:, :k]
    classes = np.unique(y)
    votes = (y[nearest][:, :, None] == classes).sum(axis=1)
    return classes[votes.argmax(axis=1)]


def adaboost(H: Array, y: Array) -> Iterator[tuple[Array, float]]:
    """AdaBoost over the columns of H: the weights of the votes, and the edge of the last column.

    D_1 = 1/n; at t: h the column of least error eps = sum of D_i where h_i != y_i, weight
    1/2 log((1 - eps) / eps), D_i <- D_i exp(-weight y_i h_i), normalised. Edge gamma_t = 1/2 - eps:
    the training error after T rounds is at most exp(-2 sum gamma_t^2). Source: [C] 5.3, [E].

    Parameters
    ----------
    H : array, shape (n, m)
        Entries -1 and +1: the predictions of the weak learners.
    y : array, shape (n,)
        Labels -1 and +1.

    Yields
    ------
    tuple of (array of shape (m,), float)
        Weights w, the prediction being sign(H w), and the edge; from w = 0 and edge 0, until the
        best error is 0 or 1/2.
    """
    w, D, edge = np.zeros(H.shape[1]), np.full(len(y), 1.0 / len(y)), 0.0
    while True:
        yield w, edge
        errors = D @ (y[:, None] != H)
        j = int(errors.argmin())
        if not 0.0 < errors[j] < 0.5:
            return
        edge, weight = 0.5 - errors[j], 0.5 * np.log((1.0 - errors[j]) / errors[j])
        w = w + weight * np.eye(len(w))[j]
        D = D * np.exp(-weight * y * H[:, j])
        D = D / D.sum()

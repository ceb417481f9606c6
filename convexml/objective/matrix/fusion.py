"""Points that may merge: (1/2) |X - U|^2 + sum_p r_p |(A U)_p|, A the differences of pairs.

The dual maximises <V, A X> - |A'V|^2 / 2 over |V_p| <= r_p, and U = X - A'V. For all pairs of n
points |A A'| = n, so that 1/n is a step of the accelerated projected gradient (Beck and Teboulle,
2009, https://doi.org/10.1137/080716542), which starts again where it no longer climbs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ...numerics import Array

NEAR = 10.0 ** np.arange(-12.0, 0.0)
"""Shares of the spread within which points are tried as one."""


def differences(n: int) -> Any:
    """A, (n (n - 1) / 2, n): rows e_i - e_j, i < j, in the order of ``numpy.triu_indices``."""
    i, j = np.triu_indices(n, 1)
    m = len(i)
    rows = np.concatenate([np.arange(m), np.arange(m)])
    signs = np.concatenate([np.ones(m), -np.ones(m)])
    return sparse.csr_array((signs, (rows, np.concatenate([i, j]))), shape=(m, n))


def in_balls(V: Array, radii: Array) -> Array:
    """The nearest rows with |V_p| <= r_p, a few roundings inside."""
    inside = radii * (1.0 - 8.0 * (V.shape[1] + 4) * np.finfo(float).eps)
    lengths = np.linalg.norm(V, axis=1)
    shares = np.divide(inside, lengths, out=np.ones_like(lengths), where=lengths > inside)
    return V * shares[:, None]


def fusion_steps(A: Any, X: Array, radii: Array, V: Array) -> Iterator[tuple[Array, Array]]:
    """U and a feasible V, step by step; the first is the start."""
    n = len(X)
    V = in_balls(V, radii)
    ahead, t = V, 1.0
    yield X - A.T @ V, V
    while True:
        before = V
        V = in_balls(ahead + A @ (X - A.T @ ahead) / n, radii)
        if float(np.sum((ahead - V) * (V - before))) > 0.0:
            t, ahead = 1.0, V
        else:
            faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
            ahead = V + (t - 1.0) / faster * (V - before)
            t = faster
        yield X - A.T @ V, V


def merged(U: Array, X: Array, A: Any, radii: Array) -> Array:
    """U with points that are near made one, where that lowers the objective most.

    Of points that are one the mean is taken, weighted alike.
    """
    lengths = np.linalg.norm(A @ U, axis=1)
    spread = float(np.max(np.abs(X - X.mean(axis=0)), initial=0.0))
    best, least = U, value(U, X, A, radii)
    i, j = np.triu_indices(len(U), 1)
    for share in NEAR:
        near = lengths <= share * spread
        graph = sparse.coo_array((near[near], (i[near], j[near])), shape=(len(U), len(U)))
        count, label = connected_components(graph, directed=False)
        sums = np.zeros((count, U.shape[1]))
        np.add.at(sums, label, U)
        trial = (sums / np.bincount(label)[:, None])[label]
        found = value(trial, X, A, radii)
        if found <= least:
            best, least = trial, found
    return best


def value(U: Array, X: Array, A: Any, radii: Array) -> float:
    """The objective."""
    lengths = np.linalg.norm(A @ U, axis=1)
    return 0.5 * float(np.sum((X - U) ** 2)) + float(radii @ lengths)

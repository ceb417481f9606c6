"""All decision stumps of samples, without their matrix: sums over ranks in place of products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..numerics import Array


@dataclass(frozen=True, eq=False)
class Stumps:
    """The stumps h(x) = 1 where x_j > t, else -1, and their negatives, for every feature j.

    The thresholds t are the midpoints between neighbouring distinct values of a feature, in
    increasing order: column 2 k is the k-th of all (feature by feature), column 2 k + 1 is its
    negative.

    Attributes
    ----------
    thresholds : list of array
        Of each feature, increasing.
    ranks : array of int, shape (n, d)
        How many thresholds of the feature are below the entry of a sample.
    """

    thresholds: Sequence[Array]
    ranks: Array

    @property
    def count(self) -> int:
        """How many columns H has."""
        return 2 * sum(len(t) for t in self.thresholds)

    @property
    def starts(self) -> Array:
        """Where the thresholds of each feature begin, and their number."""
        return np.concatenate([[0], np.cumsum([len(t) for t in self.thresholds])]).astype(int)

    def with_constant(self) -> Stumps:
        """The same with the constants 1 and -1 in the last two columns."""
        ones = np.ones((len(self.ranks), 1), dtype=self.ranks.dtype)
        return Stumps([*self.thresholds, np.full(1, -np.inf)], np.hstack([self.ranks, ones]))

    def of(self, X: Array) -> Stumps:
        """The same stumps on other samples."""
        columns = zip(self.thresholds, X.T, strict=True)
        ranks = [np.searchsorted(t, column, side="left") for t, column in columns]
        return Stumps(self.thresholds, np.column_stack(ranks))

    def dense(self) -> Array:
        """H, (n, m)."""
        parts = [
            np.where(rank[:, None] > np.arange(len(t)), 1.0, -1.0)
            for t, rank in zip(self.thresholds, self.ranks.T, strict=True)
        ]
        H = np.concatenate(parts, axis=1)
        return np.stack([H, -H], axis=2).reshape(len(H), -1)

    def column(self, j: int) -> Array:
        """H_j, (n,)."""
        feature = int(np.searchsorted(self.starts, j // 2, side="right")) - 1
        above = self.ranks[:, feature] > j // 2 - self.starts[feature]
        return np.where(above, 1.0, -1.0) * (1.0 - 2.0 * (j % 2))

    def place(self, feature: int, above: Array) -> int | None:
        """The column of the feature that is 1 where ``above`` is true; None where none is."""
        rank = self.ranks[:, feature]
        low, high = rank[~above].max(initial=-1), rank[above].min(initial=len(self.ranks))
        if not 0 <= low < high < len(self.ranks) or high != low + 1:
            return None
        return int(2 * (self.starts[feature] + low))

    def matvec(self, w: Array) -> Array:
        """H w, (n,)."""
        signed = w[::2] - w[1::2]
        scores, starts = np.zeros(len(self.ranks)), self.starts
        for j, rank in enumerate(self.ranks.T):
            own = signed[starts[j] : starts[j + 1]]
            if np.any(own):
                below = np.concatenate([[0.0], np.cumsum(own)])
                scores += (2.0 * below - below[-1])[rank]
        return scores

    def rmatvec(self, u: Array) -> Array:
        """H'u, (m,)."""
        parts = []
        for t, rank in zip(self.thresholds, self.ranks.T, strict=True):
            sums = np.cumsum(np.bincount(rank, u, minlength=len(t) + 1))
            parts.append(sums[-1] - 2.0 * sums[:-1])
        signed = np.concatenate(parts)
        return np.stack([signed, -signed], axis=1).ravel()

    def names(self, features: Sequence[str]) -> list[str]:
        """Each stump in words, (m,)."""
        return [
            f"{name} {sign} {t:.10g}"
            for name, of_feature in zip(features, self.thresholds, strict=True)
            for t in of_feature.tolist()
            for sign in (">", "<=")
        ]


def stumps_of(X: Array) -> Stumps:
    """The stumps of the rows of X: between neighbours a < b the threshold has a <= t < b."""
    thresholds, ranks = [], []
    for column in X.T:
        values, rank = np.unique(column, return_inverse=True)
        middle = values[:-1] + 0.5 * (values[1:] - values[:-1])
        far = 0.5 * values[:-1] + 0.5 * values[1:]  # where the difference overflows
        middle = np.where(np.isfinite(middle), middle, far)
        thresholds.append(np.where(middle < values[1:], middle, values[:-1]))
        ranks.append(rank)
    return Stumps(thresholds, np.column_stack(ranks))

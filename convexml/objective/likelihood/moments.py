"""Mean and covariance of weighted samples, and what rounding may have done to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...numerics import Array, gamma


@dataclass(frozen=True)
class Moments:
    """A covariance as computed, symmetric; the exact one is within ``noise``, entry by entry.

    Attributes
    ----------
    mean : array, shape (d,)
        The centre, rounded.
    S, noise : array, shape (d, d)
    """

    mean: Array
    S: Array
    noise: Array

    @property
    def d(self) -> int:
        """The number of features."""
        return len(self.S)


def moments(X: Array, weights: Array, centre: bool = True) -> Moments:
    """Sum_i c_i (x_i - m)(x_i - m)' with c = weights / sum(weights), m the weighted mean or 0.

    With any m, this is the same sum about m less e e', e = sum_i c_i (x_i - m): what rounding has
    done to m is taken back. Sums are taken over blocks of about sqrt(n) rows, whose roundings do
    not add up.
    """
    n, d = X.shape
    c = weights / math.fsum(weights.tolist())
    mean, e, off, R = np.zeros(d), np.zeros(d), np.zeros(d), X
    if centre:
        mean = c @ X
        mean = mean + c @ (X - mean)
        R = X - mean
        e, off = c @ R, gamma(n + 8) * (c @ np.abs(R))
    size = max(1, int(np.sqrt(n)))
    S, sizes = np.zeros((d, d)), np.zeros((d, d))
    for start in range(0, n, size):
        block, share = R[start : start + size], c[start : start + size, None]
        S += (share * block).T @ block
        sizes += (share * np.abs(block)).T @ np.abs(block)
    terms = size + -(-n // size) + 16
    S, far = S - np.outer(e, e), np.abs(e) + off
    noise = gamma(terms) * (sizes + np.outer(far, far)) + np.outer(far, off) + np.outer(off, far)
    return Moments(mean, 0.5 * (S + S.T), noise * (1.0 + gamma(terms + 8)))


def pooled(shares: Array, found: Sequence[Moments]) -> Moments:
    """Sum_k share_k S_k, about the means of the groups; its own centre is 0."""
    S, noise = np.zeros_like(found[0].S), np.zeros_like(found[0].S)
    for share, each in zip(shares, found, strict=True):
        S = S + share * each.S
        noise = noise + share * (each.noise + gamma(len(found) + 8) * np.abs(each.S))
    return Moments(np.zeros(len(S)), S, noise * (1.0 + gamma(len(found) + 8)))

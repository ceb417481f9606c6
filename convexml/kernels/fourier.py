"""Random Fourier features: a kernel of x - x' is a mean of cosines."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..numerics import Array
from ..validation import nonnegative_integer, positive_integer
from .base import Kernel
from .reading import read_samples

MOST = 2**20
"""Frequencies that are drawn."""


def fourier_features(
    kernel: Kernel, X: Any, rank: int, seed: int = 0, owner: str = "fourier_features"
) -> Array:
    """Features Z with Z Z' near K in the mean: (cos(V x), sin(V x)) / sqrt(m), V random.

    Source: Rahimi and Recht (2007), Random Features for Large-Scale Kernel Machines.

    Parameters
    ----------
    kernel : Kernel
        ``Gaussian`` or ``Laplacian``, or one of the user's with ``frequencies``.
    X : array, shape (n, d)
        Samples in rows.
    rank : int
        The number of features, >= 2: m = rank // 2 frequencies with a cosine and a sine each.
    seed : int
        Of the frequencies.
    owner : str
        Who is named in errors.

    Returns
    -------
    array, shape (n, 2 m)

    Raises
    ------
    InputError
        For a kernel without a law of frequencies, a rank below 2, NaN or infinite entries, an X
        that is no matrix or overflows.
    """
    m = positive_integer(rank, owner, "rank") // 2
    if m < 1:
        raise InputError(f"{owner}: rank must be at least 2, a cosine and a sine; got {rank}.")
    if m > MOST:
        raise InputError(f"{owner}: rank must be at most {2 * MOST}, got {rank!r}.")
    A = read_samples(kernel, X, owner)
    rng = np.random.default_rng(nonnegative_integer(seed, owner, "seed"))
    V = kernel.frequencies(rng, m, A.shape[1])
    if V is None:
        raise InputError(
            f"{owner}: kernel {kernel!r} has no law of frequencies; Gaussian and Laplacian have. "
            'Take method="nystrom", which needs none.'
        )
    with np.errstate(over="ignore", invalid="ignore"):
        phase = A @ V.T
    if not np.all(np.isfinite(phase)):
        raise InputError(f"{owner}: {kernel!r} overflows on these samples; scale X down.")
    return np.concatenate([np.cos(phase), np.sin(phase)], axis=1) / np.sqrt(m)

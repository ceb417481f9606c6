"""Symmetric matrices by their eigenvalues: parts, nearest points."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...numerics import Array

Spectra = tuple[Array, Array]


def symmetric(M: Array) -> Array:
    """(M + M') / 2."""
    return 0.5 * (M + M.T)


def positive_part(M: Array) -> Array:
    """M with its negative eigenvalues set to 0."""
    values, V = np.linalg.eigh(M)
    kept = values > 0.0
    return symmetric((V[:, kept] * values[kept]) @ V[:, kept].T)


def capped(values: Array, k: int) -> Array:
    """The nearest point to ``values`` in [0, 1]^d with sum k: clip(values - t), t by its kinks."""
    kinks = np.sort(np.concatenate([values, values - 1.0]))
    sums = np.array([np.clip(values - t, 0.0, 1.0).sum() for t in kinks])  # falls with t
    last = int(np.clip(np.searchsorted(-sums, -k, side="right") - 1, 0, len(kinks) - 2))
    drop = sums[last] - sums[last + 1]
    share = (sums[last] - k) / drop if drop > 0.0 else 0.0
    t = kinks[last] + share * (kinks[last + 1] - kinks[last])
    return np.clip(values - t, 0.0, 1.0)


def spectra_of(dual: Mapping[str, Array]) -> Spectra:
    """The eigenvalues of Z_upper and of Z_lower, the smallest first."""
    upper, lower = (np.linalg.eigvalsh(symmetric(dual[name])) for name in ("Z_upper", "Z_lower"))
    return upper, lower

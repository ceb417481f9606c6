"""The banded quadratic of a trend filter's dual."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpbsv

from ...numerics import Array


@dataclass(frozen=True, eq=False)
class BandedBox:
    """(1/2) s'Qs - b's for ``inner_points``.

    Attributes
    ----------
    bands : array, shape (k, m)
        The lower diagonals of Q, as LAPACK's ``dpbsv`` takes them.
    b : array, shape (m,)
    """

    bands: Array
    b: Array

    def slopes(self, s: Array) -> Array:
        """B - Q s."""
        total = self.bands[0] * s
        for k, band in enumerate(self.bands[1:], start=1):
            if k < s.size:
                total[k:] += band[:-k] * s[:-k]
                total[:-k] += band[:-k] * s[k:]
        return np.asarray(self.b - total)

    def step(self, weights: Array, side: Array) -> Array:
        """The t with Q t + weights * t = side."""
        matrix = self.bands.copy()
        matrix[0] += weights
        _, found, failed = dpbsv(matrix, side, lower=1)
        if failed or not np.isfinite(np.vdot(found, found)):
            raise np.linalg.LinAlgError("no longer positive definite")
        return np.asarray(found)

    def move(self, reach: float) -> None:
        """S alone moves."""

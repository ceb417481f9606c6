"""Data of the regressions by their residuals."""

from __future__ import annotations

from typing import Any

import numpy as np

import convexml as cml

RNG = np.random.default_rng(7)
N, D = 30, 6
X = RNG.normal(size=(N, D)) * [1.0, 0.5, 2.0, 1.0, 0.7, 1.0] + 0.4
Y = X @ [1.0, -2.0, 0.0, 0.5, 0.0, 0.0] + 0.5 * RNG.normal(size=N) + 3.0
S = RNG.integers(0, 4, size=N).astype(float)
WIDE = RNG.normal(size=(12, 40)) + 1.0
WHOLE = WIDE[:, 0] - 2.0 * WIDE[:, 3]


def pose(lam: float = 0.2, **keywords: Any) -> cml.SquareRootLasso:
    """The square-root lasso on these samples."""
    return cml.SquareRootLasso(X, Y, lam, **keywords)

"""Samples of which kernel models are fitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import convexml as cml
from convexml.kernels import Gaussian, Laplacian, Linear, Polynomial

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
F = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2]
REAL = F + 0.2 * RNG.normal(size=40)
BINARY = np.where(F + 0.5 * RNG.normal(size=40) > 0.0, "yes", "no")
WEIGHTS = RNG.integers(0, 4, size=40).astype(float)
NEW = RNG.normal(size=(9, 3))
KERNELS = [
    Gaussian(1.0), Laplacian(2.0), Linear(), Polynomial(2, coef0=1.0),
    0.5 * Gaussian(0.5) + Linear() * Gaussian(3.0),
]  # fmt: skip
MODELS: dict[str, Callable[..., Any]] = {
    "KernelRidge": lambda k, **kw: cml.KernelRidge(X, REAL, 0.05, k, **kw),
    "KernelLogistic": lambda k, **kw: cml.KernelLogistic(X, BINARY, 0.02, k, **kw),
    "KernelSVM": lambda k, **kw: cml.KernelSVM(X, BINARY, 1.5, k, **kw),
    "KernelSVR": lambda k, **kw: cml.KernelSVR(X, REAL, 1.5, 0.2, k, **kw),
}

"""Models, losses and penalties of which the formulas are read, with and without b and weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import convexml as cml
from convexml import kernels, losses, penalties
from convexml.losses import Loss
from convexml.penalties import Penalty

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(12, 4)) * 1024.0) / 1024.0  # X w = EXACT without rounding
REAL = RNG.normal(size=12)
EXACT = X @ np.array([1.0, -1.0, 2.0, 0.5])
BINARY = np.where(EXACT > 0.0, 1.0, -1.0)
COUNTS = RNG.integers(0, 5, size=12).astype(float)
TARGETS = np.column_stack([REAL, EXACT])
CLASSES = np.arange(12) % 3
WEIGHTS = RNG.uniform(1.0, 2.0, size=12)
GAUSSIAN = kernels.Gaussian(0.5)
Maker = Callable[..., Any]
MODELS: dict[str, Maker] = {
    "LeastSquares": lambda **k: cml.LeastSquares(X, REAL, **k),
    "MinimumNorm": lambda **k: cml.MinimumNorm(X, EXACT, **k),
    "Ridge": lambda **k: cml.Ridge(X, REAL, 0.1, **k),
    "ConstrainedRidge": lambda **k: cml.ConstrainedRidge(X, REAL, 1.0, **k),
    "Lasso": lambda **k: cml.Lasso(X, REAL, 0.1, **k),
    "ConstrainedLasso": lambda **k: cml.ConstrainedLasso(X, REAL, 1.0, **k),
    "ElasticNet": lambda **k: cml.ElasticNet(X, REAL, 0.1, 0.5, **k),
    "GroupLasso": lambda **k: cml.GroupLasso(X, REAL, 0.1, [0, 1, 0, 1], **k),
    "Slope": lambda **k: cml.Slope(X, REAL, [0.4, 0.2, 0.1, 0.0], **k),
    "HuberRegression": lambda **k: cml.HuberRegression(X, REAL, 1.0, 0.1, **k),
    "QuantileRegression": lambda **k: cml.QuantileRegression(X, REAL, 0.3, 0.1, **k),
    "PoissonRegression": lambda **k: cml.PoissonRegression(X, COUNTS, 0.1, **k),
    "LogisticRegression": lambda **k: cml.LogisticRegression(X, BINARY, 0.1, **k),
    "SoftmaxRegression": lambda **k: cml.SoftmaxRegression(X, CLASSES, 0.1, **k),
    "MultiTaskLasso": lambda **k: cml.MultiTaskLasso(X, TARGETS, 0.1, **k),
    "SoftMarginSVM": lambda **k: cml.SoftMarginSVM(X, BINARY, 2.0, **k),
    "HardMarginSVM": lambda **k: cml.HardMarginSVM(X, BINARY, **k),
    "HalfspaceLP": lambda **k: cml.HalfspaceLP(X, BINARY, **k),
    "SVR": lambda **k: cml.SVR(X, REAL, 2.0, 0.1, **k),
    "KernelRidge": lambda **k: cml.KernelRidge(X, REAL, 0.1, GAUSSIAN, **k),
    "KernelLogistic": lambda **k: cml.KernelLogistic(X, BINARY, 0.1, GAUSSIAN, **k),
    "KernelProblem": lambda **k: cml.KernelProblem(
        X, BINARY, losses.SquaredHinge(), 0.1, GAUSSIAN, **k
    ),
    "KernelSVM": lambda **k: cml.KernelSVM(X, BINARY, 2.0, GAUSSIAN, **k),
    "KernelSVR": lambda **k: cml.KernelSVR(X, REAL, 2.0, 0.1, GAUSSIAN, **k),
}
"""Every textbook model that is a loss and a penalty; LearningProblem is the grid below."""
FEATURES = np.array([0.0, 1.0, 2.0, 0.5])
LOSSES: dict[str, tuple[Loss, Any]] = {
    "absolute": (losses.Absolute(), REAL),
    "epsilon_insensitive": (losses.EpsilonInsensitive(0.1), REAL),
    "exponential": (losses.Exponential(), BINARY),
    "hard_margin": (losses.HardMargin(), BINARY),
    "hinge": (losses.Hinge(), BINARY),
    "huber": (losses.Huber(1.0), REAL),
    "interpolation": (losses.Interpolation(), REAL),
    "linex": (losses.Linex(), REAL),
    "logistic": (losses.Logistic(), BINARY),
    "pinball": (losses.Pinball(0.3), REAL),
    "poisson": (losses.Poisson(), COUNTS),
    "softmax": (losses.Softmax(), CLASSES),
    "squared": (losses.Squared(), REAL),
    "squared_epsilon_insensitive": (losses.SquaredEpsilonInsensitive(0.1), REAL),
    "squared_hinge": (losses.SquaredHinge(), BINARY),
}
PENALTIES: dict[str, Callable[[int], Penalty]] = {
    "zero": lambda d: penalties.Zero(),
    "l1": lambda d: penalties.L1(0.1),
    "l1 weights": lambda d: penalties.L1(0.1, np.resize(FEATURES, d)),
    "l2": lambda d: penalties.L2(0.1),
    "l2 of strength 0": lambda d: penalties.L2(0.0),
    "l2 weights": lambda d: penalties.L2(0.1, np.resize(FEATURES, d)),
    "elastic_net": lambda d: penalties.ElasticNet(0.1, 0.5),
    "elastic_net of l1 only": lambda d: penalties.ElasticNet(0.1, 1.0),
    "group_l2": lambda d: penalties.GroupL2(0.1, np.arange(d) % 2),
    "group_l2 weights": lambda d: penalties.GroupL2(0.1, np.arange(d) % 2, [0.0, 2.0]),
    "sorted_l1": lambda d: penalties.SortedL1(np.linspace(0.3, 0.0, d)),
    "l1_ball": lambda d: penalties.L1Ball(1.0),
    "l2_ball": lambda d: penalties.L2Ball(1.0),
    "box": lambda d: penalties.Box(-1.0, 1.0),
    "box above": lambda d: penalties.Box(-np.inf, np.resize([1.0, np.inf], d)),
    "nonnegative": lambda d: penalties.Nonnegative(),
    "nonnegative_elastic_net": lambda d: penalties.NonnegativeElasticNet(0.1, 0.5),
    "nonnegative_elastic_net of l1 only": lambda d: penalties.NonnegativeElasticNet(0.1),
}
SYMBOLS = {"lam": r"\lambda", "C": "C", "radius": "t", "tau": r"\tau", "delta": r"\delta"}
SYMBOLS |= {"epsilon": r"\varepsilon", "l1_ratio": r"\rho"}
"""How hyperparameters are written."""
DATA = [(b, s) for b in (True, False) for s in (None, WEIGHTS)]


K = 3

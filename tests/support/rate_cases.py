"""Problems on which the theorems are checked: unlike losses, penalties, scales and weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import convexml as cml
from convexml.losses import Absolute, EpsilonInsensitive, Hinge, Huber, Squared, SquaredHinge
from convexml.penalties import L1, L2, Box, L2Ball, Nonnegative
from support.model_cases import GROUPS, MODELS, samples, weights

Pose = Callable[[], Any]


def correlated(n: int = 40, d: int = 8, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Columns that nearly repeat one another: slow for every first-order method."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 1))
    X = common + 0.1 * rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + rng.normal(size=n)


def weighted() -> Any:
    """Sample weights, some of them 0."""
    X, y = samples("real")
    return cml.Ridge(X, y, 0.2, sample_weight=weights(len(y)))


def wide() -> Any:
    """More features than samples."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(15, 40))
    return cml.Lasso(X, X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=15), 0.1)


def posed(loss: Any, penalty: Any, **keywords: Any) -> Pose:
    """A LearningProblem on data that suit the loss."""
    return lambda: cml.LearningProblem(*samples(loss.labels), loss, penalty, **keywords)


RATES: dict[str, Pose] = {
    **{case.name: case.pose for case in MODELS if case.name not in ("HardMarginSVM",)},
    "ridge, no intercept": lambda: cml.Ridge(*samples("real"), 0.3, fit_intercept=False),
    "ridge, correlated": lambda: cml.Ridge(*correlated(), 1e-3),
    "ridge, weighted": weighted,
    "lasso, wide": wide,
    "logistic, no intercept": lambda: cml.LogisticRegression(*samples("binary"), 0.05,
        fit_intercept=False),
    "elastic net, no intercept": lambda: cml.ElasticNet(*samples("real"), 0.4, 0.3,
        fit_intercept=False),
    "squared hinge": posed(SquaredHinge(), L2(0.1)),
    "squared hinge in a box": posed(SquaredHinge(), Box(-0.5, 0.5)),
    "huber, l1": posed(Huber(0.5), L1(0.2)),
    "nonnegative least squares": posed(Squared(), Nonnegative()),
    "hinge in a ball": posed(Hinge(), L2Ball(0.5)),
    "absolute, l2": posed(Absolute(), L2(0.3), fit_intercept=False),
    "epsilon-insensitive, l1": posed(EpsilonInsensitive(0.3), L1(0.1)),
    "group lasso, logistic": lambda: cml.LearningProblem(*samples("binary"), cml.losses.Logistic(),
        cml.penalties.GroupL2(0.05, GROUPS)),
}  # fmt: skip


def applicable(solver: str) -> Iterator[str]:
    """Names of the problems that a solver takes."""
    for name, pose in RATES.items():
        if cml.solvers.supports(solver, pose())[0]:
            yield name


ROOM = {"LogisticRegression", "LogisticRegression-none", "HuberRegression", "squared hinge"}
ROOM |= {"LogisticRegression-l1", "lasso, wide", "squared hinge in a box", "huber, l1"}
ROOM |= {"group lasso, logistic"}
"""Not known to be strongly convex in (w, b): the rates of SGD and SAGA promise nothing."""


def axes(n: int = 24, d: int = 4) -> Any:
    """Least squares on the axes, each row of length sqrt(d): X'X/n = I, L_max = d, noise."""
    X = np.sqrt(d) * np.eye(d)[np.arange(n) % d]
    y = X @ np.ones(d) + np.random.default_rng(1).normal(size=n)
    return cml.LeastSquares(X, y, fit_intercept=False)


def audit(problem: Any, solver: str, max_iter: int = 60, **options: Any) -> Any:
    """Run for a fixed number of iterations, whatever the gap, and audit."""
    solution = problem.solve(solver, tol=1e-15, max_iter=max_iter, **options)
    return solution.rate_audit(iterations=max_iter)

"""Posed problems for the tests: every textbook model, and a grid of losses and penalties."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import convexml as cml
from convexml.losses import Loss
from convexml.numerics import Array
from convexml.penalties import Box, GroupL2, L1Ball, L2Ball, NonnegativeElasticNet, Penalty
from support.catalogue import LOSSES, PENALTIES

D = 5
GROUPS = ["a", "b", "a", "c", "b"]
TRUTH = np.array([1.5, 0.0, 0.8, 0.0, 2.0])
"""The coefficients behind the data: nonnegative, two of them 0."""


def samples(labels: str, n: int = 24, noise: float = 1.0, seed: int = 3) -> tuple[Array, Array]:
    """X (n, 5) with columns of unlike scale, and y: "real", "binary" or "count" targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) * np.array([1.0, 0.5, 2.0, 1.0, 0.7]) + 0.3
    z = X @ TRUTH - 1.0 + noise * rng.normal(size=n)
    if labels == "binary":
        return X, np.where(z + 4.0 * noise * rng.normal(size=n) > 0.0, 1.0, -1.0)
    return X, rng.poisson(np.exp(np.clip(0.4 * z, -3.0, 2.0))).astype(
        float
    ) if labels == "count" else z


def separable(n: int = 24, seed: int = 5) -> tuple[Array, Array]:
    """X and labels that a hyperplane of nonnegative normal separates, with room."""
    X, _ = samples("binary", n, seed=seed)
    z = X @ TRUTH - 1.0
    y = np.where(z > 0.0, 1.0, -1.0)
    return X + 0.2 * y[:, None] * TRUTH, y


def consistent(n: int = 3, seed: int = 7) -> tuple[Array, Array]:
    """An underdetermined system with a nonnegative solution."""
    X, _ = samples("real", n, seed=seed)
    return X, X @ TRUTH


def weights(n: int, seed: int = 11) -> Array:
    """Sample weights, a few of them 0, that do not sum to 1."""
    s = np.random.default_rng(seed).uniform(0.2, 3.0, size=n)
    s[[1, 4]] = 0.0
    return s


Make = Callable[..., Any]


@dataclass(frozen=True)
class ModelCase:
    """How to pose one textbook model: ``make(X, y, **keywords)`` on its kind of data."""

    name: str
    make: Make
    data: Callable[[], tuple[Array, Array]]
    intercepts: tuple[bool, ...] = (True, False)

    def pose(self, **keywords: Any) -> Any:
        """Pose it on the case's own data."""
        return self.make(*self.data(), **keywords)


def real() -> tuple[Array, Array]:
    """Real targets."""
    return samples("real")


def binary() -> tuple[Array, Array]:
    """Labels that no hyperplane separates."""
    return samples("binary")


def count() -> tuple[Array, Array]:
    """Counts."""
    return samples("count")


def optimal(problem: Any, *solver: str, **options: Any) -> Any:
    """The solution of a problem, which is optimal."""
    solution = problem.solve(*solver, **options)
    assert solution.status == "optimal", str(solution)
    return solution


def certified(certificate: Any) -> Any:
    """The certificate, which is one."""
    assert certificate.verdict is cml.Verdict.CERTIFIED, str(certificate)
    return certificate


def refuted(certificate: Any) -> Any:
    """The certificate, which refutes its point."""
    assert certificate.verdict is cml.Verdict.REFUTED, str(certificate)
    return certificate


def confirmed(certificate: Any, claim: str) -> Any:
    """The certificate, which confirms this claim: optimal, infeasible, unbounded, unattained."""
    assert certificate.claim == claim, str(certificate)
    return certified(certificate)


def bind(model: Any, *values: Any) -> Make:
    """The model with its hyperparameters given."""
    return lambda X, y, **keywords: model(X, y, *values, **keywords)


MODELS: tuple[ModelCase, ...] = (
    ModelCase("LeastSquares", bind(cml.LeastSquares), real),
    ModelCase("MinimumNorm", bind(cml.MinimumNorm), consistent, (False,)),
    ModelCase("Ridge", bind(cml.Ridge, 0.3), real),
    ModelCase("ConstrainedRidge", bind(cml.ConstrainedRidge, 1.2), real),
    ModelCase("Lasso", bind(cml.Lasso, 0.4), real),
    ModelCase("ConstrainedLasso", bind(cml.ConstrainedLasso, 2.0), real),
    ModelCase("ElasticNet", bind(cml.ElasticNet, 0.5, 0.6), real),
    ModelCase("GroupLasso", bind(cml.GroupLasso, 0.3, GROUPS), real),
    ModelCase("Slope", bind(cml.Slope, [0.6, 0.4, 0.3, 0.2, 0.1]), real),
    ModelCase("LogisticRegression", bind(cml.LogisticRegression, 0.05), binary),
    ModelCase("LogisticRegression-l1", bind(cml.LogisticRegression, 0.05, "l1"), binary),
    ModelCase("LogisticRegression-none", bind(cml.LogisticRegression, 0.0, None), binary),
    ModelCase("HuberRegression", bind(cml.HuberRegression, 0.6, 0.1), real),
    ModelCase("PoissonRegression", bind(cml.PoissonRegression, 0.1), count),
    ModelCase("QuantileRegression", bind(cml.QuantileRegression, 0.3, 0.1), real),
    ModelCase("HardMarginSVM", bind(cml.HardMarginSVM), separable),
    ModelCase("HalfspaceLP", bind(cml.HalfspaceLP), separable),
    ModelCase("SoftMarginSVM", bind(cml.SoftMarginSVM, 0.7), binary),
    ModelCase("SVR", bind(cml.SVR, 0.5, 0.4), real),
)
"""Every learning model of the library; tests/house/test_registry.py fails when one is missing."""


def parts() -> list[tuple[Loss, Penalty]]:
    """One loss of each class with one penalty of each class: the grid of the duality tests."""
    chosen_losses = {type(loss): loss for loss in reversed(LOSSES)}.values()
    chosen_penalties: dict[type, Penalty] = {type(p): p for p in reversed(PENALTIES)}
    chosen_penalties |= {GroupL2: GroupL2(0.3, GROUPS), L1Ball: L1Ball(6.0), L2Ball: L2Ball(4.0)}
    chosen_penalties |= {Box: Box(-1.0, 2.5)}
    # With Poisson's loss and 0.8, CLARABEL calls its answer to the textbook primal inaccurate.
    chosen_penalties |= {NonnegativeElasticNet: NonnegativeElasticNet(0.5)}
    return [(loss, chosen_penalties[kind]) for loss in chosen_losses for kind in chosen_penalties]


def pose_parts(loss: Loss, penalty: Penalty, **keywords: Any) -> Any:
    """A LearningProblem of loss + penalty on data that suit the loss."""
    if loss.is_indicator:
        X, y = separable() if loss.labels == "binary" else consistent()
    else:
        X, y = samples(loss.labels)
    return cml.LearningProblem(X, y, loss, penalty, **keywords)

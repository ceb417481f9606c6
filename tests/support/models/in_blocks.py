"""Models and data of which the same is asked in blocks of rows as in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import convexml as cml
from convexml import losses, penalties

Pose = Callable[..., Any]
GROUPS = np.arange(6) // 2
FREE = np.array([1.0, 1.0, 0.0, 1.0, 1.0, 0.0])


@dataclass(frozen=True, eq=False)
class Data:
    """X of shape (n, d), and targets of every kind."""

    X: Any
    targets: dict[str, Any]

    @classmethod
    def drawn(cls, n: int, d: int, seed: int = 14) -> Data:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d)) + rng.choice([0.0, 0.5], d)
        w = rng.standard_normal(d) * (rng.uniform(size=d) < 0.5)
        scores = (X - X.mean(axis=0)) @ w
        three = np.stack([scores, -scores, np.zeros(n)], axis=1) + rng.gumbel(size=(n, 3))
        targets = {
            "real": scores + rng.standard_t(4, n),
            "two": np.where(scores + rng.logistic(size=n) > 0.0, "yes", "no"),
            "three": np.array(["a", "b", "c"])[three.argmax(axis=1)],
            "count": rng.poisson(np.exp(np.clip(0.3 * scores, -3.0, 3.0))).astype(float),
        }
        return cls(X, targets)


@dataclass(frozen=True)
class Model:
    """How to pose a model, and the targets it takes."""

    pose: Pose
    target: str

    def of(self, data: Data, **options: Any) -> Any:
        """The problem in memory."""
        return self.pose(data.X, data.targets[self.target], **options)

    def in_blocks(self, data: Data, cuts: list[int], weights: Any = None, **options: Any) -> Any:
        """The problem in blocks, cut before these rows."""
        arrays = [data.X, data.targets[self.target], *([] if weights is None else [weights])]
        blocks = zip(*(np.split(each, cuts) for each in arrays), strict=True)
        return self.pose(cml.RowBlocks(list(blocks)), **options)


def general(loss: Any, penalty: Any) -> Pose:
    """A loss with a penalty."""

    def pose(*data: Any, **options: Any) -> Any:
        return cml.LearningProblem(*data, loss=loss, penalty=penalty, **options)

    return pose


def model(kind: Any, **hyper: Any) -> Pose:
    """A model of the textbooks."""

    def pose(*data: Any, **options: Any) -> Any:
        return kind(*data, **hyper, **options)

    return pose


NAMED = {
    "ridge": Model(model(cml.Ridge, lam=0.1), "real"),
    "lasso": Model(model(cml.Lasso, lam=0.1), "real"),
    "elastic net": Model(model(cml.ElasticNet, lam=0.1, l1_ratio=0.5), "real"),
    "logistic l2": Model(model(cml.LogisticRegression, lam=0.01), "two"),
    "logistic l1": Model(model(cml.LogisticRegression, lam=0.01, penalty="l1"), "two"),
    "softmax": Model(model(cml.SoftmaxRegression, lam=0.01), "three"),
    "Huber": Model(model(cml.HuberRegression, delta=1.0, lam=0.01), "real"),
    "Poisson": Model(model(cml.PoissonRegression, lam=0.01), "count"),
    "quantile": Model(model(cml.QuantileRegression, tau=0.3, lam=0.01), "real"),
    "SVM": Model(model(cml.SoftMarginSVM, C=0.01), "two"),
    "SVR": Model(model(cml.SVR, C=0.01, epsilon=0.2), "real"),
}
"""Those that row blocks are for, first of all."""
OTHERS = {
    "softmax l1": Model(model(cml.SoftmaxRegression, lam=0.01, penalty="l1"), "three"),
    "softmax group": Model(model(cml.SoftmaxRegression, lam=0.01, penalty="group"), "three"),
    "squared hinge l2": Model(general(losses.SquaredHinge(), penalties.L2(0.01)), "two"),
    "squared hinge l1": Model(general(losses.SquaredHinge(), penalties.L1(0.01)), "two"),
    "exponential l2": Model(general(losses.Exponential(), penalties.L2(0.1)), "two"),
    "squared group": Model(general(losses.Squared(), penalties.GroupL2(0.05, GROUPS)), "real"),
    "logistic group": Model(general(losses.Logistic(), penalties.GroupL2(0.02, GROUPS)), "two"),
    "Poisson elastic net": Model(
        general(losses.Poisson(), penalties.ElasticNet(0.05, 0.5)), "count"
    ),
    "Huber l1": Model(general(losses.Huber(1.0), penalties.L1(0.05)), "real"),
    "least squares": Model(model(cml.LeastSquares), "real"),
    "logistic": Model(model(cml.LogisticRegression, lam=0.0), "two"),
    "quantile without a penalty": Model(general(losses.Pinball(0.3), penalties.Zero()), "real"),
    "lasso with free features": Model(general(losses.Squared(), penalties.L1(0.1, FREE)), "real"),
    "nonnegative": Model(general(losses.Squared(), penalties.Nonnegative()), "real"),
    "box": Model(general(losses.Logistic(), penalties.Box(-0.2, 0.3)), "two"),
    "l1 ball": Model(model(cml.ConstrainedLasso, radius=1.0), "real"),
    "l2 ball": Model(general(losses.Huber(1.0), penalties.L2Ball(0.5)), "real"),
    "sorted l1": Model(
        general(losses.Squared(), penalties.SortedL1(np.linspace(0.2, 0.05, 6))), "real"
    ),
    "hinge l1": Model(general(losses.Hinge(), penalties.L1(0.01)), "two"),
    "quantile l1": Model(general(losses.Pinball(0.3), penalties.L1(0.01)), "real"),
}
"""More of them, of six features where there are groups."""
MODELS = {**NAMED, **OTHERS}

"""Every model and every estimator, on the samples that rows of the hard-input table spoil."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml.numerics import Array
from support.model_cases import MODELS, ModelCase, binary, bind, count, real, samples, separable
from support.sizes import by_turns


def three() -> tuple[Array, Array]:
    """Three classes that overlap."""
    X, z = samples("real")
    y = np.digitize(z, np.quantile(z, [0.3, 0.6]))
    y[::4] = (y[::4] + 1) % 3
    return X, y.astype(float)


def targets() -> tuple[Array, Array]:
    """Two targets a sample."""
    X, z = samples("real")
    return X, np.column_stack([z, 1.0 + X @ [0.5, 0.0, -1.0, 0.0, 0.0] + np.sin(7.0 * z)])


def alone() -> tuple[Array, Array]:
    """No targets; what stands for them has their length."""
    X, _ = samples("real")
    return X, np.zeros(len(X))


gaussian = cml.GaussianLikelihood
components = cml.PrincipalComponents
KERNEL = cml.kernels.Gaussian(1.5)
ROWS: tuple[ModelCase, ...] = (
    *MODELS,
    ModelCase("SoftmaxRegression", bind(cml.SoftmaxRegression, 0.05), three),
    ModelCase("SoftmaxRegression-l1", bind(cml.SoftmaxRegression, 0.02, "l1"), three),
    ModelCase("SoftmaxRegression-group", bind(cml.SoftmaxRegression, 0.05, "group"), three),
    ModelCase("KernelRidge", bind(cml.KernelRidge, 0.1, KERNEL), real),
    ModelCase("KernelLogistic", bind(cml.KernelLogistic, 0.05, KERNEL), binary),
    ModelCase("KernelProblem", bind(cml.KernelProblem, cml.losses.Huber(0.5), 0.1, KERNEL), real),
    ModelCase("KernelSVM", bind(cml.KernelSVM, 0.7, KERNEL), binary),
    ModelCase("KernelSVR", bind(cml.KernelSVR, 0.5, 0.3, KERNEL), real),
    ModelCase("MultiTaskLasso", bind(cml.MultiTaskLasso, 0.2), targets),
)
"""Every model that is posed on X and y; new ones of support/model_cases.py are found."""
ALONE: tuple[ModelCase, ...] = (
    ModelCase("GaussianLikelihood", lambda X, y, **given: gaussian(X, **given), alone),
    ModelCase("GaussianLikelihood-l1", lambda X, y, **given: gaussian(X, 0.1, **given), alone),
    ModelCase("OneClassSVM", lambda X, y, **given: cml.OneClassSVM(X, 0.3, **given), alone),
    ModelCase("OneClassSVM-kernel", lambda X, y, **given: cml.OneClassSVM(X, 0.3, KERNEL, **given),
        alone),
    ModelCase("LPBoost", bind(cml.LPBoost, 0.4), binary),
    ModelCase("NuSVC", bind(cml.NuSVC, 0.4), binary),
    ModelCase("NuSVC-kernel", bind(cml.NuSVC, 0.4, KERNEL), binary),
    ModelCase("PrincipalComponents", lambda X, y, **given: components(X, 2, **given), alone),
    ModelCase("DiscriminantAnalysis", bind(cml.DiscriminantAnalysis), three),
    ModelCase("DiscriminantAnalysis-own", bind(cml.DiscriminantAnalysis, False), three),
)  # fmt: skip
"""Models of X alone, or of matrices."""
UNWEIGHTED: tuple[ModelCase, ...] = (
    ModelCase("ConvexClustering", lambda X, y: cml.ConvexClustering(X, 0.05), alone),
    ModelCase("KMeansBound", lambda X, y: cml.KMeansBound(X, 2), alone),
)
"""Models of X alone that take no weights."""
LABELS: tuple[ModelCase, ...] = (
    ModelCase("BernoulliLikelihood", lambda X, y, **given: cml.BernoulliLikelihood(y > 0.0,
        **given), binary),
    ModelCase("CategoricalLikelihood", lambda X, y, **given: cml.CategoricalLikelihood(y, **given),
        three),
)  # fmt: skip
"""Models of labels, which have no X to spoil: their labels are in tests/truth/models."""
ELSEWHERE = (
    "AdaBoost", "LearningProblem", "LinearProgram", "MonotoneRegression", "TrendFilter",
    "NearestNeighbors", "SpanningTree",
)  # fmt: skip
"""What the models above are made of, by every loss and penalty; and what has no samples, or no
weights: tests/truth/models has their hard inputs."""
ESTIMATORS = {
    name: getattr(cml.estimators, name) for name in cml.estimators.__all__ if name[0].isupper()
}


def kind(case: ModelCase) -> str:
    """What y of a case is: "two" or "more" classes, "count", "targets", "none", "real"."""
    if case.data in (binary, separable):
        return "two"
    kinds = {count: "count", three: "more", targets: "targets", alone: "none"}
    return kinds.get(case.data, "real")


def over(cases: Any, *dear: str, turn: int | None = None) -> Any:
    """A test of each case, or of every second; these are slow."""
    slow = pytest.mark.slow
    params = [pytest.param(c, marks=[slow] if c.name in dear else [], id=c.name) for c in cases]
    params = params if turn is None else by_turns(params, turn=turn)
    return pytest.mark.parametrize("case", params)


def with_column(X: Array, j: int, column: Array) -> Array:
    """X with column j replaced."""
    changed = X.copy()
    changed[:, j] = column
    return changed


def target(name: str) -> Array:
    """A y that an estimator takes, for the samples of ``samples("real")``."""
    z = samples("real")[1]
    if name.startswith("MultiTask"):
        return np.column_stack([z, z**2])
    if name.startswith("Poisson"):
        return np.abs(np.round(z))
    classifies = name.endswith(
        ("Classifier", "SVC", "LogisticRegression", "RegressionCV", "Analysis")
    )
    return np.where(z > np.median(z), 1.0, -1.0) if classifies else z

"""Every model and every estimator, on the samples that rows of the hard-input table spoil."""

from __future__ import annotations

import numpy as np

import convexml as cml
from convexml.numerics import Array
from support.model_cases import MODELS, ModelCase, binary, bind, real, samples, separable


def three() -> tuple[Array, Array]:
    """Three classes."""
    X, z = samples("real")
    return X, np.digitize(z, np.quantile(z, [0.3, 0.6])).astype(float)


KERNEL = cml.kernels.Gaussian(1.5)
ROWS: tuple[ModelCase, ...] = (
    *MODELS,
    ModelCase("SoftmaxRegression", bind(cml.SoftmaxRegression, 0.05), three),
    ModelCase("SoftmaxRegression-l1", bind(cml.SoftmaxRegression, 0.02, "l1"), three),
    ModelCase("KernelRidge", bind(cml.KernelRidge, 0.1, KERNEL), real),
    ModelCase("KernelLogistic", bind(cml.KernelLogistic, 0.05, KERNEL), binary),
    ModelCase("KernelSVM", bind(cml.KernelSVM, 0.7, KERNEL), binary),
    ModelCase("KernelSVR", bind(cml.KernelSVR, 0.5, 0.3, KERNEL), real),
)
"""Every model that is posed on X and y; new ones of support/model_cases.py are found."""
ELSEWHERE = ("LearningProblem", "LinearProgram")
"""What the models above are made of; and rows of its own."""
ESTIMATORS = {
    name: getattr(cml.estimators, name) for name in cml.estimators.__all__ if name[0].isupper()
}


def kind(case: ModelCase) -> str:
    """What y of a case is: "real", "count" or labels of "two" or "more" classes."""
    if case.data in (binary, separable):
        return "two"
    return {three: "more"}.get(case.data, "count" if "Poisson" in case.name else "real")


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
    classifies = name.endswith(("Classifier", "SVC", "LogisticRegression", "Analysis"))
    return np.where(z > np.median(z), 1.0, -1.0) if classifies else z

"""Problems in odd units that were once "inaccurate" and are ordinary in good ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import convexml as cml
from convexml import losses, penalties


def data(unit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    y = X @ np.array([1.0, -2.0, 0.0, 0.5]) + 0.3 * rng.normal(size=30)
    return X * unit, y, np.where(y > 0.0, 1.0, -1.0)


# (X, y, labels, unit of X) -> problem; radii are 1 in the units of w.
PROBLEMS: dict[str, Callable[..., Any]] = {
    "Absolute + L2Ball": lambda X, y, c, s: cml.LearningProblem(
        X, y, losses.Absolute(), penalties.L2Ball(1.0 / s)
    ),
    "Quantile": lambda X, y, c, s: cml.QuantileRegression(X, y, 0.3, 0.05 * s),
    "MinimumNorm": lambda X, y, c, s: cml.MinimumNorm(X[:3], y[:3]),
    "Hinge + L1Ball": lambda X, y, c, s: cml.LearningProblem(
        X, c, losses.Hinge(), penalties.L1Ball(1.0 / s)
    ),
    "ConstrainedLasso": lambda X, y, c, s: cml.ConstrainedLasso(X, y, 1.0 / s),
    "ConstrainedRidge": lambda X, y, c, s: cml.ConstrainedRidge(X, y, 1.0 / s),
    "logistic, l1": lambda X, y, c, s: cml.LogisticRegression(X, c, 0.05 * s, penalty="l1"),
}


@pytest.mark.parametrize("unit", [1e-8, 1e-4, 1.0, 1e4, 1e8])
@pytest.mark.parametrize("moves", [True, False], ids=["hyperparameters move along", "they stay"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_units_of_X(name: str, moves: bool, unit: float) -> None:
    solution = PROBLEMS[name](*data(unit), unit if moves else 1.0).solve()
    assert solution.status == "optimal", solution.certificate
    if moves:
        ordinary = PROBLEMS[name](*data(1.0), 1.0).solve()
        factor = unit**-2 if name == "MinimumNorm" else 1.0
        assert solution.objective == pytest.approx(ordinary.objective * factor, rel=1e-5)


def test_a_hard_margin_at_1e9() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    labels = X[:, 0] + X[:, 1] > 0.0
    near, far = cml.HardMarginSVM(X, labels), cml.HardMarginSVM(np.round(X, 2) + 1e9, labels)
    assert near.solve().status == "optimal"
    assert far.solve().status == "optimal"


@pytest.mark.parametrize("lam", [1e-4, 1e-2, 1.0])
def test_a_polynomial_kernel_on_raw_columns(lam: float) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    rows = slice(0, 569, 6)
    problem = cml.KernelLogistic(X[rows], y[rows], lam, cml.kernels.Polynomial(2))
    solution = problem.solve()
    assert solution.status == "optimal", solution.certificate

"""Units of data, of kernels and of columns move no row of a certificate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.model_cases import samples, separable

import convexml as cml
from convexml.certificates.certificate import Certificate
from convexml.losses import Squared
from convexml.numerics import Array
from convexml.penalties import L1, L2, Zero

Pose = Callable[[Array, Array, float, float], Any]
UNITS: dict[str, tuple[str, Pose, Callable[[float, float], float]]] = {
    # What the data are, the model in units (tx, ty) of X and y, and the factor of its objective.
    "LeastSquares": ("real", lambda X, y, tx, ty: cml.LeastSquares(X, y), lambda tx, ty: ty**2),
    "Ridge": ("real", lambda X, y, tx, ty: cml.Ridge(X, y, 0.3 * tx**2), lambda tx, ty: ty**2),
    "ConstrainedRidge": (
        "real",
        lambda X, y, tx, ty: cml.ConstrainedRidge(X, y, 1.2 * ty / tx),
        lambda tx, ty: ty**2,
    ),
    "Lasso": ("real", lambda X, y, tx, ty: cml.Lasso(X, y, 0.4 * tx * ty), lambda tx, ty: ty**2),
    "ConstrainedLasso": (
        "real",
        lambda X, y, tx, ty: cml.ConstrainedLasso(X, y, 2.0 * ty / tx),
        lambda tx, ty: ty**2,
    ),
    "ElasticNet": (
        "real",
        lambda X, y, tx, ty: cml.ElasticNet(X, y, 0.5 * tx**2, 0.6),
        lambda tx, ty: ty**2,
    ),
    "GroupLasso": (
        "real",
        lambda X, y, tx, ty: cml.GroupLasso(X, y, 0.3 * tx * ty, ["a", "b", "a", "c", "b"]),
        lambda tx, ty: ty**2,
    ),
    "LogisticRegression": (
        "binary",
        lambda X, y, tx, ty: cml.LogisticRegression(X, y, 0.05 * tx**2),
        lambda tx, ty: 1.0,
    ),
    "LogisticRegression-l1": (
        "binary",
        lambda X, y, tx, ty: cml.LogisticRegression(X, y, 0.05 * tx, "l1"),
        lambda tx, ty: 1.0,
    ),
    "HuberRegression": (
        "real",
        lambda X, y, tx, ty: cml.HuberRegression(X, y, 0.6 * ty, 0.1 * tx**2),
        lambda tx, ty: ty**2,
    ),
    "PoissonRegression": (
        "count",
        lambda X, y, tx, ty: cml.PoissonRegression(X, y, 0.1 * tx**2),
        lambda tx, ty: 1.0,
    ),
    "QuantileRegression": (
        "real",
        lambda X, y, tx, ty: cml.QuantileRegression(X, y, 0.3, 0.1 * tx),
        lambda tx, ty: ty,
    ),
    "HardMarginSVM": (
        "separable",
        lambda X, y, tx, ty: cml.HardMarginSVM(X, y),
        lambda tx, ty: tx**-2,
    ),
    "SoftMarginSVM": (
        "binary",
        lambda X, y, tx, ty: cml.SoftMarginSVM(X, y, 0.7 / tx**2),
        lambda tx, ty: tx**-2,
    ),
    "SVR": (
        "real",
        lambda X, y, tx, ty: cml.SVR(X, y, 0.5 * ty / tx**2, 0.4 * ty),
        lambda tx, ty: (ty / tx) ** 2,
    ),
}


@pytest.mark.parametrize("name", UNITS)
def test_units_do_not_move_a_row(name: str) -> None:
    """The same point in other units, X 2^p and y 2^q: every relative residual is the same."""
    labels, pose, factor = UNITS[name]
    X, y = separable() if labels == "separable" else samples(labels)
    own = pose(X, y, 1.0, 1.0)
    solution = own.solve(tol=1e-10)
    rng = np.random.default_rng(1)
    w = solution.primal["w"] * (1.0 + 1e-3 * rng.normal(size=5)) + 1e-3 * rng.normal(size=5)
    b = float(solution.primal["b"]) + 1e-3
    u = solution.dual["u"] * (1.0 + 1e-3 * rng.normal(size=len(y)))
    expected = own.certify(w, b, u)
    rows = {row.name: row.relative for row in expected.conditions}
    assert max(rows.values()) > 1e-5  # a point that is wrong in a way that can be seen
    for p, q in ((20, 0), (-25, 0), (0, 18), (-17, -17), (15, 15)):
        tx, ty = 2.0**p, 2.0**q if labels == "real" else 1.0
        if name == "ElasticNet" and p != q:
            continue  # one lam for the l1 norm and the square: X and y share their unit
        twin = pose(tx * X, ty * y if labels == "real" else y, tx, ty)
        found = twin.certify(ty / tx * w, ty * b, factor(tx, ty) / ty * u)
        assert found.relative_gap == pytest.approx(expected.relative_gap, rel=1e-6)
        for row in found.conditions:
            assert row.relative == pytest.approx(rows[row.name], rel=1e-6, abs=1e-11), row.name


def test_units_of_kernels_and_of_classes() -> None:
    rng = np.random.default_rng(6)
    X, y = samples("real")
    labels, noise = np.digitize(y, np.quantile(y, [0.3, 0.6])), rng.normal(size=(24, 3))
    q, u = 0.1 * rng.normal(size=24), 0.1 * rng.normal(size=24)
    W, U = rng.normal(size=(5, 3)), 0.01 * (noise - noise.mean(axis=1, keepdims=True))

    def kernel(tx: float, ty: float) -> Certificate:
        problem = cml.KernelRidge(tx * X, ty * y, 0.3 * tx**2, cml.kernels.Linear())
        return problem.certify(ty / tx**2 * q, 0.0, ty * u)

    def softmax(tx: float, ty: float) -> Certificate:
        problem = cml.SoftmaxRegression(tx * X, labels, 0.1 * tx**2)
        return problem.certify(W / tx, np.zeros(3), U)

    for certificate in (kernel, softmax):
        own = {row.name: row.relative for row in certificate(1.0, 1.0).conditions}
        for tx, ty in ((2.0**15, 1.0), (2.0**-12, 2.0**20)):
            for row in certificate(tx, ty).conditions:
                assert row.relative == pytest.approx(own[row.name], rel=1e-6, abs=1e-11), row.name


def test_columns_have_units_of_their_own() -> None:
    """Columns times 2^k each, where the penalty has weights by column."""
    X, y = samples("real")
    rng = np.random.default_rng(2)
    units = 2.0 ** rng.integers(-20, 20, size=5)
    w, u = rng.normal(size=5), 0.1 * rng.normal(size=len(y))
    for penalty, twin in (
        (L2(0.3, np.ones(5)), L2(0.3, units**2)),
        (L1(0.3, np.ones(5)), L1(0.3, units)),
        (Zero(), Zero()),
    ):
        own = cml.LearningProblem(X, y, Squared(), penalty).certify(w, 0.3, u)
        other = cml.LearningProblem(X * units, y, Squared(), twin).certify(w / units, 0.3, u)
        for row, same in zip(own.conditions, other.conditions, strict=True):
            assert same.relative == pytest.approx(row.relative, rel=1e-9, abs=1e-12), row.name

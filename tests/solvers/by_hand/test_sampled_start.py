"""Newton from a sample of the rows: corrected by gradients of all of them, and never misled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml.design import DenseDesign, as_design
from convexml.losses import Huber, Logistic
from convexml.numerics import Array
from convexml.objective import Objective
from convexml.objective.pair import slopes_at
from convexml.penalties import L2
from convexml.solvers.second_order.newton import newton
from convexml.solvers.second_order.sampled_start import Corrections

N, D = 12_000, 6


def labelled(rng: np.random.Generator, X: Array) -> Array:
    z = (X - X.mean(axis=0)) @ rng.normal(size=X.shape[1]) / X.std(axis=0).max()
    return np.where(z + 0.5 * rng.logistic(size=len(X)) > 0.0, 1.0, -1.0)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_pair_of_products_is_made_block_by_block_and_remembered(
    order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    X = np.asarray(rng.normal(size=(40_001, 5)), order=order)
    y, w = labelled(rng, X), rng.normal(size=5)
    c = rng.random(len(y))
    objective = Objective(as_design(X), y, Logistic(), L2(1.0), c)
    z, u, pull = slopes_at(objective, w, 0.3)
    margins = y * (X @ w + 0.3)
    slopes = -c * y * np.exp(-np.logaddexp(0.0, margins))
    assert np.allclose(z, X @ w + 0.3, rtol=1e-13, atol=1e-13)
    assert np.allclose(u, slopes, rtol=1e-12, atol=0.0)
    assert np.allclose(pull, X.T @ slopes, rtol=1e-11)
    monkeypatch.setattr(DenseDesign, "matvec", None)
    assert np.array_equal(objective.predict(w, 0.3), z)


def test_corrections_are_those_of_the_full_matrix() -> None:
    """The recursion against the update of the inverse, written out."""
    rng = np.random.default_rng(2)
    factor = rng.normal(size=(5, 5))
    true = factor @ factor.T + np.eye(5)
    H = np.diag(1.0 / np.diag(true))
    steps, start = Corrections(lambda r: r / np.diag(true)), H.copy()
    for _ in range(4):
        s = rng.normal(size=5)
        y = true @ s
        assert steps.keep(s, y)
        left = np.eye(5) - np.outer(s, y) / (s @ y)
        H = left @ H @ left.T + np.outer(s, s) / (s @ y)
    g = rng.normal(size=5)
    assert np.allclose(steps.step(g), -H @ g, rtol=1e-10)
    assert not np.allclose(steps.step(g), -start @ g, rtol=1e-2)
    assert not steps.keep(np.ones(5), -np.ones(5))  # no curvature along it


def rows(kind: str, rng: np.random.Generator) -> dict[str, Any]:
    """Data on which a sample may say little, with the arguments that pose them."""
    X = rng.normal(size=(N, D))
    y = labelled(rng, X)
    given: dict[str, Any] = {"X": X, "y": y}
    if kind == "sorted":
        order = np.argsort(y, kind="stable")
        given |= {"X": X[order], "y": y[order]}
    elif kind == "scaled":
        given["X"] = X * np.logspace(-3, 3, D)
    elif kind == "far":
        given["X"] = X + 1e4
    elif kind == "duplicates":
        given["X"] = np.column_stack([X, X[:, 0]])
    elif kind == "rare":  # a column that few rows know, and so few samples
        X[:, 0] = 0.0
        X[:5, 0] = 100.0
    elif kind == "weights":
        given["sample_weight"] = np.where(rng.random(N) < 0.001, 1000.0, 0.01)
    elif kind == "no intercept":
        given["fit_intercept"] = False
    return given


@pytest.mark.parametrize(
    "kind",
    ["plain", "sorted", "scaled", "far", "duplicates", "rare", "weights", "no intercept"],
)
def test_a_sample_helps_or_is_left(kind: str) -> None:
    given = rows(kind, np.random.default_rng(3))
    problem = cml.LogisticRegression(lam=1e-4, **given)
    exact = problem.solve("newton", tol=1e-10)
    fast = problem.solve("newton", sample=N // 10, tol=1e-6)
    assert fast.status == exact.status == "optimal"
    assert fast.objective - exact.objective <= 1e-6 * exact.objective


def test_the_theorem_of_newtons_method_holds_from_a_sample_on() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(1500, 2))
    solution = cml.LogisticRegression(X, labelled(rng, X), 0.01).solve("newton", sample=300)
    audit = solution.rate_audit()
    assert audit.holds, audit.first_violation


def test_gradients_of_all_rows_are_worth_their_hessian() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(N, D))
    problem = cml.LogisticRegression(X, labelled(rng, X), 1.0 / N)
    solution = problem.solve("newton", sample=N // 10, tol=1e-6)
    assert solution.status == "optimal"
    assert solution.passes < 16  # of which the sample's own Gram matrices are half


def test_p_never_increases_from_the_sample_on() -> None:
    rng = np.random.default_rng(5)
    X = rng.standard_t(2, size=(N, D))
    y = X @ rng.normal(size=D) + rng.standard_t(1, size=N)
    objective = Objective(as_design(X), y, Huber(0.1), L2(1e-3), np.full(N, 1.0 / N))
    values = [objective.primal(p.w, p.b) for p in newton(objective, np.zeros(D), 0.0, sample=500)]
    assert len(values) > 2
    assert np.all(np.diff(values) <= 1e-12 * values[0])

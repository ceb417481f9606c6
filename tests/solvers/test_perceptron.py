"""The perceptron: its bound on real and random data, inseparable data, a separating point."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from support.sizes import each_seed

import convexml as cml
from convexml import theory
from convexml.errors import InputError
from convexml.numerics import Array
from convexml.solvers import Iterate

IRIS, SPECIES = load_iris(return_X_y=True)


def textbook(X: Array, y: Array) -> tuple[Array, int]:
    """The perceptron on rows that end in 1, as in every textbook; its theta and its updates."""
    theta, updates, clean = np.zeros(X.shape[1]), 0, False
    while not clean:
        clean = True
        for x, label in zip(X, y, strict=True):
            if label * (theta @ x) <= 0.0:
                theta, updates, clean = theta + label * x, updates + 1, False
    return theta, updates


def separated(seed: int) -> tuple[Array, Array]:
    """Random points on both sides of a random hyperplane, with a margin of random size."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(4, 40), rng.integers(1, 8)
    normal, shift = rng.normal(size=d), rng.normal()
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 3.0)
    y = np.where(X @ normal + shift > 0.0, 1.0, -1.0)
    y[0], y[1] = 1.0, -1.0
    gap = rng.uniform(0.05, 1.0) - y * (X @ normal + shift)
    return X + np.where(gap > 0.0, gap, 0.0)[:, None] * y[:, None] * normal / (normal @ normal), y


def bound(X: Array, y: Array) -> float:
    """(max|x|^2 + 1) (|w|^2 + b^2) of the hard-margin solution, by the formula."""
    best = cml.HardMarginSVM(X, y).solve("clarabel", tol=1e-9)
    w, b = best.primal["w"], float(best.primal["b"])
    return (float(np.max(np.sum(X**2, axis=1))) + 1.0) * (float(w @ w) + b**2)


@pytest.mark.parametrize("model", [cml.HardMarginSVM, cml.HalfspaceLP])
@pytest.mark.parametrize("kind", [0, 1, 2])
def test_iris_one_species_against_the_rest(model: Any, kind: int) -> None:
    y = np.where(kind == SPECIES, 1.0, -1.0)
    solution = model(IRIS, y, fit_intercept=True).solve("perceptron", max_passes=50)
    if kind == 0:
        assert np.min(y * (IRIS @ solution.primal["w"] + solution.primal["b"])) >= 1.0 - 1e-9
        assert 0 < solution.iterations <= bound(IRIS, y)
        return
    assert solution.status == "infeasible"
    alpha = solution.evidence["alpha"]
    assert np.all(alpha >= 0.0)
    assert np.abs((alpha * y) @ np.column_stack([IRIS, np.ones(len(y))])).max() < 1e-8
    assert solution.passes <= 51.0


def test_two_species_of_iris_and_the_audit() -> None:
    for first, second in ((0, 1), (0, 2)):
        kept = (first == SPECIES) | (second == SPECIES)
        found = cml.HardMarginSVM(IRIS[kept], SPECIES[kept]).solve("perceptron").rate_audit()
        assert found.holds, str(found)


@each_seed(range(100))
def test_updates_on_random_separable_sets(seed: int) -> None:
    X, y = separated(seed)
    solution = cml.HalfspaceLP(X, y, fit_intercept=True).solve("perceptron")
    assert solution.status == "optimal"
    theta, updates = textbook(np.column_stack([X, np.ones(len(y))]), y)
    assert solution.iterations == updates
    found = np.append(solution.primal["w"], solution.primal["b"])
    np.testing.assert_allclose(found / np.linalg.norm(found), theta / np.linalg.norm(theta))
    assert updates <= bound(X, y)


def test_the_bound_is_met_with_equality_on_the_axes() -> None:
    n = 6
    y = np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
    problem = cml.HardMarginSVM(np.eye(n), y, fit_intercept=False)
    solution = problem.solve("perceptron")
    found = solution.rate_audit()
    assert solution.iterations == n
    assert found.holds
    assert found.slack == pytest.approx(1.0, rel=1e-6)
    assert solution.status == "optimal"  # by luck: on the axes the sum of y_i x_i is the best w
    assert theory.perceptron_updates(radius=1.0, w=y) == n


def eager(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
    """Update wherever y theta'x <= 1: a perceptron that asks for a margin."""
    X, y = objective.design.constant, objective.y
    theta, updates = np.zeros(objective.d), 0
    yield Iterate(theta, 0.0, None, 0.0, {"updates": 0.0})
    while np.any(y * (X @ theta) <= 1.0):
        i = int(np.argmax(y * (X @ theta) <= 1.0))
        theta, updates = theta + y[i] * X[i], updates + 1
        yield Iterate(theta, 0.0, None, 0.0, {"updates": float(updates)})


@pytest.fixture
def planted() -> Iterator[Callable[..., str]]:
    cml.solvers.register("planted", eager, theorem=theory.PerceptronBound())
    yield "planted"
    cml.solvers.unregister("planted")


def test_a_perceptron_that_updates_too_often_fails(planted: str) -> None:
    problem = cml.HardMarginSVM(np.eye(4), [1.0, -1.0, 1.0, -1.0], fit_intercept=False)
    found = problem.solve(planted).rate_audit()
    assert found.holds is False
    assert found.first_violation.startswith("iteration 2: an update adds")
    assert found.claims[1].iterations[found.claims[1].violations[0]] == 5


def test_a_wrong_radius_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = cml.HardMarginSVM(3.0 * np.eye(4), [1.0, -1.0, 1.0, -1.0], fit_intercept=False)
    solution = problem.solve("perceptron")
    assert solution.rate_audit().holds
    monkeypatch.setattr("convexml.theory.stochastic.perceptron.radius", lambda objective: 2.0)
    assert solution.rate_audit().holds is False


def test_without_an_intercept_none_is_learnt() -> None:
    X, y = np.array([[1.0, 2.0], [-1.0, 0.5], [0.5, 3.0]]), np.array([1.0, -1.0, 1.0])
    solution = cml.HalfspaceLP(X, y).solve("perceptron")
    assert solution.status == "optimal"
    assert solution.primal.get("b", 0.0) == 0.0
    assert np.min(y * (X @ solution.primal["w"])) >= 1.0 - 1e-12


def test_sparse_and_dense_make_the_same_updates() -> None:
    X, y = separated(3)
    dense = cml.HalfspaceLP(X, y, fit_intercept=True).solve("perceptron")
    thin = cml.HalfspaceLP(sparse.csr_array(X), y, fit_intercept=True).solve("perceptron")
    assert dense.iterations == thin.iterations
    np.testing.assert_allclose(dense.primal["w"], thin.primal["w"], rtol=1e-12)


def test_inseparable_data_end_at_the_pass_limit() -> None:
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, -1.0, 1.0, -1.0])
    solution = cml.HalfspaceLP(X, y, fit_intercept=True).solve("perceptron", max_passes=7)
    assert solution.status == "infeasible"
    assert solution.passes <= 8.0


def test_what_the_perceptron_refuses() -> None:
    problem = cml.HalfspaceLP(np.eye(2), [1.0, -1.0])
    with pytest.raises(InputError, match="perceptron: it starts from 0"):
        problem.solve("perceptron", w0=np.ones(2))
    with pytest.raises(InputError, match=r"perceptron: max_passes must be a whole number"):
        problem.solve("perceptron", max_passes=1.5)
    fits, why = cml.solvers.supports("perceptron", cml.Ridge(np.eye(2), [1.0, 2.0], 1.0))
    assert not fits
    assert "does not ask for a separating hyperplane" in why

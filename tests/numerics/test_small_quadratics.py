"""Small quadratics plus weighted absolute values, their paths in lam, and pairs of coordinates."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml import losses, penalties
from convexml.numerics import Array
from convexml.solvers.coordinate import support as support_newton
from convexml.solvers.coordinate.dual_coordinate_descent import ascend_pairs
from convexml.solvers.coordinate.path import Homotopy
from convexml.solvers.coordinate.support import SupportFactor, settle

SIZE = 4


def drawn(seed: int) -> tuple[Array, float, Array, Array, Array]:
    """(G, mu, slope, start, level), one coordinate in five without a level."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(6, SIZE))
    level = np.where(rng.random(SIZE) < 0.2, 0.0, 2.0 * rng.random(SIZE))
    start = rng.normal(size=SIZE) * (rng.random(SIZE) < 0.5)
    return A.T @ A, float(rng.choice([0.0, 0.3])), 3.0 * rng.normal(size=SIZE), start, level


def value(x: Array, G: Array, mu: float, slope: Array, start: Array, level: Array) -> float:
    step = x - start
    return float(slope @ step + 0.5 * step @ (G @ step + mu * step) + level @ np.abs(x))


def least(G: Array, mu: float, slope: Array, start: Array, level: Array) -> float:
    """The least value over the minimisers on all supports with all signs."""
    H, values = G + mu * np.eye(SIZE), []
    for signs in product((-1.0, 0.0, 1.0), repeat=SIZE):
        s = np.array(signs)
        on, x = s != 0.0, np.zeros(SIZE)
        right = H @ start - slope - level * s
        x[on] = np.linalg.solve(H[np.ix_(on, on)], right[on])
        values.append(value(x, G, mu, slope, start, level))
    return min(values)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_no_support_and_no_signs_are_better(
    seed: int, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(support_newton.settle, "pays", lambda *_: compiled)
    G, mu, slope, start, level = drawn(seed)
    tol = np.full(SIZE, 1e-11)
    x = support_newton.minimise(G, mu, slope, start, level, tol, SupportFactor())
    best = least(G, mu, slope, start, level)
    assert abs(value(x, G, mu, slope, start, level) - best) <= 1e-12 * (1.0 + abs(best))


def test_what_is_singular_is_left_to_others() -> None:
    """Of two equal columns without a level any sum will do: the other way finds one."""
    a = np.array([1.0, 2.0, -1.0])
    A = np.column_stack([a, a, [0.0, 1.0, 1.0]])
    G, slope, level = A.T @ A, A.T @ np.array([1.0, -2.0, 3.0]), np.array([0.0, 0.0, 0.1])
    zero, tol = np.zeros(3), np.full(3, 1e-9)
    assert not settle(G, 0.0, slope, zero, level, np.full(3, 1e-300), zero.copy())
    x = support_newton.minimise(G, 0.0, slope, zero, level, tol, SupportFactor())
    g = slope + G @ x
    assert np.all(np.abs(g[:2]) <= 1e-8)


def test_a_model_whose_matrix_is_singular_is_minimised() -> None:
    rng = np.random.default_rng(2)
    A = rng.normal(size=(5, 12))
    A[:, 6:] = A[:, :6]  # each column twice
    gram, target, level = A.T @ A, A.T @ rng.normal(size=5), np.full(12, 0.01)
    tol, factor = np.full(12, 1e-11), SupportFactor()
    x = support_newton.minimise(gram, 0.0, -target, np.zeros(12), level, tol, factor)
    g = gram @ x - target
    assert np.all(np.abs(g) <= level + 1e-10)
    assert np.abs(g @ x + level @ np.abs(x)) <= 1e-10


def test_the_partner_in_a_pair_is_the_one_that_promises_most() -> None:
    # slopes 0.3, -0.2, -0.3: the steepest pair (0, 2) gains 0.36 / 101, the pair (0, 1) 0.25 / 2
    u, g = np.zeros(3), np.array([0.3, -0.2, -0.3])
    ascend_pairs(np.diag([1.0, 1.0, 100.0]), g, u, -np.ones(3), np.ones(3), 0.0, 1, 0.0)
    assert np.allclose(u, [-0.25, 0.25, 0.0])
    assert np.allclose(g, [0.05, 0.05, -0.3])


N, D = 30, 150


def rows(kind: str) -> tuple[Array, Array]:
    rng = np.random.default_rng(11)
    X = rng.normal(size=(N, D))
    if kind == "repeated columns":
        X = X[:, np.arange(D) // 2] * np.where(np.arange(D) % 3 == 0, -1.0, 1.0)
    elif kind == "few directions":
        X = X[:, :12] @ rng.normal(size=(12, D))
    elif kind == "repeated rows":
        X = X[np.arange(N) // 2]
    return X, X[:, :5] @ rng.normal(size=5) + rng.normal(size=N)


def violation(problem: Any, w: Array, b: float) -> float:
    """The largest distance of the slopes from the subdifferential, as a share of lam."""
    parts = problem.objective_parts
    X, c = parts.design.dense(), parts.c
    slope = X.T @ (c * (X @ w + b - parts.y)) + parts.penalty.strong_convexity * w
    level = parts.penalty.zero_blocks(w.size)[1]
    apart = np.where(w != 0.0, np.abs(slope + level * np.sign(w)), np.abs(slope) - level)
    return float(np.max(apart / level))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("share", [1.0, 0.9])
@pytest.mark.parametrize("kind", ["normal", "repeated columns", "few directions", "repeated rows"])
def test_the_minimum_is_followed(kind: str, share: float, weighted: bool, intercept: bool) -> None:
    X, y = rows(kind)
    weights = np.where(np.arange(N) % 3 == 0, 0.0, 1.0 + np.arange(N) / N) if weighted else None
    made = {"fit_intercept": intercept, "sample_weight": weights}

    def posed(lam: float) -> Any:
        return cml.LearningProblem(X, y, losses.Squared(), penalties.ElasticNet(lam, share), **made)

    top = posed(1.0).lam_max
    start = posed(0.2 * top).solve("working_set", tol=1e-12)
    problem = posed(1e-4 * top)
    parts, w = problem.objective_parts, start.primal["w"]
    level = parts.penalty.zero_blocks(D)[1]
    z = parts.predict(w, float(start.primal["b"]))
    slope = parts.design.rmatvec(parts.loss_derivative(z)) + parts.penalty.strong_convexity * w
    found = Homotopy(parts, parts.loss_curvature(z), slope, w, level, 2000.0).follow()
    assert found is not None
    assert violation(problem, found, parts.best_intercept(parts.predict(found))) < 1e-6
    assert violation(problem, w, float(start.primal["b"])) > 1.0


def test_dependent_columns_at_the_start_are_traded() -> None:
    """Half of a coefficient each on two equal columns: one of them takes it all."""
    X, y = rows("repeated columns")
    lam = 0.2 * cml.Lasso(X, y, lam=1.0).lam_max
    w = cml.Lasso(X, y, lam=lam).solve("working_set", tol=1e-12).primal["w"]
    signs = np.where(np.arange(D) % 3 == 0, -1.0, 1.0)
    shared = signs * np.repeat((signs * w).reshape(-1, 2).sum(axis=1) / 2.0, 2)
    assert np.allclose(X @ shared, X @ w)
    problem = cml.Lasso(X, y, lam=1e-3 * lam)
    parts = problem.objective_parts
    z = parts.predict(shared) + parts.best_intercept(parts.predict(shared))
    slope, level = X.T @ parts.loss_derivative(z), np.full(D, 1e-3 * lam)
    found = Homotopy(parts, parts.loss_curvature(z), slope, shared, level, 1e3).follow()
    assert found is not None
    assert violation(problem, found, parts.best_intercept(X @ found)) < 1e-6
    assert np.linalg.matrix_rank(X[:, found != 0.0]) == np.count_nonzero(found)

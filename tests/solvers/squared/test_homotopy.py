"""The homotopy against the conditions of optimality, computed from X itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml import losses, penalties
from convexml.numerics import Array
from convexml.solvers.coordinate import working_set
from convexml.solvers.coordinate.following.homotopy import Homotopy
from convexml.solvers.coordinate.support_factor import SupportInverse

N, D = 30, 150


def samples(kind: str) -> tuple[Array, Array]:
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
    X, y = samples(kind)
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
    X, y = samples("repeated columns")
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


def test_small_lam_of_many_columns_is_reached_by_few_systems(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Descent and Newton steps took 82 of them."""
    from convexml.solvers.coordinate import support_factor

    calls = []
    solve = support_factor.SupportFactor.solve

    def counted(*given: Any) -> Any:
        calls.append(1)
        return solve(*given)

    monkeypatch.setattr(support_factor.SupportFactor, "solve", counted)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 800))
    y = X[:, :20] @ rng.normal(size=20) + rng.normal(size=200)
    problem = cml.Lasso(X, y, lam=1.0)
    problem.lam = 1e-4 * problem.lam_max
    solution = problem.solve("working_set", tol=1e-9)
    assert solution.status == "optimal"
    assert violation(problem, solution.primal["w"], float(solution.primal["b"])) < 1e-6
    assert len(calls) <= 20


def test_where_it_cannot_be_followed_the_search_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Homotopy, "follow", lambda self: None)
    monkeypatch.setattr(working_set, "CROWDED", 0.0)
    X, y = samples("normal")
    problem = cml.Lasso(X, y, lam=1.0)
    problem.lam = 1e-3 * problem.lam_max
    assert problem.solve("working_set", tol=1e-9).status == "optimal"


def test_the_inverse_of_a_support_that_changes() -> None:
    rng = np.random.default_rng(2)
    half = rng.normal(size=(6, 4))
    half = np.vstack([half[:4], half[0] + half[1], half[5:]])
    inverse = SupportInverse(8)
    order = inverse.start(half @ half.T, 1e-10)
    assert inverse.size == 4
    kept = [int(j) for j in order[:4]]
    assert np.allclose(inverse.array @ (half @ half.T)[np.ix_(kept, kept)], np.eye(4))
    inverse.remove(1)
    kept[1] = kept.pop()
    assert np.allclose(inverse.array, np.linalg.inv((half @ half.T)[np.ix_(kept, kept)]))
    new = next(j for j in range(6) if j not in kept)
    weights = np.linalg.lstsq(half[kept].T, half[new], rcond=None)[0]
    inverse.add(weights, float(np.sum((half[new] - weights @ half[kept]) ** 2)))
    kept.append(new)
    assert np.allclose(inverse.array @ (half @ half.T)[np.ix_(kept, kept)], np.eye(4))


def test_columns_of_a_tall_matrix_join_together_where_lam_is_small() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 200))
    y = X @ rng.normal(size=200) + rng.normal(size=600)
    problem = cml.Lasso(X, y, lam=1.0)
    problem.lam = 1e-5 * problem.lam_max
    solution = problem.solve("working_set", tol=1e-9)
    assert solution.status == "optimal"
    assert violation(problem, solution.primal["w"], float(solution.primal["b"])) < 1e-6
    assert solution.trace[-1].passes <= 20.0

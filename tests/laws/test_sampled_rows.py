"""Solvers that begin on a sample of the rows: corrected by slopes of all, and never misled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import convexml as cml

N, D, SAMPLE = 13_000, 8, 800
TRUTH = np.array([2.0, -1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.1])


def rows(kind: str, rng: np.random.Generator) -> dict[str, Any]:
    """Data on which a sample may say little, with the arguments that pose them."""
    X = rng.normal(size=(N, D))
    y = X @ TRUTH + rng.normal(size=N)
    given: dict[str, Any] = {"X": X, "y": y}
    if kind == "sorted":
        order = np.argsort(y)
        given |= {"X": np.asfortranarray(X[order]), "y": y[order]}
    elif kind == "scaled":
        given["X"] = X * np.logspace(-3, 3, D)
    elif kind == "tiny":
        given["X"] = 1e-30 * X  # squares that single precision does not know
    elif kind == "far":  # of which seven digits say nothing about the centre
        given["X"] = X + 1e6 * rng.normal(size=D)
    elif kind == "heavy":
        given["X"] = np.asfortranarray(rng.standard_cauchy(size=(N, D)))
    elif kind == "duplicates":
        given["X"] = np.column_stack([X, X[:, 0]])
    elif kind == "rare":  # a column that few rows know, and so few samples
        X[:, 0] = 0.0
        X[:5, 0] = 100.0
    elif kind == "weights":
        given["sample_weight"] = np.where(rng.random(N) < 0.01, 100.0, 0.01)
    elif kind == "no intercept":
        given["fit_intercept"] = False
    return given


KINDS = [*"plain sorted scaled tiny far heavy duplicates rare weights".split(), "no intercept"]


def problems(given: dict[str, Any]) -> list[tuple[Any, str]]:
    """Models on these data, and what solves them."""
    spread = float(np.median(given["X"].std(axis=0)))
    lam, groups = 0.03 * spread, np.arange(given["X"].shape[1]) // 2
    sides = np.where(given["y"] > np.median(given["y"]) + 0.3, 1.0, -1.0)
    return [
        (cml.Ridge(lam=1e-2 * spread**2, **given), "normal_equations"),
        (cml.Lasso(lam=lam, **given), "coordinate_descent"),
        (cml.ElasticNet(lam=lam, l1_ratio=0.5, **given), "coordinate_descent"),
        (cml.GroupLasso(lam=lam, groups=groups, **given), "coordinate_descent"),
        (cml.LogisticRegression(**(given | {"y": sides}), lam=1e-4 * spread**2), "newton"),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_helps_or_is_left(kind: str) -> None:
    posed = problems(rows(kind, np.random.default_rng(3)))
    some = posed if kind == "plain" else [posed[k] for k in (0, 1 + KINDS.index(kind) % 3, 4)]
    for problem, solver in some:
        exact = problem.solve(solver, tol=1e-9)
        fast = problem.solve(solver, sample=SAMPLE)
        assert fast.status == exact.status == "optimal"
        assert fast.objective - exact.objective <= 1e-6 * exact.objective
        if kind == "plain":
            again = problem.solve(solver, sample=SAMPLE)
            assert np.array_equal(fast.primal["w"], again.primal["w"])


def test_a_sample_that_misleads_is_not_followed() -> None:
    """A start that is better than what a sample says is kept: P never rises."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    problem = cml.LogisticRegression(X, X[:, 0] + rng.logistic(size=400) > 0.0, 1e-4)
    best = problem.solve(tol=1e-12)
    near = problem.solve("newton", sample=8, w0=best.primal["w"], tol=1e-14)
    values = [record.objective for record in near.trace]
    assert max(values) <= values[0] * (1.0 + 1e-12)

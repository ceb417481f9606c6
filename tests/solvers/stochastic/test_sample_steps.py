"""Steps of SGD, Pegasos and SAGA: each is the textbook's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.model_cases import parts, samples
from support.solvers.stochastic import posing, start

import convexml as cml
from convexml.losses import Loss
from convexml.penalties import L2
from convexml.solvers.stochastic.sample_steps import (
    decay,
    penalty_value,
    predict,
    project,
    shrink,
    slope,
)
from convexml.solvers.stochastic.samples import samples as sample_rows


@pytest.mark.parametrize(
    ("loss", "penalty"), [pair for pair in parts() if not pair[0].is_indicator], ids=repr
)
def test_the_compiled_parts_are_those_of_the_loss_and_the_penalty(loss: Loss, penalty: Any) -> None:
    problem = cml.LearningProblem(*samples(loss.labels), loss, penalty)
    objective = problem.objective_parts
    S, rng = sample_rows(objective), np.random.default_rng(1)
    x = rng.normal(size=objective.d + 1)
    z = objective.predict(x[:-1], x[-1])
    u = objective.n * objective.loss_derivative(z)
    for i in range(objective.n):
        assert predict(S, i, x) == pytest.approx(z[i], rel=1e-12, abs=1e-14)
        assert slope(S, i, float(z[i])) == pytest.approx(u[i], rel=1e-12, abs=1e-14)
    w = x[:-1]
    for move, expected in (
        (lambda y: shrink(S, y, 0.3), penalty.prox(w, 0.3)),
        (lambda y: project(S, y), penalty.project(w)),
    ):
        moved = x.copy()
        move(moved)
        np.testing.assert_allclose(moved, np.append(expected, x[-1]), rtol=1e-12, atol=1e-14)
    assert penalty_value(S, x) == pytest.approx(penalty.value(w), rel=1e-12)
    if penalty.is_smooth:
        moved = x.copy()
        decay(S, moved, 0.3)
        np.testing.assert_allclose(moved[:-1], w - 0.3 * penalty.gradient(w), rtol=1e-12)


def test_kinks_have_the_subgradient_of_least_magnitude() -> None:
    for loss in (cml.losses.Hinge(), cml.losses.Absolute(), cml.losses.Pinball(0.3)):
        problem = cml.LearningProblem(np.eye(2), [1.0, -1.0], loss, L2(1.0), fit_intercept=False)
        S = sample_rows(problem.objective_parts)
        assert [slope(S, i, y) for i, y in enumerate(S.y)] == [0.0, 0.0]


def test_three_steps_of_sgd_by_hand() -> None:
    X, y = samples("real")
    problem = cml.Ridge(X, y, 0.3)
    run = start("sgd", problem, step=0.01, batch=2, every=1)
    rng, w, b = np.random.default_rng(0), np.zeros(X.shape[1]), 0.0
    for _ in range(4):
        found = next(run)
        np.testing.assert_allclose(np.append(found.w, found.b), np.append(w, b), rtol=1e-12)
        i = rng.integers(len(y), size=(1, 2))[0]
        r = X[i] @ w + b - y[i]
        w, b = w - 0.01 * (X[i].T @ r / 2.0 + 0.3 * w), b - 0.01 * r.mean()
    assert (found.facts["steps"], found.facts["batch"]) == (3.0, 2.0)


def test_the_average_is_that_of_all_points() -> None:
    problem = posing("sgd")
    single = [next(run) for run in [start("sgd", problem, every=1)] for _ in range(6)]
    run = start("sgd", problem, every=1, average=True)
    averages = [next(run) for _ in range(6)]
    for k, found in enumerate(averages, 1):
        np.testing.assert_allclose(found.w, np.mean([p.w for p in single[:k]], axis=0), atol=1e-14)


def test_pegasos_by_hand() -> None:
    X, y = samples("binary")
    lam, rng = 0.1, np.random.default_rng(0)
    run = start("pegasos", posing("pegasos"))
    points = [np.zeros(X.shape[1])]
    assert next(run).facts["steps"] == 1
    for t, i in enumerate(rng.integers(len(y), size=(len(y), 1))[:, 0], 1):
        w = points[-1]
        pull = y[i] * X[i] if y[i] * (X[i] @ w) < 1.0 else 0.0
        points.append((1.0 - 1.0 / t) * w + pull / (lam * t))
    np.testing.assert_allclose(next(run).w, np.mean(points, axis=0), rtol=1e-9, atol=1e-12)


def test_pegasos_forgets_a_start_that_is_too_far() -> None:
    problem = posing("pegasos")
    far = problem.solve("pegasos", w0=1e6 * np.ones(problem.objective_parts.d), max_iter=40)
    near = problem.solve("pegasos", max_iter=40)
    assert far.objective <= near.objective * 1.5

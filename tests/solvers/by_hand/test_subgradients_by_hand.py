"""The first iterates of subgradients, online descent and the perceptron, against plain NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise

import numpy as np
import pytest
from support.solvers.by_hand import (
    COUNT,
    LAM,
    MASK,
    A,
    D,
    N,
    S,
    X,
    Y,
    agree,
    hinge_slopes,
    iterates,
)

import convexml as cml
from convexml import losses, penalties
from convexml.numerics import Array
from convexml.solvers.registry import ALGORITHMS

# -- subgradients ----------------------------------------------------------------------------------


def test_the_subgradient_method_projects_on_the_ball_and_averages() -> None:
    radius, eta = 0.3, 0.11
    problem = cml.LearningProblem(X, S, losses.Hinge(), penalties.L2Ball(radius))

    def expected() -> Iterator[Array]:
        x, points = np.zeros(D + 1), []
        while True:
            points.append(x)
            yield np.mean(points, axis=0)
            x = x - eta * A.T @ hinge_slopes(x, A, S) / N
            x = np.append(x[:D] * min(1.0, radius / np.linalg.norm(x[:D])), x[D])

    found = iterates(problem, "subgradient", step=eta)
    agree(found, expected())
    last = COUNT * found[-1].w - (COUNT - 1) * found[-2].w
    assert np.linalg.norm(last) == pytest.approx(radius)  # the projection was needed


def test_the_subgradient_method_stays_in_the_ball_of_a_strongly_convex_penalty() -> None:
    C, start = 0.5, np.array([0.1, 0.0, -0.2, 0.3])
    eta = 0.9
    problem = cml.SoftMarginSVM(X, S, C)
    x0 = np.append(start, 0.0)
    value = 0.5 * start @ start + C * np.sum(np.maximum(1.0 - S * (A @ x0), 0.0))
    ball = np.sqrt(2.0 * value)

    def expected() -> Iterator[Array]:
        x, points = x0, []
        while True:
            points.append(x)
            yield np.mean(points, axis=0)
            x = x - eta * (C * A.T @ hinge_slopes(x, A, S) + MASK * x)
            norm = np.linalg.norm(x[:D])
            x = np.append(x[:D] * (ball / norm), x[D]) if norm > ball else x

    found = iterates(problem, "subgradient", start, step=eta)
    agree(found, expected())
    assert found[0].facts["ball"] == pytest.approx(ball)
    recovered = [(k + 1) * b.w - k * a.w for k, (a, b) in enumerate(pairwise(found), 1)]
    assert max(map(np.linalg.norm, recovered)) == pytest.approx(ball)


def test_the_default_step_of_the_subgradient_method() -> None:
    problem = cml.LearningProblem(X, S, losses.Hinge(), penalties.L2Ball(0.5), fit_intercept=False)
    (first, *_) = iterates(problem, "subgradient", horizon=400)
    one_by_one = np.mean(np.linalg.norm(X, axis=1))
    together = np.sqrt(np.linalg.eigvalsh(X.T @ X / N)[-1])
    P0 = 1.0
    rho = min(one_by_one, together)
    assert first.facts["step"] == pytest.approx(P0 / rho / (rho * 20.0))


@pytest.mark.parametrize("ball", [0.25, 3.0])
def test_online_gradient_descent(ball: float) -> None:
    C, eta = 0.4, 0.05
    problem = cml.SoftMarginSVM(X, S, C)

    def expected() -> Iterator[Array]:
        x, points = np.zeros(D + 1), [np.zeros(D + 1)]
        yield x
        while True:
            for i in range(N):
                v = N * C * hinge_slopes(x, A[i : i + 1], S[i : i + 1])[0] * A[i] + MASK * x
                x = x - eta * v
                norm = np.linalg.norm(x[:D])
                x = np.append(x[:D] * min(1.0, ball / norm), x[D])
                points.append(x)
            yield np.mean(points, axis=0)

    agree(iterates(problem, "online_gradient_descent", step=eta, ball=ball), expected())


@pytest.mark.parametrize("ball", [0.8, 30.0])
def test_online_gradient_descent_of_a_loss_of_unbounded_slope(ball: float) -> None:
    eta = 0.02

    def expected() -> Iterator[Array]:
        x, points = np.zeros(D + 1), [np.zeros(D + 1)]
        yield x
        while True:
            for i in range(N):
                x = x - eta * ((A[i] @ x - Y[i]) * A[i] + LAM * MASK * x)
                x = x * min(1.0, ball / np.linalg.norm(x))  # b included
                points.append(x)
            yield np.mean(points, axis=0)

    found = iterates(cml.Ridge(X, Y, LAM), "online_gradient_descent", step=eta, ball=ball)
    agree(found, expected())


# -- second order ----------------------------------------------------------------------------------


def test_perceptron() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(30, 3))
    labels = np.where(rows @ np.array([1.0, -1.0, 0.4]) + 0.1 > 0.0, 1.0, -1.0)
    wide = np.column_stack([rows, np.ones(30)])

    def expected() -> Iterator[Array]:
        x, i = np.zeros(4), 0
        yield x
        while True:
            while labels[i % 30] * (wide[i % 30] @ x) > 0.0:
                i += 1
            x = x + labels[i % 30] * wide[i % 30]
            i += 1
            margin = np.min(labels * (wide @ x))
            yield x / margin if margin > 0.0 else x

    problem = cml.HalfspaceLP(rows, labels, fit_intercept=True)
    run = ALGORITHMS["perceptron"].start(problem.objective_parts, np.zeros(3), 0.0, 0, {})
    found = list(run)
    agree(found[:COUNT], expected(), least=6)
    everything = list(islice(expected(), len(found)))
    assert np.allclose(np.append(found[-1].w, found[-1].b), everything[-1])

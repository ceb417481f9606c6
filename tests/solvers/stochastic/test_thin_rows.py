"""Stochastic steps in the nonzeros of a row: the points of the steps that move all of w."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import convexml as cml
from convexml import losses
from convexml.numerics import Array
from convexml.penalties import L1, L2, Box, ElasticNet, L2Ball, Nonnegative, Zero
from convexml.solvers import steps
from convexml.solvers.registry import ALGORITHMS
from convexml.solvers.stochastic.lazy_steps import is_scalable, is_sinkable, is_thin
from convexml.solvers.stochastic.samples import samples as sample_rows

N, D, ROUNDS = 30, 90, 4
RNG = np.random.default_rng(11)
X = np.where(RNG.uniform(size=(N, D)) < 0.05, RNG.normal(size=(N, D)), 0.0)
Y = RNG.normal(size=N)
S = np.sign(Y)
WEIGHTS = RNG.uniform(0.5, 2.0, size=N)
START = RNG.normal(size=D)
UNEVEN = RNG.uniform(0.0, 2.0, size=D)


def pose(loss: Any, penalty: Any, **options: Any) -> Any:
    rows = sparse.csr_array(X)
    y = S if loss.labels == "binary" else Y
    return cml.LearningProblem(rows, y, loss, penalty, **options)


def compare(problem: Any, solver: str, expected: Iterator[Array], **options: Any) -> None:
    """The first rounds of the solver, from a start that is not 0, against ``expected``."""
    b = 0.4 if problem.objective_parts.fit_intercept else 0.0
    run = ALGORITHMS[solver].start(problem.objective_parts, START.copy(), b, 5, options)
    for k, (found, x) in enumerate(zip(islice(run, ROUNDS), expected, strict=False)):
        np.testing.assert_allclose(
            np.append(found.w, found.b), x, rtol=1e-9, atol=1e-11, err_msg=str(k)
        )


def slopes(problem: Any) -> Callable[[int, Array], float]:
    """(i, x) -> n c_i l'(y_i, x_i.w + b), by the formulas of the squared loss and the hinge."""
    parts = problem.objective_parts
    scale = N * parts.c

    def slope(i: int, x: Array) -> float:
        z = X[i] @ x[:-1] + x[-1]
        if parts.loss.name == "hinge":
            return -scale[i] * S[i] * (S[i] * z < 1.0)
        return scale[i] * (z - Y[i])

    return slope


def grown(i: int, problem: Any) -> Array:
    return np.append(X[i], float(problem.objective_parts.fit_intercept))


# -- SGD and Pegasos -------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize(
    ("step", "lam", "batch"),
    [
        (0.05, 0.3, 1),
        (0.05, 0.0, 2),
        (0.05, 19.9, 1),  # w all but vanishes at each step
        (0.05, 20.0, 1),  # and vanishes
        (0.05, 39.0, 3),  # and changes sign
        (steps.InverseTime(2.0), 0.5, 1),  # vanishes at the first step
        (steps.InverseSqrt(0.1), 0.5, 4),
    ],
)
def test_sgd(intercept: bool, average: bool, step: Any, lam: float, batch: int) -> None:
    problem = pose(losses.Squared(), L2(lam), fit_intercept=intercept, sample_weight=WEIGHTS)
    assert is_scalable(sample_rows(problem.objective_parts))

    def expected() -> Iterator[Array]:
        slope, rng = slopes(problem), np.random.default_rng(5)
        x, mask = np.append(START, 0.4 * intercept), np.append(np.ones(D), 0.0)
        points = [x]
        while True:
            yield np.mean(points, axis=0) if average else x
            every = -(-N // batch)
            for draws in rng.integers(N, size=(every, batch)):
                t = len(points) - 1
                eta = step if isinstance(step, float) else step(t)
                pull = sum(slope(i, x) * grown(i, problem) for i in draws) / batch
                x = x - eta * (pull + lam * mask * x)
                points.append(x)

    compare(problem, "sgd", expected(), step=step, average=average, batch=batch)


def test_pegasos() -> None:
    lam = 0.05
    problem = pose(losses.Hinge(), L2(lam), fit_intercept=False)
    rho = 2.0 * np.max(np.linalg.norm(X, axis=1))

    def expected() -> Iterator[Array]:
        slope, rng = slopes(problem), np.random.default_rng(5)
        x = np.append(START * min(1.0, 0.5 * rho / lam / np.linalg.norm(START)), 0.0)
        points = [x]
        while True:
            yield np.mean(points, axis=0)
            for i in rng.integers(N, size=(N, 1))[:, 0]:
                eta = 1.0 / (lam * len(points))
                x = x - eta * (slope(i, x) * grown(i, problem) + lam * x)
                points.append(x)

    compare(problem, "pegasos", expected())


# -- SAGA ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    "penalty",
    [
        Zero(),
        L2(0.4),
        L2(0.4, UNEVEN),
        L1(0.05),
        L1(0.05, UNEVEN),
        ElasticNet(0.05, 0.3),
        ElasticNet(40.0, 0.1),
        Box(-0.2, 0.1),
        Nonnegative(),
        L2Ball(30.0),
        L2Ball(2.0),
        L2Ball(0.1),
        L2Ball(1e-8),
    ],
    ids=repr,
)
def test_saga(penalty: Any, intercept: bool) -> None:
    eta = 0.03
    problem = pose(losses.Squared(), penalty, fit_intercept=intercept, sample_weight=WEIGHTS)
    assert is_thin(sample_rows(problem.objective_parts))

    def expected() -> Iterator[Array]:
        slope, rng = slopes(problem), np.random.default_rng(5)
        x = np.append(penalty.project(START), 0.4 * intercept)
        table = np.array([slope(i, x) for i in range(N)])
        mean = sum(table[i] * grown(i, problem) for i in range(N)) / N
        while True:
            yield x
            for i in rng.integers(N, size=N):
                change = slope(i, x) - table[i]
                x = x - eta * (mean + change * grown(i, problem))
                x = np.append(penalty.prox(x[:-1], eta), x[-1])
                mean = mean + change * grown(i, problem) / N
                table[i] += change

    compare(problem, "saga", expected(), step=eta)


# -- online gradient descent -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "penalty", "ball"),
    [
        (losses.Hinge(), L2(0.2), 30.0),
        (losses.Hinge(), L2(0.2), 1.5),  # reached
        (losses.Hinge(), L2(9.0), 1.5),
        (losses.Hinge(), Zero(), 1.5),
        (losses.Squared(), L2(0.2), 1.5),  # b as well
        (losses.Hinge(), L2Ball(0.7), 30.0),
        (losses.Hinge(), L2Ball(0.7), 0.5),
        (losses.Hinge(), Box(-0.2, 0.3), None),
        (losses.Hinge(), Nonnegative(), None),
        (losses.Hinge(), L1(0.2), None),
        (losses.Squared(), L1(0.02), None),
        (losses.Squared(), L1(0.05, UNEVEN), None),
        (losses.Squared(), L1(9.0), None),
    ],
    ids=repr,
)
@pytest.mark.parametrize("intercept", [True, False])
def test_online_gradient_descent(loss: Any, penalty: Any, ball: Any, intercept: bool) -> None:
    eta = 0.1
    problem = pose(loss, penalty, fit_intercept=intercept, sample_weight=WEIGHTS)
    whole, radius = loss.name == "squared", np.inf if ball is None else ball
    rows = sample_rows(problem.objective_parts)
    assert is_scalable(rows, radius) != is_sinkable(rows, radius)
    suffered = []

    def into(x: Array) -> Array:
        x = np.append(penalty.project(x[:-1]), x[-1])
        if whole:
            return x * min(1.0, radius / np.linalg.norm(x))
        return np.append(x[:-1] * min(1.0, radius / np.linalg.norm(x[:-1])), x[-1])

    def expected() -> Iterator[Array]:
        slope, parts = slopes(problem), problem.objective_parts
        x = into(np.append(START, 0.4 * intercept))
        points, total = [x], 0.0
        while True:
            suffered.append(total)
            yield np.mean(points, axis=0)
            for i in range(N):
                z = X[i] @ x[:-1] + x[-1]
                total += N * parts.c[i] * loss.value(parts.y[i : i + 1], np.array([z]))[0]
                total += penalty.value(penalty.project(x[:-1]))
                v = slope(i, x) * grown(i, problem)
                v[:-1] += rows.l2 * x[:-1] + rows.l1 * np.sign(x[:-1])
                x = into(x - eta * v)
                points.append(x)

    options = {} if ball is None else {"ball": ball}
    compare(problem, "online_gradient_descent", expected(), step=eta, **options)
    run = ALGORITHMS["online_gradient_descent"].start(
        problem.objective_parts, START.copy(), 0.4 * intercept, 0, {"step": eta, **options}
    )
    told = [point.facts["suffered"] for point in islice(run, ROUNDS)]
    np.testing.assert_allclose(told, suffered[:ROUNDS], rtol=1e-9)

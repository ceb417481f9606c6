"""The first iterates of stochastic and online solvers, against plain NumPy and the page.

A thin sparse design makes its steps in the nonzeros of a row; the points are those of the steps
that move all of w.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.model_cases import parts, samples

import convexml as cml
from convexml import losses, textbook, theory
from convexml.losses import Squared
from convexml.numerics import Array
from convexml.penalties import L1, L2, Box, ElasticNet, L1Ball, L2Ball, Nonnegative, Zero
from convexml.solvers import steps
from convexml.solvers.registry import ALGORITHMS

N, D, ROUNDS = 30, 90, 4
RNG = np.random.default_rng(11)
X = np.where(RNG.uniform(size=(N, D)) < 0.05, RNG.normal(size=(N, D)), 0.0)
Y = RNG.normal(size=N)
S = np.sign(Y)
WEIGHTS = RNG.uniform(0.5, 2.0, size=N)
START = RNG.normal(size=D)
UNEVEN = RNG.uniform(0.0, 2.0, size=D)


def pose(loss: Any, penalty: Any, layout: Any = sparse.csr_array, **options: Any) -> Any:
    y = S if loss.labels == "binary" else Y
    return cml.LearningProblem(layout(X), y, loss, penalty, **options)


def compare(problem: Any, solver: str, expected: Iterator[Array], **options: Any) -> list[Any]:
    """The first rounds of the solver, from a start that is not 0, against ``expected``."""
    b = 0.4 if problem.objective_parts.fit_intercept else 0.0
    run = ALGORITHMS[solver].start(problem.objective_parts, START.copy(), b, 5, options)
    found = list(islice(run, ROUNDS))
    for k, (point, x) in enumerate(zip(found, expected, strict=False)):
        at = np.append(point.w, point.b)
        np.testing.assert_allclose(at, x, rtol=1e-9, atol=1e-11, err_msg=str(k))
    return found


def slopes(problem: Any) -> Callable[[int, Array], Array]:
    """(i, x) -> the gradient of n c_i l(y_i, x_i.w + b), by the formulas of squares and hinges."""
    parts = problem.objective_parts
    scale = N * parts.c

    def slope(i: int, x: Array) -> Array:
        z = X[i] @ x[:-1] + x[-1]
        pull = -S[i] * (S[i] * z < 1.0) if parts.loss.name == "hinge" else z - Y[i]
        return scale[i] * pull * np.append(X[i], float(parts.fit_intercept))

    return slope


layouts = pytest.mark.parametrize("layout", [sparse.csr_array, np.asarray], ids=["thin", "dense"])

# -- SGD and Pegasos -------------------------------------------------------------------------------


@layouts
@pytest.mark.parametrize(("step", "lam", "batch", "intercept", "average"), [
    (0.05, 0.3, 1, True, False),
    (0.05, 0.3, 1, False, True),
    (0.05, 0.0, 2, True, True),
    (0.05, 19.9, 1, False, False),  # w all but vanishes at each step
    (0.05, 20.0, 1, True, True),  # and vanishes
    (0.05, 20.0, 1, False, False),
    (0.05, 39.0, 3, True, False),  # and changes sign
    (steps.InverseTime(2.0), 0.5, 1, False, True),  # vanishes at the first step
    (steps.InverseSqrt(0.1), 0.5, 4, True, True),
])  # fmt: skip
def test_sgd(
    layout: Any, step: Any, lam: float, batch: int, intercept: bool, average: bool
) -> None:
    problem = pose(Squared(), L2(lam), layout, fit_intercept=intercept, sample_weight=WEIGHTS)

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
                x = x - eta * (sum(slope(i, x) for i in draws) / batch + lam * mask * x)
                points.append(x)

    found = compare(problem, "sgd", expected(), step=step, average=average, batch=batch)
    assert found[1].facts["steps"] == float(-(-N // batch))
    assert np.allclose(np.diff([each.passes for each in found]), 2.0, atol=0.5)


@layouts
def test_pegasos(layout: Any) -> None:
    lam = 0.05
    problem = pose(losses.Hinge(), L2(lam), layout, fit_intercept=False)
    rho = 2.0 * np.max(np.linalg.norm(X, axis=1))

    def expected() -> Iterator[Array]:
        slope, rng = slopes(problem), np.random.default_rng(5)
        x = np.append(START * min(1.0, 0.5 * rho / lam / np.linalg.norm(START)), 0.0)
        points = [x]
        while True:
            yield np.mean(points, axis=0)
            for i in rng.integers(N, size=(N, 1))[:, 0]:
                x = x - (slope(i, x) + lam * x) / (lam * len(points))
                points.append(x)

    compare(problem, "pegasos", expected())


# -- SAGA ------------------------------------------------------------------------------------------


@layouts
@pytest.mark.parametrize(("penalty", "intercept"), [
    (Zero(), True), (L2(0.4), False), (L2(0.4, UNEVEN), True), (L1(0.05), True),
    (L1(0.05, UNEVEN), False), (ElasticNet(0.05, 0.3), True), (ElasticNet(40.0, 0.1), False),
    (Box(-0.2, 0.1), True), (Nonnegative(), False), (L2Ball(30.0), True), (L2Ball(2.0), False),
    (L2Ball(0.1), True), (L2Ball(1e-8), False),
], ids=repr)  # fmt: skip
def test_saga(penalty: Any, intercept: bool, layout: Any) -> None:
    eta = 0.03
    problem = pose(Squared(), penalty, layout, fit_intercept=intercept, sample_weight=WEIGHTS)

    def expected() -> Iterator[Array]:
        slope, rng = slopes(problem), np.random.default_rng(5)
        x = np.append(penalty.project(START), 0.4 * intercept)
        table = np.array([slope(i, x) for i in range(N)])
        while True:
            yield x
            for i in rng.integers(N, size=N):
                new = slope(i, x)
                x = x - eta * (new - table[i] + table.mean(axis=0))
                x = np.append(penalty.prox(x[:-1], eta), x[-1])
                table[i] = new

    compare(problem, "saga", expected(), step=eta)


def test_the_table_of_saga_is_a_dual_point() -> None:
    problem = cml.Ridge(*samples("real"), 0.3)
    exact = problem.solve("newton", tol=1e-12)
    run = ALGORITHMS["saga"].start(problem.objective_parts, np.zeros(5), 0.0, 0, {})
    *_, last = islice(run, 400)
    np.testing.assert_allclose(last.u, exact.dual["u"], atol=1e-9)


# -- online gradient descent -----------------------------------------------------------------------


@pytest.mark.parametrize(("loss", "penalty", "ball", "intercept"), [
    (losses.Hinge(), L2(0.2), 30.0, True),
    (losses.Hinge(), L2(0.2), 1.5, True),  # reached
    (losses.Hinge(), L2(9.0), 1.5, False),
    (losses.Hinge(), Zero(), 1.5, False),
    (losses.Squared(), L2(0.2), 1.5, True),  # b as well
    (losses.Squared(), L2(0.2), 1.5, False),
    (losses.Hinge(), L2Ball(0.7), 30.0, True),
    (losses.Hinge(), L2Ball(0.7), 0.5, False),
    (losses.Hinge(), Box(-0.2, 0.3), None, True),
    (losses.Hinge(), Nonnegative(), None, False),
    (losses.Hinge(), L1(0.2), None, True),
    (losses.Squared(), L1(0.02), None, False),
    (losses.Squared(), L1(0.05, UNEVEN), None, True),
    (losses.Squared(), L1(9.0), None, True),
], ids=repr)  # fmt: skip
def test_online_gradient_descent(loss: Any, penalty: Any, ball: Any, intercept: bool) -> None:
    eta = 0.1
    problem = pose(loss, penalty, fit_intercept=intercept, sample_weight=WEIGHTS)
    whole, radius = loss.name == "squared", np.inf if ball is None else ball
    parts, suffered = problem.objective_parts, []
    level = penalty.lam * (penalty.weights if penalty.weights is not None else 1.0) if (
        penalty.name in ("l1", "l2")
    ) else 0.0  # fmt: skip

    def into(x: Array) -> Array:
        x = np.append(penalty.project(x[:-1]), x[-1])
        if whole:
            return x * min(1.0, radius / np.linalg.norm(x))
        return np.append(x[:-1] * min(1.0, radius / np.linalg.norm(x[:-1])), x[-1])

    def expected() -> Iterator[Array]:
        slope = slopes(problem)
        x = into(np.append(START, 0.4 * intercept))
        points, total = [x], 0.0
        while True:
            suffered.append(total)
            yield np.mean(points, axis=0)
            for i in range(N):
                z = X[i] @ x[:-1] + x[-1]
                total += N * parts.c[i] * loss.value(parts.y[i : i + 1], np.array([z]))[0]
                total += penalty.value(penalty.project(x[:-1]))
                v = slope(i, x)
                v[:-1] += level * (x[:-1] if penalty.name == "l2" else np.sign(x[:-1]))
                x = into(x - eta * v)
                points.append(x)

    options = {} if ball is None else {"ball": ball}
    found = compare(problem, "textbook.online_gradient_descent", expected(), step=eta, **options)
    told = [point.facts["suffered"] for point in found]
    np.testing.assert_allclose(told, suffered[:ROUNDS], rtol=1e-9)


# -- regularised leaders ---------------------------------------------------------------------------

ROWS = RNG.normal(size=(13, 4))
TARGET = ROWS @ [1.0, -2.0, 0.0, 0.5] + RNG.normal(size=13)
SIDES = np.where(TARGET > 0.3, 1.0, -1.0)


def rounds(points: Iterator[Array]) -> Iterator[Array]:
    """The mean of all points at the start of each round of the samples."""
    seen = [next(points)]
    while True:
        yield np.mean(seen, axis=0)
        seen += islice(points, 13)


def leads(problem: Any, solver: str, page: Iterator[Array], **options: Any) -> None:
    run = ALGORITHMS[solver].start(problem.objective_parts, np.zeros(4), 0.0, 0, options)
    found = [point.w for point in islice(run, 10)]
    np.testing.assert_allclose(found, list(islice(rounds(page), 10)), rtol=1e-8, atol=1e-10)
    assert np.linalg.norm(np.diff(found, axis=0), axis=1)[:3].min() > 1e-6


@pytest.mark.parametrize("radius", [0.3, 30.0])
def test_follow_the_regularized_leader(radius: float) -> None:
    problem = cml.LearningProblem(ROWS, SIDES, losses.Hinge(), L2Ball(radius), fit_intercept=False)

    def slope(x: Array, t: int) -> Array:
        row, side = ROWS[t % 13], SIDES[t % 13]
        return -side * row * (side * (row @ x) < 1.0)

    into = lambda x: x * min(1.0, radius / max(np.linalg.norm(x), 1e-300))  # noqa: E731
    page = textbook.follow_the_regularized_leader(slope, 4, 0.05, into)
    leads(problem, "textbook.follow_the_regularized_leader", page, step=0.05)


@pytest.mark.parametrize("eta", [0.02, 5.0])
def test_exponentiated_gradient_multiplies_the_weights_of_the_corners(eta: float) -> None:
    corners = 0.8 * np.vstack([np.eye(4), -np.eye(4)])

    def costs(p: Array, t: int) -> Array:
        return corners @ ROWS[t % 13] * (ROWS[t % 13] @ (p @ corners) - TARGET[t % 13])

    page = (p @ corners for p in textbook.exponentiated_gradient(costs, 8, eta))
    problem = cml.ConstrainedLasso(ROWS, TARGET, 0.8, fit_intercept=False)
    leads(problem, "textbook.exponentiated_gradient", page, step=eta)


# -- what all of them keep -------------------------------------------------------------------------

SEEDED = ("sgd", "pegasos", "saga", "stochastic_subgradient")
LEADERS = ("textbook.follow_the_regularized_leader", "textbook.exponentiated_gradient")
STOCHASTIC = (*SEEDED, "textbook.online_gradient_descent", *LEADERS)


def posing(solver: str, X: Any = None) -> Any:
    """A small problem that the solver takes."""
    rows, y = samples("binary" if solver == "pegasos" else "real")
    rows = rows if X is None else X
    if solver == "pegasos":
        return cml.LearningProblem(rows, y, losses.Hinge(), L2(0.1), fit_intercept=False)
    if solver == "stochastic_subgradient":
        return cml.LearningProblem(rows, y, losses.Absolute(), L1(0.1))
    if solver in LEADERS:
        ball = L1Ball(2.0) if solver == LEADERS[1] else L2Ball(2.0)
        return cml.LearningProblem(rows, y, Squared(), ball, fit_intercept=False)
    return cml.Ridge(rows, y, 0.3)


@pytest.mark.parametrize("solver", STOCHASTIC)
def test_inputs_stay_as_they_are_and_any_layout_will_do(solver: str) -> None:
    X = np.asfortranarray(samples("real")[0].astype(np.float32))
    before = X.copy(order="F")
    X.setflags(write=False)
    solution = posing(solver, X=X).solve(solver, max_iter=20)
    assert np.array_equal(X, before)
    wide = posing(solver, X=before.astype(float)).solve(solver, max_iter=20)
    assert np.array_equal(solution.primal["w"], wide.primal["w"])
    thin = posing(solver, X=sparse.csr_matrix(before.astype(float))).solve(solver, max_iter=20)
    np.testing.assert_allclose(thin.primal["w"], wide.primal["w"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("solver", SEEDED)
def test_one_seed_is_one_result_bit_for_bit(solver: str) -> None:
    first, second, other = (
        posing(solver).solve(solver, tol=1e-15, max_iter=30, seed=seed) for seed in (5, 5, 6)
    )
    assert first.primal["w"].tobytes() == second.primal["w"].tobytes()
    assert [line.gap for line in first.trace[-1:]] == [line.gap for line in second.trace[-1:]]
    assert not np.array_equal(first.primal["w"], other.primal["w"])


@pytest.mark.parametrize("solver", STOCHASTIC)
def test_what_was_yielded_is_not_written_to_again(solver: str) -> None:
    objective = posing(solver).objective_parts
    run = ALGORITHMS[solver].start(objective, np.zeros(objective.d), 0.0, 0, {})
    points = [next(run) for _ in range(2)]
    kept = [(p.w.copy(), None if p.u is None else p.u.copy()) for p in points]
    for _ in range(3):
        next(run)
    for p, (w, u) in zip(points, kept, strict=True):
        assert np.array_equal(p.w, w)
        assert u is None or np.array_equal(p.u, u)


@pytest.mark.parametrize(
    ("loss", "penalty"), [pair for pair in parts() if not pair[0].is_indicator], ids=repr
)
def test_the_compiled_parts_are_those_of_the_loss_and_the_penalty(loss: Any, penalty: Any) -> None:
    """A round of SAGA, or of subgradients, with the slopes and proxes of the objects."""
    problem = cml.LearningProblem(*samples(loss.labels), loss, penalty, fit_intercept=False)
    solver = "saga" if np.isfinite(loss.curvature_bound) else "stochastic_subgradient"
    if not cml.solvers.supports(solver, problem)[0]:
        assert (
            loss.name in ("poisson", "exponential", "linex")
            or penalty.strong_convexity
            or (penalty.restricts)
        )
        return
    P, rng = problem.objective_parts, np.random.default_rng(5)
    rows, n, eta, w = P.design.dense(), P.n, 1e-2, penalty.project(np.full(P.d, 0.2))

    def slope(i: int, w: Array) -> Array:
        y, z = P.y[i : i + 1], rows[i : i + 1] @ w
        return n * P.c[i] * loss.derivative(y, z)[0] * rows[i]

    points, table = [w], np.array([slope(i, w) for i in range(n)])
    for i in rng.integers(n, size=n):
        new = slope(i, w)
        if solver == "saga":
            w = penalty.prox(w - eta * (new - table[i] + table.mean(axis=0)), eta)
            table[i] = new
        else:
            w = w - eta * (new + (w != 0.0) * penalty.subgradient(w))
        points.append(w)
    run = ALGORITHMS[solver].start(P, np.full(P.d, 0.2), 0.0, 5, {"step": eta})
    *_, found = islice(run, 2)
    goal = w if solver == "saga" else np.mean(points, axis=0)
    np.testing.assert_allclose(found.w, goal, rtol=1e-10, atol=1e-13)


# -- where they end --------------------------------------------------------------------------------


def underdetermined() -> tuple[Array, Array]:
    X = np.random.default_rng(8).normal(size=(12, 40))
    return X, X[:, 0] - 2.0 * X[:, 1]


@pytest.mark.parametrize(("solver", "step"), [
    *((solver, None) for solver in ("sgd", "saga", "gradient_descent", "accelerated_gradient")),
    ("gradient_descent", "barzilai_borwein"),
])  # fmt: skip
def test_from_zero_least_squares_ends_in_the_minimum_norm_solution(solver: str, step: Any) -> None:
    X, y = underdetermined()
    problem = cml.LeastSquares(X, y, fit_intercept=False)
    L = theory.sample_smoothness(problem.objective_parts)
    given = {"step": 0.5 / L if solver in ("sgd", "saga") else step}
    away = np.linalg.svd(X)[2][-1]  # X away = 0: from there it ends elsewhere
    for start in (np.zeros(40), away) if solver == "sgd" else (np.zeros(40),):
        found = problem.solve(solver, w0=start, tol=1e-14, max_iter=3000, **given)
        np.testing.assert_allclose(found.primal["w"], np.linalg.pinv(X) @ y + start, atol=1e-6)

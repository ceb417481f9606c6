"""Ridge regression by its normal equations, on both sides, factored and by conjugate gradients."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import convexml as cml
from convexml.design import as_design
from convexml.losses import Squared
from convexml.objective import Objective
from convexml.penalties import L2
from convexml.solvers.second_order import normal_equations as module
from convexml.solvers.second_order.normal_equations import normal_equations
from convexml.solvers.second_order.ridge_system import RidgeSystem
from convexml.theory.rates import conjugate_gradients as theory

TALL, WIDE = (60, 9), (20, 45)


def data(shape: tuple[int, int], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape) + 3.0 * rng.normal(size=shape[1])
    return X, X[:, 0] - 2.0 * X[:, 3] + 5.0 + rng.normal(size=shape[0])


def by_least_squares(
    X: np.ndarray, y: np.ndarray, level: np.ndarray, c: np.ndarray, intercept: bool
) -> np.ndarray:
    """(w, b) of the augmented least-squares problem, by a singular value decomposition."""
    ones = np.ones((len(X), 1)) if intercept else np.zeros((len(X), 0))
    above = np.sqrt(c)[:, None] * np.hstack([X, ones])
    below = np.hstack([np.diag(np.sqrt(level)), np.zeros((X.shape[1], ones.shape[1]))])
    right = np.append(np.sqrt(c) * y, np.zeros(X.shape[1]))
    found: np.ndarray = np.linalg.lstsq(np.vstack([above, below]), right, rcond=None)[0]
    return found if intercept else np.append(found, 0.0)


@pytest.mark.parametrize("shape", [TALL, WIDE])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("cheaper", [1e6, 1e-6], ids=["factored", "conjugate gradients"])
def test_the_solution_is_that_of_least_squares(
    shape: tuple[int, int], intercept: bool, cheaper: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHEAPER", cheaper)
    monkeypatch.setattr(module, "COARSE", 1)
    X, y = data(shape)
    rng = np.random.default_rng(1)
    c, level = rng.uniform(0.5, 2.0, len(y)), rng.uniform(0.1, 3.0, X.shape[1])
    exact = by_least_squares(X, y, level, c, intercept)
    for matrix in (X, sparse.csr_array(X)):
        problem = cml.LearningProblem(
            matrix, y, Squared(), L2(1.0, level), sample_weight=c, loss_scale="sum",
            fit_intercept=intercept,
        )  # fmt: skip
        solution = problem.solve("normal_equations", tol=1e-12)
        assert solution.status == "optimal"
        np.testing.assert_allclose(
            np.append(solution.primal["w"], solution.primal["b"]), exact, rtol=1e-7, atol=1e-7
        )


@pytest.mark.parametrize("shape", [TALL, WIDE])
def test_the_system_is_that_of_b(shape: tuple[int, int]) -> None:
    X, y = data(shape)
    c = np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    system = RidgeSystem(Objective(as_design(X), y, Squared(), L2(0.3), c))
    root = np.sqrt(c)
    unit = root / np.linalg.norm(root)
    B = (np.eye(len(y)) - np.outer(unit, unit)) @ (root[:, None] * X) / np.sqrt(0.3)
    matrix, x = np.eye(shape[1]) + B.T @ B, np.arange(float(shape[1]))
    a = root * y - unit * (unit @ (root * y))
    for given in (X, sparse.csc_array(X)):
        own = RidgeSystem(Objective(as_design(given), y, Squared(), L2(0.3), c))
        np.testing.assert_allclose(own.outer(a), B @ (B.T @ a), rtol=1e-9, atol=1e-9)
        assert own.mean == pytest.approx(c @ (X @ (X.T @ (root * a))) / (0.3 * c.sum()))
    np.testing.assert_allclose(system.right, B.T @ (root * y), rtol=1e-9)
    np.testing.assert_allclose(system.residual(x), system.right - matrix @ x, rtol=1e-9)
    for coarse, digits in ((False, 1e-12), (True, 1e-4 if system.by_samples else 1e-12)):
        solve, a = system.solver(coarse), np.cos(np.arange(float(shape[0])))
        found = solve(x, None)
        np.testing.assert_allclose(found, np.linalg.solve(matrix, x), atol=digits * x.max())
        projected = a - unit * (unit @ a)
        found, right = solve(B.T @ projected, projected), np.linalg.solve(matrix, B.T @ a)
        np.testing.assert_allclose(found, right, atol=digits * np.abs(right).max())


def test_single_precision_gives_way_where_it_does_not_contract(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beside an eigenvalue of 1e9 or more, the identity of I + BB' is below its last digits."""
    monkeypatch.setattr(module, "COARSE", 1)
    X, y = data(WIDE)
    for size in (1e3, 1e5, 1e6):
        X[:, 0] *= size
        problem = cml.Ridge(X, y, 0.1)
        exact = by_least_squares(X, y, np.full(45, 0.1), np.full(20, 0.05), True)
        solution = problem.solve("normal_equations", tol=1e-9)
        assert solution.status == "optimal"
        assert solution.objective <= problem.objective(exact[:-1], exact[-1]) * (1.0 + 1e-9)
        X[:, 0] /= size


@pytest.mark.parametrize(
    ("shape", "largest", "room"),
    [(TALL, 1.0, 1.01), (TALL, 100.0, 1.01), (WIDE, 1.0, 1.3), ((40, 300), 100.0, 10.0)],
)
def test_half_the_square_of_the_residual_is_the_gap(
    shape: tuple[int, int], largest: float, room: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What iterates are shown by: P - D at w and u = c l'(z), from the definitions.

    By samples the size of B'e is thought of as that of the vector before, rows of all sizes too:
    there it is right within a factor of ten, by digits that hang on the order of sums.
    """
    monkeypatch.setattr(module, "CHEAPER", 1e-6)
    X, y = data(shape)
    X *= np.geomspace(1.0, largest, len(y))[:, None]
    n = len(y)
    objective = Objective(as_design(X), y, Squared(), L2(0.05), np.full(n, 1.0 / n))
    optimum = by_least_squares(X, y, np.full(X.shape[1], 0.05), objective.c, True)
    least = objective.primal(optimum[:-1], optimum[-1])
    start, *shown = [
        each
        for each in normal_equations(objective, np.zeros(X.shape[1]), 0.0)
        if "steps" in each.facts and each.promise > 0.0
    ]
    assert shown
    assert not np.any(start.w)
    for iterate, share in zip(shown, (5e-7, 5e-10, 5e-13), strict=False):
        assert iterate.promise <= share or room > 2.0  # where the size is a guess
        u = objective.loss_derivative(objective.predict(iterate.w, iterate.b))
        gap = objective.primal(iterate.w, iterate.b) - objective.dual(u - u.mean())
        assert gap <= room * iterate.promise * least + 1e-14 * least


def test_the_constants_of_the_theorem_where_samples_are_fewer() -> None:
    """BB' = diag(1, 4): both systems are solved in one step, and phi is known by hand."""
    problem = cml.LearningProblem(
        [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]],
        [2.0, 5.0],
        Squared(),
        L2(1.0),
        fit_intercept=False,
        loss_scale="sum",
    )
    objective = problem.objective_parts
    assert theory.largest(objective) == pytest.approx(4.0)
    assert theory.condition(objective) == pytest.approx(1.0)
    for w, value, expected in ((np.zeros(3), 14.5, 3.5), (np.array([1.0, 0.0, 0.0]), 13.5, 40.0)):
        assert objective.primal(w) == value
        run: Any = SimpleNamespace(
            objective=objective,
            reference=SimpleNamespace(value=3.5),
            gaps=[value - 3.5],
            replay=lambda w=w: [SimpleNamespace(w=w, b=0.0)],
        )
        assert theory.dual_start(run) == pytest.approx(expected)


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_samples_that_are_fewer_are_preconditioned_and_the_rate_holds(
    kind: Any, intercept: bool, warm: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of all sizes, each of a few features: each size would cost a step more."""
    monkeypatch.setattr(module, "CHEAPER", 1e-6)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 300)) * np.geomspace(1.0, 100.0, 40)[:, None]
    w0 = rng.normal(size=300) if warm else None
    problem = cml.Ridge(kind(X), rng.normal(size=40), 0.1, fit_intercept=intercept)
    solution = problem.solve("normal_equations", tol=1e-10, w0=w0)
    assert solution.status == "optimal"
    assert warm or solution.passes < 80.0
    level, c = np.full(300, 0.1), np.full(40, 1.0 / 40.0)
    exact = by_least_squares(X, problem.objective_parts.y, level, c, intercept)
    assert solution.primal["w"] == pytest.approx(exact[:-1], abs=1e-6)
    assert solution.primal["b"] == pytest.approx(exact[-1], abs=1e-6)
    audit = solution.rate_audit()
    assert audit.holds, audit.first_violation


def test_one_factor_and_few_products_where_features_are_few() -> None:
    X, y = data((3000, 8))
    solution = cml.Ridge(X, y, 0.1).solve()
    assert solution.solver == "normal_equations"
    assert (solution.iterations, solution.passes) == (1, 1.0 + 8.0)


def test_a_warm_start_is_where_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHEAPER", 1e-6)
    for shape in (TALL, WIDE):
        problem = cml.Ridge(*data(shape), 0.2)
        first: Any = problem.solve("normal_equations", tol=1e-10)
        again = problem.solve("normal_equations", tol=1e-10, w0=first.primal["w"])
        assert again.trace[0].relative_gap <= 1e-9
        assert again.passes < first.passes


def test_what_it_does_not_take() -> None:
    X, y = data(TALL)
    for problem, words in (
        (cml.Ridge(X, y, 0.0), r"not \(lam/2\)\|w\|\^2 with lam > 0"),
        (cml.HuberRegression(X, y, 1.0, 0.1), "not the squared loss"),
    ):
        with pytest.raises(cml.errors.UnsuitableSolverError, match=words):
            problem.solve("normal_equations")
    assert cml.LeastSquares(X, y).solve().solver == "qr"

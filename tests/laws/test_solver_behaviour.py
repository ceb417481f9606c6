"""Solvers where data are awkward, starts are near, systems singular, or closed forms known."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from support.model_cases import optimal, samples
from support.sizes import by_turns

import convexml as cml
from convexml import losses, penalties, textbook
from convexml.numerics import Array
from convexml.solvers import steps

REAL, BINARY = samples("real"), samples("binary")

# -- working sets ----------------------------------------------------------------------------------

N, D = 40, 30
LOSSES = [losses.Squared(), losses.Logistic(), losses.Huber(0.5), losses.Poisson()]
AWKWARD = {
    "correlated": lambda X: 0.1 * X + X[:, :1] @ np.ones((1, D)),
    "columns of all sizes": lambda X: X * 10.0 ** np.linspace(-3.0, 3.0, D),
    "repeated columns": lambda X: np.repeat(X[:, : D // 2], 2, axis=1),
    "repeated rows": lambda X: np.repeat(X[: N // 2], 2, axis=0),
    "constant columns": lambda X: np.where(np.arange(D) % 3 == 0, 0.1, X),
    "few rows": lambda X: X[:12],
}


@pytest.mark.parametrize(("loss", "kind"), by_turns(product(LOSSES, AWKWARD), 5))
def test_awkward_data_are_certified(loss: Any, kind: str) -> None:
    rng = np.random.default_rng(3)
    X = AWKWARD[kind](rng.normal(size=(N, D)))
    z = X[:, :3].sum(axis=1) / (1.0 + np.abs(X[:, :3]).max()) + 0.5 * rng.normal(size=len(X))
    y = {"real": z, "binary": np.sign(z - np.median(z) + 1e-9), "count": rng.poisson(np.exp(z))}
    groups, made = np.arange(D) // 4, []
    for k, penalty in enumerate(
        (
            penalties.L1,
            lambda lam: penalties.ElasticNet(lam, 0.7),
            lambda lam: penalties.GroupL2(lam, groups),
        )
    ):
        for share in (0.3, 1e-4):
            given = {"fit_intercept": (k + LOSSES.index(loss) + (share < 0.1)) % 2 == 0}
            top = cml.LearningProblem(X, y[loss.labels], loss, penalty(1.0)).lam_max
            problem = cml.LearningProblem(X, y[loss.labels], loss, penalty(share * top), **given)
            found = problem.solve("coordinate_descent", tol=1e-9)
            made.append((found.status, found.relative_gap <= 1e-9))
    assert made == 6 * [("optimal", True)]


def violation(problem: Any, w: Array, b: float) -> float:
    """The largest distance of a lasso's slopes from the subdifferential, as a share of lam."""
    parts = problem.objective_parts
    X = parts.design.dense()
    slope = X.T @ (parts.c * (X @ w + b - parts.y))
    apart = np.abs(slope + problem.lam * np.sign(w))
    return float(np.max(np.where(w != 0.0, apart, np.abs(slope) - problem.lam) / problem.lam))


@pytest.mark.parametrize(
    ("n", "d", "share", "passes"), [(100, 400, 1e-4, 15.0), (600, 200, 1e-5, 20.0)]
)
def test_a_small_lam_is_reached_by_following_the_path(
    n: int, d: int, share: float, passes: float
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = X @ np.where(np.arange(d) < max(20, d - 200), rng.normal(size=d), 0.0)
    problem = cml.Lasso(X, y + rng.normal(size=n), lam=1.0)
    problem.lam = share * problem.lam_max
    solution = optimal(problem, "coordinate_descent", tol=1e-9)
    assert violation(problem, solution.primal["w"], float(solution.primal["b"])) < 1e-6
    assert solution.trace[-1].passes <= passes


def test_more_features_than_a_working_set_dense_and_sparse_and_again() -> None:
    rng = np.random.default_rng(1)
    X = sparse.random_array((150, 700), density=0.05, rng=rng, format="csr")
    y = X @ np.where(np.arange(700) < 10, 1.0, 0.0) + 0.1 * rng.normal(size=150) + 3.0
    values = []
    for data in (X, X.toarray()):
        problem = cml.Lasso(data, y, 1.0)
        problem.lam = 0.02 * problem.lam_max
        solution = optimal(problem, "coordinate_descent", tol=1e-10)
        values.append(solution.objective)
    assert values[0] == pytest.approx(values[1], rel=1e-11)
    again = optimal(problem, "coordinate_descent", tol=1e-10, w0=solution.primal["w"])
    assert again.iterations <= 1
    auto = cml.Lasso(*REAL, 0.1).solve()
    assert (auto.solver, auto.status) == ("coordinate_descent", "optimal")
    assert "norm of blocks" in auto.choice
    assert cml.Lasso(*REAL, 0.1).solve(max_iter=0).solver != "coordinate_descent"


# -- Newton's methods ------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["newton", "irls", "newton_cg"])
def test_unpenalised_features_and_singular_hessians_are_survived(solver: str) -> None:
    X, y = BINARY
    X = np.round(X * 2.0**20) / 2.0**20  # differences are exact: the columns really are dependent
    X = np.column_stack([X, X[:, 0] - X[:, 1], np.zeros(len(y)), np.ones(len(y))])
    free = cml.LogisticRegression(X, y, 0.0, None).solve(solver, tol=1e-8)
    slim = cml.LogisticRegression(X[:, :5], y, 0.0, None).solve("newton", tol=1e-9)
    assert free.status == "optimal"
    assert free.objective == pytest.approx(slim.objective, rel=1e-7)
    half = penalties.L2(0.1, np.r_[0.0, np.ones(7)])
    assert cml.LearningProblem(X, y, losses.Logistic(), half).solve(solver).status == "optimal"


# -- augmented Lagrangians, interior points, dual ascent -------------------------------------------


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
def test_what_auto_answers_has_exact_ends(C: float) -> None:
    X, y = BINARY
    solution = cml.SoftMarginSVM(X, y, C).solve()
    assert solution.solver == "augmented_lagrangian"
    assert solution.relative_gap <= 1e-10
    alpha, margin = solution.dual["alpha"], y * (X @ solution.primal["w"] + solution.primal["b"])
    assert np.all(alpha[margin > 1.0 + 1e-7] == 0.0)
    assert np.all(alpha[margin < 1.0 - 1e-7] == C)
    many = cml.SoftMarginSVM(np.repeat(X, 10, axis=0), np.repeat(y, 10), C / 10.0).solve(tol=1e-9)
    assert many.solver == "augmented_lagrangian"  # more samples at the kink than features
    assert many.objective == pytest.approx(solution.objective, rel=1e-9)


def test_dependent_columns_that_nobody_penalises_and_sparse_programs() -> None:
    X, y = REAL
    X = np.round(X * 2.0**20) / 2.0**20  # sums are exact: the columns really are dependent
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.zeros(len(y))])
    problem = cml.LearningProblem(X, y, losses.Absolute(), penalties.Zero())
    solution = optimal(problem, "interior_point")
    assert solution.objective == pytest.approx(problem.solve("clarabel").objective, rel=1e-6)
    rng = np.random.default_rng(0)
    A = sparse.random_array((40, 90), density=0.1, rng=rng, format="csr")
    program = cml.LinearProgram(rng.random(90), A_eq=A, b_eq=A @ rng.random(90))
    solution = optimal(program, "interior_point", tol=1e-8)
    assert solution.objective == pytest.approx(program.solve("highs").objective, rel=1e-8)
    assert program.solve("interior_point", max_iter=1, polish=False).status == "inaccurate"


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("block", [2, 7, 200])
def test_dual_ascent_and_admm_with_any_block(intercept: bool, block: int) -> None:
    problem = cml.SVR(*REAL, 0.5, 0.4, fit_intercept=intercept)
    solution = optimal(problem, "dual_coordinate_descent", tol=1e-6, block=block, max_iter=20_000)
    assert solution.rate_audit().holds
    assert solution.objective == pytest.approx(problem.solve().objective, rel=2e-6)
    lasso = cml.Lasso(*REAL, 0.2, fit_intercept=intercept)
    solution = optimal(lasso, "admm", tol=1e-8, blocks=block)
    assert solution.objective == pytest.approx(lasso.solve().objective, rel=1e-8)


# -- proximal points of sorted l1 ------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["tiny strengths", "twins", "constant", "scales", "one sample", "equal"]
)
def test_hard_designs_of_sorted_l1_end_certified(kind: str) -> None:
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(15, 40)), rng.normal(size=15)
    lams = np.linspace(0.05, 0.01, 40)
    match kind:
        case "tiny strengths":
            lams = 1e-4 * cml.Slope(X, y, lams).lam_max * np.linspace(2.0, 0.5, 40)
        case "twins":
            X[:, 20:] = X[:, :20]
        case "constant":
            X[:, 3], X[:, 4] = 0.0, 1.0
        case "scales":
            X, lams = 1e8 * X, 1e8 * lams
        case "one sample":
            X, y = X[:1], y[:1]
        case "equal":
            lams = np.full(40, 0.03)
    first = cml.Slope(X, y, lams).solve("proximal_point", tol=1e-9)
    assert first.status == "optimal", str(first)
    assert np.count_nonzero(first.primal["w"]) < 40
    if kind == "tiny strengths":
        assert cml.Slope(X, y, lams).solve().solver == "proximal_point"
        again = cml.Slope(X, y, lams).solve("proximal_point", w0=first.primal["w"])
        assert again.passes < 0.5 * first.passes


# -- steps -----------------------------------------------------------------------------------------


def test_searches_are_faster_and_rules_may_be_shared() -> None:
    logistic, ridge = cml.LogisticRegression(*BINARY, 1e-3), cml.Ridge(*REAL, 0.3)
    slow, armijo, borwein = (
        logistic.solve("gradient_descent", step=step, max_iter=20_000).iterations
        for step in (None, "backtracking", "barzilai_borwein")
    )
    assert borwein < armijo < slow
    rule = steps.Backtracking(first=2.0, shrink=0.7)
    runs = [ridge.solve("gradient_descent", step=rule, max_iter=20, tol=1e-15) for _ in range(2)]
    assert np.array_equal(runs[0].primal["w"], runs[1].primal["w"])
    for solver in ("gradient_descent", "fista", "saga"):
        constant = ridge.solve(solver, step=steps.Constant(0.01), max_iter=9)
        number = ridge.solve(solver, step=0.01, max_iter=9)
        assert np.array_equal(constant.primal["w"], number.primal["w"])
    assert [steps.InverseTime(2.0)(t) for t in (0, 1, 3)] == [2.0, 1.0, 0.5]
    assert [steps.InverseSqrt(2.0)(t) for t in (0, 3)] == [2.0, 1.0]
    assert steps.InverseTime(1.0, offset=10.0)(0) == 0.1


# -- the perceptron --------------------------------------------------------------------------------

IRIS, SPECIES = load_iris(return_X_y=True)


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


def test_updates_on_random_separable_sets() -> None:
    for seed in range(12):
        X, y = separated(seed)
        data = sparse.csr_array(X) if seed % 3 == 0 else X
        solution = optimal(cml.HalfspaceLP(data, y, fit_intercept=True), "perceptron")
        *_, theta = points = list(textbook.perceptron(np.column_stack([X, np.ones(len(y))]), y))
        assert solution.iterations == len(points) - 1 <= bound(X, y)
        found = np.append(solution.primal["w"], solution.primal["b"])
        np.testing.assert_allclose(found / np.linalg.norm(found), theta / np.linalg.norm(theta))

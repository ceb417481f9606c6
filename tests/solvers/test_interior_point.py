"""The interior point methods: SVM duals and their kin, and linear programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from support.model_cases import samples, separable

import convexml as cml
from convexml import losses, penalties
from convexml.errors import InputError, UnsuitableSolverError
from convexml.numerics import Array
from convexml.solvers import Iterate
from convexml.solvers.linear.interior_point import predictor_corrector
from convexml.solvers.second_order.interior_point import interior_point

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
LEARNING = (
    "halfspace_iris",
    "hard_margin_iris",
    "hard_margin_wine",
    "hinge_l2_wine",
    "huber_diabetes",
    "least_absolute_deviations_linnerud",
    "least_squares_breast_cancer_raw",
    "least_squares_diabetes",
    "least_squares_longley",
    "ridge_breast_cancer_raw",
    "ridge_linnerud_weighted",
    "soft_margin_breast_cancer",
    "soft_margin_digits",
    "soft_margin_iris",
    "squared_hinge_breast_cancer",
    "svr_diabetes",
)
LINEAR = ("chebyshev_center", "diet", "game_row", "max_flow", "min_cut", "transport", "wyndor")
LOSSES = (
    losses.Hinge(),
    losses.SquaredHinge(),
    losses.HardMargin(),
    losses.Pinball(0.2),
    losses.Absolute(),
    losses.Huber(0.5),
    losses.Squared(),
    losses.EpsilonInsensitive(0.3),
    losses.SquaredEpsilonInsensitive(0.3),
)


@pytest.mark.parametrize("name", LEARNING)
def test_the_objective_is_clarabels_at_a_verified_gap(name: str) -> None:
    problem = cml.load(PROBLEMS / f"{name}.toml")
    reference = problem.solve("clarabel", tol=1e-9)
    solution = problem.solve("interior_point", tol=1e-6)
    assert solution.status == "optimal"
    assert solution.iterations <= 30
    scale = max(abs(reference.objective), 1e-12)
    assert abs(solution.objective - reference.objective) <= 2e-6 * scale + max(reference.gap, 0.0)
    assert solution.rate_audit().holds, solution.rate_audit().first_violation


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_every_loss_with_a_box_dual(loss: Any, intercept: bool, weighted: bool) -> None:
    X, y = separable() if loss.is_indicator else samples(loss.labels)
    penalty = penalties.L2(0.3, [1.0, 0.0, 2.0, 0.5, 1.0]) if weighted else penalties.L2(0.3)
    problem = cml.LearningProblem(X, y, loss, penalty, fit_intercept=intercept)
    solution = problem.solve("interior_point", tol=1e-9, polish=False)
    assert solution.status == "optimal"
    assert solution.iterations <= 30
    reference = problem.solve("clarabel", tol=1e-9)
    assert solution.objective == pytest.approx(reference.objective, rel=1e-7, abs=1e-9)
    assert solution.rate_audit().holds


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize(
    "penalty",
    [
        penalties.L1(0.05),
        penalties.L1(0.05, [1.0, 0.0, 2.0, 0.5, 1.0]),
        penalties.ElasticNet(0.1, 0.4),
        penalties.ElasticNet(0.1, 1e-5),
    ],
    ids=["l1", "weighted", "elastic net", "nearly l2"],
)
def test_kinks_of_the_penalty_are_samples_of_an_absolute_loss(loss: Any, penalty: Any) -> None:
    X, y = separable() if loss.is_indicator else samples(loss.labels)
    problem = cml.LearningProblem(X, y, loss, penalty, fit_intercept=not loss.is_indicator)
    solution = problem.solve("interior_point", tol=1e-8)
    assert solution.status == "optimal"
    assert solution.iterations <= 30
    reference = problem.solve("clarabel", tol=1e-9, polish=False)
    assert solution.objective == pytest.approx(reference.objective, rel=2e-7, abs=1e-9)
    assert solution.rate_audit().holds, solution.rate_audit().first_violation


@pytest.mark.parametrize(("n", "d"), [(120, 20), (40, 60)])
def test_kinked_losses_with_l1_are_left_to_it(n: int, d: int) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, d))
    y = X[:, 0] - X[:, 1] + rng.laplace(size=n)
    problem = cml.LearningProblem(X, y, losses.Pinball(0.3), penalties.L1(0.03))
    solution = problem.solve()
    assert (solution.solver, solution.status) == ("interior_point", "optimal")
    w, b = cp.Variable(d), cp.Variable()
    rest = y - X @ w - b
    lost = cp.sum(cp.maximum(0.3 * rest, -0.7 * rest)) / n
    written = cp.Problem(cp.Minimize(lost + 0.03 * cp.norm1(w)))
    assert written.solve(solver="CLARABEL") == pytest.approx(solution.objective, rel=1e-6)


@pytest.mark.parametrize("loss", [losses.Hinge(), losses.Huber(0.5)], ids=lambda loss: loss.name)
def test_sparse_and_dense_data_give_the_same(loss: Any) -> None:
    X, y = samples(loss.labels)
    X = X * (X > 0.0)
    pair = [
        cml.LearningProblem(data, y, loss, penalties.L2(0.1)).solve("interior_point", tol=1e-9)
        for data in (X, sparse.csr_array(X))
    ]
    assert np.allclose(pair[0].primal["w"], pair[1].primal["w"], rtol=1e-7, atol=1e-9)


def test_dependent_columns_that_nobody_penalises_are_survived() -> None:
    X, y = samples("real")
    X = np.round(X * 2.0**20) / 2.0**20  # sums are exact: the columns really are dependent
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.zeros(len(y))])
    problem = cml.LearningProblem(X, y, losses.Absolute(), penalties.Zero())
    solution = problem.solve("interior_point")
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(problem.solve("clarabel").objective, rel=1e-6)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (
            lambda X, y: cml.LearningProblem(X, y, losses.Huber(1.0), penalties.L1Ball(0.1)),
            "interior_point needs a quadratic penalty, l1 or elastic net",
        ),
        (lambda X, y: cml.LogisticRegression(X, y > 0, 0.1), "interior_point needs a box dual"),
    ],
)
def test_what_it_cannot_solve_it_says(problem: Any, words: str) -> None:
    with pytest.raises(UnsuitableSolverError, match=words):
        problem(*samples("real")).solve("interior_point")


def test_inseparable_classes_are_recognised() -> None:
    problem = cml.load(PROBLEMS / "hard_margin_iris_inseparable.toml")
    assert problem.solve("interior_point").status == "infeasible"


def outside(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
    """Slacks on the wrong side of 0."""
    for point in interior_point(objective, w, b):
        state = {k: v - 0.1 if k == "s" else v for k, v in point.state.items()}
        yield replace(point, state=state)


def sloppy(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
    """Points that are not those of the Newton steps: the residuals are left behind."""
    for k, point in enumerate(interior_point(objective, w, b)):
        yield replace(point, w=(1.0 + 0.01 / (k + 1)) * point.w)


@pytest.mark.parametrize(("broken", "words"), [(outside, "s, z >= 0"), (sloppy, "r_t")])
def test_a_broken_version_fails_its_audit(broken: Any, words: str) -> None:
    theorem = cml.theory.InteriorPointRate()
    cml.solvers.register("planted", broken, ("box dual",), theorem=theorem)
    try:
        problem = cml.SoftMarginSVM(*samples("binary"), 1.0)
        audit = problem.solve("planted", max_iter=60, tol=1e-14).rate_audit()
        assert audit.holds is False
        assert words in str(audit.first_violation)
    finally:
        cml.solvers.unregister("planted")


@pytest.mark.parametrize("name", LINEAR)
def test_linear_programs_have_clarabels_value(name: str) -> None:
    problem = cml.load(PROBLEMS / f"lp_{name}.toml")
    solution = problem.solve("interior_point", polish=False)
    assert solution.status == "optimal"
    assert solution.relative_gap <= 1e-6
    assert solution.iterations <= 30
    reference = problem.solve("clarabel", tol=1e-9).objective
    assert solution.objective == pytest.approx(reference, rel=2e-6)


@pytest.mark.parametrize("status", ["infeasible", "unbounded"])
def test_programs_without_a_solution(status: str) -> None:
    problem = cml.load(PROBLEMS / f"lp_{status}.toml")
    assert problem.solve("interior_point").status == status


def test_complementarity_of_a_random_sparse_program_goes_to_zero() -> None:
    rng = np.random.default_rng(0)
    A = sparse.random_array((40, 90), density=0.1, rng=rng, format="csr")
    program = cml.LinearProgram(rng.random(90), A_eq=A, b_eq=A @ rng.random(90))
    steps = list(predictor_corrector(program.data))
    mu = np.array([each.complementarity for each in steps])
    assert np.min(mu[:15]) <= 1e-10 * mu[0]
    solution = program.solve("interior_point", tol=1e-8)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(program.solve("highs").objective, rel=1e-8)


def test_limits_and_options_of_a_linear_program() -> None:
    problem = cml.load(PROBLEMS / "lp_transport.toml")
    assert problem.solve("interior_point", max_iter=1, polish=False).status == "inaccurate"
    with pytest.raises(InputError, match="no option 'step'"):
        problem.solve("interior_point", step=1.0)

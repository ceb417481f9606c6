"""Where there is no solution, no time for one, or a solver lies: a status and evidence."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from support.model_cases import samples, separable

import convexml as cml
from convexml import Verdict
from convexml.data import DenseDesign
from convexml.numerics import Array
from convexml.solvers import Iterate

X, Y = samples("real")
XB, YB = samples("binary")


def quasi_separable() -> tuple[Array, Array]:
    """Two classes that share two points, on a hyperplane that otherwise separates them."""
    X, y = separable()
    on_plane = np.array([[0.0, 0.4, 0.0, -1.2, 0.0], [0.0, -0.3, 0.0, 0.7, 0.0]])
    X = X - X @ np.eye(5)[0:5:2].T @ np.eye(5)[0:5:2]  # features 0, 2, 4 decide below
    X[:, [0, 2, 4]] = y[:, None] * np.abs(separable()[0][:, [0, 2, 4]])
    return np.vstack([X, on_plane, on_plane]), np.concatenate([y, [1.0, 1.0, -1.0, -1.0]])


SEPARABLE = {"complete": separable, "quasi-complete": quasi_separable}


@pytest.mark.parametrize("name", ["auto", "newton", "clarabel"])
@pytest.mark.parametrize("kind", SEPARABLE)
@pytest.mark.parametrize("penalty", [None, "l2", "l1"])
def test_separable_logistic_regression_is_unattained(
    kind: str, name: str, penalty: str | None
) -> None:
    X, y = SEPARABLE[kind]()
    problem = cml.LogisticRegression(X, y, 0.0, penalty)
    if name != "auto" and not cml.solvers.supports(name, problem)[0]:
        return
    solution = problem.solve(name, max_iter=200)
    assert solution.status == "unattained"
    w, b = solution.evidence["w"], float(solution.evidence["b"])
    margins = y * (X @ w + b)
    assert np.all(margins >= -1e-12)
    assert np.max(margins) == pytest.approx(1.0)
    # From any point, going there lowers the loss for ever.
    values = [problem.objective(t * w, t * b) for t in (0.0, 1.0, 10.0, 1e3, 1e6)]
    assert np.all(np.diff(values) <= 1e-15)  # sums of n numbers, each rounded
    assert values[1] < values[0]
    if kind == "complete":
        assert values[-1] < 1e-6
    assert solution.certificate.claim == "unattained"
    assert solution.certificate.verdict is Verdict.CERTIFIED
    assert not solution.certificate.holds(1.0)  # of the claim "optimal", which is not made


@pytest.mark.parametrize("intercept", [True, False], ids=["b", "no b"])
@pytest.mark.parametrize("name", ["auto", "clarabel", "osqp"])
def test_an_inseparable_hard_margin_has_farkas_multipliers(name: str, intercept: bool) -> None:
    problem = cml.HardMarginSVM(XB, YB, fit_intercept=intercept)
    solution = problem.solve(name)
    assert solution.status == "infeasible"
    assert solution.certificate.claim == "infeasible"
    assert solution.certificate.verdict is Verdict.CERTIFIED
    assert solution.objective == np.inf
    alpha = solution.evidence["alpha"]
    assert alpha.shape == (len(YB),)
    assert np.all(alpha >= 0.0)
    assert np.sum(alpha) == pytest.approx(1.0, abs=1e-14)
    if intercept:
        assert abs(alpha @ YB) <= 1e-14
    longest = np.linalg.norm(XB, axis=1).max()
    assert np.linalg.norm(XB.T @ (alpha * YB)) <= 1e-9 * longest


def test_the_evidence_of_a_hard_margin_is_in_the_callers_numbering() -> None:
    s = np.ones(len(YB))
    s[[0, 7]] = 0.0
    solution = cml.HardMarginSVM(XB, YB, sample_weight=s).solve()
    assert solution.evidence["alpha"].shape == (len(YB),)
    assert np.all(solution.evidence["alpha"][[0, 7]] == 0.0)


@pytest.mark.parametrize("name", ["auto", "clarabel", "osqp"])
def test_an_inconsistent_system_has_a_multiplier_that_proves_it(name: str) -> None:
    solution = cml.MinimumNorm(X, Y).solve(name)
    assert solution.status == "infeasible"
    nu = solution.evidence["nu"]
    assert Y @ nu == pytest.approx(1.0)
    assert np.max(np.abs(X.T @ nu)) <= 1e-9 * np.linalg.norm(nu)


def liar(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
    """Claim a wrong point, with a dual point to match."""
    yield Iterate(np.full_like(w, 0.1), b, objective.c * 0.01)


@pytest.fixture
def lying_solver() -> Iterator[str]:
    """A registered solver that returns a wrong point."""
    cml.solvers.register("liar", liar)
    yield "liar"
    cml.solvers.unregister("liar")


@pytest.mark.parametrize("model", ["ridge", "lasso", "svm"])
def test_a_lying_solver_is_caught(lying_solver: str, model: str) -> None:
    problem = {
        "ridge": lambda: cml.Ridge(X, Y, 0.3),
        "lasso": lambda: cml.Lasso(X, Y, 0.3),
        "svm": lambda: cml.SoftMarginSVM(XB, YB),
    }[model]()
    assert lying_solver in cml.solvers.available()
    solution = problem.solve(lying_solver)
    truth = problem.solve().objective
    assert solution.status == "inaccurate"
    assert not solution.certificate.holds()
    assert np.array_equal(solution.primal["w"], np.full(5, 0.1))
    # The gap is honest: it covers the distance to the truth.
    assert solution.gap >= solution.objective - truth > 0.0
    assert lying_solver not in solution.choice


def test_limits_are_respected_and_the_gap_is_honest() -> None:
    problem = cml.LogisticRegression(XB, YB, 1e-3)
    truth = problem.solve().objective
    few = problem.solve("gradient_descent", max_iter=3)
    assert few.status == "inaccurate"
    assert few.iterations == 3
    assert few.claimed_status == "max_iter"
    assert few.gap >= few.objective - truth > 0.0
    assert (few.trace[0].iteration, few.trace[-1].iteration) == (0, 3)
    start = time.perf_counter()
    timed = cml.LogisticRegression(1e3 * XB * XB, YB, 1e-9).solve(
        "gradient_descent", max_seconds=0.05, max_iter=10**9
    )
    assert time.perf_counter() - start < 2.0
    assert timed.claimed_status == "max_seconds"
    assert timed.status == "inaccurate"
    assert problem.solve("clarabel", max_iter=2).status in ("inaccurate", "failed", "optimal")


def test_a_warm_start_is_used() -> None:
    problem = cml.LogisticRegression(XB, YB, 1e-3)
    w = problem.solve(tol=1e-10).primal["w"]
    cold = problem.solve("gradient_descent", tol=1e-8)
    warm = problem.solve("gradient_descent", tol=1e-8, w0=w)
    assert warm.iterations < cold.iterations / 10


def test_one_solution_is_polished_to_rounding_whatever_the_tolerance() -> None:
    for tol in (1e-2, 1e-6):
        assert cml.Lasso(X, Y, 0.3).solve(tol=tol).relative_gap <= 1e-12
    rough = cml.Lasso(X, Y, 0.3).solve("clarabel", polish=False)
    assert rough.relative_gap > 1e-14


@pytest.mark.parametrize(("seed", "offset"), [(5, 1e7), (2, 1e8)])
def test_of_answers_that_are_not_verified_the_lowest_is_kept(seed: int, offset: float) -> None:
    """A relative gap of 1 at an enormous P is no better answer than w = 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(23, 9)) * 10.0 ** rng.uniform(-6, 6, size=9) + offset
    y = np.where(rng.normal(size=23) > 0.0, 1.0, -1.0)
    loss, penalty = cml.losses.Hinge(), cml.penalties.L2(1e-7)
    problem = cml.LearningProblem(X, y, loss, penalty, fit_intercept=False)
    assert problem.solve().objective <= problem.objective(np.zeros(9))


def test_no_warning_where_scores_of_classes_are_far_apart() -> None:
    X = np.random.default_rng(2).normal(size=(14, 54))
    problem = cml.SoftmaxRegression(X, np.arange(14) % 3, 3.9e-7, "l1")
    assert problem.solve().status == "optimal"


def test_no_warning_where_a_curvature_is_not_known() -> None:
    X = np.random.default_rng(11).normal(size=(8, 12))
    X[:, 1] = X[:, 0]
    problem = cml.LogisticRegression(X, np.where(X[:, 0] > 0.0, 1, -1), 1e-6, "l1")
    assert problem.solve().certified_support().coordinates.shape == (12,)


RNG = np.random.default_rng(0)
SQUARE, NOISE = RNG.normal(size=(40, 40)), RNG.normal(size=40)


def test_softmax_with_a_norm_is_solved_before_it_is_posed_as_cones() -> None:
    """As cones it has n d K entries and K n exponential cones."""
    y = np.arange(40) % 4
    solution = cml.SoftmaxRegression(SQUARE, y, 0.01, penalty="l1").solve()
    assert (solution.status, solution.solver) == ("optimal", "fista")


def test_no_other_solver_is_asked_where_rounding_is_all_that_is_left() -> None:
    y = SQUARE @ np.arange(40.0) + NOISE
    for tol in (1e-14, 1e-16):
        solution = cml.Lasso(SQUARE, y, 0.01).solve(tol=tol)
        certificate = solution.certificate
        assert (solution.status, solution.solver) == ("inaccurate", "working_set")
        assert certificate.rounding > tol * certificate.scale
        assert "answered" not in solution.choice
    assert cml.Lasso(SQUARE, y, 0.01).solve(tol=1e-11).status == "optimal"


PATIENTS, PROGRESS = load_diabetes(return_X_y=True)


@pytest.fixture
def products(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts the products with X, by kind."""
    seen: Counter[str] = Counter()

    def count(name: str, made: Any) -> None:
        def counted(design: DenseDesign, vector: Any) -> Any:
            seen[name] += 1
            return made(design, vector)

        monkeypatch.setattr(DenseDesign, name, counted)

    for name in ("matvec", "rmatvec", "abs_matvec", "abs_rmatvec"):
        count(name, getattr(DenseDesign, name))
    return seen


def test_values_posed_later_are_those_of_the_solution(products: Counter[str]) -> None:
    problem = cml.Lasso(PATIENTS, PROGRESS, 0.1)
    solution = problem.solve("coordinate_descent")
    before = products.total()
    assert problem.variables["z"].value == pytest.approx(
        PATIENTS @ solution.primal["w"] + solution.primal["b"]
    )
    assert problem.constraints["prediction"].dual_value == pytest.approx(solution.dual["u"])
    assert products.total() <= before + 1  # z is computed for who asks


def test_a_lasso_by_working_sets_makes_fewer(products: Counter[str]) -> None:
    """A Gram matrix, the slopes before and after it, one step, and the certificate."""
    solution = cml.Lasso(PATIENTS, PROGRESS, 0.1).solve()
    assert (solution.status, solution.solver) == ("optimal", "working_set")
    assert products["matvec"] <= 6
    assert products["rmatvec"] <= 6


@pytest.mark.parametrize("unit", [1.0, 2.0**-9])
def test_the_certificate_takes_the_products_of_the_last_iterate(
    products: Counter[str], unit: float
) -> None:
    """In whatever units it is judged: its own products are those of its margin alone."""
    problem = cml.Ridge(PATIENTS * unit, PROGRESS, 0.1 * unit**2)
    solution = problem.solve()
    before = products["matvec"], products["rmatvec"]
    w, b, u = solution.primal["w"], float(solution.primal["b"]), solution.dual["u"]
    again = problem.judge_solved(w, b, u, 1e-6)
    assert again.gap == solution.certificate.gap
    assert products["matvec"] == before[0]
    assert products["rmatvec"] <= before[1] + 1  # the gradient of P at w is a row of its own

"""The algorithms of the page as solvers: the same iterates as the page on arrays, certified."""

from __future__ import annotations

import re
from functools import cache
from itertools import islice

import numpy as np
import pytest
from numpy.testing import assert_allclose

import convexml as cml
from convexml import textbook
from convexml.solvers.registry import ALGORITHMS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X @ [1.0, -2.0, 0.5] + 0.3 * RNG.normal(size=60) + 1.0
SIDES = np.where(Y > 1.0, 1.0, -1.0)
MIXED = np.where(RNG.random(60) < 0.3, -SIDES, SIDES)
APART = np.abs(Y - 1.0) > 0.5
WEIGHTS = RNG.uniform(0.5, 2.0, 60)


@cache
def problems() -> dict[str, cml.LearningProblem]:
    return {
        "least squares": cml.LeastSquares(X, Y),
        "weighted": cml.LeastSquares(X, Y, sample_weight=WEIGHTS),
        "ridge": cml.Ridge(X, Y, 0.1),
        "weighted ridge without b": cml.Ridge(
            X, Y, 0.1, fit_intercept=False, sample_weight=WEIGHTS
        ),
        "lasso": cml.Lasso(X, Y, 0.1),
        "weighted lasso": cml.Lasso(X, Y, 0.1, sample_weight=WEIGHTS),
        "ball": cml.ConstrainedRidge(X, Y, 1.0),
        "logistic": cml.LogisticRegression(X, MIXED),
        "logistic without b": cml.LogisticRegression(X, MIXED, fit_intercept=False),
        "logistic l2": cml.LogisticRegression(X, MIXED, 0.1),
        "poisson": cml.PoissonRegression(X, np.round(np.exp(0.3 * X[:, 0])), 0.1),
        "svm": cml.SoftMarginSVM(X, MIXED),
        "svm without b": cml.SoftMarginSVM(X, MIXED, fit_intercept=False),
        "hard": cml.HardMarginSVM(X[APART], SIDES[APART]),
        "halfspace": cml.HalfspaceLP(X[APART] - X[APART].mean(axis=0), SIDES[APART]),
    }


SLOW = ("sgd", "pegasos", "subgradient", "perceptron")
"""Their theorems promise 1/sqrt(T), a floor, or a separating (w, b) that is not the widest."""
PAIRS = [
    (name, which)
    for which in problems()
    for name in cml.solvers.printed()
    if cml.solvers.supports(name, problems()[which])[0]
]


@pytest.mark.parametrize(("name", "which"), PAIRS)
def test_it_runs_and_is_judged(name: str, which: str) -> None:
    problem = problems()[which]
    short = name.removeprefix("textbook.")
    solution = problem.solve(name, max_iter=3000 if short in SLOW else None)
    assert solution.solver == name
    best = problem.solve().objective
    assert solution.objective >= best - 1e-9 * abs(best)
    if short not in SLOW:
        assert solution.status == "optimal", solution.claimed_status
        assert solution.objective <= best + 2e-6 * abs(best)
    elif short != "perceptron":  # on the way
        start = problem.objective_parts.null_value
        assert solution.objective <= best + 0.5 * (start - best)


def test_every_algorithm_is_tried() -> None:
    assert {name for name, _ in PAIRS} == set(cml.solvers.printed())


@pytest.mark.parametrize("name", cml.solvers.printed())
def test_they_are_in_no_default_set(name: str) -> None:
    assert name not in cml.solvers.available()
    assert name not in cml.solvers.names()
    records = cml.compare([problems()["lasso"]], max_seconds=0.2).records
    assert not any(record.solver == name for record in records)


def first(name: str, problem: cml.LearningProblem, count: int = 10, **options):
    objective = problem.objective_parts
    w = np.zeros(objective.d)
    run = ALGORITHMS[name].start(objective, w, 0.0, 4, options)
    return [np.append(point.w, point.b) for point in islice(run, count)]


def test_gradient_descent_is_that_of_the_page_on_the_columns_and_ones() -> None:
    """An objective written in NumPy: mean log(1 + exp(-y z)) + (lam/2) |w|^2, b unpenalised."""
    rows, ridge = np.column_stack([X, np.ones(60)]), np.array([0.1, 0.1, 0.1, 0.0])

    def gradient(x):
        return -rows.T @ (MIXED / (1.0 + np.exp(MIXED * (rows @ x)))) / 60 + ridge * x

    L = np.linalg.eigvalsh(rows.T @ rows / 60)[-1] / 4.0 + 0.1
    page = islice(textbook.gradient_descent(gradient, np.zeros(4), 1.0 / L), 10)
    found = first("textbook.gradient_descent", problems()["logistic l2"])
    assert_allclose(found, list(page), rtol=1e-9, atol=1e-12)


def test_newton_starts_at_zero_with_the_whole_step() -> None:
    rows, ridge = np.column_stack([X, np.ones(60)]), np.diag([0.1, 0.1, 0.1, 0.0])

    def gradient(x):
        return -rows.T @ (MIXED / (1.0 + np.exp(MIXED * (rows @ x)))) / 60 + ridge @ x

    def hessian(x):
        p = 1.0 / (1.0 + np.exp(-rows @ x))
        return rows.T @ np.diag(p * (1.0 - p)) @ rows / 60 + ridge

    x, expected = np.zeros(4), []
    for _ in range(5):
        expected.append(x)
        x = x - np.linalg.solve(hessian(x), gradient(x))
    assert_allclose(
        first("textbook.newton", problems()["logistic l2"], 5), expected, rtol=1e-9, atol=1e-11
    )


def test_pegasos_is_the_page_with_lam_one_over_n_c() -> None:
    lam = 1.0 / 60.0  # C = 1
    page = islice(textbook.pegasos(X, MIXED, lam, seed=4), 10)
    found = first("textbook.pegasos", problems()["svm without b"])
    assert_allclose(np.array(found)[:, :3], list(page), rtol=1e-12)


def test_the_hinge_with_b_takes_stochastic_steps() -> None:
    """f_i = |w|^2 / 2 + n C (1 - y_i z_i)_+: b moves by n C y_i, without a penalty."""
    found = first("textbook.sgd", problems()["svm"], 2, step=1.0)
    row = np.random.default_rng(4).integers(60)
    assert_allclose(found[1], 60.0 * MIXED[row] * np.append(X[row], 1.0))


def test_coordinate_descent_of_a_weighted_lasso_repeats_rows() -> None:
    """Integer weights are repeated rows, with b eliminated by means."""
    counts = RNG.integers(1, 4, 60)
    weighted = cml.Lasso(X, Y, 0.1, sample_weight=counts)
    repeated = cml.Lasso(np.repeat(X, counts, axis=0), np.repeat(Y, counts), 0.1)
    name = "textbook.coordinate_descent"
    assert_allclose(first(name, weighted), first(name, repeated), atol=1e-12)


def test_random_coordinates_are_another_order() -> None:
    name = "textbook.coordinate_descent"
    assert not np.allclose(
        first(name, problems()["lasso"]), first(name, problems()["lasso"], random=True)
    )


@pytest.mark.parametrize(
    "name",
    ["gradient_descent", "accelerated_gradient", "proximal_gradient", "fista"],
)
@pytest.mark.parametrize("which", ["ridge", "least squares", "logistic l2"])
def test_the_theorem_holds_along_the_run(name: str, which: str) -> None:
    solution = problems()[which].solve(f"textbook.{name}", tol=1e-9)
    assert solution.rate_audit().holds is True


def test_a_step_that_is_too_long_is_told_by_the_audit() -> None:
    problem = problems()["ridge"]
    L = np.linalg.eigvalsh(np.cov(X.T, bias=True))[-1]
    solution = problem.solve("textbook.gradient_descent", step=2.5 / L, max_iter=20)
    audit = solution.rate_audit()
    assert audit.holds is not True


def test_an_algorithm_without_a_theorem_says_so() -> None:
    solution = problems()["lasso"].solve("textbook.admm", max_iter=50)
    with pytest.raises(
        cml.errors.InputError, match=r"no theorem is on record for 'textbook\.admm'"
    ):
        solution.rate_audit()


@pytest.mark.parametrize(
    ("name", "which"),
    [
        ("subgradient", "svm"),
        ("subgradient", "svm without b"),
        ("pegasos", "svm without b"),
        ("sgd", "weighted ridge without b"),
        ("saga", "ridge"),
        ("newton", "logistic l2"),
        ("damped_newton", "logistic l2"),
        ("coordinate_descent", "lasso"),
        ("dual_coordinate_ascent", "svm without b"),
        ("perceptron", "hard"),
    ],
)
def test_the_theorem_of_the_page_holds(name: str, which: str) -> None:
    solution = problems()[which].solve(f"textbook.{name}", max_iter=80)
    audit = solution.rate_audit()
    assert audit.holds is True, str(audit)


def test_a_theorem_that_is_not_for_the_run_accuses_nobody() -> None:
    audit = problems()["svm"].solve("textbook.sgd", max_iter=50).rate_audit()
    assert audit.holds is None
    assert "the gradients of samples are not Lipschitz" in audit.untested


def told(name: str, which: str, max_iter: int = 20, **options) -> str:
    solution = problems()[which].solve(f"textbook.{name}", max_iter=max_iter, **options)
    return solution.message.removeprefix("max_iter; ")


def test_the_iterations_of_a_constant_step_are_those_of_the_formula() -> None:
    """(1 - s mu)^(T-1) |x*|^2 / (2 s) <= eps, or |x*|^2 / (2 s T) <= eps, with all by NumPy."""
    rows, ridge = np.column_stack([X, np.ones(60)]), np.diag([0.1, 0.1, 0.1, 0.0])
    H = rows.T @ rows / 60 + ridge
    best = np.linalg.solve(H, rows.T @ Y / 60)
    value = ((Y - rows @ best) ** 2).mean() / 2 + best @ ridge @ best / 2
    (mu, *_, L), eps = np.linalg.eigvalsh(H), 1e-6 * value
    step = 0.9 / L
    linear = 1.0 + np.log(best @ best / (2 * step * eps)) / -np.log(1.0 - step * mu)
    T = np.ceil(min(linear, best @ best / (2 * step * eps)))
    found = told("gradient_descent", "ridge", 5, step=step)
    assert abs(float(found.split("T = ")[1].split()[0]) - T) <= 1.0


def test_the_iterations_of_pegasos_are_those_of_the_formula() -> None:
    """rho^2 (1 + log T) / (2 lam T) <= eps at T, and not at T - 1, for the SVM with C = 1."""
    words = told("pegasos", "svm without b")
    assert "theorem 14.11" in words
    T = float(words.split("T = ")[1].split()[0])
    rho = 2.0 * 60.0 * np.max(np.linalg.norm(X, axis=1))
    eps = 1e-6 * problems()["svm without b"].solve().objective
    assert rho**2 * (1.0 + np.log(T)) / (2.0 * T) == pytest.approx(eps, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "which", "words"),
    [
        ("sgd", "weighted ridge without b", r"is all, and .* is asked for \(Garrigos and Gower"),
        ("sgd", "svm", "the gradients of samples are not Lipschitz"),
        ("subgradient", "lasso", "no bound of the subgradients is known"),
        ("admm", "lasso", "the method ends here"),
    ],
)
def test_where_no_theorem_applies_the_message_says_why(name: str, which: str, words: str) -> None:
    found = told(name, which, 5)
    assert found.startswith("no theorem: ")
    assert re.search(words, found)


def test_pure_newton_that_diverges_is_told_as_failed_or_inaccurate() -> None:
    """Huber from 0: no sample is in the quadratic part, the Hessian is 0 in b."""
    problem = cml.HuberRegression(X, 100.0 + Y, 0.1, 0.1)
    solution = problem.solve("textbook.newton")
    assert solution.status in ("failed", "inaccurate")
    assert "Singular matrix" in solution.message or solution.claimed_status != "optimal"


def test_unsuitable_and_unknown_names_have_advice() -> None:
    with pytest.raises(cml.errors.UnsuitableSolverError, match="not differentiable"):
        problems()["lasso"].solve("textbook.newton")
    with pytest.raises(cml.errors.UnknownSolverError, match=r"textbook\.newton"):
        problems()["lasso"].solve("textbook.newtn")


def test_compare_takes_them_by_name() -> None:
    comparison = cml.compare([problems()["lasso"]], ["textbook.fista", "fista"])
    assert {record.solver: record.verdict for record in comparison.records} == {
        "textbook.fista": "certified",
        "fista": "certified",
    }

"""The algorithms of the page as solvers: the same iterates as the page on arrays, certified."""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.sizes import by_turns

import convexml as cml
from convexml import textbook
from convexml.library import read_table_of
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
        "l1 ball without b": cml.ConstrainedLasso(X, Y, 1.0, fit_intercept=False),
        "logistic": cml.LogisticRegression(X, MIXED),
        "logistic without b": cml.LogisticRegression(X, MIXED, fit_intercept=False),
        "logistic l2": cml.LogisticRegression(X, MIXED, 0.1),
        "poisson": cml.PoissonRegression(X, np.round(np.exp(0.3 * X[:, 0])), 0.1),
        "svm": cml.SoftMarginSVM(X, MIXED),
        "svm without b": cml.SoftMarginSVM(X, MIXED, fit_intercept=False),
        "hard": cml.HardMarginSVM(X[APART], SIDES[APART]),
        "halfspace": cml.HalfspaceLP(X[APART] - X[APART].mean(axis=0), SIDES[APART]),
    }


ONLINE = ("online_gradient_descent", "follow_the_regularized_leader", "exponentiated_gradient")
SLOW = ("sgd", "pegasos", "subgradient", "perceptron", *ONLINE)
"""Their theorems promise 1/sqrt(T), a floor, or a separating (w, b) that is not the widest."""
PAIRS = [
    (name, which)
    for which in problems()
    for name in cml.solvers.printed()
    if cml.solvers.supports(name, problems()[which])[0]
]


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


def test_pegasos_is_the_page_with_lam_one_over_n_c() -> None:
    lam = 1.0 / 60.0  # C = 1
    page = islice(textbook.pegasos(X, MIXED, lam, seed=4), 10)
    found = first("textbook.pegasos", problems()["svm without b"])
    assert_allclose(np.array(found)[:, :3], list(page), rtol=1e-12)


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


@pytest.mark.parametrize(("name", "which", "words"), [
    ("sgd", "weighted ridge without b", r"is all, and .* is asked for \(Garrigos and Gower"),
    ("sgd", "svm", "the gradients of samples are not Lipschitz"),
    ("subgradient", "lasso", "no bound of the subgradients is known"),
    ("admm", "lasso", "the method ends here"),
])  # fmt: skip
def test_where_no_theorem_applies_the_message_says_why(name: str, which: str, words: str) -> None:
    found = told(name, which, 5)
    assert found.startswith("no theorem: ")
    assert re.search(words, found)


PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
FILES = sorted(PROBLEMS.glob("*.toml"))
FILES = [path for path in FILES if read_table_of(path).statement is None]


# -- every problem of the page ---------------------------------------------------------------------


@pytest.mark.parametrize(("name", "which"), by_turns(PAIRS))
def test_it_runs_and_is_judged(name: str, which: str) -> None:
    problem, short = problems()[which], name.removeprefix("textbook.")
    few = 200 if short in ONLINE else 800 if short in SLOW else None
    solution = problem.solve(name, max_iter=few)
    assert solution.solver == name
    best = problem.solve().objective
    assert solution.objective >= best - 1e-9 * abs(best)
    if short not in SLOW:
        assert solution.status == "optimal", solution.claimed_status
        assert solution.objective <= best + 2e-6 * abs(best)
    elif short != "perceptron":  # on the way
        start = problem.objective_parts.null_value
        assert solution.objective <= best + 0.5 * (start - best)


def test_all_are_tried_and_none_is_in_a_default_set() -> None:
    assert {name for name, _ in PAIRS} == set(cml.solvers.printed())
    assert not set(cml.solvers.printed()) & {*cml.solvers.available(), *cml.solvers.names()}
    usual = cml.compare([problems()["lasso"]], max_seconds=0.2).records
    assert not any(record.solver.startswith("textbook") for record in usual)
    asked = cml.compare([problems()["lasso"]], ["textbook.fista", "fista"]).records
    assert [record.verdict for record in asked] == ["certified", "certified"]


def test_what_is_said_where_an_algorithm_ends_or_does_not_suit() -> None:
    lasso, errors = problems()["lasso"], cml.errors
    for call, error, words in (
        (lambda: lasso.solve("textbook.newton"), errors.UnsuitableSolverError, "differentiable"),
        (lambda: lasso.solve("textbook.newtn"), errors.UnknownSolverError, r"textbook\.newton"),
        (
            lambda: lasso.solve("textbook.admm", max_iter=50).rate_audit(),
            *(errors.InputError, r"no theorem is on record for 'textbook\.admm'"),
        ),
    ):
        with pytest.raises(error, match=words):
            call()
    # Pure Newton diverges on Huber's loss from 0: no sample is in the quadratic part.
    solution = cml.HuberRegression(X, 100.0 + Y, 0.1, 0.1).solve("textbook.newton")
    assert solution.status in ("failed", "inaccurate")
    assert "Singular matrix" in solution.message or solution.claimed_status != "optimal"

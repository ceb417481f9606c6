"""Newton and iteratively reweighted least squares."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import StandardScaler
from support.model_cases import samples

import convexml as cml
from convexml import losses, penalties
from convexml.errors import UnsuitableSolverError
from convexml.numerics import Array
from convexml.objective import newton as newton_system
from convexml.solvers.second_order.irls import irls
from convexml.solvers.second_order.newton import newton

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
SMOOTH = (
    "exponential_iris",
    "huber_diabetes",
    "least_squares_breast_cancer_raw",
    "least_squares_diabetes",
    "least_squares_longley",
    "logistic_breast_cancer",
    "logistic_digits",
    "logistic_iris",
    "poisson_diabetes",
    "poisson_linnerud",
    "ridge_breast_cancer_raw",
    "ridge_linnerud_weighted",
    "squared_hinge_breast_cancer",
)


def breast_cancer() -> tuple[Array, Array]:
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def digits() -> tuple[Array, Array]:
    X, y = load_digits(return_X_y=True)
    return X / 16.0, y >= 5


def synthetic() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 50))
    return X, X @ rng.normal(size=50) / np.sqrt(50.0) + rng.logistic(size=100_000) > 0.0


@pytest.mark.parametrize("data", [breast_cancer, digits, synthetic])
@pytest.mark.parametrize("lam", [1e-6, 1e-2])
def test_newton_needs_at_most_twelve_iterations(data: Any, lam: float) -> None:
    solution = cml.LogisticRegression(*data(), lam).solve("newton", tol=1e-10, polish=False)
    assert solution.status == "optimal"
    assert solution.relative_gap <= 1e-10
    assert solution.iterations <= 12


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("solver", ["newton", "irls"])
def test_the_objective_is_clarabels_at_a_verified_gap(name: str, solver: str) -> None:
    problem = cml.load(PROBLEMS / f"{name}.toml")
    reference = problem.solve("clarabel", tol=1e-9)
    solution = problem.solve(solver, tol=1e-9)
    assert solution.status == "optimal"
    apart = abs(solution.objective - reference.objective)
    assert apart <= 1e-6 * abs(reference.objective) + max(reference.gap, 0.0)


@pytest.mark.parametrize(
    ("loss", "lam"),
    [
        (losses.Logistic(), 0.01),
        (losses.Poisson(), 0.01),
        (losses.Squared(), 0.1),
        (losses.Exponential(), 0.05),
        (losses.Huber(0.5), 0.1),
        (losses.SquaredHinge(), 0.05),
    ],
    ids=lambda each: getattr(each, "name", str(each)),
)
@pytest.mark.parametrize("intercept", [True, False])
def test_irls_is_newton(loss: Any, lam: float, intercept: bool) -> None:
    X, y = samples(loss.labels)
    problem = cml.LearningProblem(X, y, loss, penalties.L2(lam), fit_intercept=intercept)
    parts, start = problem.objective_parts, np.zeros(X.shape[1])
    pair = zip(
        islice(newton(parts, start, 0.0), 7), islice(irls(parts, start, 0.0), 7), strict=False
    )
    for one, other in pair:
        assert np.allclose(one.w, other.w, rtol=1e-9, atol=1e-11)
        assert one.b == pytest.approx(other.b, rel=1e-9, abs=1e-11)


def test_conjugate_gradients_take_the_same_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = cml.LogisticRegression(*breast_cancer(), 1e-3)
    exact = problem.solve("newton", tol=1e-10, polish=False)
    monkeypatch.setattr(newton_system, "LARGEST_SYSTEM", 5)
    iterated = problem.solve("newton", tol=1e-10, polish=False)
    assert iterated.status == "optimal"
    assert iterated.iterations <= 12
    assert np.allclose(iterated.primal["w"], exact.primal["w"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("solver", ["newton", "irls"])
def test_singular_hessians_are_survived(solver: str) -> None:
    X, y = samples("binary")
    X = np.round(X * 2.0**20) / 2.0**20  # differences are exact: the columns really are dependent
    X = np.column_stack([X, X[:, 0] - X[:, 1], np.zeros(len(y)), np.ones(len(y))])
    problem = cml.LogisticRegression(X, y, 0.0, None)
    solution = problem.solve(solver, tol=1e-9)
    assert solution.status == "optimal"
    slim = cml.LogisticRegression(X[:, :5], y, 0.0, None).solve("newton", tol=1e-9)
    assert solution.objective == pytest.approx(slim.objective, rel=1e-9)


@pytest.mark.parametrize("solver", ["newton", "irls"])
def test_the_theorem_holds_on_the_library(solver: str) -> None:
    for name in ("logistic_iris", "logistic_digits", "huber_diabetes", "poisson_linnerud"):
        audit = cml.load(PROBLEMS / f"{name}.toml").solve(solver, tol=1e-9).rate_audit()
        assert audit.holds, (name, audit.first_violation)
    audit = cml.load(PROBLEMS / "squared_hinge_breast_cancer.toml").solve(solver).rate_audit()
    assert audit.holds


def undamped(objective: Any, w: Array, b: float) -> Any:
    """Newton's method without its line search, with steps 2.5 times too long."""
    for point in newton(objective, w, b):
        yield point
        break
    while True:
        ahead = list(islice(newton(objective, w, b), 2))[-1]
        w, b = w + 2.5 * (ahead.w - w), b + 2.5 * (ahead.b - b)
        yield cml.solvers.Iterate(w, b)


def test_a_broken_version_fails_its_audit() -> None:
    cml.solvers.register("planted", undamped, theorem=cml.theory.NewtonRate())
    try:
        problem = cml.LogisticRegression(*samples("binary"), 0.05)
        audit = problem.solve("planted", max_iter=8).rate_audit()
        assert audit.holds is False
    finally:
        cml.solvers.unregister("planted")


def test_irls_says_what_it_cannot_solve() -> None:
    X, y = samples("real")
    with pytest.raises(UnsuitableSolverError, match="its loss is not differentiable"):
        cml.LearningProblem(X, y, losses.Absolute(), penalties.L2(0.1)).solve("irls")
    with pytest.raises(UnsuitableSolverError, match="its penalty is not quadratic"):
        cml.Lasso(X, y, 0.1).solve("irls")

"""Inexact Newton steps: what they solve, what they cost, and what their theorem asks of them."""

from __future__ import annotations

from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.model_cases import samples

import convexml as cml
from convexml import losses, penalties
from convexml.design import DenseDesign
from convexml.numerics import Array
from convexml.objective import frame_of
from convexml.solvers.second_order import hessian as products
from convexml.solvers.second_order import newton_cg as module
from convexml.solvers.second_order.hessian import Coordinates, Hessian, InSingle, sampled
from convexml.solvers.second_order.newton_cg import conjugate_gradients, newton_cg

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
LIBRARY = (
    "huber_diabetes",
    "least_squares_diabetes",
    "logistic_breast_cancer",
    "logistic_digits",
    "poisson_linnerud",
    "ridge_linnerud_weighted",
    "squared_hinge_breast_cancer",
)


@pytest.mark.parametrize("name", LIBRARY)
def test_the_library_is_solved_and_its_theorem_holds(name: str) -> None:
    problem = cml.load(PROBLEMS / f"{name}.toml")
    solution, exact = (problem.solve(each, tol=1e-9) for each in ("newton_cg", "newton"))
    assert solution.status == "optimal"
    assert abs(solution.objective - exact.objective) <= solution.gap + exact.gap
    audit = solution.rate_audit()
    assert audit.holds, audit.first_violation


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", ["classes", "binary", "count", "real"])
def test_all_losses_in_dense_and_sparse(kind: str, intercept: bool) -> None:
    X, y = samples("binary" if kind == "classes" else kind)
    loss: Any = {
        "binary": losses.Logistic(),
        "count": losses.Poisson(),
        "real": losses.Huber(0.5),
        "classes": losses.Softmax(),
    }[kind]
    y = np.arange(len(y)) % 3 if kind == "classes" else y
    weights = np.linspace(0.5, 2.0, len(y))
    given = {"fit_intercept": intercept, "sample_weight": weights}
    dense, thin = (
        cml.LearningProblem(A, y, loss, penalties.L2(0.02), **given).solve("newton_cg", tol=1e-10)
        for A in (X, sparse.csr_array(X))
    )
    exact = cml.LearningProblem(X, y, loss, penalties.L2(0.02), **given).solve("newton", tol=1e-12)
    for found in (dense, thin):
        assert found.status == "optimal"
        assert found.objective == pytest.approx(exact.objective, rel=1e-9)


def problem_of(n: int, d: int, lam: float = 1e-3, spread: float = 1.0) -> Any:
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d)) * np.geomspace(1.0, spread, d)
    y = X @ rng.normal(size=d) / np.sqrt(d) + rng.logistic(size=n) > 0.0
    return cml.LogisticRegression(X, y, lam)


def test_k_products_minimise_the_model_over_the_krylov_space() -> None:
    """Against least squares over a basis of M g, M H M g, ..., M the preconditioner."""
    objective = problem_of(60, 9).objective_parts
    at = Coordinates(objective)
    x = np.random.default_rng(1).normal(size=at.size)
    z = at.forward(x)
    g = at.gradient(x, z)
    hessian = Hessian(at, x, z, g)
    H = np.column_stack([hessian @ e for e in np.eye(at.size)])
    assert np.allclose(H, H.T, rtol=1e-12)
    inverse = 1.0 / (1.0 + np.arange(at.size))
    for k in range(1, 6):
        left = iter([False] * (k - 1) + [True])
        found, r, count = conjugate_gradients(
            hessian, -g, lambda r: inverse * r, lambda r, left=left: next(left)
        )
        assert count == k
        basis = [inverse * -g]
        for _ in range(k - 1):
            basis.append(inverse * (H @ basis[-1]) / np.linalg.norm(H @ basis[-1]))
        Q = np.linalg.qr(np.column_stack(basis))[0]
        best = Q @ np.linalg.solve(Q.T @ H @ Q, -(Q.T @ g))
        assert np.allclose(found, best, rtol=1e-8, atol=1e-10)
        assert np.allclose(r, -g - H @ found, rtol=1e-9, atol=1e-12)


def test_passes_are_those_that_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for name in ("matvec", "rmatvec"):
        plain = getattr(DenseDesign, name)

        def counted(self: Any, x: Array, plain: Any = plain) -> Array:
            made.append(1)
            return plain(self, x)

        monkeypatch.setattr(DenseDesign, name, counted)
    objective = problem_of(200, 20).objective_parts
    made.clear()
    last = list(newton_cg(objective, np.zeros(20), 0.0))[-1]
    # w = 0 costs no product; X itself was not looked at before the first.
    assert len(made) == last.passes - 1.0


def test_few_products_where_a_gram_matrix_would_cost_more() -> None:
    """2 d passes would be one Gram matrix; auto sees that and makes none."""
    problem = problem_of(600, 600, 1.0 / 600.0)
    solution = problem.solve()
    assert solution.solver == "newton_cg"
    assert "newton" in solution.choice
    assert solution.status == "optimal"
    assert solution.passes < 300.0
    assert [record.iteration for record in solution.trace] == [0, solution.iterations]


@pytest.mark.parametrize(
    "stored", [np.ascontiguousarray, np.asfortranarray, sparse.csr_array, sparse.csc_array]
)
def test_products_in_single_precision_are_those_of_x(
    stored: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To seven digits, whatever the size of the vectors, in one block of rows or in several."""
    X, y = np.random.default_rng(3).normal(size=(90, 7)), np.r_[np.ones(40), -np.ones(50)]
    objective = cml.LogisticRegression(stored(X), y, 0.1).objective_parts
    monkeypatch.setattr(products, "SMALL", 100)
    monkeypatch.setattr(products, "SHORT", 7 * 32)
    single, exact = products.in_single(objective), Coordinates(objective)
    assert single is not None
    assert single.design.constant.dtype == np.float32
    for size in (1e-60, 1.0, 1e60):
        x, t = size * np.linspace(-1.0, 2.0, 8), size * np.linspace(2.0, -3.0, 90)
        h = np.linspace(0.0, 1.0, 90)
        assert np.allclose(single.forward(x), exact.forward(x), rtol=1e-5, atol=1e-5 * size)
        assert np.allclose(single.backward(t), exact.backward(t), rtol=1e-5, atol=1e-4 * size)
        bent = single.bent(x, h.astype(np.float32))
        assert np.allclose(bent, exact.backward(h * exact.forward(x)), rtol=1e-5, atol=1e-4 * size)


@pytest.mark.parametrize("thin", [False, True])
def test_single_precision_steers_and_does_not_decide(
    thin: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = problem_of(500, 300)
    if thin:
        parts = problem.objective_parts
        problem = cml.LogisticRegression(sparse.csr_array(parts.design.dense()), parts.y, 1e-3)
    monkeypatch.setattr(products, "SMALL", 10**9)
    double = problem.solve("newton_cg", tol=1e-12)
    monkeypatch.setattr(products, "SMALL", 1000)
    taken: list[int] = []
    plain = InSingle.bent

    def counted(self: Any, x: Array, weights: Array) -> Array:
        taken.append(1)
        assert self.design.constant.dtype == np.float32
        return plain(self, x, weights)

    monkeypatch.setattr(InSingle, "bent", counted)
    single = problem.solve("newton_cg", tol=1e-12)
    assert taken
    assert single.primal["w"].dtype == np.float64
    assert single.status == double.status == "optimal"
    assert single.objective == pytest.approx(double.objective, rel=1e-12)
    assert single.rate_audit().holds


def test_single_precision_is_given_up_where_it_will_not_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Columns that differ by 1e-5: seven digits of a product leave little of what is between."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1)) + 1e-5 * rng.normal(size=(300, 40))
    y = X[:, 0] + 1e5 * (X[:, 1] - X[:, 2]) + rng.logistic(size=300) > 0.0
    objective = cml.LogisticRegression(X, y, 1e-13).objective_parts
    monkeypatch.setattr(products, "SMALL", 100)
    kinds: list[bool] = []
    plain = Hessian.__matmul__

    def seen(self: Any, x: Array) -> Array:
        kinds.append(self.single is None)
        return plain(self, x)

    monkeypatch.setattr(Hessian, "__matmul__", seen)
    points = list(islice(newton_cg(objective, np.zeros(40), 0.0), 60))
    assert not kinds[0]
    assert kinds[-1]
    values = [objective.primal(point.w, point.b) for point in points]
    assert values[-1] <= values[0]


def test_a_sample_of_the_rows_is_a_preconditioner() -> None:
    """Its condition number is that of a Gram matrix of 10 rows a column, whatever the columns'."""
    objective = problem_of(4000, 20, 1e-6, 1e-3).objective_parts
    at, x = Coordinates(objective), np.zeros(21)
    z = at.forward(x)
    hessian = Hessian(at, x, z, at.gradient(x, z))
    solve = sampled(hessian, np.random.default_rng(0))
    assert solve is not None
    H = np.column_stack([hessian @ e for e in np.eye(21)])
    eigenvalues = np.sort(np.linalg.eigvals(np.column_stack([solve(h) for h in H.T])).real)
    assert eigenvalues[-1] / eigenvalues[0] < 6.0 < np.linalg.cond(H) / 1e4
    runs = [problem_of(4000, 20, 1e-6, 1e-3).solve("newton_cg", tol=1e-9) for _ in range(2)]
    assert runs[0].status == "optimal"
    assert np.array_equal(runs[0].primal["w"], runs[1].primal["w"])
    assert runs[0].passes < 120.0


def test_unpenalised_features_and_singular_hessians_are_survived() -> None:
    X, y = samples("binary")
    X = np.round(X * 2.0**20) / 2.0**20
    X = np.column_stack([X, X[:, 0] - X[:, 1], np.zeros(len(y)), np.ones(len(y))])
    free = cml.LogisticRegression(X, y, 0.0, None).solve("newton_cg", tol=1e-8)
    slim = cml.LogisticRegression(X[:, :5], y, 0.0, None).solve("newton", tol=1e-9)
    assert free.objective == pytest.approx(slim.objective, rel=1e-7)
    weights = np.r_[0.0, np.ones(7)]
    half = cml.LearningProblem(X, y, losses.Logistic(), penalties.L2(0.1, weights))
    assert half.solve("newton_cg").status == "optimal"


def test_convergence_is_superlinear() -> None:
    """Each gap is a power of the one before, of order 1.5 where rounding does not end it."""
    objective = frame_of(problem_of(400, 30, 1e-2).objective_parts).objective
    points = list(newton_cg(objective, np.zeros(30), 0.0))[1:]
    assert points[0].facts["forcing"] <= module.LOOSEST
    least = objective.primal(points[-1].w, points[-1].b)
    gaps = [objective.primal(point.w, point.b) / least - 1.0 for point in points]
    last = next(k for k, gap in enumerate(gaps) if gap < 1e-11)
    assert last <= 4
    assert all(after < 10.0 * before**1.4 for before, after in pairwise(gaps[: last + 1]))

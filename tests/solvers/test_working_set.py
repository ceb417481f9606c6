"""Working sets against closed forms, a conic solver, and data that make supports singular."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.model_cases import GROUPS, samples

import convexml as cml
from convexml import losses, penalties
from convexml.errors import InputError, UnsuitableSolverError
from convexml.numerics import Array
from convexml.solvers.coordinate.support_factor import SupportFactor
from convexml.solvers.coordinate.support_newton import minimise
from convexml.solvers.coordinate.working_set import working_set

N, D = 40, 30


def draw(kind: str) -> Array:
    """A matrix that is hard in one way."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, D))
    if kind == "correlated":
        return 0.1 * X + rng.normal(size=(N, 1))
    if kind == "columns of all sizes":
        return X * 10.0 ** np.linspace(-3.0, 3.0, D)
    if kind == "repeated columns":
        return np.repeat(X[:, : D // 2], 2, axis=1)
    if kind == "repeated rows":
        return np.repeat(X[: N // 2], 2, axis=0)
    if kind == "constant columns":
        return np.where(np.arange(D) % 3 == 0, 0.1, X)
    if kind == "few rows":
        return X[:12]
    return X


def targets(X: Array, labels: str) -> Array:
    rng = np.random.default_rng(4)
    z = X[:, :3].sum(axis=1) / (1.0 + np.abs(X[:, :3]).max()) + 0.5 * rng.normal(size=len(X))
    if labels == "binary":
        return np.where(z > np.median(z), 1.0, -1.0)
    return rng.poisson(np.exp(z)).astype(float) if labels == "count" else z


LOSSES = [losses.Squared(), losses.Logistic(), losses.Huber(0.5), losses.Poisson()]
KINDS = [
    "correlated",
    "columns of all sizes",
    "repeated columns",
    "repeated rows",
    "constant columns",
    "few rows",
]


@pytest.mark.parametrize("share", [0.3, 1e-4])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_awkward_data_are_certified(loss: Any, kind: str, share: float) -> None:
    X = draw(kind)
    y = targets(X, loss.labels)
    groups = np.arange(D) // 4
    for penalty in (
        penalties.L1,
        lambda lam: penalties.ElasticNet(lam, 0.7),
        lambda lam: penalties.GroupL2(lam, groups),
    ):
        top = cml.LearningProblem(X, y, loss, penalty(1.0)).lam_max
        for intercept in (True, False):
            problem = cml.LearningProblem(X, y, loss, penalty(share * top), fit_intercept=intercept)
            solution = problem.solve("working_set", tol=1e-9)
            assert solution.status == "optimal", (solution.message, solution.relative_gap)
            assert problem.certify(solution.primal["w"], float(solution.primal["b"])).holds(1e-9)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    "penalty",
    [
        penalties.L1(0.1, [1.0, 0.0, 2.0, 0.5, 1.0]),
        penalties.ElasticNet(0.2, 0.5),
        penalties.GroupL2(0.1, GROUPS),
        penalties.GroupL2(0.2, GROUPS, np.arange(len(set(GROUPS)))),
    ],
    ids=lambda penalty: penalty.name,
)
@pytest.mark.parametrize("loss", [*LOSSES, losses.SquaredHinge()], ids=lambda loss: loss.name)
def test_the_objective_is_clarabels(
    loss: Any, penalty: Any, intercept: bool, is_sparse: bool
) -> None:
    X, y = samples(loss.labels)
    weights = np.where(np.arange(len(y)) % 4 == 0, 0.0, 1.0 + np.arange(len(y)) % 3)
    problem = cml.LearningProblem(
        sparse.csr_array(X) if is_sparse else X,
        y,
        loss,
        penalty,
        fit_intercept=intercept,
        sample_weight=weights,
    )
    solution = problem.solve("working_set", tol=1e-10)
    assert solution.status == "optimal"
    assert solution.rate_audit().holds is not False
    truth = problem.solve("clarabel", tol=1e-10).objective
    assert solution.objective == pytest.approx(truth, rel=1e-8)


def test_an_orthogonal_design_is_solved_by_soft_thresholds() -> None:
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(400, 300)))[0] * 20.0  # Q'Q = n I
    y = rng.normal(size=400)
    inner, lam, rho = Q.T @ y / 400.0, 0.03, 0.6
    shrunk = np.sign(inner) * np.maximum(np.abs(inner) - lam, 0.0)
    lasso = cml.Lasso(Q, y, lam, fit_intercept=False).solve("working_set", tol=1e-12)
    assert np.allclose(lasso.primal["w"], shrunk, atol=1e-13)
    assert np.array_equal(lasso.primal["w"] != 0.0, shrunk != 0.0)
    net = cml.ElasticNet(Q, y, lam, rho, fit_intercept=False).solve("working_set", tol=1e-12)
    part = np.sign(inner) * np.maximum(np.abs(inner) - rho * lam, 0.0)
    assert np.allclose(net.primal["w"], part / (1.0 + (1.0 - rho) * lam), atol=1e-13)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_above_lam_max_w_is_zero(loss: Any) -> None:
    X = draw("plain")
    y = targets(X, loss.labels)
    top = cml.LearningProblem(X, y, loss, penalties.L1(1.0)).lam_max
    above = cml.LearningProblem(X, y, loss, penalties.L1(1.001 * top)).solve("working_set")
    assert above.status == "optimal"
    assert not np.any(above.primal["w"])
    below = cml.LearningProblem(X, y, loss, penalties.L1(0.95 * top)).solve("working_set", tol=1e-9)
    assert below.status == "optimal"
    assert np.any(below.primal["w"])


def test_more_features_than_a_working_set_dense_and_sparse() -> None:
    rng = np.random.default_rng(1)
    X = sparse.random_array((150, 700), density=0.05, rng=rng, format="csr")
    y = X @ np.where(np.arange(700) < 10, 1.0, 0.0) + 0.1 * rng.normal(size=150) + 3.0
    for share in (0.3, 0.02):
        values = []
        for data in (X, X.toarray()):
            problem = cml.Lasso(data, y, 1.0)
            problem.lam = share * problem.lam_max
            solution = problem.solve("working_set", tol=1e-10)
            assert solution.status == "optimal"
            values.append(solution.objective)
        assert values[0] == pytest.approx(values[1], rel=1e-11)
        again = problem.solve("working_set", tol=1e-10, w0=solution.primal["w"])
        assert again.status == "optimal"
        assert again.iterations <= 1


def test_orthogonal_groups_are_shrunk_one_by_one() -> None:
    rng = np.random.default_rng(5)
    Q = np.linalg.qr(rng.normal(size=(300, 60)))[0] * np.sqrt(300.0)  # Q'Q = n I
    y, groups, lam = rng.normal(size=300), np.arange(60) // 3, 0.06
    inner = (Q.T @ y / 300.0).reshape(20, 3)
    norms = np.linalg.norm(inner, axis=1, keepdims=True)
    shrunk = (np.maximum(1.0 - lam * np.sqrt(3.0) / norms, 0.0) * inner).ravel()
    assert 0 < np.count_nonzero(shrunk) < 60
    found = cml.GroupLasso(Q, y, lam, groups, fit_intercept=False).solve("working_set", tol=1e-12)
    assert np.allclose(found.primal["w"], shrunk, atol=1e-13)
    assert np.array_equal(found.primal["w"] != 0.0, shrunk != 0.0)


def test_groups_scattered_over_many_columns() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 400))
    groups = np.arange(400) % 90
    y = X[:, groups < 3].sum(axis=1) + rng.normal(size=60)
    problem = cml.GroupLasso(X, y, 1.0, groups)
    problem.lam = 0.2 * problem.lam_max
    solution = problem.solve("working_set", tol=1e-9)
    assert solution.status == "optimal"
    truth = problem.solve("clarabel", tol=1e-9).objective
    assert solution.objective == pytest.approx(truth, rel=1e-8)


def test_a_model_whose_matrix_is_singular_is_minimised() -> None:
    rng = np.random.default_rng(2)
    A = rng.normal(size=(5, 12))
    A[:, 6:] = A[:, :6]  # each column twice
    gram, target, level = A.T @ A, A.T @ rng.normal(size=5), np.full(12, 0.01)
    tol = np.full(12, 1e-11)
    x = minimise(gram, 0.0, -target, np.zeros(12), level, tol, SupportFactor())
    g = gram @ x - target
    assert np.all(np.abs(g) <= level + 1e-10)
    assert np.abs(g @ x + level @ np.abs(x)) <= 1e-10


def test_auto_chooses_it_and_says_why() -> None:
    X, y = samples("real")
    solution = cml.Lasso(X, y, 0.1).solve()
    assert solution.solver == "working_set"
    assert solution.status == "optimal"
    assert "working_set" in solution.choice
    assert "norm of blocks" in solution.choice


def test_auto_falls_back_where_the_answer_is_not_certified() -> None:
    X, y = samples("real")
    solution = cml.Lasso(X, y, 0.1).solve(max_iter=0)
    assert solution.solver != "working_set"


def test_what_it_cannot_solve_it_says() -> None:
    X, y = samples("real")
    with pytest.raises(UnsuitableSolverError, match="its penalty is not lam > 0 times"):
        cml.Ridge(X, y, 0.1).solve("working_set")
    with pytest.raises(UnsuitableSolverError, match="lam > 0"):
        cml.Lasso(X, y, 0.0).solve("working_set")
    with pytest.raises(UnsuitableSolverError, match="not differentiable"):
        cml.QuantileRegression(X, y, 0.5, 0.1).solve("working_set")
    with pytest.raises(InputError, match="growth must be > 0"):
        cml.Lasso(X, y, 0.1).solve("working_set", growth=0.0)


def test_each_iterate_is_lower_than_the_one_before() -> None:
    X = draw("correlated")
    objective = cml.LearningProblem(
        X, targets(X, "count"), losses.Poisson(), penalties.L1(1e-3)
    ).objective_parts
    iterates = list(working_set(objective, np.zeros(D), 0.0))
    values = [objective.primal(each.w, each.b) for each in iterates]
    assert len(values) > 1
    assert all(b <= a + 1e-14 * abs(a) for a, b in pairwise(values))

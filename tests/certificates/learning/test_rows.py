"""Rows one can read: dimensionless, small where the answer is certified, none of them twice."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.model_cases import MODELS, ModelCase, samples

import convexml as cml
from convexml.certificates.certificate import Certificate, Verdict
from convexml.conditions import Condition, worst
from convexml.losses import Absolute, Hinge, Logistic, Squared, SquaredHinge
from convexml.penalties import L1, L2, L1Ball, L2Ball

TOL = 1e-6
IDS = [case.name for case in MODELS]


def near_tolerance(problem: Any, seed: int) -> Certificate | None:
    """The certificate of a point that is only just good enough: its gap is just below tol."""
    solution = problem.solve(tol=1e-10)
    w, b = solution.primal["w"], solution.primal["b"]
    rng = np.random.default_rng(seed)
    step = rng.normal(size=w.shape) * max(float(np.max(np.abs(w))), 1e-3)
    for size in 10.0 ** np.arange(-1.0, -9.0, -0.25):
        found = problem.certify(w + size * step, b + size * rng.normal() * bool(np.any(b)))
        if found.verdict is Verdict.CERTIFIED:
            return found
    return None


@pytest.mark.parametrize("case", MODELS, ids=IDS)
@pytest.mark.parametrize("intercept", [True, False])
def test_certified_answers_have_small_rows(case: ModelCase, intercept: bool) -> None:
    """Stationarity and products within the root of tol, feasibility within tol."""
    if intercept not in case.intercepts:
        pytest.skip("no intercept")
    problem = case.pose(fit_intercept=intercept)
    found = [problem.solve(tol=TOL).certificate, near_tolerance(problem, 0)]
    assert found[0].verdict is Verdict.CERTIFIED
    for certificate in [each for each in found if each is not None]:
        for row in certificate.conditions:
            limit = TOL if "feasibility" in row.kind else 3.0 * TOL**0.5
            limit *= 3.0 if row.name.startswith("u_i/c_i") else 1.0  # one sample of 24
            assert row.relative <= limit, f"{row}\n{certificate}"


@pytest.mark.parametrize("case", MODELS, ids=IDS)
def test_no_row_twice(case: ModelCase) -> None:
    problem = case.pose()
    certificate = problem.solve().certificate
    names = [row.name for row in certificate.conditions]
    assert len(set(names)) == len(names)


def test_support_vector_machines_say_it_in_their_own_words() -> None:
    certificate = cml.SoftMarginSVM(*samples("binary"), C=0.7).solve().certificate
    assert [row.name for row in certificate.conditions] == [
        "w = sum alpha_i y_i x_i",
        "-X'u in dom Omega*",
        "alpha_i >= 0",
        "beta_i = c_i - alpha_i >= 0",
        "alpha_i (1 - xi_i - y_i z_i) = 0",
        "beta_i xi_i = 0",
        "sum alpha_i y_i = 0",
    ]
    assert "alpha_i >= 0                      0         0\n" in str(certificate)


@pytest.mark.parametrize("penalty", [L2(0.3), L1(0.3), L1Ball(2.0), L2Ball(1.0)], ids=repr)
@pytest.mark.parametrize(
    "loss", [Squared(), Logistic(), Absolute(), Hinge(), SquaredHinge()], ids=repr
)
def test_stationarity_is_within_the_root_of_the_relative_gap(loss: Any, penalty: Any) -> None:
    """Row^2 <= relative gap at random feasible points, near and far, by D(u) as it is given."""
    X, y = samples(loss.labels)
    rng = np.random.default_rng(3)
    problem = cml.LearningProblem(X, y, loss, penalty, fit_intercept=False)
    solution = problem.solve(tol=1e-10)
    for _ in range(40):
        size = 10.0 ** rng.uniform(-6, 1)
        w = penalty.project(solution.primal["w"] + size * rng.normal(size=5))
        u = solution.dual["u"] * (1.0 - min(size, 1.0) * rng.random())
        if isinstance(loss, Squared) and isinstance(penalty, L2):  # a row of w alone, and its u
            u = (X @ w - y) / len(y)
        found = problem.certify(w, 0.0, u)
        row = next(row for row in found.conditions if row.kind == "stationarity")
        gap = found.primal_objective - found.dual_objective
        assert row.relative**2 <= gap / found.scale * (1.0 + 1e-6) + 1e-15


def test_a_smooth_loss_has_an_equation_and_a_kinked_one_products() -> None:
    X, y = samples("binary")
    kinked = "complementary_slackness"
    for loss, kind in ((SquaredHinge(), "stationarity"), (Absolute(), kinked)):
        problem = cml.LearningProblem(X, y, loss, L2(0.1))
        rows = {row.name: row for row in problem.certify(np.zeros(5), 0.0, 0.01 * y).conditions}
        assert rows["u_i/c_i in dl(y_i, z_i)"].kind == kind


def test_products_are_terms_of_the_gap() -> None:
    """alpha (m - 1 + xi) + beta xi, by hand, relative to max(|P|, |D|)."""
    X, y = samples("binary")
    problem = cml.SoftMarginSVM(X, y, C=0.7, fit_intercept=False)
    rng = np.random.default_rng(4)
    w, alpha = rng.normal(size=5), 0.7 * rng.random(len(y))
    found = problem.certify(w, 0.0, -y * alpha)
    rows = {row.name: row for row in found.conditions}
    xi = np.maximum(1.0 - y * (X @ w), 0.0)
    P = 0.5 * w @ w + 0.7 * xi.sum()
    D = alpha.sum() - 0.5 * np.sum((X.T @ (alpha * y)) ** 2)
    expected = np.max((0.7 - alpha) * xi) / max(P, abs(D))
    assert rows["beta_i xi_i = 0"].relative == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("unit", [1e170, 1e140, 1e-140, 1e-170])
def test_rows_near_the_ends_of_float64(unit: float) -> None:
    """Where squares of the entries overflow or vanish, a row is as it was or not known: inf."""
    X, y = samples("real")
    rng = np.random.default_rng(5)
    w, u = rng.normal(size=5), 0.1 * rng.normal(size=len(y))
    own = cml.LearningProblem(X, y, Squared(), L1(0.3)).certify(w, 0.3, u)
    far = cml.LearningProblem(unit * X, y, Squared(), L1(0.3 * unit)).certify(w / unit, 0.3, u)
    for row, same in zip(own.conditions, far.conditions, strict=True):
        expected = pytest.approx(row.relative, rel=0.3, abs=1e-12)
        assert (
            same.relative in (expected, np.inf)
            if unit in (1e170, 1e-170)
            else (same.relative == expected)
        ), row.name


def test_an_exact_fit_does_not_show_its_rounding_as_a_violation() -> None:
    X, _ = samples("real")
    y = X @ np.array([1.0, -2.0, 0.5, 3.0, 1.0]) + 7.0
    certificate = cml.LeastSquares(X, y).solve().certificate
    assert max(row.relative for row in certificate.conditions) < 1e-9


def test_an_equality_of_cvxpy_has_no_complementarity() -> None:
    x = cp.Variable(3, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == 1.0, x[0] >= 0.5])
    names = [row.name for row in cml.solve(problem).conditions if "complementarity" in row.name]
    assert names == ["constraints[1]: complementarity"]


def test_nan_and_rows_without_a_size_are_never_small() -> None:
    row = worst("x", "stationarity", [0.0, np.nan], [1.0, 1.0])
    assert (row.relative, row.index) == (np.inf, 1)
    assert worst("x", "stationarity", [0.0, 1e-30], [0.0, 0.0]).relative == np.inf
    assert worst("x", "stationarity", [0.0, 0.0], [0.0, 0.0]).relative == 0.0
    rows = (Condition("a", "stationarity", 1.0), Condition("b", "stationarity", float("nan")))
    certificate = Certificate("optimal", 1.0, 1.0, 0.0, 0.0, rows, Verdict.UNDECIDED, TOL)
    assert certificate.kkt["stationarity"] == np.inf
    assert not row.meets(1e6)
    endless = Condition("c", "primal_feasibility", 1.0, scale=np.inf)
    assert endless.relative == np.inf
    assert not endless.meets(1.0)

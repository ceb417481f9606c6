"""The certificate of a model's CVXPY problem agrees with the Fenchel-Young one, and with files."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from support.model_cases import MODELS, ModelCase

import convexml as cml
from convexml import Verdict


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
def test_a_models_primal_is_certified_like_the_model(case: ModelCase) -> None:
    problem = case.pose()
    solution = problem.solve(tol=1e-8)
    assert solution.status == "optimal"
    certificate = cml.certify(problem.primal, tol=1e-6)  # the values and duals that solve left
    assert certificate.verdict is Verdict.CERTIFIED, str(certificate)
    scale = max(1.0, abs(solution.objective))
    assert certificate.primal_objective == pytest.approx(solution.objective, abs=1e-9 * scale)
    assert certificate.within is None
    assert certificate.gap == pytest.approx(solution.gap, abs=1e-6 * scale)


@pytest.mark.parametrize("case", MODELS[:6], ids=lambda case: case.name)
def test_a_models_dual_is_certified_as_well(case: ModelCase) -> None:
    problem = case.pose()
    problem.dual.solve(solver="CLARABEL")
    certificate = cml.certify(problem.dual, tol=1e-5)
    assert certificate.verdict is Verdict.CERTIFIED, str(certificate)
    value = problem.solve(tol=1e-8).objective
    assert certificate.primal_objective == pytest.approx(value, rel=1e-4, abs=1e-5)


def test_other_points_get_the_gap_of_the_model() -> None:
    """At a point that is not optimal, the recovered multipliers give the true suboptimality."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    model = cml.Lasso(X, y, 0.1)
    best = model.solve(tol=1e-10)
    w, b = cp.Variable(4, name="w"), cp.Variable(name="b")
    loss = cp.sum_squares(X @ w + b - y) / 60
    statement = cp.Problem(cp.Minimize(loss + 0.1 * cp.norm1(w)))
    w.value, b.value = best.primal["w"] + 0.05, float(best.primal["b"])
    certificate = cml.certify(statement, tol=1e-6)
    objective = model.objective(w.value, float(b.value))
    assert certificate.primal_objective == pytest.approx(objective, rel=1e-9)
    assert certificate.gap == pytest.approx(objective - best.objective, rel=1e-3)
    assert certificate.verdict is Verdict.REFUTED
    w.value = best.primal["w"]
    assert cml.certify(statement, tol=1e-6).verdict is Verdict.CERTIFIED


def test_the_cone_of_a_residual_is_respected() -> None:
    """The hinge written with pos and with slacks: two statements, one certificate."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 3))
    y = np.sign(X[:, 0] + 0.5 * rng.normal(size=20))
    w, xi = cp.Variable(3), cp.Variable(20, nonneg=True, name="xi")
    margins = (y[:, None] * X) @ w
    short = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + cp.sum(cp.pos(1 - margins))))
    long = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + cp.sum(xi)), [margins >= 1 - xi])
    values = []
    for problem in (short, long):
        problem.solve(solver="CLARABEL")
        certificate = cml.certify(problem, tol=1e-6)
        assert certificate.verdict is Verdict.CERTIFIED
        values.append(certificate.dual_objective)
    assert values[0] == pytest.approx(values[1], abs=1e-6)

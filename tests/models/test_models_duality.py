"""Every model, and every loss with every penalty: primal and dual agree, and the conditions hold.

The data of the cases have entries of order 1, so that the residuals of the conditions, in the
units of X, y and w, are asked to be at most 1e-6 in absolute value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.model_cases import MODELS, ModelCase, parts, pose_parts, weights

from convexml.losses import Loss
from convexml.penalties import Penalty

TOL = 1e-6
GRID = parts()


def near(value: float, truth: float) -> bool:
    """Whether a value agrees to 1e-6, relative to the truth; absolute where that is 0."""
    return abs(value - truth) <= TOL * (abs(truth) if abs(truth) > 1e-9 else 1.0)


def check(problem: Any) -> None:
    """Pose, solve by CLARABEL and by ourselves, and compare."""
    values = []
    for posed in (problem.primal, problem.dual):
        assert posed.is_dcp()
        assert posed.is_dcp(dpp=True)
        assert all(constraint.label for constraint in posed.constraints)
        assert all(variable.attributes["nonneg"] is False for variable in posed.variables())
        posed.solve(solver="CLARABEL")
        assert posed.status == "optimal"
        values.append(posed.value)
    assert problem.primal.objective.NAME == "minimize"
    assert problem.dual.objective.NAME == "maximize"
    solution = problem.solve()
    assert solution.status == "optimal"
    primal = problem.objective(solution.primal["w"], solution.primal["b"])
    dual = problem.dual_objective(solution.dual["u"])
    assert primal == pytest.approx(solution.objective, rel=1e-12, abs=1e-12)
    assert dual == pytest.approx(solution.dual_objective, rel=1e-12, abs=1e-12)
    # Strong duality, tighter than the solver's 1e-6: the solution is polished.
    assert primal - dual <= 1e-9 * max(abs(primal), abs(dual), 1e-3)
    assert near(values[0], primal)
    assert near(values[1], primal)
    certificate = problem.certify(solution.primal["w"], solution.primal["b"], solution.dual["u"])
    assert certificate.holds(TOL)
    worst = {row.name: row.residual for row in certificate.conditions if row.residual > TOL}
    assert worst == {}
    assert set(certificate.kkt) == {
        "stationarity",
        "primal_feasibility",
        "dual_feasibility",
        "complementary_slackness",
    }


@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize(
    ("case", "intercept"),
    [(case, intercept) for case in MODELS for intercept in case.intercepts],
    ids=lambda value: value.name if isinstance(value, ModelCase) else f"b={value}",
)
def test_duality_of_a_model(case: ModelCase, intercept: bool, weighted: bool) -> None:
    X, y = case.data()
    keywords: dict[str, Any] = {"fit_intercept": intercept}
    if weighted and len(y) > 5:
        keywords["sample_weight"] = weights(len(y))
    check(case.make(X, y, **keywords))


@pytest.mark.parametrize("intercept", [True, False], ids=["b", "no b"])
@pytest.mark.parametrize(
    ("loss", "penalty"), GRID, ids=[f"{loss.name}-{penalty.name}" for loss, penalty in GRID]
)
def test_duality_of_a_loss_and_a_penalty(loss: Loss, penalty: Penalty, intercept: bool) -> None:
    check(pose_parts(loss, penalty, fit_intercept=intercept))


def test_the_grid_is_complete() -> None:
    assert len(GRID) >= 12 * 9
    assert len({(type(loss), type(penalty)) for loss, penalty in GRID}) == len(GRID)


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
def test_every_model_states_its_conditions(case: ModelCase) -> None:
    problem = case.pose()
    b = 0.5 * problem.objective_parts.fit_intercept
    certificate = problem.certify(np.ones(5), b, 0.1 * problem.objective_parts.c)
    # At a point that is far from optimal some condition must say so.
    assert max(row.residual for row in certificate.conditions) > 1e-3
    text = problem.latex()
    for word in ("primal", "Lagrangian", "dual", "KKT"):
        assert rf"\text{{{word}}}" in text
    assert text.count("{") == text.count("}")
    assert problem._repr_latex_().startswith("$$")


@pytest.mark.parametrize("scale", ["mean", "sum", 2.5])
def test_loss_scale(scale: str | float) -> None:
    from convexml import LearningProblem, losses, penalties

    X, y = MODELS[0].data()
    s = weights(len(y))
    problem = LearningProblem(
        X, y, losses.Huber(0.7), penalties.L2(0.4), sample_weight=s, loss_scale=scale
    )
    w, b = np.linspace(-1.0, 1.0, 5), 0.3
    r = np.abs(X @ w + b - y)
    terms = np.where(r <= 0.7, 0.5 * r**2, 0.7 * (r - 0.35))
    c = s / s.sum() if scale == "mean" else s * (1.0 if scale == "sum" else scale)
    assert problem.objective(w, b) == pytest.approx(c @ terms + 0.2 * w @ w, rel=1e-13)
    check(problem)

"""Rough points of large problems: refuted by a step downhill, for products and no large system."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax

import convexml as cml
from convexml import losses, penalties
from convexml.certificates.learning.points import dual_point, restore
from convexml.certificates.learning.points.descent import step_down
from convexml.certificates.learning.points.dual_point import SMALL_ENOUGH
from convexml.certificates.learning.points.primal_repair import repair_primal
from convexml.objective import symmetric

N, D = 150, 800
RNG = np.random.default_rng(4)
X = RNG.normal(size=(N, D))
SCORE = X[:, :5].sum(axis=1) + RNG.normal(size=N)
NOISE = RNG.normal(size=D) / np.sqrt(D)
CASES = [
    (losses.Hinge(), penalties.L2(0.1)),
    (losses.Absolute(), penalties.L2(0.1)),
    (losses.Pinball(0.3), penalties.ElasticNet(0.1, 0.5)),
    (losses.Logistic(), penalties.L2(0.1)),
    (losses.Logistic(), penalties.L1(0.02)),
    (losses.Squared(), penalties.L1(0.2)),
    (losses.Squared(), penalties.L2Ball(1.0)),
    (losses.Huber(1.0), penalties.Box(-0.1, 0.1)),
]


def pose(loss: Any, penalty: Any) -> Any:
    y = np.sign(SCORE) if loss.labels == "binary" else SCORE
    return cml.LearningProblem(X, y, loss, penalty)


@pytest.mark.parametrize(("loss", "penalty"), CASES, ids=repr)
def test_a_step_downhill_is_lower_and_its_value_is_p(loss: Any, penalty: Any) -> None:
    problem = pose(loss, penalty)
    objective = problem.objective_parts
    point = repair_primal(objective, 0.3 * NOISE, 0.2)
    down = step_down(objective, point)
    assert down is not None
    z = X @ down.w + down.b
    value = objective.c @ loss.value(objective.y, z) + penalty.value(down.w)
    assert penalty.violation(down.w) == 0.0
    assert down.value == pytest.approx(value, rel=1e-12)
    assert down.value < point.value


def test_of_an_optimum_no_step_goes_down() -> None:
    problem = cml.Ridge(X, SCORE, 0.1)
    solution = problem.solve(tol=1e-12)
    point = repair_primal(problem.objective_parts, solution.primal["w"], solution.primal["b"])
    down = step_down(problem.objective_parts, point)
    assert down is None or point.value - down.value <= 1e-12 * point.value


@pytest.mark.parametrize("share", [0.3, 1e-2])
@pytest.mark.parametrize(("loss", "penalty"), CASES[:4], ids=repr)
def test_rough_points_of_large_problems_are_refuted_without_large_systems(
    loss: Any, penalty: Any, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = pose(loss, penalty)
    assert N * D > SMALL_ENOUGH
    best = problem.solve(tol=1e-8)
    w = best.primal["w"] + share * NOISE * np.linalg.norm(best.primal["w"])

    def refuse(*_: Any) -> Any:
        raise AssertionError("a conic solver was asked")

    monkeypatch.setattr(dual_point, "restore_dual", refuse)
    monkeypatch.setattr(restore, "ask_clarabel", refuse)
    right, sizes = symmetric.solve_symmetric, []

    def watched(matrix: Any, side: Any) -> Any:
        sizes.append(len(side))
        return right(matrix, side)

    monkeypatch.setattr("convexml.objective.newton.solve_symmetric", watched)
    certificate = problem.certify(w, best.primal["b"])
    assert certificate.verdict.name == "REFUTED"
    truth = problem.objective_parts.primal(w, best.primal["b"]) - best.objective
    assert certificate.gap >= truth * (1.0 - 1e-6)
    assert max(sizes, default=0) <= (20.0 * N * D) ** (1.0 / 3.0)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_rough_points_of_many_classes_are_refuted_without_large_systems(
    penalty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    classes = np.digitize(SCORE, [-1.0, 1.0])
    problem = cml.SoftmaxRegression(X[:, :300], classes, 0.01, penalty)
    objective = problem.objective_parts
    assert objective.n * objective.d > SMALL_ENOUGH
    W = 0.05 * RNG.normal(size=(300, 3))
    b = np.array([0.1, 0.0, -0.1])
    point = repair_primal(objective, W.ravel(), b)
    down = step_down(objective, point)
    assert down is not None
    V = down.w.reshape(300, 3)
    losses_ = -log_softmax(X[:, :300] @ V + down.b, axis=1)[np.arange(N), classes]
    size = np.abs(V).sum() if penalty == "l1" else 0.5 * (V * V).sum()
    assert down.value == pytest.approx(losses_.mean() + 0.01 * size, rel=1e-12)
    assert down.value < point.value
    sizes, right = [], symmetric.solve_symmetric

    def watched(matrix: Any, side: Any) -> Any:
        sizes.append(len(side))
        return right(matrix, side)

    monkeypatch.setattr("convexml.objective.outputs.multiclass_newton.solve_symmetric", watched)
    certificate = problem.certify(W, b)
    assert certificate.verdict.name == "REFUTED"
    assert certificate.gap >= point.value - down.value
    assert max(sizes, default=0) <= (20.0 * objective.n * 300) ** (1.0 / 3.0)

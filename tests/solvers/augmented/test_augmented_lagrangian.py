"""Augmented Lagrangians: the proximal points, the Newton steps, the samples that are left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.model_cases import samples

import convexml as cml
from convexml import losses, penalties
from convexml.errors import UnsuitableSolverError
from convexml.numerics import Array
from convexml.solvers import Iterate
from convexml.solvers.second_order import augmented_lagrangian as module
from convexml.solvers.second_order.augmented_lagrangian import augmented_lagrangian

LOSSES = (
    losses.Hinge(),
    losses.Pinball(0.2),
    losses.Absolute(),
    losses.Huber(0.5),
    losses.EpsilonInsensitive(0.3),
)
RNG = np.random.default_rng(5)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_every_loss_with_a_bounded_box_dual(loss: Any, intercept: bool, weighted: bool) -> None:
    X, y = samples(loss.labels)
    penalty = penalties.L2(0.3, [1.0, 0.1, 2.0, 0.5, 1.0]) if weighted else penalties.L2(0.3)
    problem = cml.LearningProblem(X, y, loss, penalty, fit_intercept=intercept)
    solution = problem.solve("augmented_lagrangian", tol=1e-9)
    assert solution.status == "optimal"
    reference = problem.solve("clarabel", tol=1e-9)
    assert solution.objective == pytest.approx(reference.objective, rel=1e-8, abs=1e-12)
    audit = solution.rate_audit()
    assert audit.holds, audit.first_violation
    assert all(claim.tested.size for claim in audit.claims)


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
def test_what_auto_answers_has_exact_ends(C: float) -> None:
    X, y = samples("binary")
    solution = cml.SoftMarginSVM(X, y, C).solve()
    assert solution.solver == "augmented_lagrangian"
    assert solution.relative_gap <= 1e-10
    alpha, margin = solution.dual["alpha"], y * (X @ solution.primal["w"] + solution.primal["b"])
    assert np.all(alpha[margin > 1.0 + 1e-7] == 0.0)
    assert np.all(alpha[margin < 1.0 - 1e-7] == C)


@pytest.mark.parametrize("loss", [losses.Hinge(), losses.EpsilonInsensitive(0.1)], ids=str)
def test_sparse_wide_and_dense_data_give_the_same(loss: Any) -> None:
    X = RNG.normal(size=(30, 50)) * (RNG.random((30, 50)) < 0.3)
    y = np.sign(X[:, 0] + RNG.normal(size=30))
    found = [
        cml.LearningProblem(data, y, loss, penalties.L2(0.1)).solve(tol=1e-9)
        for data in (X, sparse.csr_array(X))
    ]
    assert {each.solver for each in found} == {"augmented_lagrangian"}
    assert np.allclose(found[0].primal["w"], found[1].primal["w"], rtol=1e-6, atol=1e-8)


def test_repeated_rows_leave_more_samples_at_the_kink_than_features() -> None:
    X, y = samples("binary")
    once = cml.SoftMarginSVM(X, y, 10.0).solve(tol=1e-9)
    many = cml.SoftMarginSVM(np.repeat(X, 10, axis=0), np.repeat(y, 10), 1.0).solve(tol=1e-9)
    assert many.solver == "augmented_lagrangian"
    assert many.objective == pytest.approx(once.objective, rel=1e-9)


def test_a_start_near_the_solution_takes_fewer_steps() -> None:
    X = RNG.normal(size=(500, 10))
    y = np.sign(X[:, 0] + RNG.normal(size=500))
    first = cml.SoftMarginSVM(X, y, 1.0).solve("augmented_lagrangian")
    again = cml.SoftMarginSVM(X, y, 1.05)
    near = again.solve("augmented_lagrangian", w0=first.primal["w"])
    assert near.status == "optimal"
    assert near.passes < again.solve("augmented_lagrangian").passes


@pytest.mark.parametrize(
    ("loss", "penalty", "words"),
    [
        (losses.SquaredHinge(), penalties.L2(1.0), "a bounded box dual"),
        (losses.HardMargin(), penalties.L2(1.0), "a bounded box dual"),
        (losses.Logistic(), penalties.L2(1.0), "a bounded box dual"),
        (losses.Hinge(), penalties.L1(1.0), "a strongly convex quadratic penalty"),
        (losses.Hinge(), penalties.L2(1.0, [0.0, 1.0, 1.0, 1.0, 1.0]), "a strongly convex"),
    ],
)
def test_what_it_cannot_solve_it_says(loss: Any, penalty: Any, words: str) -> None:
    problem = cml.LearningProblem(*samples("binary"), loss, penalty)
    with pytest.raises(UnsuitableSolverError, match=f"augmented_lagrangian needs {words}"):
        problem.solve("augmented_lagrangian")


# -- samples that are left out ---------------------------------------------------------------------


def long_run() -> tuple[Any, Array]:
    X = RNG.normal(size=(3000, 8))
    y = np.sign(X[:, 0] + 0.5 * RNG.normal(size=3000))
    objective = cml.SoftMarginSVM(X, y, 1.0).objective_parts
    return objective, np.zeros(8)


@pytest.mark.parametrize("reach", [2.0, 0.0])
def test_samples_left_out_change_nothing_but_the_work(
    reach: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where too few are looked at: those that move are noticed by the next product."""
    objective, zero = long_run()

    def last(few: float) -> Iterate:
        monkeypatch.setattr(module, "FEW", few)
        monkeypatch.setattr(module, "TINY", 0)
        points = [point for point in augmented_lagrangian(objective, zero, 0.0)]
        return points[-1]

    whole = last(-1.0)
    monkeypatch.setattr(module, "REACH", reach)
    some = last(0.4)
    assert np.allclose(some.w, whole.w, rtol=1e-9, atol=1e-10)
    if reach:
        assert some.passes < whole.passes


# -- what its audit sees ---------------------------------------------------------------------------


def elsewhere(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
    """Centres that are not the point before."""
    for k, point in enumerate(augmented_lagrangian(objective, w, b)):
        state = dict(point.state)
        if k == 4:  # u is a proximal point about this one too
            assert point.u is not None
            state["centre"] = 2.0 * state["centre"] - point.u
            state["D"] = 0.5 * state["D"]
        yield replace(point, state=state)


def untrue(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
    """A u that is not the proximal point of its scores."""
    for point in augmented_lagrangian(objective, w, b):
        yield point if point.u is None else replace(point, u=0.999 * point.u)


def boasting(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
    """Weights that make the bound of the gap smaller than it is."""
    for point in augmented_lagrangian(objective, w, b):
        state = {k: 1e-3 * v if k == "D" else v for k, v in point.state.items()}
        yield replace(point, state=state)


@pytest.mark.parametrize(
    ("broken", "words"), [(elsewhere, "v_{t+1}"), (untrue, "F(y)"), (boasting, "F(y)")]
)
def test_a_broken_version_fails_its_audit(broken: Any, words: str) -> None:
    theorem = cml.theory.AugmentedLagrangianRate()
    cml.solvers.register("planted", broken, ("bounded box dual",), theorem=theorem)
    try:
        problem = cml.SoftMarginSVM(*samples("binary"), 1.0)
        audit = problem.solve("planted", max_iter=12, tol=1e-15).rate_audit()
        assert audit.holds is False
        assert words in str(audit.first_violation)
    finally:
        cml.solvers.unregister("planted")

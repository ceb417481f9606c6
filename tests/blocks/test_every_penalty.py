"""Every loss with every penalty over row blocks, against conic solvers on the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.models.in_blocks import GROUPS, Data, Model, general, model

import convexml as cml
from convexml import losses, penalties
from convexml.certificates.learning.existence.separating_scores import separating_scores
from convexml.solvers.quadratic.penalised import Penalised

DATA = Data.drawn(200, 6)
CUTS = [1, 50, 50, 120]
SORTED = np.linspace(0.1, 0.02, 6)
CASES = {
    "Poisson nonnegative": Model(general(losses.Poisson(), penalties.Nonnegative()), "count"),
    "hinge l2 ball": Model(general(losses.Hinge(), penalties.L2Ball(0.5)), "two"),
    "quantile group": Model(general(losses.Pinball(0.3), penalties.GroupL2(0.05, GROUPS)), "real"),
    "softmax l1": Model(model(cml.SoftmaxRegression, lam=0.02, penalty="l1"), "three"),
}
MORE = {
    "SVR sorted l1": Model(
        general(losses.EpsilonInsensitive(0.1), penalties.SortedL1(SORTED)), "real"
    ),
    "absolute nonnegative": Model(general(losses.Absolute(), penalties.Nonnegative()), "real"),
    "exponential box": Model(general(losses.Exponential(), penalties.Box(-0.1, 0.2)), "two"),
    "linex l1 ball": Model(general(losses.Linex(), penalties.L1Ball(0.5)), "real"),
    "hinge group": Model(general(losses.Hinge(), penalties.GroupL2(0.05, GROUPS)), "two"),
    "quantile box": Model(general(losses.Pinball(0.3), penalties.Box(-0.1, 0.2)), "real"),
    "absolute elastic net, w >= 0": Model(
        general(losses.Absolute(), penalties.NonnegativeElasticNet(0.05, 0.5)), "real"
    ),
    "hinge l1 ball": Model(general(losses.Hinge(), penalties.L1Ball(0.5)), "two"),
}


def judge_as_a_conic_solver(case: Model) -> None:
    known = case.of(DATA).solve("clarabel", tol=1e-10)
    assert known.status == "optimal"
    solution = case.in_blocks(DATA, CUTS).solve(tol=1e-8)
    assert solution.status == "optimal", solution.message
    assert solution.choice.startswith(f"auto chose {solution.solver}: ")
    assert solution.objective == pytest.approx(known.objective, rel=2e-8)


@pytest.mark.parametrize("name", CASES)
def test_blocks_have_a_solver(name: str) -> None:
    judge_as_a_conic_solver(CASES[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", MORE)
def test_others_have_one_too(name: str) -> None:
    judge_as_a_conic_solver(MORE[name])


class Unnamed(losses.Absolute):
    """A loss with a kink of which no more is known."""

    name = "unnamed"
    conjugate_curvature = None


def test_where_no_solver_over_blocks_is_left_words_say_what_to_do() -> None:
    problem = Model(general(Unnamed(), penalties.L2Ball(0.5)), "real").in_blocks(DATA, CUTS)
    solution = problem.solve()
    assert (solution.status, solution.solver) == ("inaccurate", "the null model")
    assert solution.choice.startswith("auto chose the null model: no solver over row blocks")
    assert "Pass X and y in memory" in solution.message


@pytest.mark.parametrize(
    "penalty",
    [
        penalties.L1(0.3),
        penalties.Box(-0.2, 0.4),
        penalties.L2Ball(0.7),
        penalties.SortedL1(SORTED),
    ],
)
def test_the_minimum_over_w_alone_meets_its_optimality_conditions(penalty: Any) -> None:
    """R - M v is a subgradient at v: Omega(v) + Omega*(r - M v) = v'(r - M v), by Fenchel."""
    rng = np.random.default_rng(3)
    A = rng.standard_normal((9, 6)) * 10.0 ** np.array([-2.0, -1.0, 0.0, 0.0, 1.0, 2.0])
    M, r = A.T @ A, A.T @ rng.standard_normal(9)
    v = Penalised(M, r, penalty).minimum(np.zeros(6))
    slope = r - M @ v
    size = float(np.abs(v) @ np.abs(r)) + 1e-3
    shrunk = penalty.domain_scale(slope) * slope
    np.testing.assert_allclose(shrunk, slope, atol=1e-9 * np.abs(r).max())
    gap = penalty.value(v) + penalty.conjugate(shrunk, 1e-9) - v @ shrunk
    assert penalty.violation(v) <= 1e-12
    assert abs(gap) <= 1e-8 * size


@pytest.mark.parametrize(("loss", "target"), [(losses.Hinge(), "two"), (losses.Absolute(), "real")])
def test_lam_max_of_a_kinked_loss_is_where_the_null_model_ends(loss: Any, target: str) -> None:
    largest = Model(general(loss, penalties.L1(1.0)), target).in_blocks(DATA, CUTS).lam_max
    for share, is_null in ((1.001, True), (0.999, False)):
        known = Model(general(loss, penalties.L1(share * largest)), target).of(DATA)
        w = known.solve("clarabel", tol=1e-10, polish=False).primal["w"]
        assert bool(np.abs(w).max() < 1e-3) is is_null


def test_evidence_that_classes_are_separated_is_asked_of_rows_in_memory_alone() -> None:
    labels = np.where(DATA.X[:, 0] > 0.1, "a", np.where(DATA.X[:, 0] > -0.5, "b", "c"))
    blocks = list(zip(np.split(DATA.X, CUTS), np.split(labels, CUTS), strict=True))
    problem = cml.SoftmaxRegression(cml.RowBlocks(blocks), lam=0.0)
    assert separating_scores(problem.objective_parts) is None

"""Nothing wrong is certified, nothing right is refuted; and the tests that say so can fail."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import support.mutations as mutations
from support.cases import Kind
from support.oracles.oracle import Oracle
from support.sizes import sizes
from test_bound_validity import (
    test_every_repaired_u_bounds_p_from_below as weak_duality,
)
from test_bound_validity import test_the_gap_bounds_the_suboptimality as bound
from test_bound_validity import test_the_gap_is_tight_near_the_optimum as tightness

from convexml import Verdict
from convexml.certificates import judge
from convexml.certificates.learning import account, evaluation, gap
from convexml.certificates.learning.points import dual_repair
from convexml.certificates.learning.points.columns import ColumnPrice
from convexml.conditions import Condition
from convexml.losses import Hinge, Logistic, Loss, Squared
from convexml.numerics import Array
from convexml.objective import Objective
from convexml.penalties import L1, L2, Penalty, Zero


@pytest.mark.parametrize("tries", sizes(200, 2000))
def test_no_mutation_that_matters_is_certified(tries: int) -> None:
    tally = mutations.run(tries=tries, combinations=60)
    assert tally.lies == []
    assert tally.mattered > 0.6 * tries
    assert tally.verdicts["certified"] > 0.1 * tries  # the checker does not refuse everything
    assert tally.verdicts["refuted"] > 0.25 * tries


def test_every_model_is_mutated() -> None:
    from convexml import models

    mutated = {type(problem).__name__ for _, problem in mutations.models(np.random.default_rng(0))}
    # Certificates of programs, kernels, classes and targets are engines of their own, with tests.
    elsewhere = {"GaussianLikelihood", "LinearProgram", "SoftmaxRegression", "MultiTaskLasso"}
    elsewhere |= {"DiscriminantAnalysis", "NuSVC", "OneClassSVM", "LPBoost", "AdaBoost"}
    elsewhere |= {"BernoulliLikelihood", "CategoricalLikelihood"}
    elsewhere |= {"EnclosingBall", "GeneralizedLasso", "MonotoneRegression", "TrendFilter"}
    elsewhere |= {"ConvexRegression", "DantzigSelector", "SquareRootLasso"}
    elsewhere |= {"ConvexClustering", "KMeansBound", "PrincipalComponents"}
    elsewhere |= {"NearestNeighbors", "SpanningTree", "OptimalTransport"}
    elsewhere |= {name for name in models.__all__ if "Kernel" in name}
    assert mutated >= set(models.__all__) - elsewhere - {"LearningProblem"}


# -- the checkers can fail: each fault must be noticed by the test that is there for it ----------

bound_of = bound.hypothesis.inner_test
weak_duality_of = weak_duality.hypothesis.inner_test


def check_bound(loss: Loss, penalty: Penalty) -> None:
    for seed in range(4):
        bound_of((loss, penalty), Kind(seed))
        weak_duality_of((loss, penalty), Kind(seed), 1.0)


def check_mutations(loss: Loss, penalty: Penalty) -> None:
    problem = mutations.make(loss, penalty, Kind(3))
    case, tally = mutations.subject("one", problem), mutations.Tally()
    rng = np.random.default_rng(0)
    for _ in range(150):
        mutations.attempt(case, rng, tally)
    assert tally.lies == []


Patch = pytest.MonkeyPatch


def halved_ridge_conjugate(patch: Patch) -> None:
    original = L2.conjugate
    patch.setattr(L2, "conjugate", lambda self, v, slack=0.0: 0.5 * original(self, v, slack))


def ridge_conjugate_without_its_half(patch: Patch) -> None:
    original = L2.conjugate
    patch.setattr(L2, "conjugate", lambda self, v, slack=0.0: 2.0 * original(self, v, slack))


def squared_conjugate_with_a_wrong_sign(patch: Patch) -> None:
    patch.setattr(Squared, "conjugate", lambda self, y, v: 0.5 * v**2 - v * y)


def logistic_entropy_doubled(patch: Patch) -> None:
    original = Logistic.conjugate
    patch.setattr(Logistic, "conjugate", lambda self, y, v: 2.0 * original(self, y, v))


def hinge_without_its_box(patch: Patch) -> None:
    def domain(self: Hinge, y: Array) -> tuple[Array, Array]:
        return np.minimum(-2.0 * y, 0.0), np.maximum(-2.0 * y, 0.0)

    patch.setattr(Hinge, "domain", domain)
    patch.setattr(Hinge, "conjugate", lambda self, y, v: y * v)


def lasso_without_its_bound(patch: Patch) -> None:
    patch.setattr(L1, "conjugate", lambda self, v, slack=0.0: 0.0)
    patch.setattr(L1, "domain_scale", lambda self, v, slack=0.0: 1.0)
    patch.setattr(L1, "conjugate_bound", lambda self, v, error: 0.0)


def balance_ignored(patch: Patch) -> None:
    def dual(self: Objective, u: Array, v: Array | None = None) -> float:
        return self.dual_formula(u, -self.design.rmatvec(u) if v is None else v)

    patch.setattr(Objective, "dual", dual)

    def value(
        objective: Objective, u: Array, v: Array, *slack: Array | None
    ) -> tuple[float, Array]:
        terms = objective.loss.conjugate(objective.y, u / objective.c)
        return objective.dual_formula(u, v), terms

    patch.setattr(dual_repair, "dual_value", value)
    patch.setattr(dual_repair, "restore_rows", lambda objective, u, *rest: dual_repair.Restored(u))
    patch.setattr(dual_repair, "balance", lambda objective, u, *rest: u)
    patch.setattr(account, "price_of_columns", lambda *values: ColumnPrice(0.0))


def weights_forgotten(patch: Patch) -> None:
    def value(
        objective: Objective, u: Array, v: Array, *slack: Array | None
    ) -> tuple[float, Array]:
        terms = objective.loss.conjugate(objective.y, u)
        return -float(terms.sum()) - objective.penalty_conjugate(u, v), terms

    patch.setattr(dual_repair, "dual_value", value)
    patch.setattr(evaluation, "dual_rounding", lambda *values: ColumnPrice(0.0))


def gap_always_zero(patch: Patch) -> None:
    patch.setattr(gap, "_gap", lambda *values: 0.0)


def feasibility_ignored(patch: Patch) -> None:
    patch.setattr(Condition, "meets", lambda self, tol: True)
    patch.setattr(Objective, "dual_formula", lambda self, u, v: np.inf)


def any_point_is_a_witness(patch: Patch) -> None:
    def witness(objective: Objective, point: gap.PrimalPoint, threshold: float) -> gap.PrimalPoint:
        return point

    patch.setattr(gap, "better_point", witness)
    patch.setattr(judge, "is_better", lambda *values: True)


FAULTS: list[tuple[Callable[[Patch], None], Callable[[Loss, Penalty], None], Loss, Penalty]] = [
    (halved_ridge_conjugate, check_bound, Squared(), L2(0.7)),
    (ridge_conjugate_without_its_half, tightness, Squared(), L2(0.7)),
    (squared_conjugate_with_a_wrong_sign, check_bound, Squared(), L2(0.7)),
    (logistic_entropy_doubled, check_bound, Logistic(), L2(0.7)),
    (hinge_without_its_box, check_bound, Hinge(), L2(0.7)),
    (lasso_without_its_bound, check_bound, Squared(), L1(0.8)),
    (balance_ignored, check_bound, Squared(), Zero()),
    (weights_forgotten, check_bound, Squared(), L2(0.7)),
    (gap_always_zero, check_mutations, Squared(), L2(0.7)),
    (feasibility_ignored, check_mutations, Hinge(), L1(0.1)),
    (any_point_is_a_witness, check_mutations, Logistic(), L2(0.7)),
]


@pytest.mark.parametrize(
    ("fault", "check", "loss", "penalty"), FAULTS, ids=[case[0].__name__ for case in FAULTS]
)
def test_each_fault_is_noticed(
    fault: Callable[[Patch], None],
    check: Callable[[Loss, Penalty], None],
    loss: Loss,
    penalty: Penalty,
    monkeypatch: Patch,
) -> None:
    check(loss, penalty)
    fault(monkeypatch)
    with pytest.raises(AssertionError):
        check(loss, penalty)


def test_a_refused_mutation_says_what_broke() -> None:
    case = next(iter(mutations.subjects(1)))
    certificate = case.problem.certify(case.w, case.b, case.u + abs(case.u).max())
    assert certificate.verdict is Verdict.UNDECIDED
    assert Oracle.of(case.problem.objective_parts).dual_violation(case.u) <= 1e-9

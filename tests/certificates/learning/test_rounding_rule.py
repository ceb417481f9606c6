"""Rounding is no residual and a residual is no rounding: DESIGN's one rule for almost feasible."""

from __future__ import annotations

import numpy as np
import pytest
from support.cases import Kind, combination_name, make
from support.catalogue import LOSSES, PENALTIES, D
from test_bound_validity import solved

from convexml import LearningProblem
from convexml.certificates import certify_objective
from convexml.losses import Loss, Squared
from convexml.penalties import L1, L2, Penalty, Zero


@pytest.mark.parametrize("loss", LOSSES, ids=combination_name)
def test_a_column_in_other_units_changes_no_verdict(loss: Loss) -> None:
    problem = make(loss, Zero(), Kind(seed=3))
    o = problem.objective_parts
    best = solved(problem)
    units = np.array([1.0, 1e8, 1.0, 1e-8, 1.0])
    other = LearningProblem(o.design.constant * units, o.y, loss, Zero())
    u = certify_objective(o, best.w, best.b).dual["u"]
    for w in (best.w, best.w * (1.0 + 1e-3), np.zeros(D)):
        for passed in (None, u, np.roll(u, 1)):
            one = problem.certify(w, best.b, passed)
            two = other.certify(w / units, best.b, passed)
            assert one.verdict is two.verdict
            if passed is u:
                assert one.dual_objective == pytest.approx(two.dual_objective, rel=1e-9, abs=1e-12)


def test_rounding_is_no_residual_and_a_residual_is_no_rounding() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, D)) * np.array([1.0, 1e8, 1.0, 1e-8, 1.0]), rng.normal(size=30)
    for penalty in (Zero(), L2(1.0, weights=np.array([0.0, 0.0, 1.0, 0.0, 1.0]))):
        problem = LearningProblem(X, y, Squared(), penalty)
        solution = problem.solve()
        u = solution.dual["u"]
        assert np.any(X.T @ u)  # 6e-17 and the like: rounding
        assert problem.dual_objective(u) == pytest.approx(solution.objective, rel=1e-12)
        for column in (0, 1, 3):
            wrong = u + 1e-10 * abs(u).max() * np.sign(X[:, column]) * (np.arange(30) % 2)
            assert problem.dual_objective(wrong) == -np.inf
        assert problem.dual_objective(u + 1e-12 * abs(u).max()) == -np.inf


@pytest.mark.parametrize("penalty", PENALTIES, ids=combination_name)
def test_an_unbalanced_u_is_repaired_or_refused_never_believed(penalty: Penalty) -> None:
    problem = make(Squared(), penalty, Kind(seed=5))
    best = solved(problem)
    u = problem.certify(best.w, best.b).dual["u"]
    for size in (1e-9, 1e-3):
        wrong = u + size * abs(u).max()
        assert problem.dual_objective(wrong) == -np.inf
        certificate = problem.certify(best.w, best.b, wrong)
        assert certificate.repaired > 0.1 * size * abs(u).max()
        assert certificate.dual_objective <= best.upper * (1.0 + 1e-12)
        assert certificate.holds(1e-6) == (size < 1e-6)


def test_l1_at_lam_max_has_a_tight_bound_at_zero() -> None:
    problem = make(Squared(), L1(0.8), Kind(seed=2))
    level = problem.lam_max
    o = problem.objective_parts
    at = LearningProblem(o.design.constant, o.y, Squared(), L1(level))
    assert at.certify(np.zeros(D)).holds(1e-9)

"""Integer weights are repeated rows, zero weights are dropped rows: P, D, gap and w."""

from __future__ import annotations

import numpy as np
import pytest
from support.cases import Kind, combination_name, make
from support.catalogue import LOSSES
from test_bound_validity import solved

from convexml import LearningProblem
from convexml.losses import Absolute, Hinge, Loss, Squared
from convexml.penalties import L2


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("scale", ["mean", "sum", 0.3])
@pytest.mark.parametrize("loss", LOSSES, ids=combination_name)
def test_integer_weights_are_repeated_rows(loss: Loss, scale: str | float, intercept: bool) -> None:
    base = make(loss, L2(0.7), Kind(seed=8, intercept=intercept)).objective_parts
    X, y, rng = base.design.constant, base.y, np.random.default_rng(1)
    s = rng.integers(0, 4, size=base.n)
    s[:4] = [1, 2, 0, 3]
    options = {"fit_intercept": intercept, "loss_scale": scale}
    weighted = LearningProblem(X, y, loss, L2(0.7), sample_weight=s, **options)
    repeated = LearningProblem(X.repeat(s, axis=0), y.repeat(s), loss, L2(0.7), **options)
    dropped = LearningProblem(X[s > 0], y[s > 0], loss, L2(0.7), sample_weight=s[s > 0], **options)
    best = solved(weighted)
    for w, b in ((best.w, best.b), (1.1 * best.w, 1.1 * best.b)):
        one, two, three = (p.certify(w, b) for p in (weighted, repeated, dropped))
        for other in (two, three):
            assert one.primal_objective == pytest.approx(other.primal_objective, rel=1e-12)
            assert one.dual_objective == pytest.approx(other.dual_objective, rel=1e-8)
            assert one.verdict is other.verdict
        u = one.dual["u"]
        assert not np.any(u[s == 0])
        spread = (u / np.maximum(s, 1)).repeat(s)
        values = [weighted.dual_objective(u), repeated.dual_objective(spread)]
        values.append(dropped.dual_objective(u[s > 0]))
        assert values == pytest.approx([one.dual_objective] * 3, rel=1e-12)
        assert weighted.certify(w, b, u).gap == pytest.approx(
            repeated.certify(w, b, spread).gap, rel=1e-9, abs=1e-13 * abs(one.primal_objective)
        )


@pytest.mark.parametrize("loss", [Squared(), Hinge(), Absolute()], ids=combination_name)
def test_weights_and_repeated_rows_have_the_same_solution(loss: Loss) -> None:
    base = make(loss, L2(0.7), Kind(seed=8)).objective_parts
    s = np.arange(base.n) % 4
    one = LearningProblem(base.design.constant, base.y, loss, L2(0.7), sample_weight=s).solve()
    X, y = base.design.constant.repeat(s, axis=0), base.y.repeat(s)
    two = LearningProblem(X, y, loss, L2(0.7)).solve()
    np.testing.assert_allclose(one.primal["w"], two.primal["w"], atol=1e-6)
    assert one.status == two.status == "optimal"
    assert not np.any(one.dual["u"][s == 0])

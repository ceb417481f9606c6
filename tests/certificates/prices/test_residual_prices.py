"""The price of unpenalised columns covers what a residual gains, and next to nothing is paid."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from support.exact.rational_algebra import (
    least_squares,
    noticed,
    overstated,
    squared_dual,
    with_dependence,
)
from support.sizes import each_seed

from convexml import LearningProblem
from convexml.certificates.algebra import dependence
from convexml.certificates.learning.points import columns
from convexml.certificates.learning.points.columns import price_of_columns
from convexml.certificates.learning.points.primal_repair import repair_primal
from convexml.losses import Huber, Logistic, Pinball, Squared
from convexml.objective.frame import frame_of
from convexml.penalties import L1, L2, Nonnegative, Zero


@each_seed(range(240))
def test_the_price_covers_what_the_residual_gains(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, _ = with_dependence(seed)
    y = rng.normal(size=len(X))
    problem = LearningProblem(X, y, Squared(), Zero())
    objective = problem.objective_parts
    truth = least_squares(X, y)
    E = np.column_stack([X, np.ones(len(X))])
    w = np.linalg.lstsq(E, y, rcond=1e-12)[0]
    u = (E @ w - y) / len(y)
    point = repair_primal(objective, w[:3], float(w[3]))
    for size in (0.0, 1e-13, 1e-9, 1e-5):
        tried = overstated(objective, u, rng, size)
        v = -X.T @ tried
        for given in (point, None):
            price = price_of_columns(objective, tried, v, given).price
            bound = squared_dual(y, tried) - Fraction(float(price))
            assert bound <= truth * (1 + Fraction(1, 10**15))
        if seed % 8 in (1, 2, 4, 5, 7):  # well conditioned: the price is no more than it must be
            assert price <= max(1e-12, 100.0 * size) * float(truth + 1)


def rounding_is_dependence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependence, "_is_combination", lambda *args: True)


def no_price_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "above_zero", lambda *args: 0.0)


@pytest.mark.parametrize("fault", [rounding_is_dependence, no_price_at_all])
def test_a_faulty_price_is_noticed(
    fault: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    assert noticed(test_the_price_covers_what_the_residual_gains, 24)


@pytest.mark.parametrize("loss", [Squared(), Huber(0.5), Logistic(), Pinball(0.3)], ids=repr)
@pytest.mark.parametrize(
    "penalty",
    [Zero(), L2(0.3, weights=np.array([0.0, 1.0, 0.0])), Nonnegative(), L1(0.0)],
    ids=["zero", "l2", "nonnegative", "l1"],
)
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_an_ordinary_optimum_pays_next_to_nothing(
    loss: object, penalty: object, offset: float
) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    y = X @ [1.0, -1.0, 2.0] + 2.0 * rng.normal(size=40)
    y = np.sign(y) if isinstance(loss, Logistic) else y
    problem = LearningProblem(X + offset, y, loss, penalty)  # type: ignore[arg-type]
    solution = problem.solve()
    frame = frame_of(problem.objective_parts)  # the certificate's own coordinates
    objective = frame.objective
    u = frame.dual_inside(solution.dual["u"])
    point = repair_primal(objective, *frame.inside(solution.primal["w"], solution.primal["b"])[:2])
    found = price_of_columns(objective, u, -objective.design.rmatvec(u), point)
    assert found.price <= 1e-13 * max(1.0, offset) * abs(solution.objective)

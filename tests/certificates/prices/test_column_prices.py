"""The price of unpenalised columns, over losses and penalties: D(u) less its price is a bound."""

from __future__ import annotations

import numpy as np
import pytest

from convexml import LearningProblem
from convexml.certificates.learning.points.columns import price_of_columns
from convexml.certificates.learning.points.primal_repair import repair_primal
from convexml.losses import (
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Loss,
    Pinball,
    Poisson,
    Squared,
    SquaredHinge,
)
from convexml.numerics import Array
from convexml.penalties import L1, L2, Box, GroupL2, Nonnegative, Penalty, Zero

LOSSES: tuple[Loss, ...] = (
    Squared(),
    Huber(0.5),
    Logistic(),
    Pinball(0.3),
    Absolute(),
    Hinge(),
    EpsilonInsensitive(0.3),
    Poisson(),
    SquaredHinge(),
)
PENALTIES: tuple[Penalty, ...] = (
    Zero(),
    Nonnegative(),
    Box(-0.1, np.inf),
    Box(np.array([-1.0, -np.inf, -np.inf]), np.array([1.0, np.inf, np.inf])),
    L2(0.1, weights=np.array([0.0, 1.0, 0.0])),
    GroupL2(0.05, [0, 1, 0], weights=np.array([0.0, 1.0])),
    L1(0.0),
)
SIZES = (0.0, 1e-14, 1e-10, 1e-7, 1e-4)


def samples(loss: Loss, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 40))
    X = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-1.0, 1.0, size=3)
    if seed % 3 == 0:
        X[:, 2] = X[:, 0]
    z = X @ rng.normal(size=3)
    if loss.labels == "binary":
        y = np.where(z + 3.0 * rng.normal(size=n) > 0.0, 1.0, -1.0)
        y[:2] = [1.0, -1.0]
        return X, y
    if loss.labels == "count":
        return X, rng.poisson(1.0, size=n).astype(float)
    return X, z + rng.normal(size=n)


def overstatements(loss: Loss, penalty: Penalty, seed: int) -> tuple[int, int]:
    """How many perturbed u have D(u) > P, and how many still do after the price."""
    rng = np.random.default_rng(seed)
    X, y = samples(loss, seed)
    problem = LearningProblem(X, y, loss, penalty, fit_intercept=bool(seed % 2))
    solution = problem.solve(tol=1e-9)
    if "w" not in solution.primal or solution.status not in ("optimal", "inaccurate"):
        return 0, 0
    objective = problem.objective_parts
    point = repair_primal(objective, solution.primal["w"], float(solution.primal["b"]))
    best = solution.certificate.dual["u"]
    above = wrong = 0
    for size in SIZES:
        step = size * np.abs(best).max() * np.sign(-y) * rng.random(len(y))
        u = np.clip(best + step, *objective.dual_bounds())
        v = -X.T @ u
        inside = v - penalty.outside(v)
        if penalty.domain_scale(inside) < 1.0:
            continue
        value = objective.dual_formula(u, inside)
        slack = 1e-9 * abs(point.value) + 1e-12
        above += value > point.value + slack
        for seen in (point, None):
            price = price_of_columns(objective, u, v, seen).price
            wrong += not value - price <= point.value + slack
        if size == 0.0 and solution.status == "optimal":
            assert price_of_columns(objective, u, v, point).price <= 1e-9 * abs(point.value) + slack
    return above, wrong


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_what_exceeds_the_optimum_pays_for_it(penalty: Penalty) -> None:
    found = [overstatements(loss, penalty, seed) for loss in LOSSES for seed in range(4)]
    above, wrong = np.sum(found, axis=0)
    assert wrong == 0
    assert above >= 10  # there was something to pay for

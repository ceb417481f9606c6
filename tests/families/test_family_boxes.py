"""A bound over a box is no bound: mean logistic losses of small data, in CVXPY."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from support.draws.families import assert_honest, sampled

import convexml as cml
from convexml import Verdict


@pytest.mark.parametrize("seeds", sampled(10))
def test_no_false_verdict(seeds: range) -> None:
    """The odd seeds of the family are logistic; see ``families.FAMILIES``."""
    tally = assert_honest("CVXPY: regression", [2 * seed + 1 for seed in seeds])
    assert tally.counts["certified"] > 0


def posed(strength: float) -> tuple[cp.Problem, cp.Variable]:
    """X = 1e-8 N(0, 1); with a ridge term in the units of the data, or none."""
    rng = np.random.default_rng(0)
    X, y = 1e-8 * rng.normal(size=(30, 3)), np.where(rng.random(30) < 0.5, 1.0, -1.0)
    w = cp.Variable(3)
    objective = cp.sum(cp.logistic(cp.multiply(-y, X @ w))) / 30
    if strength:
        objective = objective + 0.5 * strength * 1e-16 * cp.sum_squares(w)
    return cp.Problem(cp.Minimize(objective)), w


@pytest.mark.parametrize("strength", [0.0, 1e-3])
def test_zero_is_not_optimal(strength: float) -> None:
    problem, w = posed(strength)
    w.save_value(np.zeros(3))
    found = cml.certify(problem)
    assert found.verdict is not Verdict.CERTIFIED
    solved = cml.solve(problem)
    assert solved.primal_objective < np.log(2.0) * (1.0 - 1e-3)
    assert found.within is not None or found.gap >= np.log(2.0) - solved.primal_objective

"""Multipliers are slopes of the optimal value; those of variable attributes have names."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.dualize_cases import close, solve

import convexml as cml

RNG = np.random.default_rng(5)
F, c = RNG.normal(size=(4, 6)), RNG.uniform(1.0, 2.0, 6)


@pytest.mark.parametrize("maximise", [False, True])
def test_multipliers_are_slopes(maximise: bool) -> None:
    """Lam, nu = -dp*/db for g <= b and A x = b, lam = dp*/db for g >= b; of -f for a maximum."""
    x, shift = cp.Variable(6, name="x", bounds=[0.0, 0.8]), cp.Parameter(3, value=np.zeros(3))
    objective = c @ x + 0.5 * cp.sum_squares(x - 1.0)
    constraints = [
        (cp.norm(F @ x) <= 0.9 + shift[0]).set_label("ball"),
        (cp.sum(x) == 2.0 + shift[1]).set_label("budget"),
        (x[0] >= 0.7 + shift[2]).set_label("floor"),
    ]
    goal = cp.Maximize(-objective) if maximise else cp.Minimize(objective)
    problem = cp.Problem(goal, constraints)
    dual = cml.dualize(problem)
    solve(dual.problem)
    signs = (-1.0 if maximise else 1.0) * np.array([-1.0, -1.0, 1.0])
    eps = 1e-4
    for index, label in enumerate(("ball", "budget", "floor")):
        values = []
        for step in (eps, -eps):
            shift.value = step * np.eye(3)[index]
            values.append(solve(problem))
        slope = (values[0] - values[1]) / (2 * eps)
        assert signs[index] * dual.multipliers[label].value == pytest.approx(slope, abs=1e-4)
        assert abs(slope) > 1e-2


def test_multipliers_of_attributes() -> None:
    """What CVXPY drops: the reduced costs, split by the bound that is active."""
    cost = np.array([1.0, -2.0, 0.5, -1.0])
    x = cp.Variable(4, name="x", bounds=[np.array([0.0, -np.inf, 1.0, 0.0]), 2.0])
    dual = cml.dualize(cp.Problem(cp.Minimize(cost @ x)))
    assert list(dual.multipliers.names) == ["x >= lower", "x <= 2"]
    assert solve(dual.problem) == pytest.approx(0.0 - 4.0 + 0.5 - 2.0, abs=1e-7)
    np.testing.assert_allclose(dual.multipliers["x >= lower"].value, [1.0, 0.5, 0.0], atol=1e-7)
    np.testing.assert_allclose(dual.multipliers["x <= 2"].value, [0.0, 2.0, 0.0, 1.0], atol=1e-7)


@pytest.mark.parametrize(
    ("attribute", "label"),
    [
        ({"nonneg": True}, "X >= 0"),
        ({"nonpos": True}, "X <= 0"),
        ({"PSD": True}, "X >> 0"),
        ({"NSD": True}, "X << 0"),
        ({"symmetric": True}, "X == X.T"),
        ({"diag": True}, "X is diagonal"),
        ({"sparsity": [(0, 1), (0, 2)]}, "X is sparse"),
        ({"bounds": [-1.0, None]}, "X >= -1"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_attribute_has_its_multiplier(attribute: dict[str, Any], label: str) -> None:
    X = cp.Variable((3, 3), name="X", **attribute)
    target = np.random.default_rng(0).normal(size=(3, 3))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X - target)))
    dual = cml.dualize(problem)
    assert label in dual.multipliers.names
    assert close(solve(problem), solve(dual.problem))
    [posed] = [k for k in dual.multipliers if k.label == label]
    assert dual.multipliers[posed] is dual.multipliers[label]
    if "sparsity" not in attribute:  # CVXPY warns of the value of a sparse variable
        assert posed.violation().max() < 1e-6

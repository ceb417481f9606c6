"""What a claim may not accept: nothing measured, infinite values, a bound that says nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.rate_cases import RATES, Plant, audit

from convexml import theory
from convexml.numerics import Array
from convexml.solvers import Iterate
from convexml.theory.claim import Claim
from convexml.theory.monotone import never_increases

# -- claims ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "holds"),
    [
        ([2.0, 1.0, 1.0], True),
        ([1.0, np.inf], False),
        ([np.inf, 1.0], False),
        ([1.0, np.nan, 0.5], False),
        ([1.0, -np.inf], False),
        ([1e-9, 1.0], False),
        ([1.0, 1.0 + 1e-12], False),  # a room of 1e-3, or of 1e-11, would not see it
        ([1.0, 1.0 + 1e-15], True),
        ([1.0], None),
    ],
)
def test_never_increases_wants_finite_values_and_takes_its_room_from_the_earlier_one(
    values: list[float], holds: bool | None
) -> None:
    assert never_increases("a", np.array(values)).holds is holds


def test_the_room_of_a_rise_is_that_of_the_value_before() -> None:
    # 64 eps of 1e-3 is 1.4e-17; 64 eps of the risen value 1.0 would be a thousand times as much
    risen = 1e-3 * (1.0 + 1e-13)
    assert never_increases("a", np.array([1e-3, risen])).holds is False
    assert never_increases("a", np.array([-1e-3, 1e3])).holds is False
    assert never_increases("a", np.array([0.0, 1e-300])).holds is False
    assert np.all(never_increases("a", np.array([1.0, 5.0])).room <= 2e-14)


def test_a_bound_that_says_nothing_tests_nothing() -> None:
    ones = np.ones(3)
    assert Claim("a", ones, np.full(3, np.inf)).holds is None
    assert Claim("a", np.full(3, np.inf), np.full(3, np.inf)).holds is False
    assert Claim("a", ones, ones, np.inf).holds is None
    assert Claim("a", ones, np.full(3, np.nan)).holds is False
    assert Claim("a", ones, np.array([np.inf, 1.0, 1.0])).holds is True


# -- nothing measured, and P = inf -----------------------------------------------------------------


EVERY = [
    ("gradient_descent", "Ridge"),
    ("accelerated_gradient", "Ridge"),
    ("proximal_gradient", "Lasso"),
    ("fista", "Lasso"),
    ("newton", "Ridge"),
    ("irls", "Ridge"),
    ("coordinate_descent", "Lasso"),
    ("working_set", "Lasso"),
    ("dual_coordinate_descent", "SoftMarginSVM"),
    ("smo", "SoftMarginSVM"),
    ("augmented_lagrangian", "SoftMarginSVM"),
    ("interior_point", "SoftMarginSVM"),
    ("admm", "Lasso"),
    ("sgd", "Ridge"),
    ("saga", "Ridge"),
    ("online_gradient_descent", "Ridge"),
]


@pytest.mark.parametrize(("solver", "name"), EVERY)
def test_a_run_without_a_step_tests_nothing_and_says_so(solver: str, name: str) -> None:
    found = RATES[name]().solve(solver, max_iter=5, tol=1e-15).rate_audit(iterations=0)
    assert found.holds is None, str(found)
    assert found.untested
    assert "not tested" in str(found)


@pytest.mark.parametrize(("solver", "name"), EVERY)
def test_a_run_whose_objective_is_infinite_fails(
    plant: Plant, solver: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from convexml.models.rates import audit as rate_audit
    from convexml.objective import Objective

    problem = RATES[name]()
    solution = problem.solve(solver, max_iter=5, tol=1e-15)
    right = rate_audit.measure

    def infinite(*given: Any) -> Any:
        run = right(*given)
        nothing = np.full_like(run.values, np.inf)
        return replace(run, values=nothing, distances=nothing, duals=-nothing)

    assert isinstance(problem.objective_parts, Objective)
    monkeypatch.setattr(rate_audit, "measure", infinite)
    with np.errstate(all="ignore"):
        found = solution.rate_audit()
    silent = found.silences and not found.claims
    assert found.holds is False or silent, str(found)


def test_one_run_says_nothing_of_an_expectation() -> None:
    solution = RATES["Ridge"]().solve("sgd", max_iter=10, tol=1e-15)
    found = solution.rate_audit(seeds=1)
    assert found.holds is None
    assert "two seeds" in found.untested[0]
    assert solution.rate_audit(seeds=8).holds


def test_dual_ascent_without_dual_points_tests_nothing(plant: Plant) -> None:
    def mute(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        while True:
            yield Iterate(w, b)

    name = plant(mute, theory.DualAscent())
    assert audit(RATES["Ridge"](), name).holds is None

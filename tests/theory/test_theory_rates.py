"""Each theorem holds for the iterates of its solver, on every problem it speaks of."""

from __future__ import annotations

from functools import partial

import pytest
from support import rate_cases
from support.model_cases import samples
from support.rate_cases import RATES, applicable, correlated

import convexml as cml
from convexml.errors import InputError

audit = partial(rate_cases.audit, max_iter=150)

FIRST_ORDER = (
    "gradient_descent",
    "accelerated_gradient",
    "proximal_gradient",
    "fista",
    "subgradient",
    "newton",
)
CASES = [(solver, name) for solver in FIRST_ORDER for name in applicable(solver)]


@pytest.mark.parametrize("solver", FIRST_ORDER)
def test_there_are_enough_problems(solver: str) -> None:
    assert len([name for name in applicable(solver)]) >= 5


@pytest.mark.parametrize(("solver", "name"), CASES)
def test_the_theorem_holds_at_every_iteration(solver: str, name: str) -> None:
    found = audit(RATES[name](), solver)
    assert found.holds, str(found)
    assert found.first_violation is None
    assert all(len(claim.measured) == len(claim.bound) for claim in found.claims)
    if any(claim.is_rate for claim in found.claims) and solver != "newton":
        assert found.slack >= 1.0 - 1e-6


@pytest.mark.parametrize("restart", [True, False])
@pytest.mark.parametrize("solver", ["accelerated_gradient", "fista"])
def test_acceleration_with_and_without_restart(solver: str, restart: bool) -> None:
    problem = cml.Ridge(*correlated(), 1e-3)
    found = audit(problem, solver, restart=restart, max_iter=400)
    assert found.holds, str(found)
    (claim,) = (each for each in found.claims if each.is_rate)
    assert len(claim.measured) == 400
    assert found.claims[0].tested.size == 400
    assert bool(found.claims[1].tested.size) == restart


@pytest.mark.parametrize("step", ["backtracking", "barzilai_borwein"])
@pytest.mark.parametrize("name", list(applicable("gradient_descent")))
def test_searched_steps_never_increase_the_objective(step: str, name: str) -> None:
    found = audit(RATES[name](), "gradient_descent", step=step)
    assert found.holds, str(found)


def test_a_reference_and_audits_that_cannot_be_made() -> None:
    problem = cml.Ridge(*samples("real"), 0.3)
    solution = problem.solve("newton")
    stored = cml.Solution.from_json(solution.to_json())
    with pytest.raises(InputError, match="this solution does not know how"):
        stored.rate_audit()
    found = problem.solve("gradient_descent").rate_audit()
    assert found.reference.floor <= found.reference.value
    assert found.reference.value - found.reference.floor <= 1e-12 * found.reference.value
    assert "holds" in str(found)
    changed = problem.solve("gradient_descent", max_iter=7)
    problem.lam = 100.0  # the record keeps the problem as it was solved
    assert changed.rate_audit().holds

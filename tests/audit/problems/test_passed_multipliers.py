"""Multipliers that stand in a CVXPY problem: whether they hold, whatever is said of the point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.programs.cvxpy_cases import CASES
from support.programs.cvxpy_cases import solved as solved_case

import convexml as cml
from convexml import Verdict

SLOW = ("pcp_1", "pcp_3", "sdp_1 min", "sdp_1 max", "sdp_2", "sdp_batched", "sdp_pcp_1")
WITHOUT = ("lp_bound_attr", "qp_bound_attr")  # attributes have no dual values that stand
MUTATIONS: dict[str, Callable[[Any], Any]] = {
    "flipped": np.negative,
    "twice": lambda y: 2.0 * y,
    "zero": np.zeros_like,
    "shifted": lambda y: y + max(1.0, float(np.max(np.abs(y)))),
}


def solved(name: str) -> Any:
    return solved_case(name).prob


@pytest.mark.parametrize("name", ["lp_2", "lp_5", "socp_4", "pcp_3"])
def test_a_flipped_multiplier_of_an_equality_does_not_hold(name: str) -> None:
    problem = solved(name)
    assert cml.certify(problem).multipliers == "hold"
    equal = [k for k, c in enumerate(problem.constraints) if isinstance(c, cp.constraints.Equality)]
    for k in equal:
        constraint = problem.constraints[k]
        value = np.array(constraint.dual_value)
        constraint.save_dual_value(-value)
        found = cml.certify(problem)
        assert found.multipliers == "do not hold"
        assert found.dual_source == "constructed"
        assert not found.holds()
        assert found.verdict is not Verdict.REFUTED  # the point is optimal
        assert "multipliers do not hold" in "\n".join(str(found).splitlines()[:2])
        constraint.save_dual_value(value)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in CASES]
)
def test_a_mutated_multiplier_holds_only_where_it_is_optimal(name: str) -> None:
    problem = solved(name)
    certificate = cml.certify(problem)
    if name in WITHOUT:
        assert certificate.multipliers == "not passed"
        return
    assert certificate.multipliers == "hold", str(certificate)
    if name != "lp_5":  # its equalities are dependent: the bound comes from other multipliers
        assert certificate.dual_source == "passed"
    for constraint in problem.constraints:
        values = [np.array(part.value) for part in constraint.dual_variables]
        size = max(float(np.max(np.abs(value))) for value in values)
        for kind, mutate in MUTATIONS.items():
            if size < 1e-5 and kind != "shifted":
                continue
            for part, value in zip(constraint.dual_variables, values, strict=True):
                part.save_value(mutate(value))
            found = cml.certify(problem)
            if name == "lp_0":  # |x|_1 + 1 subject to x = 0: any multiplier in [-1, 1] is optimal
                optimal = np.max(np.abs(mutate(values[0]))) <= 1.0 + 1e-6
            else:
                optimal = False
            assert (found.multipliers == "hold") == optimal, f"{kind}: {found}"
            assert optimal or not found.holds()
        for part, value in zip(constraint.dual_variables, values, strict=True):
            part.save_value(value)


def two_bounds(x: float, y: list[float], first: float = 0.0, unit: float = 1.0) -> cml.Certificate:
    """Minimise x subject to x >= first and x >= 0, at x with multipliers y: of one, y sums to 1."""
    variable = cp.Variable(name="x")
    rows = [unit * variable >= unit * first, unit * variable >= 0.0]
    problem = cp.Problem(cp.Minimize(unit * (variable + 1.0)), rows)
    variable.save_value(np.array(x))
    for row, value in zip(rows, y, strict=True):
        row.save_dual_value(np.array(value))
    return cml.certify(problem)


@pytest.mark.parametrize(
    ("y", "told"),
    [
        ([1.0, 0.0], "hold"),
        ([0.25, 0.75], "hold"),  # they need not be unique
        ([0.25, 0.75 + 1e-7], "hold"),
        ([0.25, 0.75 + 1e-5], "do not hold"),
        ([1.0, 1.0], "do not hold"),
        ([-0.5, 1.5], "do not hold"),
    ],
)
def test_the_nearest_multipliers_that_hold_are_what_counts(y: list[float], told: str) -> None:
    assert two_bounds(0.0, y).multipliers == told


def test_feasible_multipliers_of_too_low_a_value_do_not_hold() -> None:
    """x >= 1 and x >= 0: only (1, 0) gives the value 1, whatever is said of the point."""
    right, wrong = [1.0, 0.0], [0.0, 1.0]
    for unit in (1.0, 2.0**20, 2.0**-20):
        assert two_bounds(1.0, right, first=1.0, unit=unit).multipliers == "hold"
        found = two_bounds(1.0, wrong, first=1.0, unit=unit)
        assert found.multipliers == "do not hold"
        assert "their bound" in str(found)
        worse = two_bounds(2.0, right, first=1.0, unit=unit)
        assert (worse.verdict, worse.multipliers) == (Verdict.REFUTED, "hold")
        worse = two_bounds(2.0, wrong, first=1.0, unit=unit)
        assert (worse.verdict, worse.multipliers) == (Verdict.REFUTED, "do not hold")


def test_the_words_are_the_same_everywhere() -> None:
    found = two_bounds(0.0, [1.0, 1.0])
    words = "the passed multipliers do not hold: "
    assert words in str(found).splitlines()[1]
    assert words in found._repr_html_()
    assert "passed multipliers do not hold" in found._repr_latex_()
    assert "multipliers do not hold" in repr(found)
    assert "the passed multipliers hold" in str(two_bounds(0.0, [1.0, 0.0])).splitlines()[1]


def test_a_comparison_tells_of_wrong_multipliers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that leaves twice the multiplier: certified, and the row says what is wrong."""
    x = cp.Variable(name="x")
    problem = cp.Problem(cp.Minimize(x), [x >= 1.0, x >= 0.5])

    def wrong(self: Any, **options: Any) -> Any:
        constraint = self.constraints[0]
        constraint.save_dual_value(2.0 * np.array(constraint.dual_value))
        return cml.certify(self, **options)

    monkeypatch.setattr("convexml.comparison.claims.certify", wrong)
    (row,) = cml.compare(problem, "clarabel").records
    assert row.multipliers == "do not hold"
    assert "the passed multipliers do not hold: " in row.message
    assert row.to_dict()["multipliers"] == "do not hold"


def test_a_multiplier_that_is_no_number_does_not_hold() -> None:
    assert two_bounds(0.0, [np.nan, 1.0]).multipliers == "do not hold"

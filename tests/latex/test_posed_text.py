"""What a posed problem prints: symbols, multipliers, and the line that eliminates the rest."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from support.latex.every_model import BOUNDS, MORE, linear_program, page_of
from support.latex.formula_cases import LOSSES, MODELS, PENALTIES, WEIGHTS, X
from support.latex.rows import rows_of

import convexml as cml
from convexml.errors import InputError

EVERY = MODELS | MORE
INDEX = re.compile(r"(?<=[\w)])\[(\d*:\d*|None|\d+)(, (\d*:\d*|None|\d+))*\]")
"""Slices, one entry, and axes; other brackets are arrays of numbers, or of indices."""
OF_CONSTRAINTS = {"v_0", "gamma", "W_0", "W_1", "W_2"}
"""Multipliers that solutions do not have, or have under another name."""


def cases() -> dict[str, Any]:
    """Every model, with and without an intercept."""
    found: dict[str, Any] = {f"LinearProgram {b}": linear_program(b, True) for b in BOUNDS}
    for name, make in EVERY.items():
        for given in ({"fit_intercept": True}, {"fit_intercept": False}, {}):
            if not given and f"{name} True" in found:
                continue
            try:
                found[f"{name} {given.get('fit_intercept', '')}".strip()] = make(**given)
            except (InputError, TypeError):
                continue
    return found


CASES = cases()


@pytest.fixture(params=CASES)
def problem(request: pytest.FixtureRequest) -> Any:
    return CASES[request.param]


def test_problems_are_printed_in_symbols(problem: Any) -> None:
    assert literals(problem) == []


def literals(problem: Any) -> list[str]:
    """What is printed of the pair with numbers of an array in it."""
    texts = str(problem.primal), str(problem.dual)
    return [text for text in texts if "[" in INDEX.sub("", text) or "Expression(" in text]


@pytest.mark.parametrize(
    ("loss", "penalty"),
    [*((each, "l2 weights") for each in LOSSES), *(("squared", each) for each in PENALTIES)],
)
def test_pairs_are_printed_in_symbols(loss: str, penalty: str) -> None:
    part, y = LOSSES[loss]
    term = PENALTIES[penalty](12 if loss == "softmax" else 4)
    assert literals(cml.LearningProblem(X, y, part, term, sample_weight=WEIGHTS)) == []


def test_a_symbol_has_one_value(problem: Any) -> None:
    values: dict[str, Any] = {}
    for each in (*problem.primal.constants(), *problem.dual.constants()):
        value = each.value.toarray() if hasattr(each.value, "toarray") else each.value
        before = values.setdefault(each.name(), value)
        np.testing.assert_array_equal(before, value, err_msg=each.name())


def test_multipliers_are_no_helpers(problem: Any) -> None:
    posed = problem.dual_statement
    assert {*posed.variables} == {each.name() for each in posed.problem.variables()}
    assert {*problem.multipliers} == {*posed.variables} - {*posed.helpers}
    line = "".join(rows_of(problem).get("eliminated", []))
    for name in posed.helpers:
        assert re.search(rf"(?<![\w\\])({name}|{name.upper()})(?!\w)", line), (name, line)


@pytest.mark.parametrize(
    "name", [name for name, each in CASES.items() if rows_of(each).get("eliminated")]
)
def test_the_eliminating_line_holds_at_the_solution_of_the_posed_dual(name: str) -> None:
    problem = CASES[name]
    page, solution = page_of(problem)
    assert {*problem.multipliers} <= {*solution.dual} | OF_CONSTRAINTS
    problem.dual.solve(solver="CLARABEL")
    assert problem.dual.value == pytest.approx(solution.objective, abs=1e-6)
    for variable in problem.dual.variables():
        value = variable.value
        if variable.name() in ("w", "g") and "W" in page.names:
            value = value.reshape(page.names["W"].shape)
        for key in (variable.name(), variable.name().upper(), rf"\{variable.name()}"):
            if key in page.known:
                page.known[key] = value
    page.tol = 1e-3
    (line,) = page.lines["eliminated"]
    assert line in problem.derivation()
    for each in (text for label, text in page.told() if label == "eliminated"):
        assert page.holds(each), each

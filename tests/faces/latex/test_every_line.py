"""Every line that is printed of every model, read and evaluated at a solution: none is false.

P = L = D by the text, every constraint, condition and definition holds, the Lagrangian is least at
the solution and the dual nowhere above P*, with values of the data, the point and the multipliers
alone.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.latex import every_model
from support.latex.formula_cases import EXACT, LOSSES, MODELS, PENALTIES, WEIGHTS, K, X
from support.latex.page import Page, condition_faults, derivation_faults
from support.latex.rows import corrupted, rows_of, undefined

import convexml as cml
from convexml import models
from convexml.errors import InputError

EVERY = MODELS | every_model.MORE
WEIGHTED = {"": None, "weights": WEIGHTS, "some zero": every_model.SOME_ZERO}


def cases() -> list[Any]:
    """Each model on one of its data, in turn; the whole product is slow."""
    found = []
    for number, (name, make) in enumerate(EVERY.items()):
        own = []
        for b, (label, s) in itertools.product((None, True, False), WEIGHTED.items()):
            given = {"fit_intercept": b} if b is not None else {}
            given |= {"sample_weight": s} if s is not None else {}
            try:
                make(**given)
            except (InputError, TypeError):
                continue
            if b is not None or not _takes_intercept(make):
                own.append(
                    (name, given, f"{name}-{'' if b is None else 'b' if b else 'no b'}-{label}")
                )
        for k, (*case, label) in enumerate(own):
            marks = () if k == number % len(own) else pytest.mark.slow
            found.append(pytest.param(*case, id=label, marks=marks))
    return found


def _takes_intercept(make: Any) -> bool:
    try:
        make(fit_intercept=True)
    except (InputError, TypeError):
        return False
    return True


def few(names: str) -> list[Any]:
    """Every fourth always; the others are slow."""
    marks = ((), *3 * (pytest.mark.slow,))
    return [pytest.param(n, marks=marks[k % 4]) for k, n in enumerate(names.split())]


def check(page: Page, solution: Any, name: str = "") -> None:
    bound = solution.certificate.dual_objective
    assert page.faults(solution.objective, bound, name not in every_model.EXEMPT) == []
    assert derivation_faults(page, solution.problem.derivation()) == []
    conditions = [row.name for row in solution.certificate.conditions]
    assert condition_faults(page, solution, conditions) == []
    multipliers = [name for name, value in solution.dual.items() if np.size(value)]
    assert undefined([*conditions, *multipliers], page.text) == set()


@pytest.mark.parametrize(("name", "given"), cases())
def test_models(name: str, given: Any) -> None:
    page, solution = every_model.page_of(EVERY[name](**given), given.get("sample_weight"))
    check(page, solution, name)


def test_every_model_is_here() -> None:
    named = {name.split()[0] for name in EVERY} | {"LinearProgram", "LearningProblem"}
    assert named == {*models.__all__} - {"Problem"}


@pytest.mark.parametrize("bounds", every_model.BOUNDS, ids=str)
@pytest.mark.parametrize("equal", [False, True])
def test_linear_programs(bounds: Any, equal: bool) -> None:
    check(*every_model.page_of(every_model.linear_program(bounds, equal)))


PAIRS = [
    ("absolute", "l2 weights"), ("squared", "box"), ("squared", "box above"),
    ("squared", "sorted_l1"), ("linex", "nonnegative_elastic_net"),
    ("logistic", "nonnegative_elastic_net of l1 only"), ("huber", "l1_ball"), ("hinge", "l2_ball"),
    ("hinge", "zero"), ("epsilon_insensitive", "l2"), ("exponential", "box"),
    ("hard_margin", "l1 weights"), ("interpolation", "l1"), ("pinball", "group_l2 weights"),
    ("poisson", "l2 of strength 0"), ("softmax", "elastic_net"),
    ("squared_hinge", "elastic_net of l1 only"), ("squared_epsilon_insensitive", "nonnegative"),
    ("absolute", "group_l2"),
]  # fmt: skip


def pairs() -> list[Any]:
    """Each pair in one scale and kind of weights, in turn; a third of the product is slow."""
    kinds = [*itertools.product(("mean", "sum", 2.5), WEIGHTED, (True, False))]
    return [
        pytest.param(*pair, *kind, marks=() if k == 5 * number % len(kinds) else pytest.mark.slow)
        for number, pair in enumerate(PAIRS)
        for k, kind in enumerate(kinds)
        if (k - 5 * number) % 3 == 0
    ]


@pytest.mark.parametrize(("loss", "penalty", "scale", "kind", "intercept"), pairs())
def test_pairs(loss: str, penalty: str, scale: Any, kind: str, intercept: bool) -> None:
    part, y = LOSSES[loss]
    classes, y = K if loss == "softmax" else 1, EXACT if loss == "interpolation" else y
    y = every_model.NOT_SEPARABLE if loss == "hinge" else y
    term, s = PENALTIES[penalty](X.shape[1] * classes), WEIGHTED[kind]
    how = {"fit_intercept": intercept, "sample_weight": s, "loss_scale": scale}
    page, solution = every_model.page_of(cml.LearningProblem(X, y, part, term, **how), s)
    check(page, solution)


def test_every_part_is_here() -> None:
    assert {loss for loss, _ in PAIRS} == {*LOSSES}
    assert {name.split()[0] for _, name in PAIRS} == {name.split()[0] for name in PENALTIES}


@pytest.mark.parametrize("name", few("Ridge Lasso GaussianLikelihood MonotoneRegression"))
def test_no_corrupted_formula_passes(name: str) -> None:
    """Each change of one sign, factor or sense is refused."""
    given = {"fit_intercept": False} if name in MODELS else {}
    page, solution = every_model.page_of(EVERY[name](**given))
    check(page, solution, name)
    bound = solution.certificate.dual_objective
    others = [replace(page, text=text) for text in corrupted(page.text)]
    assert len(others) > 8
    assert [each.text for each in others if not each.faults(solution.objective, bound)] == []


LOST = ((r" - ", " + "), (r" \+ ", " - "), (r"/n", ""), (r"\blam ", ""), (">=", "<="), ("<=", ">="))
SHARP = "Ridge Lasso SoftMarginSVM HuberRegression NuSVC GaussianLikelihood MonotoneRegression"
SHARP += " TrendFilter PrincipalComponents SpanningTree"


@pytest.mark.parametrize("name", few(SHARP))
def test_no_corrupted_condition_passes(name: str) -> None:
    """One sign, factor or sense of a row of the certificate is another."""
    page, solution = every_model.page_of(EVERY[name]())
    passed, count = [], 0
    for row in solution.certificate.conditions:
        others = [*corrupted(row.name, LOST)]
        passed += [each for each in others if not condition_faults(page, solution, [each])]
        count += len(others)
    assert count > 2
    assert passed == []


# -- what the posed pair prints

INDEX = re.compile(r"(?<=[\w)])\[(\d*:\d*|None|\d+)(, (\d*:\d*|None|\d+))*\]")
"""Slices, one entry, and axes; other brackets are arrays of numbers, or of indices."""
OF_CONSTRAINTS = {"v_0", "gamma", "W_0", "W_1", "W_2"}
"""Multipliers that solutions do not have, or have under another name."""


def posed_cases() -> dict[str, Any]:
    """Every model, with and without an intercept."""
    found: dict[str, Any] = {
        f"LinearProgram {b}": every_model.linear_program(b, True) for b in every_model.BOUNDS
    }
    for name, make in EVERY.items():
        for given in ({"fit_intercept": True}, {"fit_intercept": False}, {}):
            if not given and f"{name} True" in found:
                continue
            try:
                found[f"{name} {given.get('fit_intercept', '')}".strip()] = make(**given)
            except (InputError, TypeError):
                continue
    return found


CASES = posed_cases()


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


@pytest.mark.parametrize("name", CASES)
def test_a_posed_problem_is_printed_in_symbols(name: str) -> None:
    """Each has one value; the multipliers are those that the eliminating line does not name."""
    problem, values = CASES[name], dict[str, Any]()
    assert literals(problem) == []
    for each in (*problem.primal.constants(), *problem.dual.constants()):
        value = each.value.toarray() if hasattr(each.value, "toarray") else each.value
        before = values.setdefault(each.name(), value)
        np.testing.assert_array_equal(before, value, err_msg=each.name())
    posed = problem.dual_statement
    assert {*posed.variables} == {each.name() for each in posed.problem.variables()}
    assert {*problem.multipliers} == {*posed.variables} - {*posed.helpers}
    line = "".join(rows_of(problem).get("eliminated", []))
    for helper in posed.helpers:
        pattern = rf"(?<![\w\\])({helper}|{helper.upper()})(?!\w)"
        assert re.search(pattern, line), (helper, line)


@pytest.mark.parametrize(
    "name", [name for name, each in CASES.items() if rows_of(each).get("eliminated")]
)
def test_the_eliminating_line_holds_at_the_solution_of_the_posed_dual(name: str) -> None:
    problem = CASES[name]
    page, solution = every_model.page_of(problem)
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

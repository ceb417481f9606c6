"""What the doors say to who knocks wrongly, each in its own name; and infinite bounds."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.linear_model import Ridge

import convexml as cml
from convexml import Verdict
from convexml.errors import InputError

DOORS = (cml.certify, cml.solve, cml.dualize, cml.assert_optimal)
x = cp.Variable(2, name="x")
SMALL = cp.Problem(cp.Minimize(cp.sum_squares(x - 3.0)), [x <= 1.0])


def discrete() -> dict[str, tuple[cp.Problem, str]]:
    k, on = cp.Variable(name="k", integer=True), cp.Variable(2, name="on", boolean=True)
    return {
        "integer": (cp.Problem(cp.Minimize(cp.square(k))), "k is integer"),
        "boolean": (cp.Problem(cp.Minimize(cp.sum(on))), "on is integer: 0 or 1"),
        "finite set": (
            cp.Problem(cp.Minimize(x[0]), [x[1] >= 0, cp.FiniteSet(x[0], [1, 2])]),
            r"constraints\[1\] is a FiniteSet",
        ),
    }


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
@pytest.mark.parametrize("name", discrete())
def test_what_is_integer_is_called_so(name: str, door: Callable[..., Any]) -> None:
    problem, words = discrete()[name]
    with pytest.raises(InputError, match=rf"^{door.__name__}: .*integer variables \({words}\)"):
        door(problem)


def unsuitable() -> dict[str, Any]:
    return {
        "curvature": cp.Problem(cp.Minimize(cp.sqrt(cp.sum(x)))),
        "parameter": cp.Problem(cp.Minimize(cp.Parameter(2, name="a") @ x)),
        "nan": cp.Problem(cp.Minimize(np.array([np.nan, 1.0]) @ x)),
        "impossible": cp.Problem(cp.Minimize(cp.sum(x)), [x <= -np.inf]),
        "string": "min x",
    }


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
@pytest.mark.parametrize("name", unsuitable())
def test_an_error_begins_with_the_function_that_was_called(
    name: str, door: Callable[..., Any]
) -> None:
    x.save_value(np.zeros(2))
    with pytest.raises(InputError, match=f"^{door.__name__}: "):
        door(unsuitable()[name])


MISSPELT: dict[str, tuple[Callable[[], Any], str]] = {
    "tolerance of solve": (lambda: cml.solve(SMALL, tolerance=1e-3), "solve: .*'tol'"),
    "method of solve": (lambda: cml.solve(SMALL, method="OSQP"), "solve: .*'solver'"),
    "solver of solve": (lambda: cml.solve(SMALL, slover="OSQP"), "solve: .*'solver'"),
    "eps of certify": (lambda: cml.certify(SMALL, eps=1e-3), "certify: .*'tol'"),
    "weights of certify": (
        lambda: cml.certify(Ridge().fit([[1.0], [2.0]], [1.0, 2.0]), smaple_weight=[1, 1]),
        "certify: ",
    ),
    "problem of dualize": (lambda: cml.dualize(prob=SMALL), "dualize: .*'problem'"),
    "tol of assert_optimal": (lambda: cml.assert_optimal(SMALL, tol=1e-3), "assert_.*'gap'"),
    "gap of assert_optimal": (lambda: cml.assert_optimal(SMALL, gapp=1e-3), "assert_.*'gap'"),
}


@pytest.mark.parametrize("name", MISSPELT)
def test_an_unknown_keyword_is_answered_with_the_nearest(name: str) -> None:
    call, words = MISSPELT[name]
    with pytest.raises(InputError, match=f"^{words}"):
        call()


def bounded(form: str, upper: Any, lower: Any) -> cp.Problem:
    """Minimise |x - (3, 3)|^2 over lower <= x <= upper, written in several ways."""
    constraints = {
        "right": [x <= upper, x >= lower],
        "left": [upper >= x, lower <= x],
        "doubled": [2.0 * x + 1.0 <= 2.0 * np.asarray(upper) + 1.0, -x <= -np.asarray(lower)],
    }[form]
    return cp.Problem(cp.Minimize(cp.sum_squares(x - 3.0)), constraints)


@pytest.mark.parametrize("form", ["right", "left", "doubled"])
@pytest.mark.parametrize("how", ["array", "parameter"])
@pytest.mark.parametrize("upper", [[np.inf, 2.0], [np.inf, np.inf], [2.0, np.inf]])
def test_an_infinite_bound_is_no_constraint(form: str, how: str, upper: list[float]) -> None:
    bound: Any = np.array(upper)
    if how == "parameter" and form != "doubled":
        bound = cp.Parameter(2, value=bound)
    lower = np.array([-np.inf, 0.0])
    problem = bounded(form, bound, lower)
    expected = np.minimum(upper, 3.0)
    value, slope = float(np.sum((expected - 3.0) ** 2)), 2.0 * (3.0 - expected)
    slope = slope / (2.0 if form == "doubled" else 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solved = cml.solve(problem)
        certified = cml.certify(problem)
        dual = cml.dualize(problem)
    assert solved.verdict is certified.verdict is Verdict.CERTIFIED
    assert certified.primal_objective == pytest.approx(value, abs=1e-6)
    assert x.value == pytest.approx(expected, abs=1e-4)
    assert certified.dual["constraints[0]"] == pytest.approx(slope, abs=1e-4)
    assert dual.problem.solve(solver="CLARABEL") == pytest.approx(value, abs=1e-6)
    assert dual.multipliers[problem.constraints[0]].value == pytest.approx(slope, abs=1e-4)


def test_a_multiplier_of_an_infinite_bound_is_judged() -> None:
    problem = bounded("right", np.array([np.inf, 2.0]), np.array([-1.0, 0.0]))
    problem.solve(solver="CLARABEL")
    problem.constraints[0].save_dual_value(np.array([1.0, 2.0]))
    found = cml.certify(problem)
    assert found.gap > 1e-3 or found.verdict is not Verdict.CERTIFIED


def test_a_small_gap_beside_a_dual_residual_is_told_with_both_numbers() -> None:
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 3.0)), [(x <= 5.0).set_label("cap")])
    problem.solve(solver="CLARABEL")
    problem.constraints[0].save_dual_value(np.array([-1e-2, 0.0]))
    found = cml.certify(problem)
    assert found.verdict is not Verdict.CERTIFIED
    assert "cap: multiplier in its cone" in found.reason
    assert f"{found.relative_gap:.3g}" in found.reason

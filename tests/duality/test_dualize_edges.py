"""dualize at its edges: refusals, names, constants, parameters, complex numbers."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.dualize_cases import close, solve

import convexml as cml
from convexml.errors import InputError

x = cp.Variable(3, name="x")

# -- refusals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (cp.Problem(cp.Minimize(cp.sqrt(x[0]))), "not DCP"),
        (cp.Problem(cp.Minimize(cp.sum(cp.Variable(2, integer=True, name="k")))), "k is integer"),
        (cp.Problem(cp.Minimize(cp.Variable(boolean=True, name="on"))), "on is integer"),
        (cp.Problem(cp.Minimize(cp.Parameter(3, name="price") @ x)), "price has no value"),
        ("min x", "expected a cvxpy.Problem, got str"),
    ],
    ids=["curvature", "integer", "boolean", "parameter", "type"],
)
def test_refusals(problem: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        cml.dualize(problem)


def test_an_unknown_label_is_answered_with_the_nearest() -> None:
    dual = cml.dualize(cp.Problem(cp.Minimize(cp.sum(x)), [(x >= 1).set_label("floor")]))
    with pytest.raises(KeyError, match="Did you mean 'floor'"):
        dual.multipliers["flor"]


# -- names ------------------------------------------------------------------------------------


def test_names_of_labelled_and_unlabelled_constraints() -> None:
    constraints = [
        (x <= 4).set_label("cap"),
        x >= 1,
        cp.sum(x) == 6,
        (x <= 5).set_label("cap"),
        cp.SOC(x[0] + 9, x),
    ]
    dual = cml.dualize(cp.Problem(cp.Minimize(cp.sum_squares(x)), constraints))
    expected = ["cap", "lambda_2", "nu_3", "cap (2)", "cone_5"]
    assert list(dual.multipliers.names) == expected
    assert [v.name() for v in dual.multipliers[constraints[4]]] == ["cone_5.lambda", "cone_5.u"]
    assert len({v.name() for v in dual.problem.variables()}) == len(dual.problem.variables())
    assert len(dual.multipliers) == 5
    assert "nu_3" in repr(dual.multipliers)


def test_a_constraint_that_stands_twice_counts_once() -> None:
    floor = x >= 1
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [floor, floor])
    dual = cml.dualize(problem)
    assert len(dual.problem.variables()) == 1
    assert close(solve(dual.problem), 3.0)


# -- edges ------------------------------------------------------------------------------------


def test_without_variables_or_constraints() -> None:
    assert solve(cml.dualize(cp.Problem(cp.Minimize(3))).problem) == 3.0
    assert solve(cml.dualize(cp.Problem(cp.Maximize(-cp.norm(x)))).problem) == pytest.approx(0.0)
    free = cml.dualize(cp.Problem(cp.Minimize(cp.sum(x)))).problem
    free.solve(solver="CLARABEL")
    assert free.status == "infeasible"


def test_values_of_the_user_stay() -> None:
    x.value = np.arange(3.0)
    cml.dualize(cp.Problem(cp.Minimize(cp.norm(x)), [x >= 1]))
    np.testing.assert_array_equal(x.value, np.arange(3.0))
    x.value = None


def test_parameters_stand_with_their_values() -> None:
    level = cp.Parameter(nonneg=True, value=1.0)
    width = cp.Parameter(nonneg=True, value=0.5)
    problem = cp.Problem(
        cp.Minimize(cp.sum(cp.huber(x - 3, width)) + level * cp.sum_squares(x)),
        [cp.sum(cp.huber(x, width)) <= 2 * level],
    )
    for value in (1.0, 0.3):
        level.value = value
        assert close(solve(problem), solve(cml.dualize(problem).problem))


def test_complex_numbers() -> None:
    z = cp.Variable(3, complex=True, name="z")
    H = cp.Variable((2, 2), hermitian=True, name="H")
    bound = np.array([[1.0, 0.5j], [-0.5j, 2.0]])
    problem = cp.Problem(
        cp.Minimize(cp.norm(z) + cp.real(cp.trace(H)) + cp.abs(H[0, 1] - 1.0)),
        [(z[0] + z[1] == 1 + 2j).set_label("sum"), H >> bound],
    )
    dual = cml.dualize(problem)
    assert close(solve(problem), solve(dual.problem))
    real, imaginary = dual.multipliers["sum"]
    expected = problem.constraints[0].dual_value
    assert real.value + 1j * imaginary.value == pytest.approx(expected, abs=1e-5)

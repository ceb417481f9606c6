"""Points at which an expression is no number: answered in words, with the expression and values."""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml import Verdict
from convexml.errors import InputError

x, S = cp.Variable(2, name="x"), cp.Variable((2, 2), symmetric=True, name="S")
X = cp.Variable((2, 2), name="X")
s, t = cp.Variable(name="s"), cp.Variable(name="t", nonneg=True)
FLAT, MIXED = np.zeros((2, 2)), np.diag([1.0, -1.0])

AT = {
    "matrix_frac, singular": (cp.matrix_frac(x, S), {x: [1, 1], S: FLAT}, "S = [[0. 0.] [0. 0.]]"),
    "matrix_frac, indefinite": (cp.matrix_frac(x, S), {x: [1, 1], S: MIXED}, "MatrixFrac(x, S)"),
    "perspective": (cp.perspective(cp.square(s), t), {s: 1, t: 0}, "s = 1.0"),
    "perspective of exp": (cp.perspective(cp.exp(s), t), {s: 1, t: 0}, "t = 0.0"),
    "log, 0": (-cp.sum(cp.log(x)), {x: [0, 1]}, "log(x) is infinite at x = [0. 1.]"),
    "log, negative": (-cp.sum(cp.log(x)), {x: [-1, 1]}, "log(x) has no value at x = [-1. 1.]"),
    "log1p": (-cp.sum(cp.log1p(x)), {x: [-2, 1]}, "log1p(x)"),
    "geo_mean": (-cp.geo_mean(x), {x: [-1, 1]}, "x = [-1. 1.]"),
    "sqrt": (-cp.sum(cp.sqrt(x)), {x: [-1, 1]}, "0.5) has no value at x = [-1. 1.]"),
    "power 3/2": (cp.sum(cp.power(x, 1.5)), {x: [-1, 1]}, "x = [-1. 1.]"),
    "power -2": (cp.sum(cp.power(x, -2)), {x: [0, 1]}, "-2.0) is infinite"),
    "inv_pos, 0": (cp.sum(cp.inv_pos(x)), {x: [0, 1]}, "-1.0) is infinite at x = [0. 1.]"),
    "inv_pos, negative": (cp.sum(cp.inv_pos(x)), {x: [-1, 1]}, "is not defined at x = [-1. 1.]"),
    "inv_prod": (cp.inv_prod(x), {x: [-1, 1]}, "x = [-1. 1.]"),
    "harmonic_mean": (-cp.harmonic_mean(x), {x: [-1, 1]}, "x = [-1. 1.]"),
    "pnorm 1/2": (-cp.pnorm(x, 0.5), {x: [-1, 1]}, "x = [-1. 1.]"),
    "entr": (-cp.sum(cp.entr(x)), {x: [-1, 1]}, "entr(x)"),
    "kl_div": (cp.sum(cp.kl_div(x, t)), {x: [1, 1], t: 0}, "kl_div(x, t)"),
    "rel_entr": (cp.sum(cp.rel_entr(x, t)), {x: [1, 1], t: 0}, "rel_entr(x, t)"),
    "log_det, singular": (-cp.log_det(S), {S: FLAT}, "log_det(S) is infinite"),
    "log_det, indefinite": (-cp.log_det(S), {S: MIXED}, "log_det(S)"),
    "tr_inv": (cp.tr_inv(S), {S: FLAT}, "tr_inv(S)"),
    "quad_over_lin": (cp.quad_over_lin(x, t), {x: [1, 1], t: 0}, "quad_over_lin(x, t"),
    "quad_over_lin, 0 / 0": (cp.quad_over_lin(x, t), {x: [0, 0], t: 0}, "t = 0.0"),
    "lambda_max": (cp.lambda_max(X), {X: [[1, 2], [3, 4]]}, "lambda_max(X)"),
    "von Neumann": (-cp.von_neumann_entr(S), {S: MIXED}, "von_neumann_entr(S"),
    "exp": (cp.sum(cp.exp(x)), {x: [1000, 1]}, "exp(x) is infinite"),
}


@pytest.mark.parametrize(
    "where", ["objective", pytest.param("maximised", marks=pytest.mark.slow), "constraint"]
)
@pytest.mark.parametrize("name", AT)
def test_a_value_outside_of_a_domain_is_told_with_its_expression(name: str, where: str) -> None:
    expression, values, words = AT[name]
    problem = {
        "objective": cp.Problem(cp.Minimize(expression), [x <= 5]),
        "maximised": cp.Problem(cp.Maximize(-expression), [x <= 5]),
        "constraint": cp.Problem(cp.Minimize(cp.sum(x)), [(expression <= 3).set_label("own")]),
    }[where]
    for variable in problem.variables():
        variable.save_value(np.asarray(values.get(variable, np.full(variable.shape, 0.5)), float))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = cml.certify(problem)
    assert found.verdict is not Verdict.CERTIFIED
    assert found.gap == np.inf or found.verdict is Verdict.REFUTED
    assert words in found.reason
    assert ("own: " if where == "constraint" else "the objective: ") in found.reason


def test_an_infinite_objective_is_refuted_by_any_point_with_a_value() -> None:
    problem = cp.Problem(cp.Minimize(-cp.sum(cp.log(x)) + cp.sum(x)))
    x.save_value(np.array([0.0, 1.0]))
    found = cml.certify(problem)
    assert found.verdict is Verdict.REFUTED
    assert found.primal_objective == np.inf
    assert found.witness["x"] == pytest.approx([1.0, 1.0], abs=1e-3)


def parameter(value: Any) -> cp.Parameter:
    found = cp.Parameter(np.shape(value), name="p")
    found.save_value(np.asarray(value, float))  # as writing into its array does: unchecked
    return found


BROKEN = {
    "log": (lambda c: -cp.sum(cp.log(c([-1, 1]))), "log("),
    "sqrt": (lambda c: -cp.sum(cp.sqrt(c([-1, 1]))), "0.5) contains nan at entry 0"),
    "inverse": (lambda c: cp.sum(cp.inv_pos(c([0, 1]))), "-1.0) contains inf at entry 0"),
    "geo_mean": (lambda c: -cp.geo_mean(c([-1, 1])), "GeoMean("),
    "log_det": (lambda c: -cp.log_det(c(FLAT)), "log_det("),
    "matrix_frac": (lambda c: cp.matrix_frac(np.ones(2), c(FLAT)), "has no value: Singular matrix"),
    "quotient": (lambda c: cp.sum_squares(x / c(0.0)), "divides by 0"),
    "quad_over_lin": (lambda c: cp.quad_over_lin(x, c(0.0)), "divides by 0"),
    "nan": (
        lambda c: cp.sum_squares(c(np.array([[1, np.nan], [0, 1]])) @ x),
        "nan at row 0, column 1",
    ),
    "inf": (lambda c: cp.norm1(x - c([1, np.inf])), "inf at entry 1"),
    "not convex for nan": (lambda c: c(np.nan) * cp.square(s), "contains nan"),
}


def refusal(door: Any, problem: cp.Problem) -> str:
    """What an InputError says; any warning is an error too."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            door(problem)
    except InputError as error:
        return str(error)
    raise AssertionError("accepted")


@pytest.mark.parametrize("kind", [cp.Constant, parameter], ids=["constant", "parameter"])
@pytest.mark.parametrize("name", BROKEN)
def test_data_that_are_no_number_are_refused_by_name(name: str, kind: Any) -> None:
    build, words = BROKEN[name]
    expression = build(kind)
    constraint = (cp.square(t) + expression <= 3).set_label("own")
    for problem, where in (
        (cp.Problem(cp.Minimize(expression + cp.square(s))), "the objective"),
        (cp.Problem(cp.Maximize(-expression - cp.square(s))), "the objective"),
        (cp.Problem(cp.Minimize(cp.square(s)), [constraint]), "own"),
    ):
        for variable in problem.variables():
            variable.save_value(np.ones(variable.shape))
        for door in (cml.certify, cml.solve, cml.dualize):
            message = refusal(door, problem)
            assert message.startswith(f"{door.__name__}: ")
            assert words in message
            assert where in message
            if kind is parameter and name in ("nan", "inf", "not convex for nan"):
                assert "parameter p" in message


def test_a_problem_of_constants_without_a_value_is_refused_in_words() -> None:
    problem = cp.Problem(cp.Minimize(cp.matrix_frac(np.ones(2), cp.Constant(FLAT))))
    for door in (cml.certify, cml.solve, cml.dualize):
        with pytest.raises(InputError, match=f"{door.__name__}: the objective: MatrixFrac"):
            door(problem)


def test_what_cvxpy_cannot_write_as_a_cone_program_is_told_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise TypeError("slice indices must be integers")

    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)))
    x.save_value(np.zeros(2))
    monkeypatch.setattr(problem, "get_problem_data", fails)
    with pytest.raises(InputError, match=r"certify: .*cannot write the problem.*slice indices"):
        cml.certify(problem)

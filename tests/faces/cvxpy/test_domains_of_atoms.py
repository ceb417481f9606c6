"""Where an atom has no value, or another one than its cones: told in words, priced, or refused."""

from __future__ import annotations

import math
import warnings
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog
from support.model_cases import certified, refuted

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
    ("name", "where"), [*zip(AT, ("objective", "maximised", "constraint") * 9, strict=True)]
)
def test_a_value_outside_of_a_domain_is_told_with_its_expression(name: str, where: str) -> None:
    expression, values, words = AT[name]
    problem = {
        "objective": cp.Problem(cp.Minimize(expression), [x <= 5]),
        "maximised": cp.Problem(cp.Maximize(-expression), [x <= 5]),
        "constraint": cp.Problem(cp.Minimize(cp.sum(x)), [(expression <= 3).set_label("own")]),
    }[where]
    for variable in problem.variables():
        variable.save_value(np.asarray(values.get(variable, np.full(variable.shape, 0.5)), float))
    with warnings.catch_warnings(action="error"):
        found = cml.certify(problem)
    assert found.verdict is not Verdict.CERTIFIED
    assert found.gap == np.inf or found.verdict is Verdict.REFUTED
    assert words in found.reason
    assert ("own: " if where == "constraint" else "the objective: ") in found.reason


def test_an_infinite_objective_is_refuted_by_any_point_with_a_value() -> None:
    problem = cp.Problem(cp.Minimize(-cp.sum(cp.log(x)) + cp.sum(x)))
    x.save_value(np.array([0.0, 1.0]))
    found = refuted(cml.certify(problem))
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


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [cp.Constant, parameter], ids=["constant", "parameter"])
@pytest.mark.parametrize("name", BROKEN)
def test_data_that_are_no_number_are_refused_by_name(name: str, kind: Any) -> None:
    build, words = BROKEN[name]
    expression = build(kind)
    constraint = (cp.square(t) + expression <= 3).set_label("own")
    for problem, where, door in (
        (cp.Problem(cp.Minimize(expression + cp.square(s))), "the objective", cml.certify),
        (cp.Problem(cp.Maximize(-expression - cp.square(s))), "the objective", cml.dualize),
        (cp.Problem(cp.Minimize(cp.square(s)), [constraint]), "own", cml.solve),
    ):
        for variable in problem.variables():
            variable.save_value(np.ones(variable.shape))
        with pytest.raises(InputError) as raised:
            door(problem)
        message = str(raised.value)
        assert message.startswith(f"{door.__name__}: ")
        assert words in message
        assert where in message
        if kind is parameter and name in ("nan", "inf", "not convex for nan"):
            assert "parameter p" in message


OFF = -2.6e-11

x_missed = cp.Variable(2, name="x")


LOOSE: dict[str, tuple[Any, float]] = {
    "entr": (-cp.sum(cp.entr(x_missed)), 1.0),
    "kl_div": (cp.sum(cp.kl_div(x_missed, np.ones(2))), 2.0),
    "rel_entr": (cp.sum(cp.rel_entr(x_missed, np.ones(2))), 2.0),
    "rel_entr, second": (cp.sum(cp.rel_entr(np.ones(2), x_missed)), 40.0),
    "sqrt": (-cp.sqrt(x_missed[1]), 1.0),
    "log": (-cp.sum(cp.log(x_missed)), 40.0),
    "log1p": (-cp.log1p(-x_missed[0]), 40.0),
    "inv_pos": (cp.inv_pos(x_missed[1]), 1e12),
    "quad_over_lin": (cp.quad_over_lin(np.ones(2), x_missed[1]), 1e12),
    "pnorm 1/2": (-cp.pnorm(x_missed, 0.5), 1.0),
    "log_det": (-cp.log_det(cp.diag(x_missed)), 40.0),
    "matrix_frac": (cp.matrix_frac(np.ones(2), cp.diag(x_missed)), 1e12),
    "von Neumann": (-cp.von_neumann_entr(cp.diag(x_missed)), 1.0),
}


def planted(constraint: Any) -> Any:
    """Min x_0 + 2 x_1 on the simplex: 1 at (1, 0), with the multipliers that prove it."""
    rows = [x_missed >= 0, cp.sum(x_missed) == 1, constraint]
    problem = cp.Problem(cp.Minimize(x_missed[0] + 2.0 * x_missed[1]), rows)
    x_missed.save_value(np.array([1.0 - OFF, OFF]))
    rows[0].save_dual_value(np.array([0.0, 1.0]))
    rows[1].save_dual_value(np.array(-1.0))
    constraint.save_dual_value(np.array(0.0))
    return problem


@pytest.mark.parametrize("name", LOOSE)
def test_a_constraint_that_is_met_nearby_refutes_nothing(name: str) -> None:
    function, most = LOOSE[name]
    certificate = certified(cml.certify(planted((function <= most).set_label("own"))))
    assert certificate.primal_objective == pytest.approx(1.0, abs=1e-8)
    rows = {row.name: row for row in certificate.conditions}
    assert rows["own: violation"].residual == 0.0
    assert rows["domain of own: violation"].residual == pytest.approx(-OFF, rel=1e-3)
    assert "own: " in certificate.reason


@pytest.mark.parametrize("name", ["log", "inv_pos", "log_det", "rel_entr, second"])
def test_a_constraint_that_no_point_nearby_meets_is_refuted_by_a_number(name: str) -> None:
    certificate = refuted(cml.certify(planted((LOOSE[name][0] <= 1.0).set_label("own"))))
    row = next(row for row in certificate.conditions if row.name == "own: violation")
    assert 1.0 < row.residual < np.inf


def test_an_entropy_whose_optimum_is_on_the_border_is_certified() -> None:
    """Max entropy with x_0 = 0 over three: log 2. What moving costs is in the gap."""
    p = cp.Variable(3, name="p")
    rows = [cp.sum(p) == 1, p[0] == 0]
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), rows)
    p.save_value(np.array([OFF, 0.5 - OFF, 0.5]))
    # The gradient of -entr is log p + 1; that of p_0 at 0 is free of any bound.
    rows[0].save_dual_value(np.array(np.log(2.0) - 1.0))
    rows[1].save_dual_value(np.array(30.0))
    certificate = certified(cml.certify(problem))
    assert certificate.primal_objective == pytest.approx(np.log(2.0), abs=1e-9)
    assert certificate.dual_objective >= np.log(2.0) - 1e-12
    # p_0 = 0 is met nearby; the sum is too much by -OFF there, at the price of its multiplier.
    assert certificate.rounding >= -0.99 * OFF * (1.0 - np.log(2.0))


def perspectives() -> dict[str, tuple[Any, list[Any], float]]:
    """A goal, constraints, the value: |x|^2 / s + s is least at 2 |x|."""
    x, s, t, rest = cp.Variable(3), cp.Variable(pos=True), cp.Variable(), cp.Variable(nonneg=True)
    D, root = cp.Variable((3, 3), diag=True), math.sqrt(3.0)
    one, two = (cp.perspective(cp.sum_squares(x), s) for _ in range(2))
    diagonal = cp.perspective(cp.sum_squares(D), rest) + rest
    falling = cp.perspective(cp.log(t), rest)
    return {
        "squares": (cp.Minimize(one + s), [cp.sum(x) == 3], 2.0 * root),
        "twice": (cp.Minimize(one + two + s), [cp.sum(x) == 3], 2.0 * math.sqrt(6.0)),
        "s log(t / s)": (cp.Maximize(falling), [t <= 3, rest <= 2], 3.0 / math.e),
        "diagonal": (cp.Minimize(diagonal), [cp.trace(D) >= 3], 2.0 * root),
    }


@pytest.mark.parametrize("name", perspectives())
def test_a_perspective_is_certified(name: str) -> None:
    goal, rows, value = perspectives()[name]
    certificate = certified(cml.solve(cp.Problem(goal, rows)))
    assert certificate.primal_objective == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("attribute", ["PSD", "hermitian"])
def test_the_entropy_of_a_matrix_is_certified(attribute: str) -> None:
    """At best the eigenvalues are 1/2, 1/4, 1/4."""
    R = cp.Variable((3, 3), **{attribute: True})
    real = cp.real if attribute == "hermitian" else lambda part: part
    rows = [real(cp.trace(R)) == 1, real(R[0, 0]) >= 0.5]
    certificate = certified(cml.solve(cp.Problem(cp.Maximize(cp.von_neumann_entr(R)), rows)))
    assert certificate.primal_objective == pytest.approx(1.5 * math.log(2.0), rel=1e-6)


def test_what_cones_only_approximate_has_no_bound() -> None:
    """With one node the cones' maximum, 1.0098, is below the entropy of its own point."""
    R = cp.Variable((3, 3), symmetric=True)
    rows = [cp.trace(R) == 1, R[0, 0] >= 0.5]
    certificate = cml.solve(cp.Problem(cp.Maximize(cp.von_neumann_entr(R, (1, 1))), rows))
    assert certificate.verdict is Verdict.UNDECIDED
    assert certificate.gap == np.inf
    assert "approximate" in certificate.reason
    assert "not verified before" not in certificate.reason  # nobody else was asked
    rows = [cp.trace(R) == 1, cp.von_neumann_entr(R, (1, 1)) >= math.log(3.0) - 1e-3]
    certificate = cml.solve(cp.Problem(cp.Minimize(R[0, 0]), rows))  # at most log 3, it is
    assert certificate.verdict is not Verdict.CERTIFIED


def mixed() -> Any:
    """Feasible: 0.6 (0.6 / 0.7 + 0.6 / 0.9 + 0.6 / 1.4) = 1.17; CVXPY's cones ask for 2.82."""
    v, s = cp.Variable(3), cp.Variable(nonneg=True)
    bound = cp.perspective(cp.sum(cp.inv_pos(v)), s) <= 1.5
    return cp.Problem(cp.Minimize(s), [bound, v == np.array([0.7, 0.9, 1.4]), s == 0.6])


def two_perspectives() -> Any:
    """CVXPY takes the second one for the first, as both have the arguments s and v."""
    v, s = cp.Variable(2), cp.Variable(nonneg=True)
    parts = [cp.perspective(cp.inv_pos(v[i]), s) for i in range(2)]
    return cp.Problem(cp.Minimize(cp.sum(parts)), [s >= 0.1, cp.sum(v) == 3])


def two_supports() -> Any:
    """Feasible, at y = 1.5: |y|_1 = 4.5 and |y|_2 = 2.6; taken for one they are not."""
    u, y = cp.Variable(3), cp.Variable(3)
    boxed, round_ = cp.suppfunc(u, [cp.norm_inf(u) <= 1]), cp.suppfunc(u, [cp.norm(u) <= 1])
    return cp.Problem(cp.Minimize(cp.sum(y)), [boxed(y) <= 5, round_(y) <= 3, y >= 1.5])


@pytest.mark.parametrize("problem", [mixed(), two_perspectives(), two_supports()])
def test_conic_forms_of_other_functions_are_refused(problem: Any) -> None:
    for judge in (cml.solve, cml.certify):
        with pytest.raises(cml.errors.InputError, match=r"CVXPY (takes|writes)"):
            judge(problem)


ROUNDED = "no negative eigenvalue is not proved"


def pair(exponent: int, sign: float = 1.0) -> np.ndarray:
    """1 on the diagonal, 1 + e beside it, e = sign 2^-exponent; the least eigenvalue is -e."""
    e = 1.0 + sign * 2.0**-exponent
    return np.array([[1.0, e], [e, 1.0]])


def test_what_far_points_meet_is_not_infeasible() -> None:
    x = cp.Variable(2)
    problem = cp.Problem(cp.Minimize(0), [cp.quad_form(x, pair(40)) <= -1])
    assert cml.solve(problem).verdict != "certified"
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == "infeasible"
    found = cml.certify(problem)
    x.value = 2.0**20 * np.array([1.0, -1.0])
    assert problem.constraints[0].value()
    assert found.verdict == "undecided"
    assert "is not convex: its least eigenvalue is -9.09e-13" in found.reason


@pytest.mark.parametrize("place", ["objective", "constraint", "infeasible"])
def test_what_rounding_may_hide_is_told(place: str) -> None:
    x = cp.Variable(2)
    form = cp.quad_form(x, pair(46))
    if place == "objective":
        problem = cp.Problem(cp.Minimize(form - 2.0 * cp.sum(x)))  # unbounded below: (t, -t)
    elif place == "constraint":
        problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 0.5)), [form <= 2.0])
    else:
        problem = cp.Problem(cp.Minimize(0), [form <= -1])
    found = certified(cml.solve(problem))
    assert ROUNDED in found.reason
    assert found.proved_gap == np.inf


def test_what_is_proved_says_nothing() -> None:
    x = cp.Variable(2, value=np.zeros(2))
    for P in ([[2, 1], [1, 2]], [[1, -1], [-1, 1]], [[0, 0], [0, 0]], pair(46, -1.0)):
        found = cml.certify(cp.Problem(cp.Minimize(cp.quad_form(x, np.array(P, dtype=float)))))
        assert (found.verdict, found.reason) == ("certified", "")


R = np.random.default_rng(1).normal(size=(8, 3))


def losses(k: float) -> cp.Problem:
    """The k largest losses of a portfolio, which has a value already."""
    x = cp.Variable(3, value=[0.5, 0.25, 0.25])
    return cp.Problem(cp.Minimize(cp.sum_largest(-R @ x, k)), [x >= 0.0, cp.sum(x) == 1.0])


def least(k: float) -> float:
    """The same as a linear program: the least k t + sum (losses - t)_+."""
    n, d = R.shape
    rows = np.hstack([-R, -np.ones((n, 1)), -np.eye(n)])
    c = np.concatenate([np.zeros(d), [k], np.ones(n)])
    total = np.concatenate([np.ones(d), np.zeros(n + 1)])[None]
    bounds = [(0, None)] * d + [(None, None)] + [(0, None)] * n
    return float(linprog(c, rows, np.zeros(n), total, [1.0], bounds).fun)


@pytest.mark.parametrize("k", [2, 2.5, 8])
def test_a_problem_with_values_is_posed(k: float) -> None:
    problem = losses(k)
    assert cml.certify(problem).verdict is cml.Verdict.REFUTED
    assert problem.variables()[0].value is not None
    certificate = certified(cml.solve(problem))
    assert certificate.primal_objective == pytest.approx(least(k), abs=1e-7)
    assert cml.dualize(problem) is not None


def test_more_than_there_are_is_refused() -> None:
    """The sum of the 9 largest of 8 is that of all 8; CVXPY's form of it is unbounded below."""
    for call in (cml.solve, cml.certify, cml.dualize):
        with pytest.raises(cml.errors.InputError, match=r"asks for the 9 largest of 8.*k = 8"):
            call(losses(9))
    X = cp.Variable((2, 3))
    each = cp.Problem(cp.Minimize(cp.sum(cp.sum_largest(X, 3, axis=0))), [X >= 1.0])
    with pytest.raises(cml.errors.InputError, match="the 3 largest of 2"):
        cml.solve(each)
    S = cp.Variable((3, 3), symmetric=True)
    matrix = cp.Problem(cp.Minimize(cp.lambda_sum_largest(S, 4)), [S >> np.eye(3)])
    with pytest.raises(cml.errors.InputError, match="the 4 largest of 3"):
        cml.solve(matrix)

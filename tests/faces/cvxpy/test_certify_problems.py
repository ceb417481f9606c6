"""cml.certify of CVXPY problems: wrong answers, labels, attributes, cones, bounds over a box."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.tests.solver_test_helpers import lp_7
from support.model_cases import certified, refuted

import convexml as cml
from convexml import Verdict


def test_a_multiplier_of_the_wrong_sign_is_not_certified() -> None:
    """Minimise x^2 / 2 + x over x <= 0: x = 0 with the multiplier -1 passes naive checks."""
    x = cp.Variable()
    problem = cp.Problem(cp.Minimize(0.5 * x**2 + x), [x <= 0])
    x.value = 0.0
    problem.constraints[0].save_dual_value(np.array(-1.0))
    certificate = refuted(cml.certify(problem))
    assert certificate.kkt["dual_feasibility"] == 1.0
    assert certificate.witness["var" + str(x.id)] == pytest.approx(-1.0, abs=1e-6)
    x.value = -1.0
    problem.constraints[0].save_dual_value(np.array(0.0))
    assert cml.certify(problem).verdict is Verdict.CERTIFIED
    problem.constraints[0].save_dual_value(np.array(-1e-3))
    assert cml.certify(problem).verdict is not Verdict.CERTIFIED


def test_constraints_go_by_their_labels() -> None:
    x = cp.Variable(3, name="x")
    problem = cp.Problem(
        cp.Maximize(cp.sum(x)), [(x <= [1, 2, 3]).set_label("capacity"), cp.norm(x) <= 10]
    )
    problem.solve(solver="CLARABEL")
    certificate = cml.certify(problem, tol=1e-5)
    assert certificate.primal_objective == pytest.approx(6.0, abs=1e-6)
    assert certificate.dual_objective >= certificate.primal_objective - 1e-9  # a maximisation
    np.testing.assert_allclose(certificate.dual["capacity"], 1.0, atol=1e-6)
    x.value = np.array([1.0, 2.5, 3.0])
    certificate = refuted(cml.certify(problem, tol=1e-5))
    assert certificate.reason.startswith("'capacity: violation' is violated by 0.5 at 1")


def cone_problems() -> dict[str, Any]:
    """Constraints and objectives that are written in unusual ways."""
    x, least = cp.Variable(2, name="x"), cp.Minimize
    one = (x >= 1).set_label("floor")
    order_one = cp.reshape(x[0] - 1, (1, 1), order="F")
    power = cp.PowCone3D(x[1], 3 - x[1], x[0], 0.3)
    powers = cp.PowConeND(cp.hstack([x[1], 1.0, 3 - x[1]]), x[0], np.array([0.2, 0.3, 0.5]))
    exponential = cp.ExpCone(x[0], cp.Constant(1.0), x[1])
    return {
        "listed twice": cp.Problem(least(cp.sum(x)), [one, one]),
        "power of scalars": cp.Problem(cp.Maximize(x[0]), [power]),
        "power of many": cp.Problem(cp.Maximize(x[0]), [powers]),
        "matrix of order one": cp.Problem(least(x[0]), [order_one >> 0, x[1] == 0]),
        "relative entropy": cp.Problem(least(cp.rel_entr(x[0], x[1])), [x[0] == 1, x[1] <= 2]),
        "exponential cone": cp.Problem(least(x[1]), [exponential, x[0] >= 1]),
        "far away": cp.Problem(least(cp.norm(x - 1e8))),
        "indicator": cp.Problem(least(cp.sum_squares(x) + cp.transforms.indicator([x >= 1]))),
    }


@pytest.mark.parametrize("name", list(cone_problems()))
def test_unusual_statements_are_certified(name: str) -> None:
    problem = cone_problems()[name]
    problem.solve(solver="CLARABEL")
    certified(cml.certify(problem, tol=1e-5))


def test_a_vector_from_a_colleague_needs_no_duals() -> None:
    rng = np.random.default_rng(0)
    A, t = rng.normal(size=(20, 4)), rng.normal(size=20)
    w = cp.Variable(4, name="w")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ w - t)), [cp.sum(w) == 1])
    ones = np.ones(4)
    G = np.linalg.inv(A.T @ A)
    free = G @ A.T @ t
    w.value = free + G @ ones * (1 - free.sum()) / (ones @ G @ ones)  # in closed form
    certificate = certified(cml.certify(problem))
    assert certificate.dual_source == "constructed"
    w.value = w.value + np.array([1e-2, -1e-2, 0.0, 0.0])
    assert cml.certify(problem).verdict is Verdict.REFUTED


def test_a_residual_on_a_free_variable_leaves_a_bound_over_a_box() -> None:
    """Minimise |x| + 1e-3 z, z free and absent from all constraints: there is no minimum."""
    x, z = cp.Variable(name="x"), cp.Variable(name="z")
    problem = cp.Problem(cp.Minimize(cp.abs(x) + 1e-3 * z), [x >= 1])
    x.value, z.value = 1.0, 5.0
    problem.constraints[0].save_dual_value(np.array(1.0))
    certificate = cml.certify(problem, tol=1e-6)
    assert certificate.verdict is Verdict.UNDECIDED
    assert certificate.within == 5.0
    assert certificate.gap == pytest.approx(5e-3, rel=1e-4)
    assert "no bound over all x" in certificate.reason
    bounded = cp.Problem(problem.objective, [*problem.constraints, z >= 0, z <= 10])
    bounded.constraints[1].save_dual_value(np.array(0.0))
    bounded.constraints[2].save_dual_value(np.array(0.0))
    certificate = cml.certify(bounded, tol=1e-6)  # the user's own bounds carry the residual
    assert certificate.gap == pytest.approx(5e-3, rel=1e-4)


def attribute_problems() -> dict[str, tuple[Any, set[str]]]:
    """A problem for each attribute, with the names of rows that must be there."""
    rng = np.random.default_rng(0)
    C = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))
    M = np.array([[1.0, 2.0], [3.0, 4.0]])
    p, q = cp.Variable(2, name="p", nonneg=True), cp.Variable(2, name="q", nonpos=True)
    b = cp.Variable(2, bounds=[np.array([1.0, -np.inf]), np.array([np.inf, 2.0])], name="b")
    X, N = cp.Variable((2, 2), PSD=True, name="X"), cp.Variable((2, 2), NSD=True, name="N")
    S, D = cp.Variable((2, 2), symmetric=True, name="S"), cp.Variable((2, 2), diag=True, name="D")
    H, z = cp.Variable((3, 3), hermitian=True, name="H"), cp.Variable(2, complex=True, name="z")
    i, least = cp.Variable(2, imag=True, name="i"), cp.Minimize
    violation, cone, product = ": violation", ": multiplier in its cone", ": complementarity"
    state = [(H >> 0).set_label("state"), cp.real(cp.trace(H)) == 1]
    return {
        "nonneg": (cp.Problem(least(cp.sum(p) + cp.sum_squares(p - M[0] + 2))),
                   {f"p nonneg{kind}" for kind in (violation, cone, product)}),
        "nonpos": (cp.Problem(least(cp.sum_squares(q - 1) - cp.sum(q))), {f"q nonpos{cone}"}),
        "bounds": (cp.Problem(least(b[0] - b[1])),
                   {f"b lower bounds{cone}", f"b upper bounds{product}"}),
        "PSD": (cp.Problem(least(cp.norm(X - M, "nuc"))),
                {f"X PSD{violation}", f"X symmetric{violation}", f"X PSD{cone}"}),
        "NSD": (cp.Problem(cp.Maximize(cp.trace(N) + cp.sum(N)), [cp.diag(N) <= -1]),
                {f"N NSD{product}"}),
        "symmetric": (cp.Problem(least(cp.norm(S - M, "fro")), [S[0, 1] >= 3]),
                      {f"S symmetric{violation}"}),
        "diag": (cp.Problem(least(cp.sum_squares(D - M)), [D[0, 0] <= 0.5]),
                 {f"D diag{violation}"}),
        "hermitian": (cp.Problem(least(cp.real(cp.trace((C + C.conj().T) @ H))), state),
                      {f"H hermitian{violation}", f"state{cone}"}),
        "complex": (cp.Problem(least(cp.norm(z - np.array([1 + 1j, 2.0]))), [z[1] == 1j]),
                    {"stationarity in z"}),
        "imag": (cp.Problem(least(cp.norm(i - np.array([1 + 2j, 1 - 1j])))),
                 {f"i imag{violation}"}),
    }  # fmt: skip


@pytest.mark.parametrize("attribute", list(attribute_problems()))
def test_attributes_have_rows_of_their_own(attribute: str) -> None:
    problem, names = attribute_problems()[attribute]
    problem.solve(solver="CLARABEL")
    certificate = certified(cml.certify(problem, tol=1e-5))
    assert names <= {row.name for row in certificate.conditions}
    for constraint in problem.constraints:  # and without any dual value
        for dual in constraint.dual_variables:
            dual.save_value(None)
    assert cml.certify(problem, tol=1e-5).verdict is Verdict.CERTIFIED


@pytest.mark.parametrize(("attribute", "name", "value"), [
    ("nonneg", "p nonneg: violation", np.array([0.5, -0.25])),
    ("PSD", "X PSD: violation", np.diag([1.0, -0.25])),
    ("symmetric", "S symmetric: violation", np.array([[0.0, 3.0], [3.25, 0.0]])),
    ("bounds", "b upper bounds: violation", np.array([1.0, 2.25])),
])  # fmt: skip
def test_a_violated_attribute_refutes(attribute: str, name: str, value: np.ndarray) -> None:
    problem, _ = attribute_problems()[attribute]
    problem.solve(solver="CLARABEL")
    problem.variables()[0].save_value(value)
    certificate = refuted(cml.certify(problem, tol=1e-5))
    row = next(row for row in certificate.conditions if row.name == name)
    assert row.residual == pytest.approx(0.25)
    assert name.removesuffix(": violation") in certificate.reason


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("constant", [0.0, 7.0, -200.0])
def test_a_constant_moves_no_gap_and_stays_in_the_dual(sign: float, constant: float) -> None:
    """Minimise |x - 3|^2 + constant over x <= 1 (its value is 4 + constant), or its negative."""
    x = cp.Variable(name="x")
    goal = cp.Minimize if sign > 0.0 else cp.Maximize
    problem = cp.Problem(goal(sign * (cp.square(x - 3.0) + constant)), [x <= 1.0])
    problem.solve(solver="CLARABEL")
    found = certified(cml.certify(problem))
    assert found.primal_objective == pytest.approx(sign * (4.0 + constant), abs=1e-5)
    assert found.gap < 1e-5
    x.save_value(np.array(0.5))  # |0.5 - 3|^2 = 6.25
    assert cml.certify(problem).gap == pytest.approx(2.25, rel=1e-4)
    dual = cml.dualize(problem).problem
    assert dual.objective.NAME == ("maximize" if sign > 0.0 else "minimize")
    assert dual.solve(solver="CLARABEL") == pytest.approx(sign * (4.0 + constant), abs=1e-6)


def test_a_millionth_is_the_tolerance_where_none_is_asked_for() -> None:
    """P - P* is moved^2 beside |P*| = 1."""
    x = cp.Variable()
    problem = cp.Problem(cp.Minimize(cp.square(x) - 2.0 * x))
    for moved, met in ((0.9e-3, True), (1.2e-3, False)):
        x.value = 1.0 + moved
        assert cml.certify(problem).holds() is met
        assert cml.certify(problem, tol=2e-6).holds()


@pytest.mark.parametrize("moved", [-1e-2, 1e-2])
def test_bounds_and_equations_have_two_sides(moved: float) -> None:
    x = cp.Variable(2, bounds=[0.0, 1.0])
    for constraint in (cp.sum(x) == 1.0, x == np.array([0.0, 1.0])):
        problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [constraint])
        problem.solve(solver="CLARABEL")
        assert cml.certify(problem, tol=1e-5).verdict is Verdict.CERTIFIED
        x.save_value(x.value + np.array([moved, 0.0]))
        assert cml.certify(problem, tol=1e-5).verdict is Verdict.REFUTED


def test_multipliers_of_inequalities_have_a_sign() -> None:
    x = cp.Variable(name="x")
    dual = cml.dualize(cp.Problem(cp.Minimize(x), [x >= -1.0, x <= 5.0])).problem
    assert dual.solve(solver="CLARABEL") == pytest.approx(-1.0, abs=1e-6)


BIG = cp.Constant([1e8, 1.0])

WIDE = cp.Constant(np.array([[1e8, 1.0], [1e8, 1.0]]))


CONES: dict[str, Callable[[cp.Variable], cp.Constraint]] = {
    "second order": lambda x: cp.SOC(BIG, cp.reshape(x, (1, 2), order="F")),
    "by rows": lambda x: cp.SOC(BIG, cp.reshape(x, (2, 1), order="F"), axis=1),
    "power": lambda x: cp.PowCone3D(BIG, BIG, x, 0.5),
    "powers by rows": lambda x: cp.PowConeND(WIDE.T, x, np.full((2, 2), 0.5), axis=1),
    "exponential": lambda x: cp.ExpCone(x - BIG, BIG, BIG),  # y exp((x - y) / y) <= y
}


@pytest.mark.parametrize("name", CONES)
def test_a_small_cone_beside_a_large_one_counts_by_its_own_size(name: str) -> None:
    x = cp.Variable(2)
    problem = cp.Problem(cp.Minimize(-x[0]), [CONES[name](x)])
    x.value = np.array([1e8, 1.5])
    certificate = refuted(cml.certify(problem))
    assert certificate.conditions[0].index == 1
    x.value = np.array([1e8, 0.5])
    assert cml.certify(problem).conditions[0].meets(1e-6)


A = np.array([[1.0, 2.0, -1.0], [0.3, -1.0, 0.7], [2.0, 0.1, 1.0], [-1.0, 1.0, 0.2]])


def problems() -> dict[str, Any]:
    x = cp.Variable(3, name="x")
    X = cp.Variable((3, 3), symmetric=True, name="X")
    return {
        "lp_7": lp_7().prob,
        "norm1": cp.Problem(cp.Minimize(cp.norm1(A @ x))),
        "linear": cp.Problem(cp.Minimize(0.1 * x[0] + 0.7 * x[1]), [x >= 0, x[2] == x[0] / 3]),
        "maximised": cp.Problem(cp.Maximize(-cp.sum(x)), [x >= 0.1 * cp.norm_inf(x)]),
        "norm": cp.Problem(cp.Minimize(cp.norm(A @ x) + 0.1 * cp.sum(x)), [x >= 0]),
        "squares": cp.Problem(cp.Minimize(cp.sum_squares(A @ x)), [x >= 0]),
        "semidefinite": cp.Problem(cp.Minimize(cp.lambda_max(X)), [X >> 0, X[0, 1] == X[1, 2]]),
    }


@pytest.mark.parametrize("solver", ["auto", "clarabel"])
@pytest.mark.parametrize("name", problems())
def test_the_answer_is_0_with_a_gap_of_exactly_0(name: str, solver: str) -> None:
    problem = problems()[name]
    found = certified(cml.solve(problem, solver=solver))
    assert found.primal_objective == found.gap == found.relative_gap == 0.0
    assert all(not np.any(variable.value) for variable in problem.variables())


def test_values_that_are_not_finite_prove_nothing() -> None:
    x, y = cp.Variable(2, name="x"), cp.Variable(name="y")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [(x >= 1).set_label("floor")])
    problem.solve(solver="CLARABEL")
    problem.constraints[0].save_dual_value(np.array([np.nan, 2.0]))
    certificate = cml.certify(problem)
    assert certificate.verdict is Verdict.UNDECIDED
    assert "the dual value of floor is not finite" in certificate.reason
    free = cp.Problem(cp.Minimize(cp.sum_squares(x) + cp.square(y)))
    x.save_value(np.zeros(2))
    y.save_value(np.array(np.inf))
    certificate = cml.certify(free)
    assert certificate.verdict is Verdict.UNDECIDED
    assert "not finite" in certificate.reason

"""cml.certify of CVXPY problems: CVXPY's own cases, published values, wrong answers, attributes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.tests import solver_test_helpers as helpers

import convexml as cml
from convexml import Verdict
from convexml.errors import InputError

KINDS = {"lp", "qp", "socp", "sdp", "expcone", "pcp"}
P, Q = {"nonneg": True}, {"nonpos": True}
ABSENT = ("lp_3", "lp_4", "lp_6")  # infeasible or unbounded: tests of absence
CASES: dict[str, Callable[[], Any]] = {
    name: getattr(helpers, name)
    for name in dir(helpers)
    if name.split("_")[0] in KINDS and name not in (*ABSENT, "socp_3", "sdp_1")
}
CASES |= {f"socp_3 axis {axis}": lambda axis=axis: helpers.socp_3(axis) for axis in (0, 1)}
CASES |= {f"sdp_1 {sense}": lambda sense=sense: helpers.sdp_1(sense) for sense in ("min", "max")}
LINEAR = tuple(name for name in CASES if name.startswith(("lp", "qp")))
SECOND_ORDER = (*LINEAR, *(name for name in CASES if name.startswith(("socp", "expcone"))))

# First-order solvers at their defaults leave errors of 1e-4 and more.
RUNS = [("CLARABEL", name, 1e-5) for name in CASES]
RUNS += [("SCS", name, 1e-3) for name in CASES]
RUNS += [("ECOS", name, 1e-5) for name in SECOND_ORDER]
RUNS += [("OSQP", name, 1e-3) for name in LINEAR]
RUNS += [("HIGHS", name, 1e-5) for name in LINEAR]


def solved(name: str, solver: str = "CLARABEL") -> Any:
    helper = CASES[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SCS says where it is inaccurate; we measure it
        helper.prob.solve(solver=solver)
    return helper


@pytest.mark.parametrize(("solver", "name", "tol"), RUNS, ids=lambda value: str(value))
def test_cvxpys_own_cases_are_certified(solver: str, name: str, tol: float) -> None:
    helper = solved(name, solver)
    certificate = cml.certify(helper.prob, tol=tol)
    if name == "lp_7":  # all right-hand sides are 0, and P* = 0: nothing says what a unit is
        assert certificate.verdict is not Verdict.REFUTED
        assert certificate.within is None
        assert certificate.scale <= 1e-6
        return
    assert certificate.verdict is Verdict.CERTIFIED, str(certificate)
    assert certificate.holds(tol)
    value = helper.expect_val
    if value is not None:
        assert certificate.primal_objective == pytest.approx(value, abs=5e-3)  # two digits
    if solver == "CLARABEL" and np.isfinite(certificate.gap):
        assert certificate.dual_objective == pytest.approx(helper.prob.value, rel=1e-5, abs=1e-5)


def test_the_wrong_published_dual_is_not_certified() -> None:
    """The helper gives X1 itself as the multiplier of X1 >> 0."""
    helper = solved("sdp_2")
    constraint = helper.constraints[2]
    constraint.save_dual_value(helper.expect_dual_vars[2])
    certificate = cml.certify(helper.prob, tol=1e-5)
    assert certificate.verdict is Verdict.UNDECIDED
    rows = {row.name: row for row in certificate.conditions}
    assert rows["constraints[2]: complementarity"].residual > 100.0
    assert "the multipliers leave" in certificate.reason


@pytest.mark.parametrize("name", ["lp_1", "socp_1", "socp_2", "socp_4", "expcone_1", "pcp_1"])
def test_published_points_and_duals_are_judged_as_they_are(name: str) -> None:
    """The published values are rounded to 5 digits or so; nothing of ours is solved for them."""
    helper = CASES[name]()
    for variable, value in zip(helper.variables, helper.expect_prim_vars, strict=True):
        variable.save_value(np.reshape(value, variable.shape))
    for constraint, value in zip(helper.constraints, helper.expect_dual_vars, strict=True):
        parts = value if isinstance(value, list) else [value]
        for dual, part in zip(constraint.dual_variables, parts, strict=True):
            dual.save_value(np.reshape(np.asarray(part, dtype=float), dual.shape))
    assert cml.certify(helper.prob, tol=1e-3).verdict is Verdict.CERTIFIED


def test_a_multiplier_of_the_wrong_sign_is_not_certified() -> None:
    """Minimise x^2 / 2 + x over x <= 0: x = 0 with the multiplier -1 passes naive checks."""
    x = cp.Variable()
    problem = cp.Problem(cp.Minimize(0.5 * x**2 + x), [x <= 0])
    x.value = 0.0
    problem.constraints[0].save_dual_value(np.array(-1.0))
    certificate = cml.certify(problem)
    assert certificate.verdict is Verdict.REFUTED
    assert certificate.kkt["dual_feasibility"] == 1.0
    assert certificate.witness["var" + str(x.id)] == pytest.approx(-1.0, abs=1e-6)
    x.value = -1.0
    problem.constraints[0].save_dual_value(np.array(0.0))
    assert cml.certify(problem).verdict is Verdict.CERTIFIED
    problem.constraints[0].save_dual_value(np.array(-1e-3))
    assert cml.certify(problem).verdict is not Verdict.CERTIFIED


def test_the_wrong_hinge_optimum_is_refuted() -> None:
    """CVXPY's bounds on X @ w pin an auxiliary variable: PIQP says optimal at 569, not 26.5."""
    from sklearn.datasets import load_breast_cancer

    pytest.importorskip("piqp")
    X, y = load_breast_cancer(return_X_y=True)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), 2.0 * y - 1.0
    w, b = cp.Variable(30, name="w"), cp.Variable(name="b")
    hinge = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + hinge))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the bounds that are not a number
        problem.solve(solver="PIQP")
    certificate = cml.certify(problem, tol=1e-5)
    if problem.value > 27.0:  # a later CVXPY may be right
        assert certificate.verdict is Verdict.REFUTED
        assert certificate.gap == pytest.approx(problem.value - 26.52546, rel=1e-4)
    right = cml.solve(problem, "PIQP")
    assert right.verdict is Verdict.CERTIFIED
    assert right.primal_objective == pytest.approx(26.525455, rel=1e-6)
    assert problem.value == right.primal_objective


# -- attributes and labels --------------------------------------------------------------------


def attribute_problems() -> dict[str, tuple[Any, list[str]]]:
    """A problem for each attribute, with the names of rows that must be there."""
    rng = np.random.default_rng(0)
    C = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))
    M = np.array([[1.0, 2.0], [3.0, 4.0]])
    x, p, q = (cp.Variable(2, name=n, **a) for n, a in (("x", {}), ("p", P), ("q", Q)))
    b = cp.Variable(2, bounds=[np.array([1.0, -np.inf]), np.array([np.inf, 2.0])], name="b")
    X, N = cp.Variable((2, 2), PSD=True, name="X"), cp.Variable((2, 2), NSD=True, name="N")
    S, D = cp.Variable((2, 2), symmetric=True, name="S"), cp.Variable((2, 2), diag=True, name="D")
    H, z = cp.Variable((3, 3), hermitian=True, name="H"), cp.Variable(2, complex=True, name="z")
    i = cp.Variable(2, imag=True, name="i")
    return {
        "nonneg": (
            cp.Problem(cp.Minimize(cp.sum(p) + cp.sum_squares(p - M[0] + 2))),
            [
                "p nonneg: violation",
                "p nonneg: multiplier in its cone",
                "p nonneg: complementarity",
            ],
        ),
        "nonpos": (
            cp.Problem(cp.Maximize(cp.sum(q) - cp.sum_squares(q - 1))),
            ["q nonpos: multiplier in its cone"],
        ),
        "bounds": (
            cp.Problem(cp.Minimize(b[0] - b[1])),
            ["b lower bounds: multiplier in its cone", "b upper bounds: complementarity"],
        ),
        "PSD": (
            cp.Problem(cp.Minimize(cp.norm(X - M, "nuc"))),
            ["X PSD: violation", "X symmetric: violation", "X PSD: multiplier in its cone"],
        ),
        "NSD": (
            cp.Problem(cp.Maximize(cp.trace(N) + cp.sum(N)), [cp.diag(N) <= -1]),
            ["N NSD: complementarity"],
        ),
        "symmetric": (
            cp.Problem(cp.Minimize(cp.norm(S - M, "fro")), [S[0, 1] >= 3]),
            ["S symmetric: violation"],
        ),
        "diag": (
            cp.Problem(cp.Minimize(cp.sum_squares(D - M)), [D[0, 0] <= 0.5]),
            ["D diag: violation"],
        ),
        "hermitian": (
            cp.Problem(
                cp.Minimize(cp.real(cp.trace((C + C.conj().T) @ H))),
                [(H >> 0).set_label("state"), cp.real(cp.trace(H)) == 1],
            ),
            ["H hermitian: violation", "state: multiplier in its cone"],
        ),
        "complex": (
            cp.Problem(cp.Minimize(cp.norm(z - np.array([1 + 1j, 2.0]))), [z[1] == 1j]),
            ["stationarity in z"],
        ),
        "imag": (
            cp.Problem(cp.Minimize(cp.norm(i - np.array([1 + 2j, 1 - 1j])))),
            ["i imag: violation"],
        ),
        "none": (cp.Problem(cp.Minimize(cp.sum(cp.exp(x))), [x >= -1]), ["stationarity in x"]),
    }


@pytest.mark.parametrize("attribute", list(attribute_problems()))
def test_attributes_have_rows_of_their_own(attribute: str) -> None:
    problem, names = attribute_problems()[attribute]
    problem.solve(solver="CLARABEL")
    certificate = cml.certify(problem, tol=1e-5)
    assert certificate.verdict is Verdict.CERTIFIED, str(certificate)
    assert set(names) <= {row.name for row in certificate.conditions}
    for constraint in problem.constraints:  # and without any dual value
        for dual in constraint.dual_variables:
            dual.save_value(None)
    assert cml.certify(problem, tol=1e-5).verdict is Verdict.CERTIFIED


@pytest.mark.parametrize(
    ("attribute", "name", "value"),
    [
        ("nonneg", "p nonneg: violation", np.array([0.5, -0.25])),
        ("PSD", "X PSD: violation", np.diag([1.0, -0.25])),
        ("symmetric", "S symmetric: violation", np.array([[0.0, 3.0], [3.25, 0.0]])),
        ("bounds", "b upper bounds: violation", np.array([1.0, 2.25])),
    ],
)
def test_a_violated_attribute_refutes(attribute: str, name: str, value: np.ndarray) -> None:
    problem, _ = attribute_problems()[attribute]
    problem.solve(solver="CLARABEL")
    problem.variables()[0].save_value(value)
    certificate = cml.certify(problem, tol=1e-5)
    assert certificate.verdict is Verdict.REFUTED
    row = next(row for row in certificate.conditions if row.name == name)
    assert row.residual == pytest.approx(0.25)
    assert name.removesuffix(": violation") in certificate.reason


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
    certificate = cml.certify(problem, tol=1e-5)
    assert certificate.verdict is Verdict.REFUTED
    assert certificate.reason.startswith("'capacity: violation' is violated by 0.5 at 1")


def cone_problems() -> dict[str, Any]:
    """Constraints and objectives that are written in unusual ways."""
    x = cp.Variable(2, name="x")
    one = (x >= 1).set_label("floor")
    powers = np.array([0.2, 0.3, 0.5])
    return {
        "listed twice": cp.Problem(cp.Minimize(cp.sum(x)), [one, one]),
        "constant objective": cp.Problem(cp.Minimize(0), [x == 1]),
        "power of scalars": cp.Problem(
            cp.Maximize(x[0]), [cp.PowCone3D(x[1], 3 - x[1], x[0], 0.3)]
        ),
        "power of many": cp.Problem(
            cp.Maximize(x[0]), [cp.PowConeND(cp.hstack([x[1], 1.0, 3 - x[1]]), x[0], powers)]
        ),
        "matrix of order one": cp.Problem(
            cp.Minimize(x[0]), [cp.reshape(x[0] - 1, (1, 1), order="F") >> 0, x[1] == 0]
        ),
        "relative entropy": cp.Problem(
            cp.Minimize(cp.rel_entr(x[0], x[1])), [x[0] == 1, x[1] <= 2]
        ),
        "exponential cone": cp.Problem(
            cp.Minimize(x[1]), [cp.ExpCone(x[0], cp.Constant(1.0), x[1]), x[0] >= 1]
        ),
        "far away": cp.Problem(cp.Minimize(cp.norm(x - 1e8))),
        "indicator": cp.Problem(cp.Minimize(cp.sum_squares(x) + cp.transforms.indicator([x >= 1]))),
    }


@pytest.mark.parametrize("name", list(cone_problems()))
def test_unusual_statements_are_certified(name: str) -> None:
    problem = cone_problems()[name]
    problem.solve(solver="CLARABEL")
    certificate = cml.certify(problem, tol=1e-5)
    assert certificate.verdict is Verdict.CERTIFIED, str(certificate)


# -- missing duals, residuals -----------------------------------------------------------------


def test_a_vector_from_a_colleague_needs_no_duals() -> None:
    rng = np.random.default_rng(0)
    A, t = rng.normal(size=(20, 4)), rng.normal(size=20)
    w = cp.Variable(4, name="w")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ w - t)), [cp.sum(w) == 1])
    ones = np.ones(4)
    G = np.linalg.inv(A.T @ A)
    free = G @ A.T @ t
    w.value = free + G @ ones * (1 - free.sum()) / (ones @ G @ ones)  # in closed form
    certificate = cml.certify(problem)
    assert certificate.verdict is Verdict.CERTIFIED
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


def test_the_localized_bound_holds_by_brute_force() -> None:
    """Multipliers that are off by 1e-3 on free variables: the bound holds at points of the box."""
    rng = np.random.default_rng(1)
    A = rng.normal(size=(6, 3))
    x = cp.Variable(3, name="x")
    problem = cp.Problem(cp.Minimize(A.T @ rng.uniform(0.5, 1.0, 6) @ x), [A @ x >= -1])
    problem.solve(solver="CLARABEL")
    best = problem.value
    y = problem.constraints[0].dual_value
    problem.constraints[0].save_dual_value(y + 1e-3 * rng.uniform(0.0, 1.0, 6))
    x.value = x.value + 0.01 * rng.uniform(size=3)
    certificate = cml.certify(problem, tol=1e-6)
    bound = certificate.gap
    assert np.isfinite(bound)
    assert certificate.primal_objective - best <= bound + 1e-9


# -- agreement with the other certificates ----------------------------------------------------


def test_a_linear_program_gets_the_same_certificate() -> None:
    rng = np.random.default_rng(0)
    A, c, b = rng.normal(size=(6, 4)), rng.uniform(0.1, 1.0, 4), rng.uniform(1.0, 2.0, 6)
    linear = cml.LinearProgram(c, A, b, bounds=(-1, 1))
    x = cp.Variable(4)
    rows = [A @ x <= b, x >= -1, x <= 1]
    problem = cp.Problem(cp.Minimize(c @ x), rows)
    problem.solve(solver="CLARABEL")
    for shift in (0.0, 1e-3):
        x.value = np.clip(x.value + shift, -1.0, 1.0)
        names = ("lambda_ub", "lambda_lower", "lambda_upper")
        passed = {n: row.dual_value for n, row in zip(names, rows, strict=True)}
        ours, other = cml.certify(problem), linear.certify(x.value, passed)
        assert ours.verdict is other.verdict
        assert ours.primal_objective == pytest.approx(other.primal_objective, abs=1e-12)
        assert ours.gap == pytest.approx(other.gap, abs=1e-7)


# -- texts ------------------------------------------------------------------------------------


def test_what_cannot_be_certified_is_refused() -> None:
    x, n = cp.Variable(name="x"), cp.Variable(integer=True)
    with pytest.raises(InputError, match="variable x has no value; solve the problem first"):
        cml.certify(cp.Problem(cp.Minimize(x**2)))
    with pytest.raises(InputError, match="integer variables"):
        cml.certify(cp.Problem(cp.Minimize(n**2)))
    with pytest.raises(InputError, match="not DCP"):
        cml.certify(cp.Problem(cp.Minimize(cp.sqrt(x))))
    with pytest.raises(InputError, match="parameter a has no value"):
        cml.certify(cp.Problem(cp.Minimize(cp.Parameter(name="a") * x)))
    with pytest.raises(InputError, match=r"expected a cvxpy.Problem .* got int"):
        cml.certify(3)
    with pytest.raises(InputError, match="takes no other argument"):
        cml.certify(cp.Problem(cp.Minimize(x)), [1.0])


def test_values_that_are_not_finite_prove_nothing() -> None:
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [(x >= 1).set_label("floor")])
    problem.solve(solver="CLARABEL")
    problem.constraints[0].save_dual_value(np.array([np.nan, 2.0]))
    certificate = cml.certify(problem)
    assert certificate.verdict is Verdict.UNDECIDED
    assert "the dual value of floor is not finite" in certificate.reason
    x.save_value(np.array([np.nan, 1.0]))
    assert cml.certify(problem).verdict is Verdict.UNDECIDED


def test_the_values_in_the_problem_stay() -> None:
    problem, _ = attribute_problems()["diag"]
    problem.solve(solver="CLARABEL")
    values = [v.value.toarray() for v in problem.variables()]
    duals = [np.copy(c.dual_value) for c in problem.constraints]
    cml.certify(problem)
    for v, value in zip(problem.variables(), values, strict=True):
        np.testing.assert_array_equal(v.value.toarray(), value)
    for c, dual in zip(problem.constraints, duals, strict=True):
        np.testing.assert_array_equal(c.dual_value, dual)

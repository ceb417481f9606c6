"""cml.certify of CVXPY problems: wrong answers, labels, cones, bounds over a box, refusals."""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml import Verdict
from convexml.errors import InputError


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
    with pytest.raises(InputError, match=r"expected a cvxpy.Problem .* got 3\."):
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


def test_a_constant_needs_no_multipliers() -> None:
    X = cp.Variable((2, 2), nonneg=True, PSD=True)
    problem = cp.Problem(cp.Minimize(0), [X == 5.0 * np.eye(2)])
    certificate = cml.solve(problem)  # whose multipliers leave some 5e-13
    assert (certificate.verdict, certificate.gap) == (Verdict.CERTIFIED, 0.0)

"""Problems of CVXPY without variables: nothing to choose, but still true or false."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml


@pytest.mark.parametrize("sense", [cp.Minimize, cp.Maximize])
def test_a_constant_is_its_own_optimum(sense: type) -> None:
    problem = cp.Problem(sense(3.0), [cp.Constant(1.0) >= 0.0, True])
    for certificate in (cml.solve(problem), cml.certify(problem)):
        assert certificate.verdict is cml.Verdict.CERTIFIED
        assert certificate.claim == "optimal"
        assert certificate.primal_objective == certificate.dual_objective == 3.0
        assert certificate.gap == 0.0
    assert problem.status == "optimal"
    assert problem.value == 3.0


@pytest.mark.parametrize(
    "constraint", [False, cp.Constant(1.0) <= 0.0, cp.Constant([0.0, 2.0]) == 0.0]
)
def test_a_constant_violation_is_infeasible(constraint: object) -> None:
    problem = cp.Problem(cp.Minimize(3.0), [constraint])
    for certificate in (cml.solve(problem), cml.certify(problem)):
        assert certificate.verdict is cml.Verdict.CERTIFIED
        assert certificate.claim == "infeasible"
        assert certificate.primal_objective == np.inf
        assert np.max(certificate.evidence["constraints[0]"]) >= 1.0
        assert "constraints[0]" in certificate.reason
    assert problem.status == "infeasible"
    assert problem.value == np.inf


def test_a_parameter_is_a_constant() -> None:
    p = cp.Parameter(value=2.0)
    problem = cp.Problem(cp.Maximize(p), [p <= 2.0])
    assert cml.solve(problem).primal_objective == 2.0
    p.value = 3.0
    certificate = cml.solve(problem)
    assert certificate.claim == "infeasible"
    assert certificate.primal_objective == -np.inf


def large_beside_small() -> list[tuple[str, cp.Constraint]]:
    p = cp.Parameter(2, value=np.array([1e20, 0.0]))
    big, small = cp.Constant([1e16, 0.0]), cp.Constant([1e8, 1.0])
    two = cp.Constant(np.array([[1e8, 2.0]]))
    return [
        ("inequality", cp.Constant([1e20, 0.0]) <= cp.Constant([1e20, -1.0])),
        ("equality", big == cp.Constant([1e16, 1.0])),
        ("parameter", p <= cp.Constant([1e20, -1.0])),
        ("sum", p + 1.0 <= cp.Constant([1e20, 0.5])),
        ("complex", big == cp.Constant([1e16, 1.0j])),
        ("second-order", cp.SOC(cp.Constant([1e18, 1.0]), cp.Constant(np.array([[1e18, 1.5]])))),
        ("second-order by rows", cp.SOC(cp.Constant([1e18, 1.0]), two.T, axis=1)),
        ("power", cp.PowCone3D(small**2, small**2, cp.Constant([1e16, 1.3]), 0.5)),
    ]


@pytest.mark.parametrize(
    "constraint", [pytest.param(c, id=name) for name, c in large_beside_small()]
)
def test_a_small_row_beside_a_large_one_counts_by_its_own_size(constraint: cp.Constraint) -> None:
    problem = cp.Problem(cp.Minimize(cp.Constant(3.0)), [constraint])
    for certificate in (cml.solve(problem), cml.certify(problem)):
        assert certificate.verdict is cml.Verdict.CERTIFIED
        assert certificate.claim == "infeasible"


def test_rounding_of_the_terms_is_no_contradiction() -> None:
    rows, ones = cp.Constant(np.array([[0.1, 0.2, 0.3], [1.0, 1.0, 1.0]])), cp.Constant(np.ones(3))
    for sides, verdict in (
        ([0.6, 3.0], cml.Verdict.CERTIFIED),  # 0.1 + 0.2 + 0.3 is 0.6 + 1e-16 in floats
        ([0.6 + 1e-9, 3.0], None),
    ):
        problem = cp.Problem(cp.Minimize(1.0), [rows @ ones == np.array(sides)])
        certificate = cml.certify(problem)
        assert certificate.claim == ("infeasible" if verdict is None else "optimal")
        assert certificate.verdict is cml.Verdict.CERTIFIED
    cancelled = cp.Constant(np.array([[0.1, 0.2, -0.3], [1.0, 1.0, 1.0]])) @ ones
    problem = cp.Problem(cp.Minimize(1.0), [cancelled == np.array([0.0, 3.0])])
    assert cml.certify(problem).verdict is cml.Verdict.UNDECIDED


OUTSIDE = {
    "inverse": lambda: cp.inv_pos(cp.Constant(-1.0)),
    "quadratic": lambda: cp.quad_over_lin(np.ones(2), cp.Constant(-2.0)),
    "inside a sum": lambda: 3.0 + 2.0 * cp.inv_pos(cp.Constant([1.0, -1.0]))[1],
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_constant_outside_of_its_domain_is_infinite(name: str) -> None:
    """NumPy has 1 / -1 = -1, and CVXPY takes it; convex is only what is +inf there."""
    x = cp.Variable()
    in_a_row = cp.Problem(cp.Minimize(x), [x >= OUTSIDE[name]()])
    in_the_objective = cp.Problem(cp.Minimize(x + OUTSIDE[name]()), [x >= 1.0])
    for problem in (in_a_row, in_the_objective):
        problem.solve(solver="CLARABEL")
        assert problem.status == "optimal"  # so it is said
        certificate = cml.certify(problem)
        assert certificate.verdict is cml.Verdict.REFUTED
        assert "domain of" in certificate.reason
    certificate = cml.certify(cp.Problem(cp.Minimize(OUTSIDE[name]())))
    assert (certificate.claim, certificate.verdict) == ("infeasible", cml.Verdict.CERTIFIED)
    assert np.max(certificate.evidence["domain of the objective"]) >= 1.0


def test_a_constant_on_the_border_of_its_domain_is_inside_up_to_rounding() -> None:
    x, border = cp.Variable(), cp.Constant(0.3) - 0.1 - 0.2  # -3e-17 in floats
    assert float(border.value) < 0.0
    problem = cp.Problem(cp.Minimize(x), [x >= cp.quad_over_lin(np.zeros(2), border) + 1.0])
    problem.solve(solver="CLARABEL")
    assert cml.certify(problem).verdict is cml.Verdict.CERTIFIED

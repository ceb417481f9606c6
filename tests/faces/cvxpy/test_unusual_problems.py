"""Problems without variables, complex equations, several matrices at once."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.model_cases import certified, confirmed, refuted

import convexml as cml
from convexml import Verdict


@pytest.mark.parametrize("sense", [cp.Minimize, cp.Maximize])
def test_a_constant_is_its_own_optimum(sense: type) -> None:
    problem = cp.Problem(sense(3.0), [cp.Constant(1.0) >= 0.0, True])
    for certificate in (cml.solve(problem), cml.certify(problem)):
        confirmed(certificate, "optimal")
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
        confirmed(certificate, "infeasible")
        assert certificate.primal_objective == np.inf
        assert np.max(certificate.evidence["constraints[0]"]) >= 1.0
        assert "constraints[0]" in certificate.reason
    assert problem.status == "infeasible"
    assert problem.value == np.inf


def test_a_parameter_is_a_constant_at_the_level_of_tol() -> None:
    p = cp.Parameter(value=2.0)
    problem = cp.Problem(cp.Maximize(p), [p <= 2.0])
    assert cml.solve(problem).primal_objective == 2.0
    for p.value in (3.0, 2.0 + 1e-11):
        certificate = confirmed(cml.solve(problem), "infeasible")
        assert certificate.primal_objective == -np.inf


def large_beside_small() -> dict[str, cp.Constraint]:
    p = cp.Parameter(2, value=np.array([1e20, 0.0]))
    big, small = cp.Constant([1e16, 0.0]), cp.Constant([1e8, 1.0])
    two = cp.Constant(np.array([[1e8, 2.0]]))
    return {
        "inequality": cp.Constant([1e20, 0.0]) <= cp.Constant([1e20, -1.0]),
        "sum": p + 1.0 <= cp.Constant([1e20, 0.5]),
        "complex": big == cp.Constant([1e16, 1.0j]),
        "second-order by rows": cp.SOC(cp.Constant([1e18, 1.0]), two.T, axis=1),
        "power": cp.PowCone3D(small**2, small**2, cp.Constant([1e16, 1.3]), 0.5),
    }


@pytest.mark.parametrize("name", large_beside_small())
def test_a_small_row_beside_a_large_one_counts_by_its_own_size(name: str) -> None:
    problem = cp.Problem(cp.Minimize(cp.Constant(3.0)), [large_beside_small()[name]])
    for certificate in (cml.solve(problem), cml.certify(problem)):
        confirmed(certificate, "infeasible")


def test_rounding_of_the_terms_is_no_contradiction() -> None:
    rows, ones = cp.Constant(np.array([[0.1, 0.2, 0.3], [1.0, 1.0, 1.0]])), cp.Constant(np.ones(3))
    for sides, claim in (
        ([0.6, 3.0], "optimal"),  # 0.1 + 0.2 + 0.3 is 0.6 + 1e-16 in floats
        ([0.6 + 1e-9, 3.0], "infeasible"),
    ):
        problem = cp.Problem(cp.Minimize(1.0), [rows @ ones == np.array(sides)])
        confirmed(cml.certify(problem), claim)
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
        certificate = refuted(cml.certify(problem))
        assert "domain of" in certificate.reason
    certificate = confirmed(cml.certify(cp.Problem(cp.Minimize(OUTSIDE[name]()))), "infeasible")
    assert np.max(certificate.evidence["domain of the objective"]) >= 1.0


NOISE = [0.0, 1e-17, 1e-10]


def density(C: Any, A: Any, r: float) -> tuple[Any, Any]:
    """The least tr(C N) of a density matrix N with tr(A N) = r."""
    N = cp.Variable(A.shape, hermitian=True, name="N")
    rows = [N >> 0, cp.trace(N) == 1, cp.trace(A @ N) == r]
    return cp.Problem(cp.Minimize(cp.real(cp.trace(C @ N))), rows), N


@pytest.mark.parametrize("seed", range(2))
def test_a_density_with_a_mean(seed: int) -> None:
    """C and A are diagonal in the same basis, so the optimum is a linear program's of three p."""
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3)))[0]
    d = np.array([-1.0, 0.5, 2.0])
    A, C = ((U * values) @ U.conj().T for values in (d, d**2))
    A = A + 1e-17j * rng.normal(size=(3, 3))  # Hermitian but for rounding, whatever BLAS leaves
    problem, N = density(C, A, 1.0)
    # With p_1 = a the others are 2/3 - 2a and 1/3 + a, and the objective is 3/2 + 9a/2.
    p = np.array([0.0, 2.0 / 3.0, 1.0 / 3.0])
    N.value = (U * p) @ U.conj().T
    certificate = cml.certify(problem)
    assert certificate.verdict is not Verdict.REFUTED
    assert certificate.infeasibility < 1e-12
    found = confirmed(cml.solve(problem), "optimal")
    assert found.primal_objective == pytest.approx(1.5, abs=1e-5)
    # The part that is rounding has no multiplier: the dual point is one of the data as they are.
    assert np.imag(found.dual["constraints[2]"]) == 0.0


@pytest.mark.parametrize("noise", NOISE[1:])
def test_a_separation_by_rounding_is_told(noise: float) -> None:
    """A solver that says "infeasible" of it is not confirmed."""
    x = cp.Variable(name="x")
    problem = cp.Problem(cp.Minimize(x), [x == 1.0 + noise * 1j])
    problem.solve(solver="CLARABEL")
    x.value, problem._status = None, "infeasible"
    certificate = cml.certify(problem)
    assert certificate.claim == "infeasible"
    assert certificate.verdict is Verdict.UNDECIDED
    if noise > 1e-15:
        assert "complex equation" in certificate.reason


@pytest.mark.parametrize("turn", [1.0, 1e6 * (3.0 + 4.0j), 1e-9j])
def test_a_complex_factor_moves_nothing(turn: complex) -> None:
    """An equation times a complex number is the same equation."""
    z = cp.Variable(complex=True, name="z")
    problem = cp.Problem(cp.Minimize(cp.abs(z)), [turn * z == turn * (3.0 + 4.0j)])
    z.value = (3.0 + 4.0j) * (1.0 + 1e-8)
    row = cml.certify(problem).conditions[0]
    assert row.relative == pytest.approx(1e-8, rel=0.6)
    z.value = 3.0 + 4.1j
    certificate = refuted(cml.certify(problem))
    assert "constraints[0]" in certificate.reason


@pytest.mark.parametrize("over", [0.0, 1e-9, 1e-3])
def test_a_complex_cone_is_rounded_by_its_terms(over: float) -> None:
    t, z = cp.Variable(), cp.Variable(2, complex=True)
    problem = cp.Problem(cp.Minimize(t), [cp.SOC(t, z), z == np.array([3.0, 4j])])
    certified(cml.solve(problem))
    t.value, z.value = 5.0 - over, np.array([3.0, 4j])
    row = next(r for r in cml.certify(problem).conditions if r.name == "constraints[0]: violation")
    assert row.residual == pytest.approx(over / np.sqrt(2.0), abs=1e-15)
    assert row.rounding < 1e-12
    assert row.breaks(1e-6) is (over > 1e-6)


UNITS = np.stack([np.eye(3)] * 2)


def batch(**attributes: bool) -> Any:
    return cp.Variable((2, 3, 3), name="X", **attributes)


def cases() -> dict[str, tuple[Any, list[Any], float]]:
    """What is smallest, where, and its least value."""
    X, S, P = batch(), batch(symmetric=True), batch(PSD=True)
    largest = cp.lambda_sum_largest
    return {
        "traces": (cp.sum(cp.trace(X)), [X >= 1], 6.0),
        "traces and squares": (cp.sum(cp.trace(X)) + cp.sum_squares(X - 1), [X >= 1], 6.0),
        "traces, PSD": (cp.sum(cp.trace(P)), [P[:, 0, 1] >= 1], 4.0),
        "two eigenvalues": (cp.sum(largest(S, 2)), [S >= UNITS], 4.0),
        "the largest of all": (cp.max(largest(S, 2)), [S >= UNITS], 2.0),
    }


@pytest.mark.parametrize("name", cases())
def test_several_matrices_are_certified(name: str) -> None:
    value, rows, least = cases()[name]
    certificate = certified(cml.solve(cp.Problem(cp.Minimize(value), rows)))
    assert certificate.primal_objective == pytest.approx(least, abs=1e-5)


@pytest.mark.parametrize("attribute", ["PSD", "symmetric"])
def test_several_matrices_may_be_absent(attribute: str) -> None:
    """A corner of -1, or a corner of 3 where the two largest eigenvalues add up to 1."""
    X = batch(**{attribute: True})
    rows = [X[:, 0, 0] == -1]
    if attribute == "symmetric":
        rows = [cp.lambda_sum_largest(X, 2) <= 1, X[:, 0, 0] >= 3, X >> 0]
    confirmed(cml.solve(cp.Problem(cp.Minimize(cp.sum(cp.trace(X))), rows)), "infeasible")


@pytest.mark.parametrize("judge", [cml.solve, cml.certify, cml.dualize])
def test_several_diagonal_matrices_are_refused_with_the_reason(judge: Any) -> None:
    """CVXPY's value of such a variable is a single matrix."""
    X = batch(diag=True)
    problem = cp.Problem(cp.Minimize(cp.sum(cp.trace(X))), [cp.trace(X) >= 1])
    with pytest.raises(cml.errors.InputError, match="variable X has diag=True and the shape"):
        judge(problem)

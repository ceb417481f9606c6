"""Real and imaginary part of one complex equation share a unit: rounding alone refutes nothing."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml import Verdict

NOISE = [0.0, 1e-17, 1e-10]


def density(C: Any, A: Any, r: float) -> tuple[Any, Any]:
    """The least tr(C N) of a density matrix N with tr(A N) = r."""
    N = cp.Variable(A.shape, hermitian=True, name="N")
    rows = [N >> 0, cp.trace(N) == 1, cp.trace(A @ N) == r]
    return cp.Problem(cp.Minimize(cp.real(cp.trace(C @ N))), rows), N


@pytest.mark.parametrize("seed", range(6))
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
    found = cml.solve(problem)
    assert found.claim == "optimal"
    assert found.verdict is Verdict.CERTIFIED
    assert found.primal_objective == pytest.approx(1.5, abs=1e-5)
    # The part that is rounding has no multiplier: the dual point is one of the data as they are.
    assert np.imag(found.dual["constraints[2]"]) == 0.0


def test_a_matrix_equation() -> None:
    """The imaginary diagonal of N = M is rounding of M, and has no entry of N."""
    rng = np.random.default_rng(7)
    B = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))
    M = B @ B.conj().T + 1e-17j * np.diag([1.0, -2.0, 3.0])
    N = cp.Variable((3, 3), hermitian=True, name="N")
    problem = cp.Problem(cp.Minimize(cp.real(cp.trace(N))), [N == M])
    found = cml.solve(problem)
    assert found.claim == "optimal"
    assert found.verdict is Verdict.CERTIFIED
    assert found.primal_objective == pytest.approx(float(np.linalg.norm(B) ** 2), rel=1e-6)
    N.value = M.real + 1j * np.triu(M.imag, 1) - 1j * np.triu(M.imag, 1).T
    assert cml.certify(problem).infeasibility < 1e-12


def test_constants_that_are_equal_up_to_rounding() -> None:
    """Without variables, too, both parts count against one size."""
    problem = cp.Problem(cp.Minimize(0), [cp.Constant(3.0 + 1e-17j) == cp.Constant(3.0)])
    certificate = cml.certify(problem)
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.claim == "optimal"
    assert certificate.infeasibility < 1e-16


@pytest.mark.parametrize("noise", NOISE)
def test_a_diagonal_with_imaginary_noise(noise: float) -> None:
    """The trace is 1 and the mean 1.5: N_00 is 1/2, whatever the rounding says."""
    A = np.diag([1.0 + 1j * noise, 2.0 + 2j * noise])
    problem, N = density(np.diag([1.0, 0.0]), A, 1.5)
    N.value = 0.5 * np.eye(2)
    assert cml.certify(problem).verdict is not Verdict.REFUTED
    found = cml.solve(problem)
    assert found.claim == "optimal"
    assert found.verdict is not Verdict.REFUTED
    if noise < 1e-15:
        assert found.verdict is Verdict.CERTIFIED
        assert found.primal_objective == pytest.approx(0.5, abs=1e-6)


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


def test_a_separation_beyond_tol_is_concluded() -> None:
    x = cp.Variable(name="x")
    certificate = cml.solve(cp.Problem(cp.Minimize(x), [x == 1.0 + 1e-3j]))
    assert certificate.claim == "infeasible"
    assert certificate.verdict is Verdict.CERTIFIED


@pytest.mark.parametrize("turn", [1.0, 1j, 1e6 * (3.0 + 4.0j), 1e-9j])
def test_a_complex_factor_moves_nothing(turn: complex) -> None:
    """An equation times a complex number is the same equation."""
    z = cp.Variable(complex=True, name="z")
    problem = cp.Problem(cp.Minimize(cp.abs(z)), [turn * z == turn * (3.0 + 4.0j)])
    z.value = (3.0 + 4.0j) * (1.0 + 1e-8)
    row = cml.certify(problem).conditions[0]
    assert row.relative == pytest.approx(1e-8, rel=0.6)
    z.value = 3.0 + 4.1j
    certificate = cml.certify(problem)
    assert certificate.verdict is Verdict.REFUTED
    assert "constraints[0]" in certificate.reason


@pytest.mark.parametrize("over", [0.0, 1e-9, 1e-3])
def test_a_complex_cone_is_rounded_by_its_terms(over: float) -> None:
    t, z = cp.Variable(), cp.Variable(2, complex=True)
    problem = cp.Problem(cp.Minimize(t), [cp.SOC(t, z), z == np.array([3.0, 4j])])
    found = cml.solve(problem)
    assert found.verdict is Verdict.CERTIFIED
    t.value, z.value = 5.0 - over, np.array([3.0, 4j])
    row = next(r for r in cml.certify(problem).conditions if r.name == "constraints[0]: violation")
    assert row.residual == pytest.approx(over / np.sqrt(2.0), abs=1e-15)
    assert row.rounding < 1e-12
    assert row.breaks(1e-6) is (over > 1e-6)

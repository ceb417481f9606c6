"""Attributes of CVXPY variables have rows of their own, and refute where they are violated."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml import Verdict

P, Q = {"nonneg": True}, {"nonpos": True}


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


# -- texts ------------------------------------------------------------------------------------


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

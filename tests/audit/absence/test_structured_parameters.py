"""Parameters with a structure, in a loop in which answers come and go: none is that of before.

Each step is compared with the same problem posed anew, by hand and by CLARABEL; what CVXPY itself
answers afterwards, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml

EYE = np.eye(2)
STRUCTURES: dict[str, dict[str, Any]] = {
    "none": {},
    "PSD": {"PSD": True},
    "NSD": {"NSD": True},
    "symmetric": {"symmetric": True},
    "diag": {"diag": True},
}
LOOP = ((0.0, "infeasible"), (1.0, "optimal"), (4.0, "optimal"), (0.0, "infeasible"))


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("ask", [cml.solve, cml.certify], ids=["solve", "certify"])
def test_rows_that_cannot_be_met_and_can(name: str, ask: Callable[..., Any]) -> None:
    sign = -1.0 if name == "NSD" else 1.0
    w, D = cp.Variable(2), cp.Parameter((2, 2), **STRUCTURES[name])
    problem = cp.Problem(cp.Minimize(cp.sum(w)), [sign * (D @ w) >= 1, w >= -1, w <= 5])
    for size, claim in LOOP:
        D.value = sign * size * EYE
        if ask is cml.certify:
            problem.solve(solver="CLARABEL")
        certificate = ask(problem)
        assert (certificate.claim, certificate.verdict) == (claim, cml.Verdict.CERTIFIED)
        if claim == "optimal":
            assert certificate.primal_objective == pytest.approx(2.0 / size, rel=1e-6)
        problem.solve(solver="CLARABEL")
        assert problem.status == claim


def test_values_that_are_bounded_and_are_not() -> None:
    w, Q = cp.Variable(2), cp.Parameter((2, 2), PSD=True)
    problem = cp.Problem(cp.Minimize(cp.quad_form(w, Q) - cp.sum(w)), [w >= -0.3])
    for size in (0.0, 1.0, 0.0, 2.0):
        Q.value = size * EYE
        certificate = cml.solve(problem)
        assert certificate.verdict is cml.Verdict.CERTIFIED
        assert certificate.claim == ("optimal" if size else "unbounded")
        if size:
            assert certificate.primal_objective == pytest.approx(-0.5 / size, rel=1e-6)
        problem.solve(solver="CLARABEL")
        assert problem.status == certificate.claim

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

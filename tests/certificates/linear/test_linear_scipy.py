"""Linear programs mean what they mean to SciPy: status, value, marginals, bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from scipy import sparse
from scipy.optimize import linprog
from support.programs.small import DIET, certificates_multipliers, oracle, programs

from convexml.certificates import Verdict
from convexml.models import LinearProgram


@settings(max_examples=120)
@given(programs())
def test_status_value_and_evidence_agree_with_scipy(data: dict[str, object]) -> None:
    status, result = oracle(data)
    assume(status != "unknown")
    solution = LinearProgram(**data).solve()
    assert solution.status == status
    if status == "optimal":
        assert solution.objective == pytest.approx(result.fun, abs=1e-9)
        assert solution.certificate.verdict is Verdict.CERTIFIED
    else:
        assert solution.certificate.claim == status
        assert solution.certificate.verdict is Verdict.CERTIFIED


@settings(max_examples=60)
@given(programs())
def test_scipys_marginals_are_our_multipliers(data: dict[str, object]) -> None:
    status, result = oracle(data)
    assume(status == "optimal")
    problem = LinearProgram(**data)
    certificate = problem.certify(result.x, certificates_multipliers(result))
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.dual_source == "passed"
    prices = problem.shadow_prices(certificates_multipliers(result))
    np.testing.assert_allclose(prices["ub"], result.ineqlin.marginals)
    np.testing.assert_allclose(prices["eq"], result.eqlin.marginals)
    np.testing.assert_allclose(prices["lower"], result.lower.marginals)
    np.testing.assert_allclose(prices["upper"], result.upper.marginals)


@pytest.mark.parametrize(
    "bounds", [(0, None), None, [], (None, None), (-1, 2), [(0, 1), (None, 3)], [(0,), (5,)]]
)
def test_bounds_mean_what_they_mean_to_scipy(bounds: object) -> None:
    data = {"c": [1.0, -1.0], "A_ub": [[1.0, 2.0], [-1.0, -1.0]], "b_ub": [4.0, 3.0]}
    ours = LinearProgram(**data, bounds=bounds).solve()
    theirs = linprog(**data, bounds=bounds)
    assert ours.objective == pytest.approx(theirs.fun, abs=1e-9)


@pytest.mark.parametrize("solver", ["highs", "clarabel", "ecos", "scs", "osqp", "piqp"])
def test_every_reference_solver_solves_the_diet(solver: str) -> None:
    solution = LinearProgram(**DIET).solve(solver)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(92.5, rel=1e-6)
    assert solution.solver == solver


def test_sparse_matrices_give_the_same() -> None:
    data = DIET | {"A_ub": sparse.csr_array(DIET["A_ub"])}
    dense, thin = LinearProgram(**DIET).solve(), LinearProgram(**data).solve()
    np.testing.assert_allclose(thin.primal["x"], dense.primal["x"], atol=1e-12)
    assert thin.certificate.verdict is Verdict.CERTIFIED

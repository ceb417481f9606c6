"""cml.certify of CVXPY's own cases, with their published values and duals."""

from __future__ import annotations

import numpy as np
import pytest
from support.programs.cvxpy_cases import CASES, case, solved

import convexml as cml
from convexml import Verdict

LINEAR = tuple(name for name in CASES if name.startswith(("lp", "qp")))
SECOND_ORDER = (*LINEAR, *(name for name in CASES if name.startswith(("socp", "expcone"))))
# First-order solvers at their defaults leave errors of 1e-4 and more.
RUNS = [("CLARABEL", name, 1e-5) for name in CASES]
RUNS += [("SCS", name, 1e-3) for name in CASES]
RUNS += [("ECOS", name, 1e-5) for name in SECOND_ORDER]
RUNS += [("OSQP", name, 1e-3) for name in LINEAR]
RUNS += [("HIGHS", name, 1e-5) for name in LINEAR]


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
    helper = case(name)
    for variable, value in zip(helper.variables, helper.expect_prim_vars, strict=True):
        variable.save_value(np.reshape(value, variable.shape))
    for constraint, value in zip(helper.constraints, helper.expect_dual_vars, strict=True):
        parts = value if isinstance(value, list) else [value]
        for dual, part in zip(constraint.dual_variables, parts, strict=True):
            dual.save_value(np.reshape(np.asarray(part, dtype=float), dual.shape))
    assert cml.certify(helper.prob, tol=1e-3).verdict is Verdict.CERTIFIED

"""What the first way does not prove is asked of the others: of HiGHS, and of PIQP."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml import Verdict
from convexml.certificates.conic import infeasible


@pytest.mark.parametrize("fault", ["none", "signs", "zero", "total"])
def test_multipliers_of_a_vertex_that_prove_nothing_are_not_used(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """x >= 3 and x <= 1 contradict one another by 2, whoever finds it."""
    found = infeasible.relax_by_vertex
    told = []

    def corrupted(program, soft):  # type: ignore[no-untyped-def]
        right = found(program, soft)
        told.append(right)
        turned = {"signs": -right.y, "zero": 0.0 * right.y}.get(fault, right.y)
        total = 1.5 * right.total if fault == "total" else right.total
        return None if fault == "none" else right._replace(y=turned, total=total)

    monkeypatch.setattr(infeasible, "relax_by_vertex", corrupted)
    x = cp.Variable(name="x")
    answer = cml.solve(cp.Problem(cp.Minimize(x), [x >= 3.0, x <= 1.0]))
    assert told
    assert (answer.claim, answer.verdict) == ("infeasible", Verdict.CERTIFIED)
    assert answer.evidence["relaxation_total"] == pytest.approx(2.0, rel=1e-6)
    assert answer.evidence["relaxation_bound"] == pytest.approx(2.0, rel=1e-6)


def test_a_piqp_that_breaks_down_is_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    piqp = pytest.importorskip("piqp")

    asked = []

    class Broken(piqp.SparseSolver):  # type: ignore[misc]
        def setup(self, *arguments: object, **options: object) -> None:
            asked.append(arguments)
            raise RuntimeError("broken")

    monkeypatch.setattr(piqp, "SparseSolver", Broken)
    x, P = cp.Variable(2, name="x"), np.array([[2.0, 1.0], [1.0, 2.0]])
    objective = cp.Minimize(cp.quad_form(x, P) - x[0])
    problem = cp.Problem(objective, [x >= 0.1, cp.sum(x) <= 1.0])
    answer = cml.solve(problem)
    assert asked
    assert answer.verdict is Verdict.CERTIFIED
    assert problem.solver_stats.solver_name.lower() != "piqp"
    # x_2 = 0.1 there: 4 x_1 + 0.2 = 1.
    assert x.value == pytest.approx([0.2, 0.1], abs=1e-5)
    assert answer.primal_objective == pytest.approx(2 * 0.04 + 0.04 + 0.02 - 0.2, rel=1e-6)

"""Programs of NETLIB: certified with a bound of all points, or proved to have none."""

from __future__ import annotations

import numpy as np
import pytest
from support.programs.netlib import netlib

import convexml as cml
from convexml import Verdict


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bandm", -1.5862801845e02),
        ("brandy", 1.5185098965e03),
        ("e226", -18.751929066),
        ("israel", -8.9664482186e05),
        ("lotfi", -2.5264706062e01),
    ],
)
def test_netlib_is_certified_with_a_bound_of_all_points(name: str, value: float) -> None:
    """Values: NETLIB's README; e226's constant left out."""
    solution = netlib(name).solve()
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(value, rel=1e-9)
    assert solution.certificate.within is None
    assert solution.certificate.relative_gap < 1e-8


@pytest.mark.parametrize("name", ["mondou2", "klein1", "bgprtr", "itest2", "woodinfe"])
def test_netlib_programs_without_a_point_are_proved_to_have_none(name: str) -> None:
    assert netlib(name).solve().status == "infeasible"


def test_cplex2_is_never_optimal() -> None:
    problem = netlib("cplex2")
    solution = problem.solve()
    assert solution.status in ("failed", "inaccurate", "infeasible")  # which it is, by a hair
    # A point that violates by little: the constraints relaxed as much as it takes.
    data = problem.data
    wider = cml.LinearProgram(
        data.c,
        data.A_ub,
        data.b_ub + 1e-6,
        data.A_eq,
        data.b_eq,
        np.column_stack([data.lower, data.upper]),
    ).solve("highs")
    assert wider.primal
    found = problem.certify(wider.primal["x"], tol=1e-4)
    assert found.verdict is Verdict.UNDECIDED

"""The domains of a problem's atoms are constraints, although nobody wrote them."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml import Verdict


def matrix(value: np.ndarray, **attributes: bool) -> cp.Variable:
    M = cp.Variable((2, 2), name="M", **attributes)
    M.save_value(value)
    return M


X = cp.Variable(2, name="x")
X.value = np.array([-1.0, 1.0])
M = matrix(-np.eye(2), symmetric=True)


x, t = cp.Variable(2, name="x"), cp.Variable(name="t")
INSIDE = {
    "quad_over_lin": (cp.Problem(cp.Minimize(cp.quad_over_lin(t - 1, t)), [t <= 0.5]), 0.5),
    "power 3": (cp.Problem(cp.Minimize(cp.power(t, 3)), [t >= 0.5]), 0.125),
    "log": (cp.Problem(cp.Maximize(cp.sum(cp.log(x))), [cp.sum(x) <= 1]), 2 * np.log(0.5)),
    "squares": (cp.Problem(cp.Minimize(cp.sum_squares(x - 1) + t**4), [x >= 2]), 2.0),
}
"""Problems whose optimum stands in closed form."""


@pytest.mark.parametrize("name", INSIDE)
def test_an_optimum_inside_of_the_domain_stays_certified(name: str) -> None:
    problem, value = INSIDE[name]
    problem.solve(solver="CLARABEL")
    found = cml.certify(problem)
    assert found.verdict is Verdict.CERTIFIED, found.reason
    assert found.primal_objective == pytest.approx(value, abs=1e-6)
    shown = [row.name for row in found.conditions if row.name.startswith("domain")]
    assert len(shown) == (name != "squares")


def test_a_domain_counts_relative_to_its_row() -> None:
    """t^3 at -1e-9, beside data of size 1e3, is a solver's rounding; at -1 it is not."""
    problem = cp.Problem(cp.Minimize(cp.power(t - 1e3, 3)), [t <= 2e3])
    for value, broken in ((1e3 - 1e-9, False), (999.0, True)):
        t.value = value
        found = cml.certify(problem)
        assert ("domain of the objective" in found.reason) == broken
        assert (found.verdict is Verdict.REFUTED) == broken


@pytest.mark.parametrize("name", ["inv_pos", "power", "quad_over_lin", "matrix_frac", "log_det"])
def test_from_behind_the_border_what_is_as_far_inside_as_tol_counts(name: str) -> None:
    """All of these need t >= 1, or > 0; just below 0 their values are finite and allowed.

    Counted are those as far inside as the tolerance: too large but for that of log_det.
    """
    s = cp.Variable(name="s", value=0.0)
    D = cp.bmat([[t, 0.0], [0.0, t]])
    constraint = {
        "inv_pos": cp.inv_pos(t) <= 1,
        "power": cp.power(t, -3) <= 1,
        "quad_over_lin": cp.quad_over_lin(1 + s, t) <= 1,
        "matrix_frac": cp.matrix_frac(np.array([1.0, 0.0]), D) <= 1,
        "log_det": cp.log_det(D) >= -100,
    }[name]
    for step in (1e-7, 1e-17):
        t.value = -step
        found = cml.certify(cp.Problem(cp.Minimize(s), [constraint, s >= 0]))
        rows = {row.name: row for row in found.conditions}
        assert rows["domain of constraints[0]: violation"].residual >= step
        assert np.isfinite(rows["constraints[0]: violation"].residual)
        if name == "log_det":
            assert found.verdict is not Verdict.REFUTED
            assert rows["constraints[0]: violation"].residual == 0.0
        else:
            assert found.verdict is Verdict.REFUTED
            assert "is not defined" in found.reason
            assert rows["constraints[0]: violation"].residual > 1e5


def test_a_border_by_rounding_costs_nothing_where_the_value_is_right() -> None:
    """e1'M^-1 e1 + tr M is least, 2, at M = diag(1, 0), on the border."""
    S = matrix(np.diag([1.0, -1e-9]), symmetric=True)
    goal = cp.matrix_frac(np.array([1.0, 0.0]), S) + cp.trace(S)
    found = cml.certify(cp.Problem(cp.Minimize(goal)))
    assert found.verdict is Verdict.CERTIFIED, found.reason
    assert found.primal_objective == pytest.approx(2.0, abs=1e-6)


def test_numbers_at_the_end_of_float64_get_a_verdict() -> None:
    """Closed forms: 2e301, and x0 >= -1e150 x1 >= -1e300."""
    far = cp.Problem(cp.Minimize(2 * t), [t >= 1e301])
    wide = cp.Problem(cp.Minimize(x[0]), [x[0] + 1e150 * x[1] >= 0, x[1] <= 1e150])
    y, slopes = cp.Variable(2, name="y"), np.array([2.0**20, 2.0**-15])
    steep = cp.Problem(cp.Minimize(cp.sum(cp.exp(y)) - slopes @ y + 1e6))
    least = float(np.sum(slopes - slopes * np.log(slopes))) + 1e6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for problem, value in ((far, 2e301), (wide, -1e300), (steep, least)):
            found = cml.solve(problem)
            assert found.verdict is not Verdict.REFUTED
            if found.verdict is Verdict.CERTIFIED:
                assert found.primal_objective == pytest.approx(value, rel=2e-6)

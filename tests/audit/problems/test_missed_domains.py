"""A domain missed by rounding: priced at the nearest point inside, told as a violation."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.special import entr, rel_entr

import convexml as cml
from convexml import Verdict

OFF = -2.6e-11
x = cp.Variable(2, name="x")
X = cp.Variable((2, 2), symmetric=True, name="X")
EYE = np.eye(2)

LOOSE: dict[str, tuple[Any, float]] = {
    "entr": (-cp.sum(cp.entr(x)), 1.0),
    "kl_div": (cp.sum(cp.kl_div(x, np.ones(2))), 2.0),
    "rel_entr": (cp.sum(cp.rel_entr(x, np.ones(2))), 2.0),
    "rel_entr, second": (cp.sum(cp.rel_entr(np.ones(2), x)), 40.0),
    "kl_div, second": (cp.sum(cp.kl_div(np.ones(2), x)), 40.0),
    "geo_mean": (-cp.geo_mean(x), 1.0),
    "sqrt": (-cp.sqrt(x[1]), 1.0),
    "power 3/2": (cp.power(x[1], 1.5), 1.0),
    "log": (-cp.sum(cp.log(x)), 40.0),
    "log of a sum": (-cp.log(1.0 - x[0]), 40.0),
    "log1p": (-cp.log1p(-x[0]), 40.0),
    "inv_pos": (cp.inv_pos(x[1]), 1e12),
    "power -1/2": (cp.power(x[1], -0.5), 1e5),
    "quad_over_lin": (cp.quad_over_lin(np.ones(2), x[1]), 1e12),
    "harmonic_mean": (-cp.harmonic_mean(x), 1.0),
    "pnorm 1/2": (-cp.pnorm(x, 0.5), 1.0),
    "log_det": (-cp.log_det(cp.diag(x)), 40.0),
    "tr_inv": (cp.tr_inv(cp.diag(x)), 1e12),
    "matrix_frac": (cp.matrix_frac(np.ones(2), cp.diag(x)), 1e12),
    "von Neumann": (-cp.von_neumann_entr(cp.diag(x)), 1.0),
}


def planted(constraint: Any) -> Any:
    """Min x_0 + 2 x_1 on the simplex: 1 at (1, 0), with the multipliers that prove it."""
    rows = [x >= 0, cp.sum(x) == 1, constraint]
    problem = cp.Problem(cp.Minimize(x[0] + 2.0 * x[1]), rows)
    x.save_value(np.array([1.0 - OFF, OFF]))
    rows[0].save_dual_value(np.array([0.0, 1.0]))
    rows[1].save_dual_value(np.array(-1.0))
    constraint.save_dual_value(np.array(0.0))
    return problem


@pytest.mark.parametrize("name", LOOSE)
def test_a_constraint_that_is_met_nearby_refutes_nothing(name: str) -> None:
    function, most = LOOSE[name]
    certificate = cml.certify(planted((function <= most).set_label("own")))
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.primal_objective == pytest.approx(1.0, abs=1e-8)
    rows = {row.name: row for row in certificate.conditions}
    assert rows["own: violation"].residual == 0.0
    assert rows["domain of own: violation"].residual == pytest.approx(-OFF, rel=1e-3)
    assert "own: " in certificate.reason


@pytest.mark.parametrize("name", ["log", "inv_pos", "log_det", "rel_entr, second"])
def test_a_constraint_that_no_point_nearby_meets_is_refuted_by_a_number(name: str) -> None:
    certificate = cml.certify(planted((LOOSE[name][0] <= 1.0).set_label("own")))
    assert certificate.verdict is Verdict.REFUTED
    row = next(row for row in certificate.conditions if row.name == "own: violation")
    assert 1.0 < row.residual < np.inf


OBJECTIVES = {
    "entr": (lambda: cp.sum(cp.entr(x)), lambda p: float(np.sum(entr(p)))),
    "kl_div": (
        lambda: -cp.sum(cp.kl_div(x, [0.5, 1.0])),
        lambda p: float(-np.sum(rel_entr(p, [0.5, 1.0]) - p + [0.5, 1.0])),
    ),
    "sqrt": (lambda: cp.sum(cp.sqrt(x)), lambda p: float(np.sum(np.sqrt(p)))),
    "geo_mean": (lambda: cp.geo_mean(x), lambda p: float(np.sqrt(p[0] * p[1]))),
}


@pytest.mark.parametrize("name", OBJECTIVES)
def test_an_objective_is_that_of_the_nearest_point(name: str) -> None:
    """x_1 <= 0 leaves one point, (1, 0)."""
    build, value = OBJECTIVES[name]
    problem = cp.Problem(cp.Maximize(build()), [cp.sum(x) == 1, x[1] <= 0])
    x.save_value(np.array([1.0 - OFF, OFF]))
    certificate = cml.certify(problem)
    assert certificate.primal_objective == pytest.approx(value(np.array([1.0, 0.0])), abs=1e-7)
    assert certificate.verdict is not Verdict.REFUTED
    row = next(r for r in certificate.conditions if r.name == "domain of the objective: violation")
    assert row.residual == pytest.approx(-OFF)


def test_an_entropy_whose_optimum_is_on_the_border_is_certified() -> None:
    """Max entropy with x_0 = 0 over three: log 2. What moving costs is in the gap."""
    p = cp.Variable(3, name="p")
    rows = [cp.sum(p) == 1, p[0] == 0]
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), rows)
    p.save_value(np.array([OFF, 0.5 - OFF, 0.5]))
    # The gradient of -entr is log p + 1; that of p_0 at 0 is free of any bound.
    rows[0].save_dual_value(np.array(np.log(2.0) - 1.0))
    rows[1].save_dual_value(np.array(30.0))
    certificate = cml.certify(problem)
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.primal_objective == pytest.approx(np.log(2.0), abs=1e-9)
    assert certificate.dual_objective >= np.log(2.0) - 1e-12
    # p_0 = 0 is met nearby; the sum is too much by -OFF there, at the price of its multiplier.
    assert certificate.rounding >= -0.99 * OFF * (1.0 - np.log(2.0))


def test_a_logarithm_is_taken_inside() -> None:
    """Min x_0 + 2 x_1 - 1e-9 log x_1 on the simplex."""
    problem = cp.Problem(
        cp.Minimize(x[0] + 2.0 * x[1] - 1e-9 * cp.log(x[1])), [x >= 0, cp.sum(x) == 1]
    )
    cml.solve(problem)
    best = 1.0 + 1e-9 * (1.0 - np.log(1e-9))  # at x_1 = 1e-9
    x.save_value(np.array([1.0 - OFF, OFF]))
    certificate = cml.certify(problem)
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.primal_objective == pytest.approx(best, abs=1e-7)
    assert certificate.dual_objective <= best + 1e-14


def test_a_domain_missed_by_more_is_refuted() -> None:
    x.save_value(np.array([1.0 + 1e-3, -1e-3]))
    problem = cp.Problem(cp.Minimize(x[0] + 2.0 * x[1]), [cp.sum(x) == 1, cp.entr(x[1]) >= 0])
    certificate = cml.certify(problem)
    assert certificate.verdict is Verdict.REFUTED
    assert "domain of constraints[1]: violation" in certificate.reason


def test_the_values_that_stood_stand_again() -> None:
    cml.certify(planted(cp.log(x[1]) >= -40))
    assert np.array_equal(x.value, [1.0 - OFF, OFF])


def test_the_border_itself_refutes_a_constraint_no_more_than_a_point_beyond_it() -> None:
    """log(0) >= -40 asks for 4e-18."""
    problem = planted(cp.log(x[1]) >= -40)
    x.save_value(np.array([1.0, 0.0]))
    certificate = cml.certify(problem)
    assert certificate.verdict is Verdict.CERTIFIED
    assert "log(x[1]) is infinite" in certificate.reason

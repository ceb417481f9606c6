"""CVXPY problems: closed forms, published optima, twins in other units, domains of atoms."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest
from support.programs.maros import maros, solved

import convexml as cml
from convexml import Verdict


def test_a_small_objective_is_judged_by_its_own_size() -> None:
    """Minimise t (v - 1)^2 over v >= 2: P* = t."""
    for size in 10.0 ** np.arange(-12, 13, 8):
        v = cp.Variable()
        problem = cp.Problem(cp.Minimize(size * cp.square(v - 1)), [v >= 2])
        v.value = 2.5
        assert cml.certify(problem).verdict is Verdict.REFUTED
        assert cml.solve(problem).verdict is Verdict.CERTIFIED
        assert v.value == pytest.approx(2.0, rel=1e-6)


def test_a_constant_hides_no_better_point() -> None:
    """P* = 1 + constant: a gain of 1/2 is seen until the sum itself is too coarse for it."""
    x = cp.Variable(3)
    for sign, kind in ((1.0, cp.Minimize), (-1.0, cp.Maximize)):
        for constant in (0.0, -1e9, 1e12, -1e17):
            objective = kind(sign * (x[0] - x[1] + x[2]) + constant)
            problem = cp.Problem(objective, [-x[0] + x[1] <= -1, x >= 0])
            x.value = [1.5, 0.0, 0.0]
            seen = abs(constant) <= 1e12
            expected = Verdict.REFUTED if seen else Verdict.UNDECIDED
            assert cml.certify(problem).verdict is expected
            x.value = [1.0, 0.0, 0.0]
            assert cml.certify(problem).verdict is not Verdict.REFUTED


def test_multipliers_and_points_far_away_buy_nothing() -> None:
    """Minimise x + y over x + 2 y = 3, x, y >= 0, as two rows: P* = 3/2, and (3, 0) has P = 3."""
    rng = np.random.default_rng(0)
    for _ in range(6):
        x = cp.Variable(2)
        rows = [x[0] + 2 * x[1] <= 3, -x[0] - 2 * x[1] <= -3, x >= 0]
        problem = cp.Problem(cp.Minimize(x[0] + x[1]), rows)
        x.value = [3.0, 0.0]
        size, step = 10.0 ** rng.uniform(0, 15), rng.uniform(0.0, 2.0)
        rows[0].save_dual_value(np.array(size))
        rows[1].save_dual_value(np.array(size + step))
        rows[2].save_dual_value(np.array([max(1.0 - step, 0.0), max(1.0 - 2 * step, 0.0)]))
        certificate = cml.certify(problem)
        assert certificate.verdict is not Verdict.CERTIFIED
        assert not certificate.gap < 1.5 - 1e-6 or certificate.within is not None
    x = cp.Variable(3)
    problem = cp.Problem(cp.Minimize(x[0] - x[1] + x[2]), [-x[0] + x[1] <= -1, x >= 0])
    for far, expected in ((2.0, Verdict.REFUTED), (0.0, Verdict.REFUTED), (1.0, None)):
        x.value = [1e12 + far, 1e12, 0.0]  # gap 1; violates by 1; optimal
        verdict = cml.certify(problem).verdict
        assert verdict is expected or (expected is None and verdict is not Verdict.REFUTED)


def test_feasible_however_far_is_not_infeasible() -> None:
    """a'm >= 1, m >= 0 with a of size 10^-k: m = a / |a|^2 is feasible."""
    rng = np.random.default_rng(4)
    for k in range(0, 14, 6):
        m = cp.Variable(3, nonneg=True)
        a = 10.0**-k * rng.uniform(0.5, 2.0, 3)
        problem = cp.Problem(cp.Minimize(cp.sum_squares(m)), [a @ m >= 1])
        certificate = cml.solve(problem)
        assert certificate.claim != "infeasible" or certificate.verdict is not Verdict.CERTIFIED
        if certificate.verdict is Verdict.CERTIFIED:
            assert certificate.primal_objective == pytest.approx(1.0 / (a @ a), rel=1e-5)
        problem._status = "infeasible"
        m.save_value(None)
        assert cml.certify(problem).verdict is not Verdict.CERTIFIED


@pytest.mark.parametrize("k", [10, 30, 46])
def test_almost_parallel_equalities_are_feasible(k: int) -> None:
    """x + y = 0, x + (1 + 2^-k) y = 1: y = 2^k. With 1 for 1 + 2^-k there is no point."""
    x = cp.Variable(2)
    for turn in (2.0**-k, 0.0):
        rows = [x[0] + x[1] == 0, x[0] + (1.0 + turn) * x[1] == 1]
        problem = cp.Problem(cp.Minimize(0), rows)
        problem._status = "infeasible"
        x.save_value(None)
        certificate = cml.certify(problem)
        certain = certificate.verdict is Verdict.CERTIFIED
        assert certain == (turn == 0.0)
        if not certain:
            assert certificate.within is None or certificate.within <= 2.0 ** (k + 2)


def test_a_ray_that_bends_is_no_ray() -> None:
    """Minimise 2^-k x^2 - x is bounded for every k."""
    for k in range(10, 200, 47):
        x = cp.Variable()
        problem = cp.Problem(cp.Minimize(2.0**-k * cp.square(x) - x), [x >= 0])
        problem._status = "unbounded"
        certificate = cml.certify(problem)
        assert certificate.verdict is not Verdict.CERTIFIED


@pytest.mark.parametrize("power", [52, 30])
def test_the_only_feasible_point_is_not_refuted(power: int) -> None:
    d = 2.0**-power  # x1 + x2 = 1 and d x2 = 2 d: exactly x = (-1, 2)
    x = cp.Variable(2)
    rows = np.array([[1.0, 1.0], [1.0, 1.0 + d]]) @ x == np.array([1.0, 1.0 + 2.0 * d])
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [rows])
    x.value = np.array([-1.0, 2.0])
    assert cml.certify(problem).verdict is not cml.Verdict.REFUTED


@pytest.mark.parametrize("side", [1e-9])
def test_a_flat_set_has_no_room_for_a_witness(side: float) -> None:
    x, y = cp.Variable(), cp.Variable()  # y^2 <= x <= 0: y = 0 is all there is
    problem = cp.Problem(cp.Minimize(-side * y), [cp.square(y) <= x, x <= 0.0])
    x.value = y.value = 0.0
    assert cml.certify(problem).verdict is not cml.Verdict.REFUTED


@pytest.mark.parametrize("kind", ["equations", "inequalities", "ball", "matrix", "exponential"])
def test_a_point_far_from_optimal_is_refuted(kind: str) -> None:
    x = cp.Variable(2)
    constraints = {
        "equations": [x[0] + x[1] / 3.0 == 0.1, x >= -5.0],
        "inequalities": [0.1 * x[0] + 0.3 * x[1] >= 0.7, x >= 0.1],
        "ball": [cp.norm(x - 1.0) <= 0.3],
        "matrix": [cp.bmat([[x[0], 0.7], [0.7, x[1]]]) >> 0],
        "exponential": [cp.exp(x[0]) + cp.exp(-x[1]) <= 1.7, cp.norm(x) <= 9.0],
    }[kind]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 0.3) + cp.sum(x)), constraints)
    problem.solve(solver="CLARABEL")
    assert cml.certify(problem).verdict is cml.Verdict.CERTIFIED
    start = {
        "equations": [-1.0, 3.3], "inequalities": [2.0, 2.0], "ball": [1.1, 1.1],
        "matrix": [2.0, 2.0], "exponential": [-1.0, 1.0],
    }[kind]  # fmt: skip
    x.value = np.array(start)
    assert cml.certify(problem).verdict is cml.Verdict.REFUTED


def at_the_origin(*rows: str, above: float = 0.0, center: float = 0.0) -> cp.Problem:
    """The distance from (1, 2) over what ``norm(w - center) <= above`` leaves."""
    w = cp.Variable(2)
    said = {
        "ball": cp.norm(w - center) <= above,
        "away": w[0] >= 1e-9,
        "there": w == 0.0,
        "combined": 3.0 * w[0] + 0.1 * w[1] >= 0.0,
    }
    return cp.Problem(cp.Minimize(cp.sum_squares(w - [1.0, 2.0])), [said[row] for row in rows])


@pytest.mark.parametrize("rows", [("ball",), ("ball", "there"), ("combined", "ball")])
@pytest.mark.parametrize("center", [0.0, 0.1])
def test_a_ball_that_is_a_point_has_one(rows: tuple[str, ...], center: float) -> None:
    if center and "there" in rows:
        return  # contradicts the ball
    certificate = cml.solve(at_the_origin(*rows, center=center))
    assert certificate.verdict is cml.Verdict.CERTIFIED, certificate.reason
    value = (1.0 - center) ** 2 + (2.0 - center) ** 2
    assert certificate.primal_objective == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("above", [0.0, -1e-9])
def test_a_ball_that_misses_what_it_must_meet_by_little_is_not_certified(above: float) -> None:
    rows = ("ball", "away") if above == 0.0 else ("ball",)
    certificate = cml.solve(at_the_origin(*rows, above=above))
    found = certificate.verdict is cml.Verdict.CERTIFIED
    assert not (found and certificate.claim == "optimal")


QUADRATIC = ("HS268", "DUALC1", "QISRAEL", "QFORPLAN", "STADAT1")


@pytest.mark.parametrize("name", QUADRATIC)
def test_quadratic_programs_have_a_bound_over_all_points(name: str) -> None:
    certificate = cml.certify(solved(maros(name)))
    assert (certificate.verdict, certificate.within) == (Verdict.CERTIFIED, None)


def test_a_least_eigenvalue_of_minus_1e_5_is_said() -> None:
    certificate = cml.certify(solved(maros("VALUES")))
    assert certificate.verdict is Verdict.UNDECIDED
    assert "its least eigenvalue is -1.27e-05" in certificate.reason


A = np.array([[1e9, 0.0], [0.0, 1.0]])
B = np.array([1e9, 1.0])
X = np.array([1.0 + 2.98e-9, 1.0 + 1.06e-4])
OVER = A @ X - B
"""2.98, which is little for 1e9, and 1.06e-4, which is much for 1."""


def test_the_rows_of_a_cvxpy_constraint() -> None:
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(-cp.sum(x)), [A @ x <= B])
    x.value = X
    problem.constraints[0].save_dual_value(np.array([-3.0, -5e-9]))
    certificate = cml.certify(problem)
    assert certificate.kkt["primal_feasibility"] == pytest.approx(OVER[0], rel=1e-6)
    assert certificate.kkt["dual_feasibility"] == pytest.approx(3.0)
    stationary = -np.ones(2) + A.T @ [-3.0, -5e-9]
    assert certificate.kkt["stationarity"] == pytest.approx(np.max(np.abs(stationary)))


def matrix(value: np.ndarray, **attributes: bool) -> cp.Variable:
    M = cp.Variable((2, 2), name="M", **attributes)
    M.save_value(value)
    return M


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

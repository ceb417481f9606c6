"""Infeasible and unbounded problems: evidence that an independent reader can check."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.tests import solver_test_helpers as helpers
from support.installed import need

import convexml as cml
from convexml import Verdict
from convexml.duality import cone_program


def infeasible() -> dict[str, Callable[[], Any]]:
    x, y = cp.Variable(3, name="x"), cp.Variable(2, nonneg=True, name="y")
    X = cp.Variable((2, 2), PSD=True, name="X")
    return {
        "lp_4": lambda: helpers.lp_4().prob,
        "equalities": lambda: cp.Problem(
            cp.Minimize(0), [x[0] + x[1] == 1, (x[0] + x[1] == 3).set_label("again")]
        ),
        "ball": lambda: cp.Problem(cp.Minimize(cp.sum(x)), [cp.norm(x) <= 1, x[0] >= 2]),
        "semidefinite": lambda: cp.Problem(cp.Minimize(X[0, 0]), [cp.trace(X) <= -1]),
        "exponential": lambda: cp.Problem(cp.Minimize(x[1]), [cp.exp(x[0]) <= 1, x[0] >= 1]),
        "attribute": lambda: cp.Problem(cp.Maximize(-cp.sum(y)), [cp.sum(y) <= -2]),
        "quadratic": lambda: cp.Problem(
            cp.Minimize(cp.sum_squares(x)), [cp.sum_squares(x) <= 1, cp.sum(x) >= 10]
        ),
    }


def unbounded() -> dict[str, Callable[[], Any]]:
    x, X = cp.Variable(3, name="x"), cp.Variable((2, 2), PSD=True, name="X")
    return {
        "lp_3": lambda: helpers.lp_3().prob,
        "lp_6": lambda: helpers.lp_6().prob,
        "equality": lambda: cp.Problem(cp.Maximize(cp.sum(x)), [x[0] == x[1], x[2] >= x[0] - 5]),
        "quadratic": lambda: cp.Problem(cp.Minimize(cp.square(x[0] - 1) + x[1]), [x[2] == 0]),
        "semidefinite": lambda: cp.Problem(cp.Maximize(cp.trace(X)), [X[0, 1] == 1]),
        "second-order": lambda: cp.Problem(cp.Minimize(x[0]), [cp.norm(x[1:]) <= -x[0]]),
        "exponential": lambda: cp.Problem(cp.Minimize(cp.exp(x[0]) - x[1])),
    }


def judged(problem: Any, solver: str = "CLARABEL") -> Any:
    need(solver)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver=solver)
    return cml.certify(problem)


@pytest.mark.parametrize("seed", range(30))
def test_the_value_is_that_of_the_multipliers_that_are_shown(seed: int) -> None:
    """b'y in fractions: scaled to -1 up to the rounding of y, which terms that cancel enlarge."""
    rng, x = np.random.default_rng(seed), cp.Variable(3)
    size = 10.0 ** rng.integers(0, 9)
    A, b = rng.normal(size=(4, 3)), rng.normal(size=4) * size
    against = -A.sum(axis=0) @ x <= -b.sum() - 1e-3 * size
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [A @ x <= b, against])
    found = judged(problem)
    assert (found.claim, found.verdict) == ("infeasible", Verdict.CERTIFIED)
    sides = cone_program(problem).program.b.tolist()
    pairs = zip(sides, found.dual["y"].tolist(), strict=True)
    value = sum((Fraction(s) * Fraction(y) for s, y in pairs), Fraction(0))
    assert found.evidence["value"] == float(value)
    assert found.evidence["value"] == pytest.approx(-1.0, abs=1e-9)


@pytest.mark.parametrize("name", list(infeasible()))
def test_infeasibility_is_verified_and_relaxed(name: str) -> None:
    problem = infeasible()[name]()
    certificate = judged(problem)
    assert (certificate.claim, certificate.verdict) == ("infeasible", Verdict.CERTIFIED)
    evidence = certificate.evidence
    assert evidence["radius"] > 1e6
    total, bound = evidence["relaxation_total"], evidence["relaxation_bound"]
    assert total == pytest.approx(bound, rel=1e-5)  # nothing smaller would do
    assert 0.0 < sum(float(np.sum(np.abs(v))) for v in evidence["relaxation"].values())


def test_farkas_multipliers_combine_the_named_constraints_into_nonsense() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 3))
    b = A @ np.ones(3)
    x = cp.Variable(3, name="x")
    rows = [(A @ x <= b).set_label("upper"), (A[0] @ x == b[0] + 1.0).set_label("equality")]
    certificate = judged(cp.Problem(cp.Minimize(cp.sum(x)), rows))
    upper, equality = certificate.evidence["upper"], certificate.evidence["equality"]
    assert np.all(upper >= 0.0)
    np.testing.assert_allclose(A.T @ upper + A[0] * equality, 0.0, atol=1e-12)
    assert upper @ b + equality * (b[0] + 1.0) == pytest.approx(-1.0)
    moved = certificate.evidence["relaxation"]
    assert moved["upper"].shape == (5,)
    assert np.sum(moved["upper"]) + abs(moved["equality"]) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("solver", ["CLARABEL", "SCS", "ECOS", "OSQP", "HIGHS"])
@pytest.mark.parametrize("name", ["lp_3", "lp_4"])
def test_a_solvers_word_is_never_repeated_unchecked(name: str, solver: str) -> None:
    certificate = judged(getattr(helpers, name)().prob, solver)
    claim = {"lp_3": "unbounded", "lp_4": "infeasible"}[name]
    assert (certificate.claim, certificate.verdict) == (claim, Verdict.CERTIFIED)


def test_a_wrong_word_is_not_repeated() -> None:
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [x >= 1])
    for word in ("infeasible", "unbounded"):
        problem._status = word
        certificate = cml.certify(problem)
        assert certificate.verdict is Verdict.UNDECIDED
        assert certificate.claim == word


def test_what_a_residual_leaves_open_is_said() -> None:
    """x + y <= 0, x + (1 + 1e-3) y >= 1 has points, but none near 0."""
    from convexml.audit.cvxpy.reading.point import pose
    from convexml.certificates.conic.infeasible import verify_farkas

    x = cp.Variable(2, name="x")
    rows = [x[0] + x[1] <= 0, x[0] + (1.0 + 1e-3) * x[1] >= 1]
    posed = pose(cp.Problem(cp.Minimize(0), rows))
    certificate = verify_farkas(posed.program, lambda: posed.units, np.ones(2), 1e-6)
    assert certificate.verdict is Verdict.UNDECIDED
    assert "no feasible point has norm below 1e+03" in certificate.reason
    assert certificate.evidence["radius"] == pytest.approx(1e3)


@pytest.mark.parametrize("y", [[0.0, 0.0], [1.0, 1.0]])
def test_multipliers_of_value_0_are_no_evidence(y: list[float]) -> None:
    """x <= 1, -x <= -1 has a point: A'y = 0 exactly, and b'y = 0."""
    from convexml.audit.cvxpy.reading.point import pose
    from convexml.certificates.conic.infeasible import verify_farkas

    x = cp.Variable(1, name="x")
    posed = pose(cp.Problem(cp.Minimize(0), [x <= 1, x >= 1]))
    certificate = verify_farkas(posed.program, lambda: posed.units, np.array(y), 1e-6)
    assert certificate.verdict is Verdict.UNDECIDED
    assert certificate.reason == "the multipliers prove nothing: b'y = 0"


@pytest.mark.parametrize("name", list(unbounded()))
def test_unboundedness_is_verified_along_the_ray(name: str) -> None:
    problem = unbounded()[name]()
    certificate = judged(problem)
    assert (certificate.claim, certificate.verdict) == ("unbounded", Verdict.CERTIFIED)
    point, ray = certificate.evidence["point"], certificate.evidence["ray"]
    sign = 1.0 if isinstance(problem.objective, cp.Minimize) else -1.0
    values = []
    for length in (0.0, 10.0, 1000.0):  # by CVXPY's own expressions
        for variable in problem.variables():
            name = variable.name()
            variable.save_value(np.asarray(point[name] + length * ray[name]))
        for constraint in problem.constraints:
            assert np.max(constraint.violation()) <= 1e-6 * (1.0 + length)
        values.append(sign * float(problem.objective.expr.value))
    assert values[0] > values[1] > values[2]
    slope = (values[2] - values[1]) / 990.0
    assert slope < -1e-3


def test_the_reason_names_the_radius_once() -> None:
    rng = np.random.default_rng(0)
    A, y = rng.normal(size=(5, 3)), np.abs(rng.normal(size=5))
    A[4] = -(y[:4] @ A[:4]) / y[4]  # y'A = 0 up to rounding
    b = A @ rng.normal(size=3) - 1.0
    x = cp.Variable(3)
    certificate = cml.solve(cp.Problem(cp.Minimize(cp.sum(x)), [A @ x <= b]))
    radius = certificate.evidence["radius"]
    end = f"so no point with norm below {radius:.2g} satisfies them all"
    exact = "so no point satisfies them all"
    assert certificate.reason.split(" (")[0].endswith(exact if np.isinf(radius) else end)

"""Conditions that no verdict hangs on are measured when asked for, of the data as posed."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import convexml as cml
from convexml.certificates.learning import gap
from convexml.certificates.learning.passed_point import PassedPoint
from convexml.conditions import AtFeatures, Condition
from convexml.numerics import Array

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5))
Y = X[:, 0] - X[:, 1] + RNG.normal(size=40)
SIGNS = np.where(Y > 0.0, 1.0, -1.0)
POSED = {
    "lasso": lambda X: cml.Lasso(X, Y, 0.1),
    "lasso without intercept": lambda X: cml.Lasso(X, Y, 0.1, fit_intercept=False),
    "elastic net": lambda X: cml.ElasticNet(X, Y, 0.1, 0.5),
    "group lasso": lambda X: cml.GroupLasso(X, Y, 0.1, np.array([0, 0, 1, 1, 1])),
    "ridge": lambda X: cml.Ridge(X, Y, 0.1),
    "weighted ridge": lambda X: cml.Ridge(X, Y, 0.1, sample_weight=1.0 + np.arange(40.0)),
    "least squares": lambda X: cml.LeastSquares(X, Y),
    "huber": lambda X: cml.HuberRegression(X, Y, 1.0, 0.1),
    "quantile": lambda X: cml.QuantileRegression(X, Y, 0.3, 0.01),
    "logistic": lambda X: cml.LogisticRegression(X, SIGNS, 0.1),
    "sparse logistic": lambda X: cml.LogisticRegression(X, SIGNS, 0.05, penalty="l1"),
    "soft margin": lambda X: cml.SoftMarginSVM(X, SIGNS),
    "regression with a tube": lambda X: cml.SVR(X, Y, 1.0, 0.1),
}
AT_ONCE = "least squares"
"""X'u = 0 is met down to rounding only: what that is takes X to say."""


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the distance of a point from stationarity was measured."""
    seen: Counter[str] = Counter()
    distance = PassedPoint.distance

    def counted(self: PassedPoint, v: Array) -> Array:
        seen["distance"] += 1
        return distance(self, v)

    monkeypatch.setattr(PassedPoint, "distance", counted)
    return seen


@pytest.mark.parametrize("name", [name for name in POSED if name != AT_ONCE])
def test_a_solve_measures_no_row_until_one_is_asked_for(name: str, measured: Counter[str]) -> None:
    certificate = POSED[name](X).solve().certificate
    assert certificate.verdict is cml.Verdict.CERTIFIED
    assert not measured
    assert certificate.holds()
    assert max(certificate.kkt.values()) < 1e-3
    once = measured["distance"]
    assert once > 0
    assert isinstance(certificate.conditions, tuple)
    assert str(certificate).count("\n") > len(certificate.conditions)
    assert measured["distance"] == once


@pytest.mark.parametrize("name", POSED)
def test_rows_on_demand_are_those_measured_at_once_whatever_becomes_of_x(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = X.copy()
    later = POSED[name](raw).solve().certificate
    raw[:] = 1e3 * RNG.normal(size=X.shape)
    monkeypatch.setattr(gap, "is_feasible", lambda *_: False)
    at_once = POSED[name](X).solve().certificate
    assert later.conditions == at_once.conditions
    assert (later.verdict, later.gap) == (at_once.verdict, at_once.gap)


@pytest.mark.parametrize("name", ["lasso", "soft margin"])
def test_a_point_that_is_written_to_after_it_was_judged_does_not_move_its_rows(name: str) -> None:
    problem = POSED[name](X)
    solution = problem.solve()
    w, b = solution.primal["w"].copy(), float(solution.primal["b"])
    certificate, twin = problem.certify(w, b), problem.certify(w, b)
    first = twin.conditions
    w += 1.0
    assert certificate.conditions == first


def test_a_dual_point_that_is_written_to_is_not_taken_for_the_one_judged_last() -> None:
    rng = np.random.default_rng(0)
    ordinary = rng.uniform(-1.0, 1.0, size=(30, 3))
    ordinary[0] = 1.0  # columns, targets and weights of size 1: no units are between
    y = ordinary @ np.array([0.3, -0.2, 0.1]) + 0.1 * rng.normal(size=30)
    problem = cml.Ridge(ordinary, y / np.abs(y).max(), 0.05)
    solution = problem.solve()
    w, b = solution.primal["w"], float(solution.primal["b"])
    u = problem.certify(w, b).dual["u"]
    known = u.copy()
    u += 0.02 * (ordinary[:, 0] - ordinary[:, 0].mean())
    twin = cml.Ridge(ordinary.copy(), problem.objective_parts.y, 0.05)
    assert problem.certify(w, b, u).gap == twin.certify(w, b, u).gap > 0.1
    np.testing.assert_array_equal(problem.certify(w, b).dual["u"], known)


def test_copies_and_stored_certificates_have_their_rows() -> None:
    certificate = POSED["lasso"](X).solve().certificate
    copied, stored = copy.deepcopy(certificate), pickle.loads(pickle.dumps(certificate))
    other = replace(certificate, reason="another")
    assert copied.conditions == stored.conditions == other.conditions == certificate.conditions
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = certificate.no_such_name


class Unmet(cml.penalties.L1):
    """The lasso penalty with a constraint of its own, which is broken everywhere."""

    def conditions(self, at: AtFeatures) -> list[Condition]:
        return [*super().conditions(at), Condition("own row", "primal_feasibility", 1.0)]


def test_rows_of_a_class_of_ones_own_are_measured_for_the_verdict() -> None:
    problem = cml.LearningProblem(X, Y, cml.losses.Squared(), Unmet(0.1))
    certificate = problem.solve().certificate
    assert certificate.verdict is cml.Verdict.REFUTED
    assert "own row" in certificate.reason


def test_a_point_that_is_not_certified_has_its_rows_at_once(measured: Counter[str]) -> None:
    certificate = POSED["lasso"](X).certify(np.ones(5), 0.0)
    assert certificate.verdict is cml.Verdict.REFUTED
    assert measured["distance"] > 0

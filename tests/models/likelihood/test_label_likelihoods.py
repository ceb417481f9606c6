"""Likelihoods of labels: the gap is the divergence, in many digits; ends of the simplex."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.metrics import log_loss

import convexml as cml
from convexml import Verdict
from convexml.certificates.likelihood import shares
from convexml.errors import InputError
from convexml.numerics import Array

ONES = load_breast_cancer().target
X, KINDS = load_wine(return_X_y=True)
TINY = [1e-300, 1e300]


@pytest.fixture(autouse=True)
def _digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flint.ctx, "prec", 1200)


def arb(value: Any) -> flint.arb:
    exact = Fraction(value)
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


def exact_shares(labels: Array, s: Array | None = None) -> list[Fraction]:
    weights = np.ones(len(labels)) if s is None else s
    total = sum(map(Fraction, weights.tolist()))
    sums: Counter[Any] = Counter()
    for label, weight in zip(labels.tolist(), weights.tolist(), strict=True):
        sums[label] += Fraction(weight)
    return [sums[label] / total for label in sorted(sums)]


def exact_divergence(q: list[Fraction], p: Array) -> flint.arb:
    """KL of q from p as a point of the simplex: p over its sum."""
    total = sum(Fraction(float(each)) for each in p)
    terms = [arb(a) * arb(a * total / Fraction(float(b))).log() for a, b in zip(q, p, strict=True)]
    return sum(terms, start=flint.arb(0))


def covered(problem: Any, q: list[Fraction], p: Array) -> None:
    """The gap bounds what p loses; and does not exceed it by more than rounding."""
    found, lost = problem.certify(p), exact_divergence(q, p)
    assert lost <= found.gap
    assert found.proved_gap == found.gap
    assert found.gap <= lost * (1.0 + 1e-12) + 1e-13
    assert found.gap == pytest.approx(entropy([float(a) for a in q], p), abs=1e-13)
    if found.verdict is Verdict.CERTIFIED:
        assert lost <= found.tol
    if found.verdict is Verdict.REFUTED:
        assert lost > found.tol


@pytest.mark.parametrize("weighted", [False, True])
def test_the_gap_is_the_divergence(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    s = 10.0 ** rng.uniform(-8.0, 8.0, len(KINDS)) if weighted else None
    problem, q = cml.CategoricalLikelihood(KINDS, sample_weight=s), exact_shares(KINDS, s)
    for _ in range(60):
        p = rng.dirichlet(np.full(3, 0.3)) + 1e-250
        covered(problem, q, p / p.sum())
        near = np.maximum(problem.shares * (1.0 + 10.0 ** rng.uniform(-16, -2) * rng.normal(3)), 0)
        covered(problem, q, near / near.sum())
    covered(problem, q, problem.shares)
    solution = problem.solve(tol=1e-13)
    assert solution.status == "optimal"
    assert abs(arb(solution.objective) + sum(arb(a) * arb(a).log() for a in q)) <= solution.gap


def test_one_probability() -> None:
    problem, (q0, q1) = cml.BernoulliLikelihood(ONES), exact_shares(ONES)
    for p in (0.5, 0.1, 1e-12, 1.0 - 2.0**-53, float(q1), float(q1) * (1.0 + 1e-6)):
        found = problem.certify(p)
        other = arb(q0) * (arb(q0) / arb(1 - Fraction(p))).log()
        lost = other + arb(q1) * (arb(q1) / arb(Fraction(p))).log()
        assert lost <= found.gap <= lost * (1.0 + 1e-12) + 1e-13
        assert problem.divergence(p) == pytest.approx(float(lost), rel=1e-9, abs=1e-15)
        expected = log_loss(ONES, np.tile([1.0 - p, p], (len(ONES), 1))) if 1e-9 < p < 0.9 else 0
        assert expected == 0 or problem.objective(p) == pytest.approx(expected, rel=1e-9)
    assert problem.solve().primal["p"] == float(q1)


def test_a_gap_that_forgets_rounding_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares.Shares, "_rounding", lambda self, p: 0.0)
    monkeypatch.setattr(shares.Shares, "_dual_rounding", lambda self, room, nu: -1e-15)
    with pytest.raises(AssertionError):
        test_the_gap_is_the_divergence(True)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_all_labels_alike_put_p_at_an_end(count: int) -> None:
    x = np.full(7, int(count > 0))
    problem = cml.BernoulliLikelihood(x)
    solution = problem.solve(tol=1e-12)
    assert (solution.status, solution.objective) == ("optimal", 0.0)
    assert solution.primal["p"] == x[0]
    assert problem.entropy == 0.0
    other = problem.certify(1.0 - x[0])
    assert (other.verdict, other.gap) == (Verdict.REFUTED, np.inf)
    assert problem.objective(1.0 - x[0]) == problem.divergence(1.0 - x[0]) == np.inf
    assert problem.solve("clarabel").status == "optimal"
    single = cml.CategoricalLikelihood(["a"] * 3).solve()
    assert (single.status, single.primal["p"].tolist()) == ("optimal", [1.0])


def test_classes_without_samples_have_multipliers() -> None:
    problem = cml.CategoricalLikelihood(["b", "a", "b"], ["c", "b", "a"])
    solution = problem.solve()
    np.testing.assert_allclose(solution.primal["p"], [0.0, 2.0 / 3.0, 1.0 / 3.0])
    np.testing.assert_array_equal(solution.dual["lambda"], [1.0, 0.0, 0.0])
    for form in (problem.primal, problem.dual):
        assert form.solve(solver="CLARABEL") == pytest.approx(entropy([1, 2]), abs=1e-6)
    assert problem.constraints["total"].dual_value == pytest.approx(1.0, abs=1e-4)
    assert problem.multipliers["lambda"].value[0] == pytest.approx(1.0, abs=1e-2)
    assert problem.dual_objective(nu=1.0) == pytest.approx(entropy([1, 2]))
    assert problem.dual_objective(nu=1.0, **{"lambda": [0.5, 0.0, 0.0]}) == -np.inf
    assert problem.dual_objective(nu=1.0, **{"lambda": [0.0, -0.1, 0.0]}) == -np.inf
    assert problem.certify([0.1, 0.6, 0.3]).verdict is Verdict.REFUTED
    with pytest.raises(InputError, match=r"holds 'd', which is not among the classes \['a'"):
        cml.CategoricalLikelihood(["d"], ["a", "b"])
    with pytest.raises(InputError, match="distinct labels"):
        cml.CategoricalLikelihood(["a"], ["a", "a"])


def test_points_beside_the_simplex() -> None:
    problem = cml.CategoricalLikelihood(KINDS)
    q = problem.shares
    for change, verdict in (
        (1.0, "certified"),
        (1.0 + 1e-9, "certified"),
        (1.0 - 1e-9, "certified"),
        (1.0 + 1e-3, "refuted"),
        (0.5, "refuted"),
    ):
        found = problem.certify(q * change)
        assert str(found.verdict) == verdict
        assert found.gap >= 0.0
        assert found.repaired == pytest.approx(abs(1.0 - change) * q.max(), abs=1e-15)
        assert problem.objective(q * change) < np.inf if change == 1.0 else True
    assert problem.objective(0.5 * q) == np.inf
    assert problem.certify(q - [2.0, -2.0, 0.0]).verdict is Verdict.REFUTED
    assert problem.certify(np.zeros(3)).verdict is Verdict.REFUTED
    ends = problem.certify([0.0, 0.6, 0.4])
    assert (ends.verdict, ends.gap) == (Verdict.REFUTED, np.inf)
    assert problem.objective(**{"p": ends.witness["p"]}) == pytest.approx(problem.entropy)


def test_multipliers_that_are_passed_are_judged() -> None:
    problem = cml.CategoricalLikelihood(KINDS)
    q, zero = problem.shares, np.zeros(3)
    assert problem.certify(q, nu=1.0, **{"lambda": zero}).verdict is Verdict.CERTIFIED
    for nu, lam in ((1.1, zero), (0.5, zero), (1.0, 0.1 * np.ones(3)), (1.0, [1e-3, 0, 0])):
        found = problem.certify(q, nu=nu, **{"lambda": lam})
        assert found.verdict is Verdict.UNDECIDED
        value = problem.entropy + 1.0 - nu + q @ np.log(nu - np.asarray(lam))
        assert found.dual_objective == pytest.approx(value)
        assert found.dual_objective < problem.entropy
    for nu in (0.0, -1.0):
        found = problem.certify(q, nu=nu)
        assert (found.verdict, found.gap) == (Verdict.UNDECIDED, np.inf)
        assert "no bound" in found.reason
    slipped = problem.certify(q, nu=1.0, **{"lambda": -0.1 * np.ones(3)})
    assert slipped.verdict is Verdict.UNDECIDED
    assert slipped.kkt["dual_feasibility"] == pytest.approx(0.1)


def test_shares_that_are_wrong_are_noticed() -> None:
    """A checker that took other data would certify other probabilities."""
    problem = cml.CategoricalLikelihood(KINDS)
    wrong = replace(problem._shares, q=problem.shares[::-1].copy())
    assert wrong.certify(problem.shares, {}, 1e-6).verdict is Verdict.REFUTED


def test_it_predicts_as_its_namesake_and_is_stored() -> None:
    names = np.array(["x", "y", "z"])[KINDS]
    solution = cml.CategoricalLikelihood(names).solve()
    peer = DummyClassifier(strategy="prior").fit(X, names)
    np.testing.assert_allclose(solution.predict_proba(X), peer.predict_proba(X), rtol=1e-15)
    np.testing.assert_array_equal(solution.predict(X), peer.predict(X))
    assert solution.score(X, names) == peer.score(X, names)
    held = cml.CategoricalLikelihood(names[::3], solution.problem.classes)
    expected = log_loss(names[::3], peer.predict_proba(X[::3]))
    assert held.objective(solution.primal["p"]) == pytest.approx(expected, rel=1e-12)
    for each in (solution, cml.BernoulliLikelihood(ONES).solve()):
        again = cml.Solution.from_json(each.to_json())
        assert (again.status, again.objective) == ("optimal", each.objective)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: cml.BernoulliLikelihood([0, 2]), "0 and 1 only, got 2. Pass x == value"),
        (lambda: cml.BernoulliLikelihood(["a", "b"]), "x must hold numbers only"),
        (lambda: cml.BernoulliLikelihood([0.0, np.nan]), "x contains nan at entry 1"),
        (lambda: cml.BernoulliLikelihood([]), r"vector of labels, got shape \(0,\)"),
        (lambda: cml.BernoulliLikelihood(np.eye(3)), r"shape \(3, 3\). Pass one column"),
        (lambda: cml.CategoricalLikelihood([1.0, np.nan]), "labels contains nan"),
        (
            lambda: cml.CategoricalLikelihood([1, 2], sample_weight=TINY),
            "beyond float64",
        ),
        (lambda: cml.BernoulliLikelihood([0, 1]).certify(), "'p' is missing"),
        (lambda: cml.BernoulliLikelihood([0, 1]).certify([0.5, 0.5]), r"must have shape \(\)"),
        (lambda: cml.BernoulliLikelihood([0, 1]).dual_objective(), "'nu' is missing"),
        (lambda: cml.CategoricalLikelihood([1, 2]).path([1.0]), "has none of them"),
    ],
)
def test_bad_calls_are_told_apart(call: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()

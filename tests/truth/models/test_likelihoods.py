"""Likelihoods: closed forms, determinants and divergences in many digits, what is unbounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb, arb_mat, fmpq_mat
from scipy.stats import entropy
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.metrics import log_loss
from support.exact.exact_numbers import ZERO, Row, ball, covariance, dot, exact, row, table
from support.model_cases import optimal

import convexml as cml
from convexml import Verdict
from convexml.errors import InputError
from convexml.numerics import Array

IRIS = load_iris().data
WINE = load_wine().data


def exact_value(X: Array, lam: float, Theta: Array) -> arb:
    """P in 120 digits."""
    T = table(Theta)
    linear = sum((dot(a, b) for a, b in zip(covariance(X), T, strict=True)), ZERO)
    off = sum((abs(x) for i, line in enumerate(T) for j, x in enumerate(line) if i != j), ZERO)
    return -arb_mat(fmpq_mat(T)).det().log() + ball(linear + exact(lam) * off)


def best_of_two(X: Array, lam: float) -> arb:
    """P* for two features: W_12 is S_12, lam nearer to 0."""
    S = covariance(X)
    near = max(abs(S[0][1]) - exact(lam), ZERO)
    return ball(S[0][0] * S[1][1] - near**2).log() + 2


def test_lam_max_and_the_inverse_are_closed_forms() -> None:
    X = WINE / WINE.std(axis=0)
    problem = cml.GaussianLikelihood(X)
    S = np.cov(X.T, bias=True)
    np.testing.assert_allclose(problem.solve().primal["Theta"], np.linalg.inv(S), rtol=1e-9)
    problem.lam = problem.lam_max
    Theta = problem.solve().primal["Theta"]
    assert np.count_nonzero(Theta - np.diag(np.diag(Theta))) == 0
    np.testing.assert_allclose(np.diag(Theta), 1.0 / np.diag(S), rtol=1e-12)
    problem.lam = 0.9 * problem.lam_max
    assert np.count_nonzero(np.triu(problem.solve().primal["Theta"], 1)) > 0


@pytest.mark.parametrize("lam", [1e-3, 0.1])
@pytest.mark.parametrize("scaled", [True, False])
def test_near_singular_covariances_are_solved(lam: float, scaled: bool) -> None:
    """30 features whose correlations have a condition number of 1e5, in units of 1e-3 to 1e3."""
    X = load_breast_cancer().data
    X = X / X.std(axis=0) if scaled else X
    solution = optimal(cml.GaussianLikelihood(X, lam))
    assert solution.solver == "newton"
    assert solution.iterations < 150
    Theta = solution.primal["Theta"]
    value = -np.linalg.slogdet(Theta)[1] + np.sum(np.cov(X.T, bias=True) * Theta)
    value += lam * (np.abs(Theta).sum() - np.trace(Theta))
    assert solution.objective == pytest.approx(value, rel=1e-9)
    assert np.count_nonzero(Theta == 0.0) > 30


@pytest.mark.parametrize(("call", "words"), [
    (lambda p: cml.GaussianLikelihood(1e200 * IRIS), "beyond float64"),
    (lambda p: cml.GaussianLikelihood(1e-200 * IRIS), "beyond float64"),
    (lambda p: p.of_covariance([[1.0, 0.5], [0.4, 1.0]]), "symmetric"),
])  # fmt: skip
def test_bad_calls_are_told_apart(call: object, words: str) -> None:
    with pytest.raises((InputError, ValueError), match=words):
        call(cml.GaussianLikelihood(IRIS, 0.1))


@pytest.mark.parametrize("lam", [1e-20, 1e-3, 0.1, 10.0, 1e20])
@pytest.mark.parametrize(
    ("powers", "shift"),
    [((0, 0), 0.0), ((0, 0), 1e12), ((-27, -27), 0.0), ((-27, 27), 0.0), ((30, 7), 0.0)],
)
def test_gaps_cover_in_any_unit(powers: tuple[int, int], shift: float, lam: float) -> None:
    """What lam is beside the variances must not matter: the diagonal is not penalised."""
    X = (IRIS[:40, [0, 2]] + shift) * 2.0 ** np.array(powers)
    problem, least = cml.GaussianLikelihood(X, lam), best_of_two(X, lam)
    solution = optimal(problem, tol=1e-9)
    rng = np.random.default_rng(0)
    for size in (0.0, 1e-12, 1e-6, 1e-2):
        E = size * rng.normal(size=(2, 2))
        Theta = solution.primal["Theta"] * (1.0 + E + E.T)
        found = problem.certify(Theta)
        lost = exact_value(X, lam, Theta) - least
        assert lost <= found.gap
        assert lost <= found.proved_gap
        assert found.dual_objective - found.rounding <= least
        assert (found.verdict is Verdict.CERTIFIED) == (size < 1e-3)


@pytest.mark.parametrize("power", [-27, 0, 20])
def test_a_penalty_above_all_covariances_keeps_the_diagonal(power: int) -> None:
    X = IRIS * np.ldexp(1.0, power)
    solution = optimal(cml.GaussianLikelihood(X, 2.0 ** (2 * power + 4)))
    S = covariance(X)
    expected = np.diag([float(1 / S[j][j]) for j in range(4)])
    np.testing.assert_allclose(solution.primal["Theta"], expected, rtol=1e-12, atol=0.0)


ONES = load_breast_cancer().target
WINE_SAMPLES, WINES = load_wine(return_X_y=True)


def exact_shares(labels: Array, s: Array | None = None) -> Row:
    weights = row(np.ones(len(labels)) if s is None else s)
    pairs = list(zip(labels.tolist(), weights, strict=True))
    sums = [sum((w for k, w in pairs if k == label), ZERO) for label in np.unique(labels)]
    return [each / sum(weights, ZERO) for each in sums]


def exact_divergence(q: Row, p: Array) -> arb:
    """KL of q from p as a point of the simplex: p over its sum."""
    total = sum(row(p), ZERO)
    terms = (ball(a) * ball(a * total / b).log() for a, b in zip(q, row(p), strict=True))
    return sum(terms, arb(0))


def covered(problem: Any, q: Row, p: Array) -> None:
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
    s = 10.0 ** rng.uniform(-8.0, 8.0, len(WINES)) if weighted else None
    problem, q = cml.CategoricalLikelihood(WINES, sample_weight=s), exact_shares(WINES, s)
    for _ in range(60):
        p = rng.dirichlet(np.full(3, 0.3)) + 1e-250
        covered(problem, q, p / p.sum())
        near = np.maximum(problem.shares * (1.0 + 10.0 ** rng.uniform(-16, -2) * rng.normal(3)), 0)
        covered(problem, q, near / near.sum())
    covered(problem, q, problem.shares)
    solution = optimal(problem, tol=1e-13)
    known = -sum((ball(a) * ball(a).log() for a in q), arb(0))
    assert abs(ball(solution.objective) - known) <= solution.gap


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
    problem = cml.CategoricalLikelihood(WINES)
    q = problem.shares
    for change, verdict in (
        (1.0, "certified"), (1.0 + 1e-9, "certified"), (1.0 - 1e-9, "certified"),
        (1.0 + 1e-3, "refuted"), (0.5, "refuted"),
    ):  # fmt: skip
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


def test_it_predicts_as_its_namesake_and_is_stored() -> None:
    names = np.array(["x", "y", "z"])[WINES]
    solution = cml.CategoricalLikelihood(names).solve()
    peer = DummyClassifier(strategy="prior").fit(WINE_SAMPLES, names)
    np.testing.assert_allclose(
        solution.predict_proba(WINE_SAMPLES), peer.predict_proba(WINE_SAMPLES), rtol=1e-15
    )
    np.testing.assert_array_equal(solution.predict(WINE_SAMPLES), peer.predict(WINE_SAMPLES))
    assert solution.score(WINE_SAMPLES, names) == peer.score(WINE_SAMPLES, names)
    held = cml.CategoricalLikelihood(names[::3], solution.problem.classes)
    expected = log_loss(names[::3], peer.predict_proba(WINE_SAMPLES[::3]))
    assert held.objective(solution.primal["p"]) == pytest.approx(expected, rel=1e-12)
    for each in (solution, cml.BernoulliLikelihood(ONES).solve()):
        again = cml.Solution.from_json(each.to_json())
        assert (again.status, again.objective) == ("optimal", each.objective)

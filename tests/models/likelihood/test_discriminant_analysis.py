"""Discriminant analysis, beside scikit-learn's and determinants in exact arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from support.oracles.problem_oracles_gaussian import discriminant_analysis

import convexml as cml
from convexml import Verdict
from convexml.errors import InputError

IRIS, KINDS = load_iris(return_X_y=True)
LABELS = np.array(["setosa", "versicolor", "virginica"])[KINDS]


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_it_predicts_as_its_namesakes(load: object, shared: bool) -> None:
    X, y = load(return_X_y=True)
    peer = LinearDiscriminantAnalysis("lsqr") if shared else QuadraticDiscriminantAnalysis()
    peer.fit(X, y)
    solution = cml.DiscriminantAnalysis(X, y, shared).solve(tol=1e-10)
    assert solution.status == "optimal"
    expected = discriminant_analysis(X, y, shared)["objective"]
    assert abs(solution.objective - expected) <= solution.certificate.rounding
    assert solution.certificate.proved_gap == pytest.approx(solution.gap)
    if shared:  # the quadratic one of scikit-learn divides by n_k - 1
        np.testing.assert_allclose(solution.predict_proba(X), peer.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(solution.predict_proba(X).sum(axis=1), 1.0)
    assert solution.score(X, y) == pytest.approx(peer.score(X, y), abs=0.01)
    np.testing.assert_allclose(solution.primal["means"], peer.means_)
    np.testing.assert_allclose(solution.primal["priors"], peer.priors_)


@pytest.mark.parametrize("shared", [True, False])
def test_labels_weights_and_json(shared: bool) -> None:
    s = np.random.default_rng(0).integers(0, 4, size=len(KINDS))
    weighted = cml.DiscriminantAnalysis(IRIS, LABELS, shared, sample_weight=s).solve()
    rows = np.repeat(np.arange(len(s)), s)
    repeated = cml.DiscriminantAnalysis(IRIS[rows], LABELS[rows], shared).solve()
    assert weighted.objective == pytest.approx(repeated.objective, abs=1e-10)
    np.testing.assert_array_equal(weighted.predict(IRIS), repeated.predict(IRIS))
    assert set(weighted.predict(IRIS)) <= set(LABELS)
    again = cml.Solution.from_json(weighted.to_json())
    assert again.status == "optimal"
    assert again.objective == weighted.objective


@pytest.mark.parametrize("shared", [True, False])
def test_forms_of_cvxpy_agree(shared: bool) -> None:
    problem = cml.DiscriminantAnalysis(IRIS, KINDS, shared)
    best = problem.solve()
    for form in (problem.primal, problem.dual):
        assert form.solve(solver="CLARABEL") == pytest.approx(best.objective, abs=1e-6)
    assert problem.solve("clarabel").status == "optimal"
    problem.solve()
    value = [variable.value for variable in problem.variables.values()]
    np.testing.assert_array_equal(value[0] if shared else value, best.primal["Theta"])


@pytest.mark.parametrize("shared", [True, False])
def test_what_is_passed_is_judged(shared: bool) -> None:
    problem = cml.DiscriminantAnalysis(IRIS, KINDS, shared)
    found = problem.solve()
    Theta = found.primal["Theta"]
    assert problem.certify(**found.primal, **found.dual).verdict is Verdict.CERTIFIED
    assert problem.certify(Theta).verdict is Verdict.CERTIFIED
    assert problem.objective(Theta) == problem.objective(**found.primal) == found.objective
    assert problem.dual_objective(**found.dual) == pytest.approx(found.objective)
    assert problem.certify(1.1 * Theta).verdict is Verdict.REFUTED
    worse = problem.certify(1.1 * Theta)
    assert worse.gap >= problem.objective(1.1 * Theta) - found.objective > 0.0
    for name in ("means", "priors"):
        moved = dict(found.primal) | {name: found.primal[name] + 1e-3}
        judged = problem.certify(**moved)
        assert judged.verdict is Verdict.REFUTED
        assert name in judged.reason
        assert problem.objective(**moved) == np.inf


def test_two_classes_have_one_score() -> None:
    solution = cml.DiscriminantAnalysis(IRIS, KINDS == 1).solve()
    peer = LinearDiscriminantAnalysis("lsqr").fit(IRIS, KINDS == 1)
    np.testing.assert_allclose(solution.decision_function(IRIS), peer.decision_function(IRIS))
    np.testing.assert_allclose(solution.predict_proba(IRIS), peer.predict_proba(IRIS))


def test_a_singular_covariance_is_unbounded() -> None:
    whole = np.rint(10.0 * IRIS)
    flat, level = np.column_stack([IRIS, 0.1 * KINDS]), whole[:, 0] + 7.0 * KINDS**2
    for X, words in (
        (flat, "column 4 is constant in each class"),
        (np.column_stack([whole, level]), "a combination of other columns and the classes"),
    ):
        solution = cml.DiscriminantAnalysis(X, KINDS).solve()
        assert solution.status == "unbounded"
        assert solution.certificate.verdict is Verdict.CERTIFIED
        assert words in solution.certificate.reason
        v, S = solution.evidence["ray"], cml.DiscriminantAnalysis(X, KINDS).covariances[0].S
        assert abs(v @ S @ v) <= 1e-12 * np.trace(S)
    few = cml.DiscriminantAnalysis(IRIS[::20], KINDS[::20], shared=False).solve()
    assert few.status == "unbounded"
    assert "class 0: 3 samples span no more than 2 of 4 dimensions" in few.certificate.reason
    assert cml.DiscriminantAnalysis(IRIS[::20], KINDS[::20]).solve().status == "optimal"
    with pytest.raises(InputError, match="is unbounded; there is no point"):
        few.predict(IRIS)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: cml.DiscriminantAnalysis(IRIS, 0 * KINDS), "at least two classes"),
        (lambda: cml.DiscriminantAnalysis(IRIS, KINDS[1:]), "one entry per row of X"),
        (lambda: cml.DiscriminantAnalysis(IRIS, KINDS, "yes"), "shared must be True or False"),
        (lambda: cml.DiscriminantAnalysis(IRIS, KINDS).solve().predict(IRIS[:, 1:]), "3 features"),
    ],
)
def test_bad_calls_are_told_apart(call: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()

"""AdaBoost: scikit-learn's rounds, Newton's optimum, rationals, separable and broken points."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier
from support.oracles.boosting.stumps import ada_boost

import convexml as cml
from convexml import Verdict
from convexml.models.boosting import program
from convexml.numerics import Array

A, Y = load_breast_cancer(return_X_y=True)
A = A[:, :8].round(1)
SIGNS = np.where(Y == 1, 1.0, -1.0)
TITANIC = Path(__file__).resolve().parents[3] / "problems" / "ada_boost_titanic.toml"
IRIS, KIND = (part[50:] for part in load_iris(return_X_y=True))


def titanic() -> cml.Solution:
    """Attained: every stump is wrong on somebody."""
    return cml.load(TITANIC).solve(tol=1e-12)


class Stump(ClassifierMixin, BaseEstimator):
    """The stump of the least weighted error, by a table of all."""

    H = cml.stumps(A)[0]

    def fit(self, X: Array, y: Array, sample_weight: Array) -> Stump:
        self.classes_ = np.unique(y)
        self.best_ = int(np.argmax(self.H.T @ (np.where(y == 1, 1.0, -1.0) * sample_weight)))
        return self

    def predict(self, X: Array) -> Array:
        return (self.H[:, self.best_] > 0.0).astype(int)  # of the samples it was fitted to


def test_scikit_learn_takes_the_same_stumps_with_twice_the_weights() -> None:
    peer = AdaBoostClassifier(Stump(), n_estimators=40).fit(A, Y)
    problem = cml.AdaBoost(A, Y, 40)
    solution = problem.solve()
    ours, w = solution.primal["w"], np.zeros(len(problem.stumps))
    for stump, weight in zip(peer.estimators_, peer.estimator_weights_, strict=True):
        w[stump.best_] += weight
    theirs = np.mean(np.exp(-SIGNS * (Stump.H @ w) / 2.0))
    assert solution.objective == pytest.approx(theirs, rel=1e-6)
    assert solution.objective == pytest.approx(np.mean(np.exp(-SIGNS * (Stump.H @ ours))))
    assert problem.objective(w / 2.0) == pytest.approx(theirs, rel=1e-12)
    assert 2.0 * ours.sum() == pytest.approx(peer.estimator_weights_.sum(), rel=1e-6)
    np.testing.assert_allclose(Stump.H @ ours, Stump.H @ w / 2.0, atol=1e-6)
    np.testing.assert_array_equal(solution.predict(A), peer.predict(A))
    assert solution.score(A, Y) == peer.score(A, Y)
    np.testing.assert_allclose(solution.decision_function(A), Stump.H @ ours, atol=1e-12)


def test_trees_of_depth_one_have_twice_the_weights() -> None:
    """The first tree splits where the error is least too: its weight is twice that of a round."""
    tree = DecisionTreeClassifier(max_depth=1)
    peer = AdaBoostClassifier(tree, n_estimators=1).fit(A, Y)
    H, names = cml.stumps(A)
    says = np.where(peer.estimators_[0].predict(A) == 1, 1.0, -1.0)
    same = np.flatnonzero(np.all(H == says[:, None], axis=0))
    problem = cml.AdaBoost(A, Y, 1)
    w = problem.solve().primal["w"]
    used = int(np.flatnonzero(w)[0])
    assert SIGNS @ says == pytest.approx(SIGNS @ H[:, used])  # the same error
    assert names == problem.stumps
    assert len(same)
    assert 2.0 * w.max() == pytest.approx(peer.estimator_weights_[0], rel=1e-9)
    assert problem.objective(np.eye(len(w))[same[0]] * peer.estimator_weights_[0] / 2.0) == (
        pytest.approx(problem.objective(w), rel=1e-9)
    )


def test_an_optimum_that_is_attained_is_reached_and_certified() -> None:
    solution = titanic()
    problem = solution.problem
    assert solution.status == "optimal"
    samples = problem._samples
    best = ada_boost(samples.X, samples.y, 0, samples.weights)["objective"]
    assert solution.objective == pytest.approx(best, rel=1e-13)
    u = solution.dual["u"]
    assert np.all(problem.dual_objective(u) <= best * (1.0 + 1e-14))
    assert problem.dual_objective(u) == pytest.approx(best, rel=1e-12)
    for form in (problem.primal, problem.dual):
        assert form.is_dcp(dpp=True)
        assert form.solve(solver="CLARABEL") == pytest.approx(best, rel=1e-6)
    assert problem.solve("clarabel").status == "optimal"
    held = problem.constraints["prediction"].dual_value
    np.testing.assert_allclose(held, u, atol=1e-5)
    again = cml.Solution.from_json(solution.to_json())
    assert (again.status, again.objective) == ("optimal", solution.objective)


def test_gaps_cover_what_is_lost_and_broken_points_are_not_certified() -> None:
    solution = titanic()
    problem, best, rng = solution.problem, solution.objective, np.random.default_rng(0)
    w, u = solution.primal["w"], solution.dual["u"]
    assert problem.certify(w, u=u).verdict is Verdict.CERTIFIED
    for _ in range(30):
        size = rng.choice([0.0, 1e-10, 1e-3, 1.0])
        moved = w + size * rng.normal(size=w.size)
        given = {"u": u * rng.choice([1.0, 1.1, -1.0, 0.0])} if rng.integers(0, 2) else {}
        found = problem.certify(moved, **given)
        assert found.gap >= problem.objective(moved) - best - 1e-13
        if problem.objective(moved) - best > 1e-5:
            assert found.verdict is not Verdict.CERTIFIED
    refuted = problem.certify(1.1 * w)
    assert refuted.verdict is Verdict.REFUTED
    assert problem.objective(refuted.witness["w"]) < problem.objective(1.1 * w)
    for other in (1.2 * u, -u, np.roll(u, 1), 0.0 * u):
        found = problem.certify(w, u=other)
        assert found.verdict is Verdict.UNDECIDED
        assert found.gap > 1e-3
    assert problem.dual_objective(-u) == problem.dual_objective(np.roll(u, 1)) == -np.inf
    assert problem.dual_objective(0.0 * u) == 0.0


def test_rounds_end_with_an_honest_gap() -> None:
    few = cml.AdaBoost(IRIS[:, :2], KIND, 10)
    solution = few.solve()
    assert solution.status == "inaccurate"
    assert solution.iterations == 10
    clarabel = few.solve("clarabel")
    assert solution.dual_objective <= clarabel.objective  # a bound above 0
    assert solution.gap >= solution.objective - clarabel.objective
    assert solution.gap == pytest.approx(solution.objective - clarabel.objective, rel=1e-3)
    assert few.find_evidence() is None
    few.rounds = 20
    assert few.solve().objective < solution.objective


def test_stumps_that_separate_leave_an_infimum_of_zero() -> None:
    problem = cml.AdaBoost(IRIS, KIND, 60)
    solution = problem.solve()
    assert (solution.status, solution.dual_objective) == ("inaccurate", 0.0)
    assert solution.gap == pytest.approx(solution.objective, rel=1e-12)
    assert "separates the classes" in solution.certificate.reason
    found = problem.find_evidence()
    assert found is not None
    assert (found.claim, found.verdict) == ("unattained", Verdict.CERTIFIED)
    assert np.all(problem.margins(found.evidence["w"]) > 0.0)
    assert problem.find_evidence(0.0 * solution.primal["w"]) is None
    witness = problem.certify(solution.primal["w"]).witness
    assert problem.objective(witness["w"]) < solution.objective
    one = cml.AdaBoost([[0.0], [1.0], [2.0]], ["a", "a", "b"], 5).solve()
    assert one.status == "unattained"  # by one stump: its best weight is infinite
    for factor in (10.0, 1e3, 1e6):  # P is above the infimum by P, and small beside P at w = 0
        far = problem.certify(factor * solution.primal["w"])
        assert far.gap > 0.0
        small = far.gap <= 1e-12  # 1e-6 of the floor 1e-6 P_0, P_0 = 1
        assert far.verdict is (Verdict.CERTIFIED if small else Verdict.REFUTED)


def test_a_point_near_the_infimum_is_judged_as_the_posed_problem_is() -> None:
    X, y = [[0.0], [1.0], [2.0]], np.array([-1, -1, 1])
    H, _ = cml.stumps(X)
    same = cml.LearningProblem(
        H, y, cml.losses.Exponential(), cml.penalties.Zero(), fit_intercept=False
    )
    w = 40.0 * np.all(y[:, None] * H > 0.0, axis=0)
    found, other = cml.AdaBoost(X, y, 5).certify(w), same.certify(w)
    assert found.verdict == other.verdict == "certified"
    assert found.scale == other.scale == 1e-6  # P_0 = 1 at w = 0


def test_weights_are_repeated_rows_and_names_are_those_of_columns() -> None:
    integer = np.random.default_rng(1).integers(0, 4, size=len(KIND))
    weighted = cml.AdaBoost(IRIS, KIND, 30, sample_weight=integer).solve()
    repeated = cml.AdaBoost(np.repeat(IRIS, integer, axis=0), np.repeat(KIND, integer), 30).solve()
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-9)
    assert not np.any(weighted.dual["u"][integer == 0])
    assert weighted.problem.stumps[0].startswith("x0 > ")
    assert r"\log p_i" in weighted.problem.latex()
    with pytest.raises(cml.errors.InputError, match="X has 2 columns"):
        weighted.predict(IRIS[:, :2])
    assert repr(cml.AdaBoost(IRIS, KIND, 3)) == "AdaBoost(100 samples, 4 features, 3 rounds)"


def test_many_samples_of_few_kinds_are_judged_by_one_of_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, size=(900, 3)).astype(float)
    y = np.where(X[:, 0] - X[:, 1] + rng.normal(size=900) > 0.0, "b", "a")
    s = rng.uniform(0.1, 3.0, size=900)
    whole = cml.AdaBoost(X, y, 2000, sample_weight=s).solve(tol=1e-10)
    assert whole.status == "optimal"
    monkeypatch.setattr(program, "ENTRIES", 500)  # of 54 kinds times 6 thresholds
    problem = cml.AdaBoost(X, y, 2000, sample_weight=s)
    solution = problem.solve(tol=1e-10)
    assert solution.status == "optimal"
    assert solution.dual_objective == pytest.approx(whole.dual_objective, rel=1e-10)
    assert solution.dual_objective <= whole.objective
    assert solution.certificate.rounding > 0.0
    u = solution.dual["u"]
    assert problem.dual_objective(u) == pytest.approx(whole.objective, rel=1e-9)
    assert np.abs(problem._stumps.rmatvec(u)).max() < 1e-13
    w = solution.primal["w"]
    assert problem.certify(1.1 * w).verdict is Verdict.REFUTED
    given = problem.certify(w, u=u)  # one u for each sample: it is not judged by sums
    assert given.verdict is Verdict.UNDECIDED
    assert "not known" in given.reason
    monkeypatch.setattr(program, "ENTRIES", 100)
    few = cml.AdaBoost(X, y, 2000, sample_weight=s).solve()
    assert few.status == "inaccurate"
    assert 0.0 < few.dual_objective < whole.dual_objective

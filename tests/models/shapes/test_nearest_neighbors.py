"""Nearest neighbours as a linear program: scikit-learn, SciPy, exact distances, broken points."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from sklearn import neighbors
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import convexml as cml
from convexml import Verdict
from convexml.numerics import Array

IRIS, KINDS = load_iris(return_X_y=True)
LABELS = np.array(["setosa", "versicolor", "virginica"])[KINDS]
OUT = np.arange(len(IRIS)) % 4 == 0


@pytest.mark.parametrize("k", [1, 4, 15])
@pytest.mark.parametrize("load", [load_breast_cancer, load_diabetes])
def test_it_finds_and_predicts_what_scikit_learn_does(load: object, k: int) -> None:
    X, y = load(return_X_y=True)
    out = np.arange(len(X)) % 5 == 0
    problem = cml.NearestNeighbors(X[~out], X[out], k)
    solution = problem.solve(tol=1e-12)
    assert solution.status == "optimal"
    assert problem.is_unique.all()
    peer = neighbors.NearestNeighbors(n_neighbors=k).fit(X[~out])
    far, near = peer.kneighbors(X[out])
    for p, indices in zip(solution.primal["p"], near, strict=True):
        np.testing.assert_array_equal(np.flatnonzero(p), np.sort(indices))
        assert set(p[indices]) == {1.0 / k}
    assert solution.objective == pytest.approx(far.mean(axis=1).sum(), rel=1e-13)
    next_far = peer.kneighbors(X[out], k + 1)[0][:, -1]
    assert np.all((far[:, -1] < -solution.dual["nu"]) & (-solution.dual["nu"] < next_far))
    if load is load_diabetes:
        mean = neighbors.KNeighborsRegressor(k).fit(X[~out], y[~out]).predict(X[out])
        np.testing.assert_allclose(solution.predict(y[~out]), mean, rtol=1e-13)
    else:
        vote = neighbors.KNeighborsClassifier(k).fit(X[~out], y[~out]).predict(X[out])
        np.testing.assert_array_equal(solution.predict(y[~out]), vote)


def test_labels_of_any_kind_are_voted_on() -> None:
    solution = cml.NearestNeighbors(IRIS[~OUT], IRIS[OUT], 9).solve()
    voted = solution.predict(LABELS[~OUT])
    assert set(voted) == set(LABELS)
    assert np.mean(voted == LABELS[OUT]) > 0.9
    np.testing.assert_array_equal(voted == "setosa", solution.predict(KINDS[~OUT] == 0))
    tie = cml.NearestNeighbors([[0.0], [1.0], [-2.0]], [[0.0]], 2).solve()
    assert tie.predict(np.array(["b", "a", "a"])) == ["a"]


@pytest.mark.parametrize("k", [1, 3, 38])
def test_linprog_and_cvxpy_agree(k: int) -> None:
    X, Q = IRIS[::4], IRIS[1::40]
    problem = cml.NearestNeighbors(X, Q, k)
    solution = problem.solve()
    total = 0.0
    for q in Q:
        d = np.linalg.norm(X - q, axis=1)
        total += linprog(d, A_eq=np.ones((1, len(X))), b_eq=[1.0], bounds=(0, 1 / k)).fun
    assert solution.objective == pytest.approx(total, rel=1e-12)
    for form in (problem.primal, problem.dual):
        assert form.is_dcp(dpp=True)
        assert form.solve(solver="HIGHS") == pytest.approx(total, rel=1e-9)
    for solver in ("clarabel", "highs"):
        again = problem.solve(solver)
        assert again.status == "optimal"
        assert cml.certify(problem.primal).verdict is Verdict.CERTIFIED  # by the conic engine


def exact_optimum(X: Array, Q: Array, k: int) -> Fraction:
    """Of one feature: its distances are rational."""
    total = Fraction(0)
    for q in Q[:, 0]:
        far = sorted(abs(Fraction(float(x)) - Fraction(float(q))) for x in X[:, 0])
        total += sum(far[:k], Fraction(0)) / k
    return total


@pytest.mark.parametrize("seed", range(6))
def test_gaps_cover_what_is_lost_and_bounds_hold(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m, k = 12, 3, int(rng.integers(1, 13))
    shift = 10.0 ** rng.integers(0, 13)
    X, Q = shift + rng.normal(size=(n, 1)), shift + rng.normal(size=(m, 1))
    problem, least = cml.NearestNeighbors(X, Q, k), exact_optimum(X, Q, k)
    best = problem.solve().primal["p"]
    far = [[abs(Fraction(float(x)) - Fraction(float(q))) for x in X[:, 0]] for q in Q[:, 0]]
    for _ in range(40):
        size = rng.choice([0.0, 1e-12, 1e-4, 1.0])
        p = (1.0 - size) * best + size / n
        dual = {"nu": rng.normal(size=m), "lambda_upper": rng.normal(size=(m, n))}
        dual["lambda_lower"] = rng.normal(size=(m, n))
        kept = {name: dual[name] for name in dual if rng.integers(0, 2)}
        found = problem.certify(p, **kept)
        value = sum(
            Fraction(float(share)) * d
            for row, ds in zip(p, far, strict=True)
            for share, d in zip(row, ds, strict=True)
        )
        assert value - least <= Fraction(found.gap)
        assert found.proved_gap == found.gap
        assert Fraction(found.dual_objective) - Fraction(found.rounding) <= least
        if not kept:
            wrong = float(value - least) > 1e-6 * max(float(least), 1e-6)
            assert (found.verdict is Verdict.CERTIFIED) is not wrong


def test_ties_are_decided_exactly() -> None:
    five, near = [[3.0, 4.0], [5.0, 0.0]], [np.nextafter(3.0, 4.0), 4.0]
    assert np.linalg.norm(near) == 5.0  # as far as floats can tell
    for X, k, unique in (
        ([*five, [9.0, 9.0]], 1, False),
        ([*five, [9.0, 9.0]], 2, True),
        ([near, [5.0, 0.0], [9.0, 9.0]], 1, True),
        (five, 2, True),
    ):
        problem = cml.NearestNeighbors(X, [[0.0, 0.0]], k)
        solution = problem.solve()
        assert problem.is_unique.tolist() == [unique]
        assert solution.status == "optimal"
    nearest = cml.NearestNeighbors([near, [5.0, 0.0], [9.0, 9.0]], [[0.0, 0.0]], 1).solve()
    np.testing.assert_array_equal(nearest.primal["p"], [[0.0, 1.0, 0.0]])


def test_what_is_broken_is_not_certified() -> None:
    problem = cml.NearestNeighbors(IRIS[~OUT], IRIS[OUT], 5)
    solution = problem.solve()
    p, dual = solution.primal["p"], solution.dual
    assert problem.certify(p, **dual).verdict is Verdict.CERTIFIED
    assert problem.objective(p) == solution.objective
    assert problem.dual_objective(**dual) == pytest.approx(solution.objective, rel=1e-12)
    swapped = p.copy()
    swapped[0, [np.argmax(p[0]), np.argmin(p[0])]] = 0.0, 0.2
    moved = p.copy()
    moved[3] += np.where(p[3] > 0.0, 1e-4, -5e-4 / 107)
    for wrong in (1.01 * p, 0.99 * p, p + 1e-5, -p, swapped, moved):
        found = problem.certify(wrong)
        assert found.verdict is Verdict.REFUTED
        assert (problem.objective(wrong) == np.inf) is (wrong is not swapped)
    assert problem.certify(swapped).witness["objective"] == solution.objective
    for name, factor in (("nu", 1.1), ("lambda_lower", -1.0), ("lambda_upper", 2.0)):
        broken = {**dual, name: factor * dual[name]}
        assert problem.certify(p, **broken).verdict is Verdict.UNDECIDED
        assert problem.dual_objective(**broken) == -np.inf
    shifted = problem.certify(p, nu=1.1 * dual["nu"])
    assert shifted.verdict is Verdict.UNDECIDED
    assert shifted.gap > 1e-3


@pytest.mark.parametrize("power", [-300, -20, 20, 300])
def test_units_change_nothing(power: int) -> None:
    here = cml.NearestNeighbors(IRIS[~OUT], IRIS[OUT], 5).solve()
    unit = 2.0**power
    there = cml.NearestNeighbors(unit * IRIS[~OUT], unit * IRIS[OUT], 5).solve()
    assert there.status == "optimal"
    assert there.relative_gap == here.relative_gap
    np.testing.assert_array_equal(there.primal["p"], here.primal["p"])


def test_samples_are_their_own_neighbours() -> None:
    rows = np.unique(IRIS, axis=0)
    solution = cml.NearestNeighbors(rows, rows, 1).solve()
    assert solution.status == "optimal"
    assert solution.objective == 0.0
    np.testing.assert_array_equal(solution.primal["p"], np.eye(len(rows)))
    same = cml.NearestNeighbors(np.ones((3, 2)), np.ones((2, 2)), 2).solve()
    assert (same.status, same.objective, same.gap) == ("optimal", 0.0, 0.0)


def test_names_k_and_json() -> None:
    table = pd.DataFrame(IRIS, columns=list("abcd"))
    problem = cml.NearestNeighbors(table[~OUT], table[OUT][list("dcba")], 3)
    assert problem.features == list("abcd")
    plain = cml.NearestNeighbors(IRIS[~OUT], IRIS[OUT], 3).solve()
    assert problem.solve().objective == plain.objective
    problem.k = 8
    assert problem.solve().objective > plain.objective
    assert problem.primal.solve(solver="HIGHS") == pytest.approx(problem.solve().objective)
    again = cml.Solution.from_json(problem.solve().to_json())
    assert again.status == "optimal"
    assert again.problem.k == 8
    assert again.problem.features == list("abcd")
    values = {name: problem.constraints[name].dual_value for name in ("sum", "lower", "upper")}
    np.testing.assert_array_equal(values["sum"], problem.solve().dual["nu"])

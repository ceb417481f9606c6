"""Neighbours, trees, boosting: SciPy, partitions, games of known value, rationals."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linprog
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist, squareform
from sklearn import neighbors
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from support.model_cases import optimal
from support.oracles.shapes import lp_boost
from support.oracles.shapes import stumps as listed

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
    solution = optimal(problem, tol=1e-12)
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


def exact_optimum(X: Array, Q: Array, k: int) -> Fraction:
    """Of one feature: its distances are rational."""
    total = Fraction(0)
    for q in Q[:, 0]:
        far = sorted(abs(Fraction(float(x)) - Fraction(float(q))) for x in X[:, 0])
        total += sum(far[:k], Fraction(0)) / k
    return total


@pytest.mark.parametrize("seed", range(6))
def test_neighbours_cover_what_is_lost(seed: int) -> None:
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


FLOWERS = np.unique(load_iris().data, axis=0)
WINE = load_wine().data


def apart(X: Array) -> Array:
    """Distances of the rows."""
    return cdist(X, X)


def partitions(n: int) -> Iterator[list[int]]:
    """All of n points, by the block of each."""
    if n == 0:
        yield []
        return
    for rest in partitions(n - 1):
        for block in range(max(rest, default=-1) + 2):
            yield [*rest, block]


@pytest.mark.parametrize("X", [FLOWERS, WINE / WINE.std(axis=0), WINE], ids=["iris", "wine", "raw"])
def test_it_is_single_linkage(X: Array) -> None:
    D = apart(X)
    problem = cml.SpanningTree(D)
    solution = optimal(problem, tol=1e-12)
    merges = linkage(squareform(D), "single")
    np.testing.assert_array_equal(problem.merging.heights, np.sort(merges[:, 2]))
    x = solution.primal["x"]
    np.testing.assert_array_equal(np.sort(D[x == 1.0]), problem.merging.heights)
    assert solution.objective == pytest.approx(minimum_spanning_tree(D).sum(), rel=1e-14)
    assert problem.dual_objective(**solution.dual) == pytest.approx(solution.objective, rel=1e-12)
    np.testing.assert_allclose(solution.dual["y"][1:], np.diff(merges[:, 2]), atol=1e-15)
    for count in (1, 2, 5, len(X)):
        theirs = fcluster(merges, count, "maxclust")
        if theirs.max() == count:  # SciPy merges what is tied at once
            assert adjusted_rand_score(problem.clusters(count), theirs) == 1.0


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_what_is_posed_has_no_optimum_but_mixtures_of_least_trees(levels: int) -> None:
    """Second costs on the optima of what is posed, and of all partitions: the same least value."""
    rng = np.random.default_rng(levels)
    n = 6
    u, v = np.triu_indices(n, 1)
    D = squareform(rng.integers(1, levels + 1, size=u.size).astype(float))
    merging = cml.SpanningTree(D).merging
    every = [p for p in partitions(n) if max(p) > 0]

    def parted(blocks: Iterator[list[int]] | list[list[int]]) -> tuple[Array, Array]:
        rows = np.array([np.array(p)[u] != np.array(p)[v] for p in blocks], dtype=float)
        return -rows, 1.0 - np.array([float(len(set(p))) for p in blocks])

    posed = [*merging.partitions.tolist(), *merging.ties.tolist()]
    face = np.vstack([np.ones(u.size), D[u, v]]), [n - 1.0, merging.heights.sum()]
    for _ in range(10):
        second = rng.normal(size=u.size)
        least = [linprog(second, *parted(rows), *face).fun for rows in (posed, every)]
        assert least[0] == pytest.approx(least[1], abs=1e-9)
    solution = cml.SpanningTree(D).solve("clarabel", polish=False)
    assert solution.status == "optimal", str(solution)


def test_two_sets_are_not_enough() -> None:
    triangle = cml.SpanningTree(np.ones((3, 3)) - np.eye(3))
    half = np.triu(np.full((3, 3), 0.5), 1)  # feasible for all cuts
    assert triangle.solve().objective == 2.0
    found = triangle.certify(half)
    assert found.verdict is Verdict.REFUTED
    assert "x(E) = n - 1" in found.reason
    assert triangle.certify(half * 4 / 3).verdict is Verdict.CERTIFIED  # three trees, mixed


@pytest.mark.parametrize("seed", range(5))
def test_bounds_hold_for_any_packing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 7
    D = apart(10.0 ** rng.integers(0, 8) + rng.normal(size=(n, 2)))
    problem = cml.SpanningTree(D)
    least = sum((Fraction(float(h)) for h in linkage(squareform(D), "single")[:, 2]), Fraction(0))
    best = problem.solve()
    for _ in range(30):
        size = rng.choice([0.0, 1e-15, 1e-9, 1.0])
        y = best.dual["y"] * (1.0 + size * rng.normal(size=n - 1))
        blocks = best.dual["partitions"]
        if rng.integers(0, 2):
            blocks = rng.integers(0, 3, size=(n - 1, n)).astype(float)
        x = problem.merging.tree()
        if rng.integers(0, 2):
            x = cml.SpanningTree(apart(rng.normal(size=(n, 1)))).merging.tree()
        found = problem.certify(x, y=y, partitions=blocks)
        chosen = sum((Fraction(float(d)) for d in D[x == 1.0]), Fraction(0))
        assert chosen - least <= Fraction(found.gap)
        assert Fraction(found.dual_objective) - Fraction(found.rounding) <= least
        if chosen - least > 1e-5 * least:
            assert found.verdict is not Verdict.CERTIFIED


A, Y = load_breast_cancer(return_X_y=True)
A = A[:, :8].round(1)
SAMPLES, KIND = (part[50:] for part in load_iris(return_X_y=True))


def test_rounds_end_with_an_honest_gap() -> None:
    few = cml.AdaBoost(SAMPLES[:, :2], KIND, 10)
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
    problem = cml.AdaBoost(SAMPLES, KIND, 60)
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


H, NAMES = cml.stumps(SAMPLES)
SIDES = np.where(KIND == 2, 1.0, -1.0)


def test_stumps_are_all_that_there_are() -> None:
    np.testing.assert_array_equal(H, listed(SAMPLES))
    assert len(NAMES) == H.shape[1]
    assert NAMES[:2] == ["x0 > 4.95", "x0 <= 4.95"]
    assert np.all(np.abs(H) == 1.0)
    assert np.all(np.abs(H.sum(axis=0)) < len(H))
    near = np.array([[1.0], [np.nextafter(1.0, 2.0)], [-1e308], [1e308]])
    np.testing.assert_array_equal(cml.stumps(near)[0], listed(near / 4.0))
    with pytest.raises(cml.errors.InputError, match="Round the columns"):
        cml.stumps(np.arange(30_000.0)[:, None])


@pytest.mark.parametrize("nu", [0.005, 0.1, 0.37, 1.0])
def test_primal_and_dual_are_those_of_scipy(nu: float) -> None:
    problem = cml.LPBoost(H, KIND, nu)
    solution = optimal(problem, tol=1e-9)
    assert solution.objective == pytest.approx(lp_boost(SAMPLES, SIDES, nu)["objective"], rel=1e-9)
    w, rho, d = solution.primal["w"], float(solution.primal["rho"]), solution.dual["d"]
    margins = SIDES * (H @ w)
    np.testing.assert_allclose(problem.margins(w), margins, atol=1e-15)
    assert np.mean(margins < rho - 1e-12) <= nu + 1e-12 <= np.mean(margins <= rho + 1e-12) + 2e-12
    assert np.all(d[margins > rho + 1e-9] == 0.0)
    np.testing.assert_allclose(d[margins < rho - 1e-9], 1.0 / (nu * len(KIND)))
    assert set(solution.support) == set(np.flatnonzero(d > 0.0))


def test_many_stumps_are_solved_by_columns() -> None:
    A, y = load_breast_cancer(return_X_y=True)
    A = A[:, :4].round(1)
    many, _ = cml.stumps(A)
    assert many.shape[1] > 2000
    problem = cml.LPBoost(many, y, 0.3)
    solution = optimal(problem)
    assert solution.iterations >= 1
    edges = (many * np.where(y > 0, 1.0, -1.0)[:, None]).T @ solution.dual["d"]
    assert edges.max() <= -solution.objective * (1.0 + 1e-9)
    assert problem.certify(solution.primal["w"], d=solution.dual["d"]).verdict is Verdict.CERTIFIED


@pytest.mark.parametrize("nu", [0.1, 0.5, 1.0])
def test_a_game_of_known_value(nu: float) -> None:
    """Learner j is wrong on sample j alone: rho = 1 - 2 / n, for every nu, exactly."""
    n = 7
    A, y = 1.0 - 2.0 * np.eye(n), np.array([1, -1, 1, 1, -1, -1, 1])
    problem, value = cml.LPBoost(y[:, None] * A, y, nu), Fraction(2, n) - 1
    solution = optimal(problem, tol=1e-12)
    assert abs(Fraction(solution.objective) - value) <= Fraction(solution.gap)
    rng = np.random.default_rng(0)
    for _ in range(60):
        size = rng.choice([0.0, 1e-14, 1e-6, 1.0])
        w = np.abs(np.ones(n) / n + size * rng.normal(size=n))
        w /= w.sum()
        d = np.ones(n) / n + rng.choice([0.0, size]) * rng.normal(size=n)
        given = {"d": d} if rng.integers(0, 2) else {}
        found = problem.certify(w, tol=1e-9, **given)
        assert Fraction(found.primal_objective) - value <= Fraction(found.gap)
        assert Fraction(found.dual_objective) - Fraction(found.rounding) <= value
        if found.primal_objective - float(value) > 1e-8:
            assert found.verdict is not Verdict.CERTIFIED


def test_learners_without_a_margin() -> None:
    """P* = 0: a learner and its negative alone, and learners that say nothing."""
    flat: Array = np.array([[1.0, -1.0], [1.0, -1.0]])
    for outputs in (flat, 0.0 * flat):
        solution = cml.LPBoost(outputs, [0, 1], 0.5).solve()
        assert (solution.status, solution.objective) == ("optimal", 0.0)

"""Spanning trees as linear programs: SciPy's, all partitions, all sets, broken trees."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linprog
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist, squareform
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

import convexml as cml
from convexml import Verdict
from convexml.certificates.combinatorial.forest import excess
from convexml.numerics import Array

IRIS = np.unique(load_iris().data, axis=0)
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


@pytest.mark.parametrize("X", [IRIS, WINE / WINE.std(axis=0), WINE], ids=["iris", "wine", "raw"])
def test_it_is_single_linkage(X: Array) -> None:
    D = apart(X)
    problem = cml.SpanningTree(D)
    solution = problem.solve(tol=1e-12)
    assert solution.status == "optimal"
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


@pytest.mark.parametrize("seed", range(4))
def test_all_partitions_give_the_same_value(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 5
    D = apart(rng.normal(size=(n, 2))) if seed else np.round(apart(rng.normal(size=(n, 2))))
    u, v = np.triu_indices(n, 1)
    rows = [np.array(p)[u] != np.array(p)[v] for p in partitions(n) if max(p) > 0]
    sizes = [max(p) for p in partitions(n) if max(p) > 0]
    whole = linprog(
        D[u, v],
        -np.array(rows, dtype=float),
        -np.array(sizes, dtype=float),
        np.ones((1, len(u))),
        [n - 1.0],
    )
    problem = cml.SpanningTree(D)
    assert problem.solve().objective == pytest.approx(whole.fun, abs=1e-12)
    x = np.zeros((n, n))
    x[u, v] = whole.x
    assert problem.certify(x).verdict is Verdict.CERTIFIED
    for form in (problem.primal, problem.dual):
        assert form.is_dcp(dpp=True)
        assert form.solve(solver="HIGHS") == pytest.approx(whole.fun, abs=1e-9)
        assert cml.certify(form).verdict is Verdict.CERTIFIED  # by the conic engine
    for solver in ("clarabel", "highs"):
        again = problem.solve(solver)
        assert again.gap >= again.objective - whole.fun - 1e-12


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
    optimal = np.vstack([np.ones(u.size), D[u, v]]), [n - 1.0, merging.heights.sum()]
    for _ in range(10):
        second = rng.normal(size=u.size)
        least = [linprog(second, *parted(rows), *optimal).fun for rows in (posed, every)]
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


@pytest.mark.parametrize("seed", range(12))
def test_sets_are_examined_as_by_trying_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 8))
    x = np.triu(rng.random((n, n)) ** rng.integers(1, 6), 1)
    if seed % 3 == 1:
        x = np.round(x)
    if seed % 3 == 2:  # a mixture of trees, some of whose sets are full
        x = np.zeros((n, n))
        for share in (0.3, 0.7):
            x += share * cml.SpanningTree(apart(rng.normal(size=(n, 1)))).merging.tree()
    x *= (n - 1.0) / max(x.sum(), 1e-300) if seed % 2 else 1.0
    sets = (S for size in range(1, n + 1) for S in combinations(range(n), size))
    true = max(float(x[np.ix_(S, S)].sum()) - len(S) + 1.0 for S in sets)
    below, above = excess(x)
    assert below <= true + 1e-15 * n
    assert max(true, 0.0) <= above
    assert above - below <= 1e-12


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


def test_what_is_broken_is_not_certified() -> None:
    problem = cml.SpanningTree(apart(IRIS[:40]))
    solution = problem.solve()
    x, dual = solution.primal["x"], solution.dual
    assert problem.certify(x).verdict is Verdict.CERTIFIED
    assert problem.certify(x, **dual).verdict is Verdict.CERTIFIED
    ends, whole = np.argwhere(x == 1.0), x + x.T
    cycle = x.copy()  # as many edges, one in a cycle and a point alone
    leaf = int(np.argmax(whole.sum(axis=0) == 1.0))
    cycle[leaf], cycle[:, leaf] = 0.0, 0.0
    others = [k for k in range(40) if k != leaf]
    cycle[next(pair for pair in combinations(others, 2) if not x[pair])] = 1.0
    twice, lacking, negative = x.copy(), x.copy(), x.copy()
    twice[tuple(ends[0])], twice[tuple(ends[1])] = 2.0, 0.0
    lacking[tuple(ends[0])] = 0.999
    negative[0, 39] -= 1e-3
    smooth = 0.9 * cycle + 0.1 * x
    for wrong in (x.T, x + x.T, 1.01 * x, twice, lacking, negative, cycle, smooth):
        assert problem.certify(wrong).verdict is Verdict.REFUTED
        assert problem.objective(wrong) == np.inf
    path = np.diag(np.ones(39), 1)
    found = problem.certify(path)
    assert found.verdict is Verdict.REFUTED
    assert found.witness["objective"] == solution.objective
    for y in (1.1 * dual["y"], dual["y"] - 0.05, -dual["y"]):
        assert problem.certify(x, y=y).verdict is Verdict.UNDECIDED
    assert problem.dual_objective(dual["y"] + 0.05, partitions=dual["partitions"]) == -np.inf


@pytest.mark.parametrize("power", [-300, -20, 20, 300])
def test_units_change_nothing(power: int) -> None:
    here = cml.SpanningTree(apart(IRIS)).solve()
    there = cml.SpanningTree(2.0**power * apart(IRIS)).solve()
    assert there.status == "optimal"
    assert there.relative_gap == pytest.approx(here.relative_gap, rel=1e-9)
    np.testing.assert_array_equal(there.primal["x"], here.primal["x"])


def test_duplicates_two_points_and_negative_costs() -> None:
    same = cml.SpanningTree(np.zeros((4, 4))).solve()
    assert (same.status, same.objective, same.gap) == ("optimal", 0.0, 0.0)
    for d in (3.0, -3.0):
        two = cml.SpanningTree([[0.0, d], [d, 0.0]])
        assert two.solve().objective == d
        assert two.dual.solve(solver="HIGHS") == pytest.approx(d)
    costs = apart(IRIS[:20]) - 3.0 * (1.0 - np.eye(20))
    shifted = cml.SpanningTree(costs).solve()
    plain = cml.SpanningTree(apart(IRIS[:20])).solve()
    assert shifted.status == "optimal"
    assert shifted.objective == pytest.approx(plain.objective - 57.0)


def test_json_and_values() -> None:
    problem = cml.SpanningTree(apart(IRIS[:12]))
    solution = problem.solve()
    again = cml.Solution.from_json(solution.to_json())
    assert (again.status, again.objective) == ("optimal", solution.objective)
    np.testing.assert_array_equal(problem.variables["x"].value, solution.primal["x"])
    y = solution.dual["y"]
    np.testing.assert_array_equal(problem.constraints["partitions"].dual_value, y[1:])
    assert problem.constraints["sum"].dual_value == -y[0]

"""Convex clustering: CVXPY, closed forms, bounds in fractions, clusters that merge."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_iris

import convexml as cml
from convexml import Verdict
from convexml.errors import InputError
from convexml.models.matrix.cluster_path import ClusterPath, clusters
from convexml.numerics import Array

IRIS = load_iris().data
FEW = IRIS[::10]


def near(X: Array) -> Array:
    """Gaussian weights."""
    W: Array = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    return W


@pytest.mark.parametrize(("lam", "weighted"), [(1e-3, True), (0.03, False), (0.1, True)])
def test_cvxpy_agrees_and_its_dual_values_are_filled(lam: float, weighted: bool) -> None:
    problem = cml.ConvexClustering(FEW, lam, near(FEW) if weighted else None)
    values = [form.solve(solver=cp.CLARABEL) for form in (problem.primal, problem.dual)]
    assert problem.primal.is_dcp(dpp=True)
    theirs = problem.constraints["differences"].dual_value
    solution = problem.solve(tol=1e-8)
    assert solution.status == "optimal"
    assert solution.certificate.proved_gap == solution.gap
    for value in values:
        assert solution.objective == pytest.approx(value, rel=1e-6, abs=1e-6)
    ours = problem.constraints["differences"].dual_value
    pull = [problem.fusion.A.T @ V for V in (ours, theirs)]
    np.testing.assert_allclose(*pull, atol=1e-3)  # V need not be unique; A'V = X - U is
    assert np.array_equal(ours, solution.dual["V"])
    assert problem.dual_objective(ours) <= solution.objective
    problem.primal.solve(solver=cp.CLARABEL)
    assert cml.certify(problem.primal).verdict is Verdict.CERTIFIED


@pytest.mark.parametrize("lam", [0.0, 0.2, 1.0, 1.9, 2.1, 100.0])
@pytest.mark.parametrize("shift", [0.0, 1e9])
def test_two_samples_move_towards_each_other(lam: float, shift: float) -> None:
    """Each by lam, until they meet after half their distance of 5."""
    X = np.array([[0.0, 0.0], [3.0, 4.0]]) + shift
    solution = cml.ConvexClustering(X, lam).solve(tol=1e-9)
    assert solution.status == "optimal"
    moved = min(lam, 2.5)
    way = moved * np.array([[0.6, 0.8], [-0.6, -0.8]])
    np.testing.assert_allclose(solution.primal["U"] - shift, X - shift + way, atol=1e-6)
    assert solution.objective == pytest.approx(moved**2 + lam * (5.0 - 2.0 * moved), rel=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_any_pulls_give_a_bound(seed: int) -> None:
    """D in fractions is no less than the certificate says, for any V; so is P for any U."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(5, 2)) * 10.0 ** rng.integers(-6, 6) + rng.choice([0.0, 1e3])
    lam = 0.3 * float(np.abs(X - X.mean(axis=0)).max())
    problem = cml.ConvexClustering(X, lam)
    least = problem.solve(tol=1e-10)
    i, j = np.triu_indices(5, 1)
    for size in (0.0, 1e-3, 3.0):
        V = least.dual["V"] + size * lam * rng.normal(size=(10, 2))
        U = least.primal["U"] * (1.0 + size * rng.normal(size=(5, 2)))
        found = problem.certify(U, V=V)
        assert found.gap >= found.primal_objective - least.objective - 1e-9 * least.objective
        inside = found.dual["V"]
        exact, pull = Fraction(0), [[Fraction(0)] * 2 for _ in range(5)]
        for p, (a, b) in enumerate(zip(i, j, strict=True)):
            row = [Fraction(float(v)) for v in inside[p]]
            assert sum(v * v for v in row) <= Fraction(lam) ** 2
            for c in range(2):
                exact += row[c] * (Fraction(float(X[a, c])) - Fraction(float(X[b, c])))
                pull[a][c] += row[c]
                pull[b][c] -= row[c]
        exact -= sum(v * v for row in pull for v in row) / 2
        assert abs(exact - Fraction(found.dual_objective)) <= Fraction(found.rounding)
        assert (found.verdict is Verdict.CERTIFIED) == (size == 0.0)


def test_points_that_lie_are_refused() -> None:
    problem = cml.ConvexClustering(FEW, 0.1)
    solution = problem.solve(tol=1e-8)
    U, V = solution.primal["U"], solution.dual["V"]
    assert problem.certify(U).verdict is Verdict.CERTIFIED
    for wrong in (FEW, 0.0 * FEW, U + 1e-2, U[::-1]):
        found = problem.certify(wrong)
        assert found.verdict is Verdict.REFUTED
        assert problem.objective(found.witness["U"]) < problem.objective(wrong)
    for lie in (2.0 * V, -V, 0.0 * V):
        found = problem.certify(U, V=lie)
        assert found.verdict is Verdict.UNDECIDED
    long = problem.certify(U, V=V * 1.01)
    assert next(r for r in long.conditions if r.kind == "dual_feasibility").breaks(1e-6)
    assert problem.dual_objective(2.0 * V) == -np.inf


def test_equal_weights_merge_as_a_tree_down_to_the_mean() -> None:
    X = IRIS[::3]
    problem = cml.ConvexClustering(X, 1.0)
    path = problem.path(np.geomspace(0.02, 0.2, 25))
    assert isinstance(path, ClusterPath)
    assert all(each.status == "optimal" for each in path)
    assert path.is_tree
    assert path.counts[0] == 50
    assert path.counts[-1] == 1
    assert np.all(np.diff(path.counts) <= 0)
    assert len(set(path.counts.tolist())) > 3
    np.testing.assert_allclose(path[-1].primal["U"], np.tile(X.mean(axis=0), (50, 1)), atol=1e-9)
    assert path[-1].objective == pytest.approx(0.5 * 50 * X.var(axis=0).sum(), rel=1e-9)
    assert problem.lam == 1.0
    np.testing.assert_array_equal(problem.labels(path[-1].primal["U"]), np.zeros(50))


def test_clusters_that_come_apart_are_told() -> None:
    class Held:
        def __init__(self, labels: list[int]) -> None:
            self.primal = {"U": np.array(labels, dtype=float)[:, None]}

    path = ClusterPath([Held([3, 3, 3, 1]), Held([2, 2, 5, 5])], [0.1, 0.2])
    assert path.splits == [(0.2, 0, 2)]
    assert not path.is_tree
    assert path.labels.tolist() == [[0, 0, 0, 1], [0, 0, 1, 1]]
    assert ClusterPath([Held([2, 2, 5, 5]), Held([3, 3, 3, 1])], [0.2, 0.1]).splits == path.splits
    assert clusters(np.array([[9.0], [1.0], [9.0]])).tolist() == [0, 1, 0]


def test_weights_of_zero_leave_samples_alone() -> None:
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    W = np.kron(np.eye(2), np.ones((2, 2)))
    solution = cml.ConvexClustering(X, 3.0, W).solve()
    np.testing.assert_allclose(solution.primal["U"].ravel(), [0.5, 0.5, 10.5, 10.5], atol=1e-9)
    again = cml.Solution.from_json(solution.to_json())
    assert again.status == "optimal"
    assert again.objective == solution.objective


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones((2, 2)), "one for each pair"),
        (-np.ones((15, 15)), "must be >= 0, got -1"),
        (np.triu(np.ones((15, 15))), "symmetric"),
    ],
)
def test_weights_that_are_none_are_refused(weights: Array, words: str) -> None:
    with pytest.raises(InputError, match=words):
        cml.ConvexClustering(FEW, 0.1, weights)


def test_one_sample_and_no_bound_between_values() -> None:
    assert cml.ConvexClustering([[1.0, 2.0]], 0.1).solve().status == "optimal"
    with pytest.raises(InputError, match="no bound between two values of lam"):
        cml.ConvexClustering(FEW, 0.1).path((1.0, 0.1), everywhere=1e-3)

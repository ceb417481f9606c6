"""Clusters and principal components: closed forms, eigenvalues, all clusterings, fractions."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb
from sklearn.datasets import load_iris, make_blobs
from support.exact.exact_numbers import Row, ball, covariance, dot, table
from support.model_cases import optimal

import convexml as cml
from convexml import Verdict
from convexml.numerics import Array

IRIS = load_iris().data


@pytest.mark.parametrize("lam", [0.0, 0.2, 1.0, 1.9, 2.1, 100.0])
@pytest.mark.parametrize("shift", [0.0, 1e9])
def test_two_samples_move_towards_each_other(lam: float, shift: float) -> None:
    """Each by lam, until they meet after half their distance of 5."""
    X = np.array([[0.0, 0.0], [3.0, 4.0]]) + shift
    solution = optimal(cml.ConvexClustering(X, lam), tol=1e-9)
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
        least_of = Fraction(found.primal_objective) - Fraction(found.gap)
        assert 0 <= exact - least_of + Fraction(1e-15 * found.primal_objective)
        assert exact - least_of <= Fraction(1e-12 * found.primal_objective)
        assert (found.verdict is Verdict.CERTIFIED) == (size == 0.0)


def test_equal_weights_merge_as_a_tree_down_to_the_mean() -> None:
    X = IRIS[::3]
    problem = cml.ConvexClustering(X, 1.0)
    path = problem.path(np.geomspace(0.02, 0.2, 25))
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


def test_weights_of_zero_leave_samples_alone() -> None:
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    W = np.kron(np.eye(2), np.ones((2, 2)))
    solution = cml.ConvexClustering(X, 3.0, W).solve()
    np.testing.assert_allclose(solution.primal["U"].ravel(), [0.5, 0.5, 10.5, 10.5], atol=1e-9)
    again = cml.Solution.from_json(solution.to_json())
    assert again.status == "optimal"
    assert again.objective == solution.objective
    alone = optimal(cml.ConvexClustering(X[:1], 3.0))
    np.testing.assert_array_equal(alone.primal["U"], X[:1])


def cost(X: Array, labels: Array) -> float:
    """The sum of squares about the means of the clusters."""
    return float(sum(len(X[labels == j]) * X[labels == j].var(0).sum() for j in np.unique(labels)))


def least_cost(X: Array, k: int) -> float:
    """Of all clusterings of a handful of samples into k."""
    return min(cost(X, np.array(labels)) for labels in product(range(k), repeat=len(X)))


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_is_tight_where_clusters_are_apart(seed: int) -> None:
    X, truth = make_blobs(
        45, 3, centers=3, cluster_std=0.5, center_box=(-20, 20), random_state=seed
    )
    problem = cml.KMeansBound(X, 3)
    found = problem.judge(truth)
    assert found.cost == pytest.approx(cost(X, truth), rel=1e-12)
    assert 0.0 <= found.relative_gap <= 0.01
    Z = problem.matrix(truth)
    assert problem.objective(Z) == pytest.approx(found.cost, rel=1e-12)
    assert problem.certify(Z).verdict is Verdict.CERTIFIED
    np.testing.assert_allclose(problem.solve().primal["Z"], Z, atol=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_told_beside_the_value_of_the_relaxation(seed: int) -> None:
    """Whole numbers, so that fractions tell the least cost; the objective is above it mostly."""
    X = np.random.default_rng(seed).integers(-3, 4, size=(8, 2))
    X[4:] += 40
    groups = [[[Fraction(int(x)) for x in row] for row in half] for half in (X[:4], X[4:])]
    best = sum(
        sum((row[j] - sum(r[j] for r in group) / 4) ** 2 for row in group for j in (0, 1))
        for group in groups
    )
    solution = optimal(cml.KMeansBound(X, 2))
    assert solution.bound <= best
    assert solution.bound >= float(best) * (1.0 - 2e-6)
    assert f"bound of every clustering's cost: {solution.bound:.10g}" in str(solution)
    assert cml.Lasso(X, X[:, 0], 0.1).solve().bound > -np.inf  # of every proved answer


@pytest.mark.parametrize("k", [1, 2, 3, 7])
@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_the_bound_is_below_the_best_of_all_clusterings(k: int, shift: float) -> None:
    X = np.random.default_rng(k).normal(size=(7, 2)) + shift
    best = least_cost(X - X.mean(axis=0), k) if k < 7 else 0.0
    problem = cml.KMeansBound(X, k)
    found = problem.judge(np.arange(7) % k)
    assert found.bound <= best + 1e-12
    assert found.relative_gap >= 0.0
    assert found.bound >= 0.7 * best


def exact_leading(X: Array) -> tuple[list[Row], arb]:
    """S of two columns in fractions, and its larger eigenvalue in 120 digits."""
    (a, b), (_, c) = S = covariance(X)
    return S, ball((a + c) / 2) + ball(((a - c) / 2) ** 2 + b * b).sqrt()


@pytest.mark.parametrize("shift", [0.0, 1e6, 1e12])
def test_gaps_cover_what_a_point_loses(shift: float) -> None:
    X = IRIS[:40, [0, 2]] + shift
    S, best = exact_leading(X)
    problem = cml.PrincipalComponents(X, 1)
    solution = optimal(problem, tol=1e-9)
    v = solution.components[0]
    for angle in (0.0, 1e-9, 1e-5, 1e-2, 1.0):
        turned = np.cos(angle) * v + np.sin(angle) * np.array([-v[1], v[0]])
        P = np.outer(turned, turned)
        found = problem.certify(P)
        lost = best - ball(sum(dot(a, b) for a, b in zip(S, table(P), strict=True)))
        assert lost <= found.gap
        assert best <= found.rounding - found.dual_objective
        assert (found.verdict is Verdict.CERTIFIED) == (angle < 1e-3)
        assert (found.verdict is Verdict.REFUTED) == (angle >= 1e-3)


def test_the_eigengap_is_right_for_every_multiplier_of_the_trace() -> None:
    problem = cml.PrincipalComponents(IRIS, 2)
    values = np.linalg.eigvalsh(np.cov(IRIS.T, bias=True))[::-1]
    for share in (0.0, 0.25, 1.0):
        nu = share * values[1] + (1.0 - share) * values[2]
        assert problem.eigengap_of({"nu": np.array(nu)}) == pytest.approx(values[1] - values[2])
    other = optimal(problem, "clarabel")
    assert other.eigengap == pytest.approx(values[1] - values[2], rel=1e-6)
    problem.k = 4
    assert problem.eigengap == problem.solve().eigengap == np.inf


def test_where_eigenvalues_are_equal_every_average_is_optimal() -> None:
    X = np.vstack([np.diag([2.0, 1.0, 1.0]), -np.diag([2.0, 1.0, 1.0])])
    problem = cml.PrincipalComponents(X, 2)
    for share in (0.0, 0.3, 1.0):
        P = np.diag([1.0, share, 1.0 - share])
        assert problem.certify(P).verdict is Verdict.CERTIFIED
    assert problem.solve().eigengap == pytest.approx(0.0, abs=1e-15)
    assert problem.objective(np.diag([1.0, 0.5, 0.5])) == pytest.approx(-10.0 / 6.0)


def wide(n: int, d: int, seed: int = 0, shift: float = 0.0) -> Array:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.exp(rng.normal(size=d)) + shift * rng.normal(size=d)


def spectrum(X: Array, s: Array | None = None) -> Array:
    """Eigenvalues of the covariance by singular values."""
    c = np.full(len(X), 1.0 / len(X)) if s is None else s / s.sum()
    return np.linalg.svd(np.sqrt(c)[:, None] * (X - c @ X), compute_uv=False) ** 2


def test_the_value_is_that_of_the_singular_values_in_little_memory() -> None:
    X = wide(40, 3000, shift=5.0)
    values = spectrum(X)
    tracemalloc.start()
    problem = cml.PrincipalComponents(X, 3)
    solution = problem.solve(tol=1e-9)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 12 * X.nbytes < 3000**2 * 8 / 5
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(-values[:3].sum(), rel=1e-9)
    assert solution.eigengap == pytest.approx(values[2] - values[3], rel=1e-9)
    assert problem.eigengap == pytest.approx(values[2] - values[3], rel=1e-9)
    assert solution.certificate.proved_gap == solution.gap
    V = solution.components
    np.testing.assert_allclose(V @ V.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(np.var(X @ V.T, axis=0), values[:3], rtol=1e-9)
    np.testing.assert_allclose(problem.components, V, atol=1e-9)
    nu = float(solution.dual["nu"])
    assert values[3] <= nu <= values[2]
    assert problem.dual_objective(nu=nu) == pytest.approx(-values[:3].sum(), rel=1e-9)
    assert problem.dual_objective(nu=-1.0) == pytest.approx(
        -(-3.0 + (values + 1.0).sum() + 3000 - 40), rel=1e-9
    )
    again = cml.Solution.from_json(solution.to_json())
    assert again.status == "optimal"
    np.testing.assert_array_equal(again.components, V)


def test_directions_that_lie_are_refused_and_a_matrix_is_judged() -> None:
    X = wide(6, 2001)
    problem = cml.PrincipalComponents(X, 2)
    C = problem.solve().primal["components"]
    assert problem.certify(C).verdict is Verdict.CERTIFIED
    for wrong in (1.01 * C, C[[0, 0]], np.vstack([C[0], C[1] + 1e-3 * C[0]])):
        found = problem.certify(wrong)
        assert found.verdict is Verdict.REFUTED
        assert next(row for row in found.conditions if row.name == "C C' = I").breaks(1e-6)
        assert problem.objective(wrong) == np.inf
    other = problem.certify(np.roll(C, 1, axis=1))
    assert other.verdict is Verdict.REFUTED
    assert problem.objective(other.witness["components"]) < problem.objective(C) * (1.0 - 1e-9)
    for nu in (0.0, 1e3, -1.0):
        assert problem.certify(C, nu=nu).verdict is Verdict.UNDECIDED
    problem.k = 7  # more than there are samples
    assert problem.shapes()[0] == {"components": (7, 2001)}
    assert problem.solve().status == "optimal"

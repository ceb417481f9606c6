"""The bound of k-means: below every clustering, and tight where clusters are apart."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import cvxpy as cp
import flint
import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, make_blobs

import convexml as cml
from convexml import Verdict
from convexml.certificates.matrix.partition import Partition
from convexml.errors import InputError
from convexml.numerics import Array

IRIS = load_iris().data
FEW = IRIS[::10]
"""15 samples."""


def cost(X: Array, labels: Array) -> float:
    """The sum of squares about the means of the clusters."""
    return float(sum(len(X[labels == j]) * X[labels == j].var(0).sum() for j in np.unique(labels)))


def least_cost(X: Array, k: int) -> float:
    """Of all clusterings of a handful of samples into k."""
    return min(cost(X, np.array(labels)) for labels in product(range(k), repeat=len(X)))


def test_no_run_of_k_means_is_below_the_bound_on_iris() -> None:
    problem = cml.KMeansBound(IRIS, 3)
    solution = problem.solve()
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(75.537, abs=1e-3)
    best = KMeans(3, n_init=100, random_state=0).fit(IRIS)
    for labels in (best.labels_, KMeans(3, n_init=1, random_state=9).fit(IRIS).labels_):
        judged = problem.judge(labels)
        assert judged.bound < best.inertia_
        assert judged.relative_gap == (judged.cost - judged.bound) / judged.cost
    found = problem.judge(best.labels_)
    assert found.cost == pytest.approx(best.inertia_, rel=1e-9)
    assert 0.0 < found.relative_gap < 0.05


@pytest.mark.slow
def test_no_run_of_k_means_is_below_the_bound_on_digits() -> None:
    X = load_digits().data[:200]
    run = KMeans(10, n_init=100, random_state=0).fit(X)
    problem = cml.KMeansBound(X, 10)
    solution = problem.solve()
    assert solution.status == "optimal"
    found = problem.judge(run.labels_)
    assert 0.98 * run.inertia_ < found.bound < run.inertia_
    assert 0.0 < found.relative_gap < 0.02


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


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_is_told_beside_the_value_of_the_relaxation(seed: int) -> None:
    """Whole numbers, so that fractions tell the least cost; the objective is above it mostly."""
    X = np.random.default_rng(seed).integers(-3, 4, size=(8, 2))
    X[4:] += 40
    groups = [[[Fraction(int(x)) for x in row] for row in half] for half in (X[:4], X[4:])]
    best = sum(
        sum((row[j] - sum(r[j] for r in group) / 4) ** 2 for row in group for j in (0, 1))
        for group in groups
    )
    solution = cml.KMeansBound(X, 2).solve()
    assert solution.status == "optimal"
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


@pytest.mark.parametrize("seed", range(5))
def test_any_multipliers_give_a_bound(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proved at 100 digits: no eigenvalue is less than the certificate says."""
    monkeypatch.setattr(flint.ctx, "prec", 333)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(6, 2)) * 10.0 ** rng.integers(-6, 6)
    C = 0.5 * ((X[:, None] - X) ** 2).sum(axis=-1)
    part, best = Partition(C, 1e-15, 2), least_cost(X, 2)
    for size in (0.0, 0.1, 10.0):
        N = size * np.abs(rng.normal(size=(6, 6))) * C
        alpha = part.best_alpha(N) * (1.0 + 0.1 * rng.normal(size=6) * (size > 1.0))
        value, lost = part._dual(alpha, N)
        c, n, a = (np.vectorize(flint.arb, [object])(part) for part in (C, N, alpha))
        exact = (c - (n + n.T) / 2 - (a[:, None] + a) / 2).tolist()
        least = min(flint.acb_mat(flint.arb_mat(exact)).eig(), key=lambda z: float(z.real)).real
        true = sum(flint.arb(float(a)) for a in alpha) + 2 * least
        assert abs(true - flint.arb(value)) <= lost
        assert value - lost <= best
        assert lost <= 1e-12 * (abs(value) + np.abs(alpha).sum() + np.abs(N).sum())


def test_the_best_alpha_is_a_closed_form() -> None:
    """No other alpha gives more for the same N."""
    problem = cml.KMeansBound(FEW, 3)
    N = problem.solve(max_iter=2).dual["N"]
    alpha = cp.Variable(15)
    ones = np.ones((1, 15))
    across = cp.reshape(alpha, (15, 1), order="F") @ ones
    M = problem.half_distances - N - (across + across.T) / 2
    posed = cp.Problem(cp.Maximize(cp.sum(alpha) + 3 * cp.lambda_min(M)))
    best = posed.solve(solver=cp.CLARABEL)
    found = problem.dual_objective(alpha=problem.partition.best_alpha(N), N=N)
    assert found == pytest.approx(best, rel=1e-6)


def test_conditions_have_the_letters_of_the_formulas() -> None:
    """C, which is D/2 inside of the certificate, is in no formula."""
    problem = cml.KMeansBound(FEW, 3)
    names = [row.name for row in problem.solve(max_iter=2).certificate.conditions]
    assert not [name for name in names if "C" in name]
    assert "D/2 - N - (alpha 1' + 1 alpha')/2" in names[-1]


def test_cvxpy_agrees_and_its_dual_values_are_filled() -> None:
    problem = cml.KMeansBound(FEW, 3)
    values = [form.solve(solver=cp.CLARABEL) for form in (problem.dual, problem.primal)]

    def slope() -> Array:
        nu, tau, N, S = (row.dual_value for row in problem.constraints.values())
        return problem.half_distances + (nu[:, None] + nu) / 2 + tau * np.eye(15) - N - S

    assert np.abs(slope()).max() < 1e-4  # Clarabel's, so that ours have its signs
    solution = problem.solve(tol=1e-7)
    assert solution.status == "optimal"
    for form, value in zip((problem.dual, problem.primal), values, strict=True):
        assert form.is_dcp(dpp=True)
        assert value == pytest.approx(solution.objective, rel=1e-6)
    assert np.array_equal(problem.constraints["rows"].dual_value, -solution.dual["alpha"])
    assert np.array_equal(problem.constraints["nonnegative"].dual_value, solution.dual["N"])
    assert np.abs(slope()).max() < 1e-12
    assert cml.certify(problem.primal).verdict is Verdict.CERTIFIED
    theirs = problem.solve("clarabel")
    assert theirs.relative_gap < 1e-4


def test_points_that_lie_are_refused() -> None:
    problem = cml.KMeansBound(FEW, 3)
    Z = problem.solve().primal["Z"]
    assert problem.certify(Z).verdict is Verdict.CERTIFIED
    ones = np.ones((15, 15))
    swap = np.zeros((15, 15))
    swap[[0, 1, 2, 2, 0, 1], [1, 2, 0, 1, 2, 0]] = [1, 1, 1, -1, -1, -1]
    first, last = np.eye(15)[[0, 14]] - 1.0 / 15
    far = np.outer(first, last)
    lies = {
        "Z 1 = 1": 1.01 * Z,
        "tr Z = k": Z - 0.1 * (np.eye(15) - ones / 15),
        "Z >= 0": Z - 0.3 * (far + far.T),
        "Z = Z'": Z + 1e-2 * swap,
    }
    for name, wrong in lies.items():
        found = problem.certify(wrong)
        assert found.verdict is Verdict.REFUTED, name
        assert next(row for row in found.conditions if row.name == name).breaks(1e-6), name
        assert problem.objective(wrong) == np.inf
    worse = problem.matrix(np.arange(15) % 3)
    found = problem.certify(worse)
    assert found.verdict is Verdict.REFUTED
    assert problem.objective(found.witness["Z"]) < problem.objective(worse)


def test_multipliers_that_lie_are_seen_through() -> None:
    problem = cml.KMeansBound(FEW, 3)
    solution = problem.solve()
    Z, alpha, N = solution.primal["Z"], solution.dual["alpha"], solution.dual["N"]
    assert problem.certify(Z, alpha=alpha, N=N).verdict is Verdict.CERTIFIED
    for wrong in ({"alpha": 2.0 * alpha, "N": N}, {"alpha": -alpha, "N": N}, {"N": N - 1.0}):
        found = problem.certify(Z, **wrong)
        assert found.verdict is Verdict.UNDECIDED
        assert found.dual_objective <= solution.objective + 1e-9
    assert problem.dual_objective(alpha=alpha, N=N - 1.0) == -np.inf


def test_labels_that_are_none_and_too_many_clusters_are_refused() -> None:
    problem = cml.KMeansBound(FEW, 3)
    with pytest.raises(InputError, match="15"):
        problem.judge(np.zeros(14))
    for wrong, words in (
        ([np.nan] * 15, "labels contains nan at entry 0"),
        ([0, 1, np.inf] * 5, "labels contains inf at entry 2"),
        ([None] * 15, "the labels in labels cannot be ordered"),
    ):
        with pytest.raises(InputError, match=f"KMeansBound.judge: {words}"):
            problem.judge(wrong)
    with pytest.raises(InputError, match="there are 15 clusters"):
        problem.judge(np.arange(15))
    with pytest.raises(InputError, match="there are 15 samples"):
        cml.KMeansBound(FEW, 16)
    with pytest.raises(InputError, match="beyond float64"):
        cml.KMeansBound(FEW * 1e160, 2)
    words = problem.judge(np.array(["a", "b", "c"] * 5))
    assert words.cost == pytest.approx(cost(FEW, np.arange(15) % 3), rel=1e-12)


def test_a_stored_solution_is_judged_again_and_k_may_change() -> None:
    problem = cml.KMeansBound(FEW, 3)
    again = cml.Solution.from_json(problem.solve().to_json())
    assert again.status == "optimal"
    problem.k = 2
    assert problem.judge(np.arange(15) // 5 // 2).bound > again.objective


@pytest.mark.parametrize("unit", [2.0**480, 2.0**-460])
def test_squares_of_squares_leave_float64(unit: float) -> None:
    plain, far = (cml.KMeansBound(each, 3) for each in (FEW, unit * FEW))
    labels = np.arange(15) % 3
    one, other = plain.judge(labels, tol=1e-3), far.judge(labels, tol=1e-3)
    assert other.bound / unit / unit == pytest.approx(one.bound, rel=1e-6)
    assert far.solve(tol=1e-3).status == "optimal"

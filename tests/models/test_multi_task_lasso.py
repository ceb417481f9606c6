"""The lasso of several targets, against formulas and a block descent written out again."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import MultiTaskLasso as Peer

import convexml as cml
from convexml import Solution, Verdict
from convexml.errors import InputError

RNG = np.random.default_rng(4)
N, D, K = 40, 6, 3
X = RNG.normal(size=(N, D)) * np.array([1.0, 0.5, 2.0, 1.0, 0.7, 1.0]) + 0.4
W = np.where((np.arange(D) < 3)[:, None], RNG.normal(size=(D, K)), 0.0)
Y = X @ W + 0.5 * RNG.normal(size=(N, K)) + np.array([3.0, -1.0, 0.0])
S = RNG.integers(0, 4, size=N).astype(float)


def pose(lam: float = 0.2, **keywords: Any) -> cml.MultiTaskLasso:
    return cml.MultiTaskLasso(X, Y, lam, **keywords)


def formula(w: Any, b: Any, lam: float, s: Any = None) -> float:
    """P, written out again."""
    s = np.ones(N) if s is None else s
    r = Y - X @ w - b
    return float(s @ (r**2).sum(axis=1) / (2.0 * s.sum()) + lam * np.linalg.norm(w, axis=1).sum())


def descend(lam: float, s: Any) -> tuple[Any, Any]:
    """The solution by exact steps on the rows of W, a thousand times around."""
    s = s / s.sum()
    A, B = X - s @ X, Y - s @ Y
    w = np.zeros((D, K))
    for _ in range(1000):
        for j in range(D):
            pull = (s * A[:, j]) @ (B - A @ w + np.outer(A[:, j], w[j]))
            size = np.linalg.norm(pull)
            w[j] = pull * max(0.0, 1.0 - lam / size) / (s @ A[:, j] ** 2)
    return w, s @ Y - (s @ X) @ w


@pytest.mark.parametrize("s", [None, S], ids=["", "weights"])
@pytest.mark.parametrize("lam", [0.05, 0.3, 0.8])
def test_the_solution_is_that_of_block_descent(lam: float, s: Any) -> None:
    w, b = descend(lam, np.ones(N) if s is None else s)
    problem = pose(lam, sample_weight=s)
    found = problem.solve(tol=1e-10)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(formula(w, b, lam, s), rel=1e-10)
    assert problem.objective(w, b) == pytest.approx(formula(w, b, lam, s), rel=1e-12)
    assert found.primal["w"] == pytest.approx(w, abs=1e-5)
    assert found.primal["b"] == pytest.approx(b, abs=1e-5)
    assert np.array_equal(found.primal["w"].any(axis=1), w.any(axis=1))
    assert problem.certify(w, b).verdict is Verdict.CERTIFIED
    assert problem.certify(1.01 * w, b, tol=1e-6).verdict is Verdict.REFUTED


@pytest.mark.parametrize("intercept", [True, False])
def test_the_posed_primal_and_dual_have_its_value(intercept: bool) -> None:
    problem = pose(fit_intercept=intercept, sample_weight=S)
    found = problem.solve(tol=1e-9)
    assert problem.constraints["prediction"].dual_value == pytest.approx(
        found.dual["u"][S > 0.0], abs=1e-12
    )
    assert problem.variables["w"].value == pytest.approx(found.primal["w"])
    assert problem.primal.is_dcp(dpp=True)
    assert problem.dual.is_dcp(dpp=True)
    for posed in (problem.primal, problem.dual):
        posed.solve(solver=cp.CLARABEL)
        assert posed.value == pytest.approx(found.objective, rel=1e-6)
    rows = np.linalg.norm(found.primal["w"], axis=1)
    assert problem.dual.constraints[0].dual_value == pytest.approx(rows, abs=1e-4)
    problem.lam = 0.7  # a Parameter
    problem.primal.solve(solver=cp.CLARABEL)
    assert problem.primal.value == pytest.approx(problem.solve().objective, rel=1e-6)
    assert cml.certify(problem.primal).verdict is Verdict.CERTIFIED


def test_the_multipliers_are_shadow_prices() -> None:
    """dP*/dY = -U."""
    found, step = pose().solve(tol=1e-12), 1e-3
    for i, k in ((0, 0), (7, 2), (30, 1)):
        moved = []
        for sign in (1.0, -1.0):
            y = Y.copy()
            y[i, k] += sign * step
            moved.append(cml.MultiTaskLasso(X, y, 0.2).solve(tol=1e-12).objective)
        assert (moved[0] - moved[1]) / (2.0 * step) == pytest.approx(-found.dual["u"][i, k], 1e-4)


def test_lam_max_is_the_largest_pull_of_the_centred_targets() -> None:
    known = np.linalg.norm(X.T @ (Y - Y.mean(axis=0)), axis=1).max() / N
    problem = pose()
    assert problem.lam_max == pytest.approx(known, rel=1e-12)
    problem.lam = problem.lam_max
    found = problem.solve()
    assert found.status == "optimal"
    assert not found.primal["w"].any()
    assert found.primal["b"] == pytest.approx(Y.mean(axis=0), rel=1e-12)
    assert pose(0.98 * known).solve().primal["w"].any()


def test_weights_are_repetitions_and_zero_is_dropped() -> None:
    weighted = pose(sample_weight=S).solve(tol=1e-10)
    times = S.astype(int)
    repeated = cml.MultiTaskLasso(np.repeat(X, times, 0), np.repeat(Y, times, 0), 0.2)
    assert weighted.objective == pytest.approx(repeated.solve(tol=1e-10).objective, rel=1e-10)
    assert weighted.dual["u"].shape == (N, K)
    assert not weighted.dual["u"][S == 0.0].any()


def test_one_target_is_the_lasso() -> None:
    one = cml.MultiTaskLasso(X, Y[:, :1], 0.2).solve(tol=1e-10)
    lasso = cml.Lasso(X, Y[:, 0], 0.2).solve(tol=1e-10)
    assert one.objective == pytest.approx(lasso.objective, rel=1e-10)
    assert one.primal["w"][:, 0] == pytest.approx(lasso.primal["w"], abs=1e-5)


def test_every_solver_that_applies_agrees() -> None:
    problem = pose()
    value, asked = problem.solve(tol=1e-10).objective, 0
    players = ("online_gradient_descent", "follow_the_regularized_leader")  # promise a regret
    for name in cml.solvers.available():
        if cml.solvers.supports(name, problem)[0] and name not in players:
            found = problem.solve(name)
            assert found.status == "optimal", name
            assert abs(found.objective - value) <= 1e-6 * value, name
            asked += 1
    assert asked >= 6


def test_what_scikit_learn_fitted_is_certified() -> None:
    peer = Peer(0.2, tol=1e-12, max_iter=10**5).fit(X, Y)
    assert pose().certify(peer.coef_.T, peer.intercept_, tol=1e-8).verdict is Verdict.CERTIFIED


def test_paths_sparse_samples_and_storage() -> None:
    lams = [0.8, 0.3, 0.1]
    found = pose().path(lams, tol=1e-9)
    for lam, each in zip(lams, found, strict=True):
        assert each.objective == pytest.approx(pose(lam).solve(tol=1e-9).objective, rel=1e-8)
    assert pose().path((0.8, 0.1), everywhere=1e-2).worst_gap <= 1e-2
    kept = np.where(np.abs(X) < 1.0, 0.0, X)
    thin = cml.MultiTaskLasso(sparse.csr_array(kept), Y, 0.2).solve(tol=1e-9)
    dense = cml.MultiTaskLasso(kept, Y, 0.2).solve(tol=1e-9)
    assert thin.objective == pytest.approx(dense.objective, rel=1e-9)
    weighted = pose(sample_weight=S).solve()
    again = Solution.from_json(weighted.to_json())
    assert again.status == "optimal"
    assert again.objective == pytest.approx(weighted.objective, rel=1e-12)
    assert again.primal["b"] == pytest.approx(weighted.primal["b"], rel=1e-12)
    assert pose(fit_intercept=False).solve("fista").rate_audit().holds is not False


@pytest.mark.parametrize("folds", [3, [(range(20, 40), range(20)), (range(20), range(20, 40))]])
def test_cross_validation_scores_all_targets(folds: Any) -> None:
    found = pose(sample_weight=S).cross_validate([0.1, 0.5], folds=folds)
    train, test = found.splits[0]
    kept = np.flatnonzero(S)
    fit = cml.MultiTaskLasso(X[kept][train], Y[kept][train], 0.5, sample_weight=S[kept][train])
    missed = ((fit.solve().predict(X[kept][test]) - Y[kept][test]) ** 2).sum(axis=1)
    share = S[kept][test] / S[kept][test].sum()
    assert found.is_certified
    assert found.scores[0, 1] == pytest.approx(float(share @ missed), rel=1e-4)


@pytest.mark.parametrize("shift", [0.1, 1e4, 2.0**20 + 1.0 / 3.0])
def test_the_gap_covers_what_rounded_targets_lose(shift: float) -> None:
    """P in fractions at the point that is certified is within the gap of P at a better one."""
    Z, Q = Y[:8] + shift, np.round(X[:8] * 64.0) / 64.0 + 3.0
    problem = cml.MultiTaskLasso(Q, Z, 0.2)
    best = problem.solve(tol=1e-12)
    w, b = best.primal["w"], best.primal["b"]

    def squares(W: Any, B: Any) -> Fraction:
        rows = [[Fraction(float(t)) for t in row] for row in Q]
        return sum(
            (
                Fraction(float(Z[i, k])) - Fraction(float(B[k]))
                - sum(rows[i][j] * Fraction(float(W[j, k])) for j in range(D))
            ) ** 2
            for i in range(8) for k in range(K)
        ) / 16  # fmt: skip

    for step in (0.0, 1e-9, 1e-7):
        at = w * (1.0 + step)
        found = problem.certify(at, b)
        norms = float(np.linalg.norm(at, axis=1).sum() - np.linalg.norm(w, axis=1).sum())
        excess = float(squares(at, b) - squares(w, b)) + 0.2 * norms
        assert excess <= found.gap + 1e-15


def test_wrong_duals_are_no_certificate() -> None:
    found = pose().solve(tol=1e-10)
    w, b, u = found.primal["w"], found.primal["b"], found.dual["u"]
    assert pose().certify(w, b, u).verdict is Verdict.CERTIFIED
    for bad in (-u, 1.01 * u, u[::-1], np.zeros_like(u), u + 1e-3):
        assert pose().certify(w, b, bad).verdict is not Verdict.CERTIFIED
    assert pose().dual_objective(u) == pytest.approx(found.objective, rel=1e-9)
    assert pose().dual_objective(1.1 * u) == -np.inf


def test_columns_are_named() -> None:
    pd = pytest.importorskip("pandas")
    names = list("abcdef")
    problem = cml.MultiTaskLasso(pd.DataFrame(X, columns=names), pd.DataFrame(Y), 0.2)
    found = problem.solve()
    assert problem.features == names
    swapped = pd.DataFrame(X, columns=names)[names[::-1]]
    assert found.predict(swapped) == pytest.approx(X @ found.primal["w"] + found.primal["b"])
    wrong = found.primal["w"].copy()
    wrong[4] += 1.0
    rows = problem.certify(wrong, found.primal["b"], found.dual["u"]).conditions
    assert {row.column for row in rows if row.kind == "stationarity" and row.column} == {"e"}


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: cml.MultiTaskLasso(X, Y[:, 0], 0.1), r"Y must have one row .*pass Y\[:, None\]"),
        (lambda: cml.MultiTaskLasso(X, Y[1:], 0.1), r"Y must have one row per row of X \(40\)"),
        (lambda: cml.MultiTaskLasso(X, Y[:, :0], 0.1), r"one column per target"),
        (lambda: cml.MultiTaskLasso(X, np.where(Y > 4, np.nan, Y), 0.1), r"Y contains nan at row"),
        (lambda: pose(-1.0), r"MultiTaskLasso: lam must be"),
        (lambda: pose().certify(W.T), r"w must have shape \(6, 3\), got \(3, 6\)"),
        (lambda: pose().certify(W, np.zeros(2)), r"b must be 3 finite numbers"),
        (lambda: pose(fit_intercept=False).certify(W, np.ones(3)), r"posed without intercept"),
        (lambda: pose().certified_support(W), r"this one has several"),
    ],
)
def test_refusals(call: Any, text: str) -> None:
    with pytest.raises(InputError, match=text):
        call()


def test_its_words() -> None:
    assert repr(pose()) == "MultiTaskLasso(n=40, d=6, K=3, lam=0.2)"
    assert "X_j'U" in str(pose().solve().certificate)

"""The lasso of several targets and softmax regression: what is theirs beside the table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.exact.exact_learning import Learning

import convexml as cml
from convexml.errors import InputError

RNG = np.random.default_rng(4)
N, D, K = 40, 6, 3
X = RNG.normal(size=(N, D)) * np.array([1.0, 0.5, 2.0, 1.0, 0.7, 1.0]) + 0.4
W = np.where((np.arange(D) < 3)[:, None], RNG.normal(size=(D, K)), 0.0)
Y = X @ W + 0.5 * RNG.normal(size=(N, K)) + np.array([3.0, -1.0, 0.0])
S = RNG.integers(0, 4, size=N).astype(float)


def pose(lam: float = 0.2, **keywords: Any) -> cml.MultiTaskLasso:
    return cml.MultiTaskLasso(X, Y, lam, **keywords)


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


@pytest.mark.parametrize("shift", [0.1, 2.0**20 + 1.0 / 3.0])
def test_the_gap_covers_what_rounded_targets_lose(shift: float) -> None:
    """P in fractions at the point that is certified is within the gap of P at a better one."""
    Z, Q = Y[:8] + shift, np.round(X[:8] * 64.0) / 64.0 + 3.0
    problem = cml.MultiTaskLasso(Q, Z, 0.2)
    best = problem.solve(tol=1e-12)
    w, b = best.primal["w"], best.primal["b"]

    def squares(W: Any, B: Any) -> Any:
        each = (
            Learning(Q, Z[:, k], ("squared",), ("none",)).value(W[:, k], B[k]) for k in range(K)
        )
        return sum(each)

    for step in (0.0, 1e-9, 1e-7):
        at = w * (1.0 + step)
        found = problem.certify(at, b)
        norms = float(np.linalg.norm(at, axis=1).sum() - np.linalg.norm(w, axis=1).sum())
        excess = float(squares(at, b) - squares(w, b)) + 0.2 * norms
        assert excess <= found.gap + 1e-15


@pytest.mark.parametrize(("call", "text"), [
    (lambda: cml.MultiTaskLasso(X, Y[:, 0], 0.1), r"Y must have one row .*pass Y\[:, None\]"),
    (lambda: cml.MultiTaskLasso(X, Y[1:], 0.1), r"Y must have one row per row of X \(40\)"),
    (lambda: cml.MultiTaskLasso(X, Y[:, :0], 0.1), r"one column per target"),
    (lambda: cml.MultiTaskLasso(X, np.where(Y > 4, np.nan, Y), 0.1), r"Y contains nan at row"),
    (lambda: pose(-1.0), r"MultiTaskLasso: lam must be"),
    (lambda: pose().certify(W.T), r"w must have shape \(6, 3\), got \(3, 6\)"),
    (lambda: pose().certify(W, np.zeros(2)), r"b must be 3 finite numbers"),
    (lambda: pose(fit_intercept=False).certify(W, np.ones(3)), r"posed without intercept"),
    (lambda: pose().certified_support(W), r"this one has several"),
])  # fmt: skip
def test_refusals(call: Any, text: str) -> None:
    with pytest.raises(InputError, match=text):
        call()

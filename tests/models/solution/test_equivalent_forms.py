"""A ball and a penalty have one solution: multipliers, radii and gaps go from one to the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

import convexml as cml
from convexml.errors import InputError

X, Y = load_diabetes(return_X_y=True)
X = X / X.std(axis=0)
PAIRS = [(cml.ConstrainedLasso, cml.Lasso, 1), (cml.ConstrainedRidge, cml.Ridge, 2)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("ball", "price", "norm"), PAIRS)
def test_there_and_back(ball: Any, price: Any, norm: int, weighted: bool) -> None:
    s = np.random.default_rng(0).integers(0, 3, len(Y)) if weighted else None
    least = cml.LeastSquares(X, Y, sample_weight=s).solve().primal["w"]
    for share in (1e-3, 0.2, 0.9):
        radius = share * float(np.linalg.norm(least, norm))
        solution = ball(X, Y, radius, sample_weight=s).solve(tol=1e-12)
        w, b = solution.primal["w"], solution.primal["b"]
        other = cml.equivalent(solution)
        assert type(other) is price
        assert other.certify(w, b, tol=1e-9).verdict is cml.Verdict.CERTIFIED
        # The gradient in w, by hand: lam is its size beside w.
        c = np.ones(len(Y)) if s is None else s
        slope = X.T @ (c * (X @ w + b - Y)) / c.sum()
        expected = np.abs(slope).max() if norm == 1 else np.linalg.norm(slope) / radius
        assert other.lam == pytest.approx(expected, rel=1e-6)
        again = cml.equivalent(other.solve(tol=1e-12))
        assert type(again) is ball
        assert again.radius == pytest.approx(radius, rel=1e-5)


@pytest.mark.parametrize(("ball", "price", "norm"), PAIRS)
def test_a_rough_point_has_the_same_gap_in_both(ball: Any, price: Any, norm: int) -> None:
    rng = np.random.default_rng(1)
    w = np.linspace(-1.0, 2.0, X.shape[1])
    b = float(np.mean(Y - X @ w))
    u = (X @ w + b - Y) / len(Y) + 1e-3 * rng.normal(size=len(Y))
    u = u - u.mean()
    size = float(np.linalg.norm(X.T @ u, np.inf if norm == 1 else 2))
    radius = float(np.linalg.norm(w, norm))
    lam = size if norm == 1 else size / radius
    found = [problem.certify(w, b, u).gap for problem in (ball(X, Y, radius), price(X, Y, lam))]
    assert found[0] == pytest.approx(found[1], rel=1e-9)


def test_a_ball_that_does_not_bind_has_no_price() -> None:
    solution = cml.ConstrainedRidge(X, Y, 1e4).solve(tol=1e-10)
    other = cml.equivalent(solution)
    assert other.lam == pytest.approx(0.0, abs=1e-6)
    assert other.certify(solution.primal["w"], solution.primal["b"]).holds()


def test_bad_calls_are_told() -> None:
    lasso = cml.Lasso(X, Y, 1.0)
    lasso.lam = 1.1 * lasso.lam_max
    with pytest.raises(InputError, match=r"w = 0 at lam = .*a smaller"):
        cml.equivalent(lasso.solve())
    with pytest.raises(InputError, match=r"Lasso, Ridge, .* got one of LeastSquares"):
        cml.equivalent(cml.LeastSquares(X, Y).solve())
    with pytest.raises(InputError, match="got one of int"):
        cml.equivalent(3)

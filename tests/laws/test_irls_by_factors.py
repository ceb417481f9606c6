"""IRLS factors X itself: no certified point of IRLS by QR meets an answer that is not."""

from __future__ import annotations

import numpy as np
import pytest

import convexml as cml
from convexml.solvers.second_order.irls import by_factors


def design(seed: int):
    """Columns of condition 1 to 1e15, by singular values, powers, or a near repetition."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 80)), int(rng.integers(1, 7))
    condition = 10.0 ** rng.uniform(0.0, 15.0)
    if seed % 3 == 0:
        U, V = (np.linalg.qr(rng.normal(size=(k, d)))[0] for k in (n, d))
        X = U * np.geomspace(1.0, 1.0 / condition, d) @ V.T * np.sqrt(n)
    elif seed % 3 == 1:
        X = np.vander(np.sort(rng.uniform(0.0, 1.0, n)), d + 1, increasing=True)[:, 1:]
    else:
        X = rng.normal(size=(n, d))
        X[:, -1] = X[:, 0] + rng.normal(size=n) / condition
    intercept = bool(rng.random() < 0.6)
    z = X @ rng.normal(size=d)
    if seed % 2:
        return X, np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-z)), 1.0, -1.0), intercept
    return X, rng.poisson(np.exp(np.clip(z, -3.0, 3.0))).astype(float), intercept


def posed(seed: int):
    X, y, intercept = design(seed)
    model = cml.LogisticRegression if seed % 2 else cml.PoissonRegression
    return model(X, y, 0.0, fit_intercept=intercept)


def by_qr(seed: int):
    """Damped IRLS, each step solved by NumPy's factors."""
    X, y, intercept = design(seed)
    A = np.column_stack([X, np.ones(len(y))]) if intercept else X
    x = np.zeros(A.shape[1])
    if intercept and not seed % 2:
        x[-1] = np.log(max(y.mean(), 1e-3))

    def value(z):
        return (np.logaddexp(0.0, -y * z) if seed % 2 else np.exp(z) - y * z).mean()

    for _ in range(60):
        z = A @ x
        p = 1.0 / (1.0 + np.exp(-z))
        h, pull = (p * (1.0 - p), (1.0 + y) / 2.0 - p) if seed % 2 else (np.exp(z), y - np.exp(z))
        root = np.sqrt(np.maximum(h, 1e-300))
        Q, R = np.linalg.qr(root[:, None] * A)
        step, t = np.linalg.solve(R, Q.T @ (pull / root)), 1.0
        while t > 1e-12 and not value(A @ (x + t * step)) <= value(z):
            t /= 2.0
        if t <= 1e-12:
            break
        x = x + t * step
    return (x[:-1], float(x[-1])) if intercept else (x, 0.0)


def seeds(always: tuple[int, ...], others: tuple[int, ...]):
    slow = [pytest.param(seed, marks=pytest.mark.slow) for seed in others]
    return pytest.mark.parametrize("seed", [*always, *slow])


@seeds((33, 54, 89, 138), (21, 48, 71, 107, 125, 134))
def test_ill_conditioned_designs_are_certified(seed: int) -> None:
    """Each was left undecided by normal equations, with a gap of all of P."""
    problem = posed(seed)
    assert problem.certify(*by_qr(seed)).verdict == cml.Verdict.CERTIFIED
    assert problem.solve().status == "optimal"


@seeds((116, 179), (78, 293))
def test_an_answer_is_certified_where_an_ulp_of_w_moves_predictions(seed: int) -> None:
    """By .001: |w| is 1e12 to 1e13, and a plain P has no digits to choose among points by.

    On some processors the points by QR are not either.
    """
    solution = posed(seed).solve()
    assert solution.status == "optimal" or not posed(seed).certify(*by_qr(seed)).holds()
    assert np.linalg.norm(solution.primal["w"]) > 1e12


def test_rows_without_curvature_still_pull() -> None:
    """Huber from far away: l'' = 0 at nearly every sample."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = 50.0 + X @ [1.0, 2.0] + rng.normal(size=40)
    problem = cml.HuberRegression(X, y, 0.5, 0.1, fit_intercept=False)
    assert problem.solve("irls").objective == pytest.approx(problem.solve().objective, rel=1e-6)


def test_no_step_goes_along_a_direction_that_rounding_made() -> None:
    """Columns that depend on others exactly: their rows are rounded, and then no longer do."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = np.round(rng.normal(size=(40, 3)) * 2.0**20) / 2.0**20
        X = np.column_stack([X, X[:, 0] - X[:, 1], X[:, 2] + 1.0])
        y = np.where(rng.random(40) < 0.5, -1.0, 1.0)
        step, _ = by_factors(
            cml.LogisticRegression(X, y).objective_parts, np.zeros(5), np.zeros(5),
            -0.5 * y / 40.0, rng.random(40) / 160.0,
        )[0]  # fmt: skip
        assert np.linalg.norm(step) < 1e3

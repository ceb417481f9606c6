"""Least squares and ridge regression: digits of factors, normal equations, their rates."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.exact.exact_learning import Learning
from support.exact.exact_numbers import exact

import convexml as cml

COUNT = 2000


def drawn(seed: int):
    """X of condition 1 to 1e15, in one of five forms; y with or without noise; weights or none."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 40)), int(rng.integers(1, 13))
    condition = 10.0 ** rng.uniform(0.0, 15.0)
    match seed % 5:
        case 0:  # singular values in geometric progression
            U, V = (np.linalg.qr(rng.normal(size=(k, min(n, d))))[0] for k in (n, d))
            X = U * np.geomspace(1.0, 1.0 / condition, min(n, d)) @ V.T
        case 1:  # powers of a variable
            X = np.vander(np.sort(rng.uniform(0.0, 1.0, n)), d + 1, increasing=True)[:, 1:]
        case 2:  # columns in units far apart
            X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-np.log10(condition) / 2, 0.0, d)
        case 3:  # a column that nearly repeats another
            X = rng.normal(size=(n, d))
            X[:, -1] = X[:, 0] + rng.normal(size=n) / condition
        case _:  # a large offset
            X = rng.normal(size=(n, d)) + min(condition, 1e9)
    noise = rng.normal(size=n) if rng.random() < 0.5 else np.zeros(n)
    y = X @ rng.normal(size=d) + 10.0 ** rng.uniform(-6.0, 0.0) * noise + rng.normal()
    weights = rng.uniform(0.1, 3.0, n) if rng.random() < 0.4 else None
    return X, y, weights, bool(rng.random() < 0.6)


def candidates(X, y, weights, intercept):
    """(w, b) of LAPACK through NumPy, on the rows as they are and on sqrt(s) times them."""
    A = np.column_stack([X, np.ones(len(y))]) if intercept else X
    root = np.ones(len(y)) if weights is None else np.sqrt(weights)
    A, t = root[:, None] * A, root * y
    found = [np.linalg.lstsq(A, t, rcond=None)[0], np.linalg.lstsq(A, t, rcond=0.0)[0]]
    if A.shape[0] >= A.shape[1]:
        Q, R = np.linalg.qr(A)
        if np.all(np.diag(R)):
            found.append(np.linalg.solve(R, Q.T @ t))
    U, s, V = np.linalg.svd(A, full_matrices=False)
    found.append(V.T @ ((U.T @ t) / np.where(s > 0.0, s, np.inf)))
    return [(x[:-1], float(x[-1])) if intercept else (x, 0.0) for x in found]


def defeat(seed: int) -> str:
    """Which point of NumPy's is certified where ours is not; "" where none is."""
    X, y, weights, intercept = drawn(seed)
    problem = cml.LeastSquares(X, y, fit_intercept=intercept, sample_weight=weights)
    solution = problem.solve()
    if solution.status == "optimal":
        return ""
    for k, point in enumerate(candidates(X, y, weights, intercept)):
        if problem.certify(*point).verdict == cml.Verdict.CERTIFIED:
            return f"seed {seed}: candidate {k} is certified, ours is {solution.status}"
    return ""


def test_a_sample_of_the_designs() -> None:
    assert [words for seed in range(60) if (words := defeat(seed))] == []


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, COUNT, 200))
def test_every_design(start: int) -> None:
    assert [words for seed in range(start, start + 200) if (words := defeat(seed))] == []


def wave():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0.0, 1.0, 15))
    y = np.sin(6.0 * x) + 0.1 * rng.normal(size=15)
    return np.vander(x, 12, increasing=True)[:, 1:], y


def posed(X, y, lam=0.0):
    """The mean loss with a penalty, in rationals."""
    return Learning(X, y, ("squared",), ("l2", lam) if lam else ("none",))


@pytest.mark.parametrize("weighted", [False, True])
def test_refinement_has_nearly_all_digits(weighted: bool) -> None:
    """Condition 2e9 costs 9 digits of a factorisation, and few of what is refined."""
    V, y = wave()
    s = np.random.default_rng(1).integers(1, 5, 15).astype(float) if weighted else None
    counts = np.ones(15, dtype=int) if s is None else s.astype(int)
    rows, sides = np.repeat(V, counts, axis=0), np.repeat(y, counts)
    truth = posed(rows, sides)
    known = np.array(truth.optimum.x[:-1], dtype=float)
    plain, refined = (
        cml.LeastSquares(V, y, sample_weight=s).solve("qr", candidate=k, polish=False).primal
        for k in (0, 1)
    )
    assert_allclose(refined["w"], known, rtol=1e-10)
    assert not np.allclose(plain["w"], known, rtol=1e-10, atol=0.0)
    more = [truth.value(at["w"], at["b"]) - truth.optimum.value for at in (refined, plain)]
    assert more[0] < more[1] / 10


@pytest.mark.parametrize("solver", ["auto", "qr"])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_wide_system_has_the_least_norm(solver: str, intercept: bool) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(5, 9)), rng.normal(size=5)
    solution = cml.LeastSquares(X, y, fit_intercept=intercept).solve(solver)
    shift = (X.mean(axis=0), y.mean()) if intercept else (0.0, 0.0)
    w = np.linalg.pinv(X - shift[0]) @ (y - shift[1])
    assert solution.status == "optimal"
    assert_allclose(solution.primal["w"], w, rtol=1e-10, atol=1e-13)


def test_one_sample_and_one_feature() -> None:
    """(3 - 2 w)^2 / 2 + w^2 / 4 is least at 6 / 4.5."""
    found = cml.Ridge([[2.0]], [3.0], 0.5, fit_intercept=False).solve("normal_equations")
    assert (found.status, found.solver) == ("optimal", "normal_equations")
    assert found.primal["w"] == pytest.approx([6.0 / 4.5], rel=1e-12)


def test_inches_and_centimetres_say_which_columns_and_how_far() -> None:
    """h / 2.54 is a multiple of h up to rounding alone: within R, never optimal (TRUTH 2)."""
    rng = np.random.default_rng(0)
    h = rng.normal(170.0, 10.0, 40)
    solution = cml.LeastSquares(np.column_stack([h, h / 2.54]), h / 2 + rng.normal(size=40)).solve()
    assert solution.status == "inaccurate"
    assert solution.certificate.within > 1.0
    assert "columns (1) of X depend on the others" in solution.certificate.reason


def test_what_holds_within_a_distance_is_not_ahead_of_what_nearly_holds_everywhere() -> None:
    """Neither is certified: 2.5e-6 everywhere, 5e-7 within 4e7; P is .259 against .277."""
    X, y, weights, intercept = drawn(78)
    problem = cml.LeastSquares(X, y, fit_intercept=intercept, sample_weight=weights)
    solution = problem.solve()
    near = problem.solve("newton")
    assert solution.certificate.within is None
    assert solution.relative_gap < 1e-4
    assert solution.objective < 0.95 * near.objective


@pytest.mark.parametrize("lam", [1e-8, 1e-13, 1e-20])
def test_ridge_with_a_tiny_lam(lam: float) -> None:
    V, y = wave()
    solution = cml.Ridge(V, y, lam).solve()
    assert solution.status == "optimal"
    A = np.vstack([np.column_stack([V, np.ones(15)]), np.sqrt(15 * lam) * np.eye(11, 12)])
    x = np.linalg.lstsq(A, np.append(y, np.zeros(11)), rcond=None)[0]
    truth = posed(V, y, lam)
    ours = truth.value(solution.primal["w"], solution.primal["b"])
    assert ours <= truth.value(x[:-1], x[-1]) + exact(solution.gap)
    assert float(ours) == pytest.approx(solution.objective, rel=1e-12)

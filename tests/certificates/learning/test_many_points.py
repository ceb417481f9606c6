"""Gaps of many points at once: never below what exact arithmetic finds, and no looser than one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import convexml as cml
from convexml.certificates.learning.many import relative_gaps, takes_many
from convexml.certificates.rounding import balanced_rows_of

PENALTIES: dict[str, Any] = {
    "l1": lambda lam: cml.penalties.L1(lam),
    "weighted l1": lambda lam: cml.penalties.L1(lam, np.array([1.0, 2.0, 0.5, 1.0])),
    "elastic net": lambda lam: cml.penalties.ElasticNet(lam, 0.4),
    "l2": lambda lam: cml.penalties.L2(lam),
}
LAMS = (0.5, 0.1, 0.01)


def exact_value(X: Any, y: Any, penalty: Any, w: Any, b: float) -> Fraction:
    """P with the mean squared loss, in rationals."""
    total = Fraction(0)
    for row, target in zip(X, y, strict=True):
        z = sum((Fraction(a) * Fraction(c) for a, c in zip(row, w, strict=True)), Fraction(b))
        total += (z - Fraction(target)) ** 2 / 2
    weights = getattr(penalty, "weights", None)
    levels = np.ones(len(w)) if weights is None else weights
    l1, l2 = Fraction(penalty.lam), Fraction(0)
    if penalty.name == "elastic_net":
        l1, l2 = Fraction(penalty._l1), Fraction(penalty._l2)
    if penalty.name == "l2":
        l1, l2 = Fraction(0), Fraction(penalty.lam)
    omega = sum(
        (l1 * Fraction(k) * abs(Fraction(c)) for k, c in zip(levels, w, strict=True)), Fraction(0)
    )
    omega += l2 / 2 * sum((Fraction(c) ** 2 for c in w), Fraction(0))
    return total / len(y) + omega


def posed(kind: str, seed: int, offset: float, intercept: bool = True) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(16, 4)) + offset  # 1 / 16 is exact
    y = rng.normal(size=16) + X[:, 0]
    return (
        X,
        y,
        [
            cml.LearningProblem(
                X, y, cml.losses.Squared(), PENALTIES[kind](lam), fit_intercept=intercept
            )
            for lam in LAMS
        ],
    )


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("kind", PENALTIES)
def test_the_bound_is_below_no_exact_gap(kind: str, offset: float) -> None:
    for seed in range(4):
        X, y, problems = posed(kind, seed, offset)
        best = [each.solve(tol=1e-12).primal for each in problems]
        rng = np.random.default_rng(seed)
        penalties = [each.objective_parts.penalty for each in problems]
        objective = problems[0].objective_parts
        for size in (0.0, 1e-12, 1e-6, 1e-2):
            W = np.array([point["w"] * (1.0 + size * rng.normal(size=4)) for point in best])
            b = np.array([float(point["b"]) for point in best])
            found = relative_gaps(objective, penalties, W, b)
            for k, penalty in enumerate(penalties):
                here = exact_value(X, y, penalty, W[k], b[k])
                there = exact_value(X, y, penalty, best[k]["w"], float(best[k]["b"]))
                certificate = problems[k].certify(W[k], b[k])
                assert found[k] * certificate.scale >= float(here - there) * (1.0 - 1e-12)
                if offset == 0.0 and size <= 1e-12:
                    assert found[k] <= 10.0 * certificate.relative_gap + 1e-11


@pytest.mark.parametrize("kind", PENALTIES)
@pytest.mark.parametrize("intercept", [True, False])
def test_solutions_are_verified_and_others_are_not(kind: str, intercept: bool) -> None:
    X, y, problems = posed(kind, 9, 0.0, intercept)
    points = [each.solve(tol=1e-12).primal for each in problems]
    W, b = (np.array([point[name] for point in points]) for name in ("w", "b"))
    penalties = [each.objective_parts.penalty for each in problems]
    for form in (X, sparse.csr_array(X)):
        objective = cml.LearningProblem(
            form, y, cml.losses.Squared(), penalties[0], fit_intercept=intercept
        ).objective_parts
        assert takes_many(objective)
        assert np.all(relative_gaps(objective, penalties, W, b) <= 1e-11)
        assert np.all(relative_gaps(objective, penalties, W + 0.3, b) > 1e-3)
        far = relative_gaps(objective, penalties, np.full_like(W, np.nan), b)
        assert np.all(far == np.inf)
        assert not np.any(relative_gaps(objective, penalties, 1e200 * (W + 1.0), b) <= 1e-3)


def test_what_it_cannot_bound_is_inf() -> None:
    X, y, problems = posed("l1", 1, 0.0)
    objective, w = problems[0].objective_parts, np.zeros((2, 4))
    penalties = [cml.penalties.L1(0.0), cml.penalties.L1(1.0, np.array([0.0, 1.0, 1.0, 1.0]))]
    assert np.all(relative_gaps(objective, penalties, w, np.zeros(2)) == np.inf)
    logistic = cml.LogisticRegression(X, y > 0.0, 1.0).objective_parts
    assert not takes_many(logistic)


def test_rows_are_balanced_exactly_and_hardly_moved() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 1500):
        U = rng.normal(size=(6, n)) * 10.0 ** rng.integers(-200, 200, size=(6, 1))
        U[0] += 1e3 * np.abs(U[0]).max()
        U[1] = 0.0
        U[2, 0] = np.inf if n == 7 else U[2, 0]
        found = balanced_rows_of(U)
        for row, given in zip(found, U, strict=True):
            assert sum(map(Fraction, row.tolist())) == 0
            if np.isfinite(given).all():
                mean = sum(map(Fraction, given.tolist())) / n
                moved = max(
                    abs(Fraction(r) - Fraction(g) + mean) for r, g in zip(row, given, strict=True)
                )
                assert moved <= Fraction(2.0**-48) * Fraction(float(np.abs(given).max()))

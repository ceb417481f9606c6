"""Systems are called contradictory, and margins absent, where it is so: exact rationals decide."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.draws.absence_draws import offsets
from support.exact.rational_algebra import fractions, noticed, rank
from support.sizes import each_seed

import convexml as cml
from convexml import LearningProblem, Verdict
from convexml.certificates.learning.existence import evidence
from convexml.certificates.learning.existence.evidence import inconsistent
from convexml.certificates.learning.existence.inseparable import inseparable
from convexml.losses import HardMargin, Interpolation
from convexml.numerics import Array
from convexml.penalties import L2

# -- X w + b = y -----------------------------------------------------------------------------------


def equations(seed: int) -> tuple[Array, Array, bool]:
    """A system at an offset, near-singular, rank-deficient or scaled, and whether b is free."""
    rng = np.random.default_rng(seed)
    n, d, kind = int(rng.integers(2, 7)), int(rng.integers(1, 5)), seed % 6
    X = rng.integers(-9, 10, size=(n, d)).astype(float)
    y = rng.integers(-9, 10, size=n).astype(float)
    if kind == 0:
        X = X + offsets(rng)
    elif kind == 1:
        X[:, -1] = X[:, 0] + 2.0 ** -int(rng.integers(10, 51)) * X[:, -1]
    elif kind == 2:
        X, y = X + offsets(rng), X @ rng.integers(-3, 4, size=d)
    elif kind == 3:
        X = np.ldexp(rng.normal(size=(n, d)), rng.integers(-60, 60, size=(1, d)))
        y = rng.normal(size=n)
    elif kind == 4:
        X[-1], y[-1] = X[0], y[0] + 2.0 ** -int(rng.integers(0, 50))
    else:
        y = X @ rng.integers(-3, 4, size=d) + 1e9
        X = X + offsets(rng)
    return X, y, bool(seed % 2)


def consistent(X: Array, y: Array, intercept: bool) -> bool:
    E = np.column_stack([X, np.ones(len(X))]) if intercept else X
    return rank(fractions(E)) == rank(fractions(np.column_stack([E, y])))


@each_seed(range(360))
def test_a_system_is_called_contradictory_exactly_where_it_is(seed: int) -> None:
    X, y, intercept = equations(seed)
    problem = LearningProblem(X, y, Interpolation(), L2(1.0), fit_intercept=intercept)
    found = inconsistent(problem.objective_parts)
    assert (found is None) == consistent(X, y, intercept)
    if found is not None:
        nu = found.arrays["nu"]
        assert y @ nu == pytest.approx(1.0, abs=1e-9 * float(np.abs(y) @ np.abs(nu)) + 1e-12)
        assert np.all(np.abs(X.T @ nu) <= 1e-12 * (np.abs(X).T @ np.abs(nu)))


@each_seed(range(120))
def test_a_priced_multiplier_never_contradicts_a_solution(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "OPERATIONS", 0)  # as for systems too large for integers
    X, y, intercept = equations(seed)
    problem = LearningProblem(X, y, Interpolation(), L2(1.0), fit_intercept=intercept)
    found = inconsistent(problem.objective_parts)
    assert found is None or not consistent(X, y, intercept)


def test_larger_systems_are_priced() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 10)) + 1e6, rng.normal(size=4000)
    found = inconsistent(LearningProblem(X, y, Interpolation(), L2(1.0)).objective_parts)
    assert found is not None
    assert "more than" in found.reason
    X = rng.integers(-9, 9, size=(4000, 10)) + 1e6
    y = X @ rng.integers(-9, 9, size=10)
    assert inconsistent(LearningProblem(X, y, Interpolation(), L2(1.0)).objective_parts) is None


def test_the_lines_of_the_table() -> None:
    far = cml.MinimumNorm(2e9 + np.arange(3.0)[:, None], [0, 1, 2.0], fit_intercept=True).solve()
    assert far.status == "optimal"
    near = cml.MinimumNorm([[1, 1], [1, 1 + 2.0**-46]], [0, 1]).solve()
    assert near.status != "infeasible"
    parallel = cml.MinimumNorm([[1, 1], [1, 1]], [0, 1]).solve()
    assert parallel.status == "infeasible"
    assert parallel.certificate.verdict is Verdict.CERTIFIED


# -- hyperplanes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [1.0, 1e4, 1e8, 1e10])
@pytest.mark.parametrize("seed", range(8))
def test_hard_margins_at_offsets(offset: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(20, 2)) * 64.0) / 64.0
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0.0, 1, -1)
    apart = cml.HardMarginSVM(X + offset, y).solve()
    assert apart.status != "infeasible"
    y[:6] = -y[:6]
    mixed = cml.HardMarginSVM(X + offset, y).solve()
    assert mixed.status == "infeasible"
    assert mixed.certificate.verdict is Verdict.CERTIFIED


@pytest.mark.parametrize("integers", [True, False], ids=["exact", "priced"])
@each_seed(range(200))
def test_a_margin_of_a_rounding_error_is_a_margin(
    seed: int, integers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not integers:
        monkeypatch.setattr(evidence, "OPERATIONS", 0)
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 20)), int(rng.integers(1, 4))
    X = rng.integers(-8, 9, size=(n, d)).astype(float)
    g = rng.integers(1, 4, size=d)
    y = np.where(X @ g > 0.0, 1.0, -1.0)
    y[X @ g == 0.0] = rng.choice([-1.0, 1.0], size=int(np.sum(X @ g == 0.0)))
    y[:2] = [1.0, -1.0]
    X[:2] = 0.0
    X += y[:, None] * 2.0 ** -int(rng.integers(20, 48))  # g'x + 0 separates, with that margin
    assert np.all(y * (X @ g) > 0.0)
    problem = LearningProblem(X, y, HardMargin(), L2(1.0), fit_intercept=bool(seed % 2))
    assert inseparable(problem.objective_parts) is None


def unpriced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "convexml.certificates.learning.existence.evidence.distance", lambda *args: 0.0
    )
    monkeypatch.setattr(
        "convexml.certificates.learning.existence.inseparable.distance", lambda *args: 0.0
    )


@pytest.mark.parametrize(
    "test",
    [
        test_a_priced_multiplier_never_contradicts_a_solution,
        lambda seed, monkeypatch: test_a_margin_of_a_rounding_error_is_a_margin(
            seed, False, monkeypatch
        ),
    ],
    ids=["interpolation", "hard margin"],
)
def test_a_multiplier_without_a_price_is_noticed(
    test: Callable[[int, pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    unpriced(monkeypatch)
    assert noticed(lambda seed: test(seed, monkeypatch), 120)

"""Constraints on the predictions that no w of a set meets: infeasible exactly where it is so."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from support.exact.exact_program import solve_program
from support.exact.rational_algebra import fractions, rank
from support.sizes import each_seed

import convexml as cml
from convexml import LearningProblem, Verdict
from convexml.losses import HardMargin, Interpolation
from convexml.numerics import Array
from convexml.penalties import Box, L1Ball, L2Ball, Nonnegative, Penalty


def margins(seed: int) -> tuple[Array, Array, Penalty, bool, bool]:
    """Integers, a set of w, whether b is free; the last: whether some (w, b) has all margins."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    kind, free = seed % 3, bool(rng.random() < 0.6)
    X = rng.integers(-9, 10, (n, d)).astype(float) + float(rng.choice([0.0, 0.0, 1000.0]))
    y = np.where(X @ rng.integers(-3, 4, d) > np.mean(X @ np.ones(d)), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    t = float(2.0 ** rng.integers(-4, 4))
    rows = -y[:, None] * np.column_stack([X, np.ones(n)])
    low, high = np.full(d, -t), np.full(d, t)
    penalty: Penalty = Box(low, high)
    if kind == 1:
        low, high, penalty = np.zeros(d), np.full(d, np.inf), Nonnegative()
    b = np.inf if free else 0.0
    side = -np.ones(n)
    if kind == 2:  # w = p - q, p, q >= 0, sum p + sum q <= t
        penalty = L1Ball(t)
        rows = np.column_stack([rows[:, :d], -rows])
        rows = np.vstack([rows, np.append(np.ones(2 * d), 0.0)])
        side, low, high = np.append(side, t), np.zeros(2 * d), np.full(2 * d, np.inf)
    low, high = np.append(low, -b), np.append(high, b)
    found = solve_program(np.zeros(len(low)), rows, side, lower=low, upper=high)
    return X, y, penalty, free, found.status != "infeasible"


@pytest.mark.parametrize("first", range(0, 150, 50))
def test_a_margin_out_of_reach_is_infeasible_and_nothing_else_is(first: int) -> None:
    seen = []
    for seed in range(first, first + 50):
        X, y, penalty, free, feasible = margins(seed)
        problem = LearningProblem(X, y, HardMargin(), penalty, fit_intercept=free)
        solution = problem.solve()
        seen.append(feasible)
        assert solution.status == ("optimal" if feasible else "infeasible"), (seed, solution)
        if not feasible:
            assert solution.certificate.verdict is Verdict.CERTIFIED
            assert np.min(solution.evidence["alpha"]) >= 0.0
            assert np.sum(solution.evidence["alpha"]) == pytest.approx(1.0)
    assert 5 <= sum(seen) <= 45


@pytest.mark.parametrize("near", [2.0**-10, 2.0**-30, 2.0**-48, 0.0, -(2.0**-48), -(2.0**-10)])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e9])
def test_a_margin_almost_out_of_reach(near: float, offset: float) -> None:
    """x = offset -+ 1 is told apart by w >= 1: a set |w| <= t has it or not."""
    X, y = offset + np.array([[1.0], [-1.0]]), [1, -1]
    for penalty in (L1Ball(1.0 - near), L2Ball(1.0 - near), Box(near - 1.0, 1.0 - near)):
        solution = LearningProblem(X, y, HardMargin(), penalty).solve()
        if near <= 0.0:
            assert solution.status != "infeasible"
        else:
            assert solution.status != "optimal" or near < 1e-6
        if near >= 2.0**-10:
            assert solution.status == "infeasible"


@pytest.mark.parametrize("seed", range(20))
def test_an_equation_out_of_reach(seed: int) -> None:
    """x'w = y has a w of norm |y| / |x|_dual, and none shorter."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-9, 10, int(rng.integers(1, 4))).astype(float)
    x[0], y = 5.0, float(rng.integers(1, 30))
    for make, dual in (
        (L1Ball, np.max(np.abs(x))),
        (L2Ball, np.linalg.norm(x)),
        (lambda t: Box(-t, t), np.sum(np.abs(x))),
    ):
        for share, status in ((0.99, "infeasible"), (1.01, "optimal")):
            penalty = make(share * y / dual)
            found = LearningProblem(x[None], [y], Interpolation(), penalty, fit_intercept=False)
            solution = found.solve()
            assert solution.status == status
            if status == "infeasible":
                nu = solution.evidence["nu"]
                assert penalty.conjugate(x * nu[0]) < y * nu[0]


@each_seed(range(60))
def test_equations_that_hold_down_to_rounding_contradict_themselves(seed: int) -> None:
    """y = X w in floats: optimal where y is in the range of X exactly, else infeasible."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 12)), int(rng.integers(1, 6))
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    if seed % 2:
        X, w = np.round(X * 1024.0) / 1024.0, np.round(w * 1024.0) / 1024.0
    y = X @ w
    solution = cml.MinimumNorm(X, y).solve()
    exact = rank(fractions(X)) == rank(fractions(np.column_stack([X, y])))
    assert solution.status == ("optimal" if exact else "infeasible")
    if exact:
        return
    nu = [Fraction(float(value)) for value in solution.evidence["nu"]]
    least = 1 / float(sum(map(abs, nu)))
    assert f"{least:.3g} or more" in solution.certificate.reason
    assert least <= 1e-13 * np.max(np.abs(y))

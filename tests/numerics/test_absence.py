"""Contradictions, separation and constraint sets are what exact rationals say, and nothing else."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from flint import fmpq_mat
from support.draws.absence_draws import offsets
from support.exact.exact_numbers import ONE, ZERO, Row, exact, rank, table
from support.exact.exact_program import solve_program
from support.sizes import each_seed

import convexml as cml
from convexml import LearningProblem, Verdict
from convexml.certificates.learning.existence.evidence import inconsistent
from convexml.certificates.learning.existence.inseparable import inseparable
from convexml.certificates.learning.existence.separating_direction import separating_direction
from convexml.losses import HardMargin, Interpolation, Logistic
from convexml.numerics import Array
from convexml.penalties import (
    L2,
    Box,
    L1Ball,
    L2Ball,
    Nonnegative,
    Penalty,
    Zero,
)


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
    return rank(table(E)) == rank(table(np.column_stack([E, y])))


@each_seed(range(120))
def test_a_system_is_called_contradictory_exactly_where_it_is(seed: int) -> None:
    X, y, intercept = equations(seed)
    problem = LearningProblem(X, y, Interpolation(), L2(1.0), fit_intercept=intercept)
    found = inconsistent(problem.objective_parts)
    assert (found is None) == consistent(X, y, intercept)
    if found is not None:
        nu = found.arrays["nu"]
        assert y @ nu == pytest.approx(1.0, abs=1e-9 * float(np.abs(y) @ np.abs(nu)) + 1e-12)
        assert np.all(np.abs(X.T @ nu) <= 1e-12 * (np.abs(X).T @ np.abs(nu)))


def test_larger_systems_are_priced() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 10)) + 1e6, rng.normal(size=4000)
    found = inconsistent(LearningProblem(X, y, Interpolation(), L2(1.0)).objective_parts)
    assert found is not None
    assert "more than" in found.reason
    X = rng.integers(-9, 9, size=(4000, 10)) + 1e6
    y = X @ rng.integers(-9, 9, size=10)
    assert inconsistent(LearningProblem(X, y, Interpolation(), L2(1.0)).objective_parts) is None


@each_seed(range(60))
def test_a_margin_of_a_rounding_error_is_a_margin(seed: int) -> None:
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


def circuits(vectors: list[Row]) -> list[set[int]]:
    """Supports of the nonnegative solutions of sum a_i v_i = 0 that have the fewest entries."""
    k, found = len(vectors[0]), []
    for size in range(1, k + 2):
        for chosen in combinations(range(len(vectors)), size):
            if any(s <= set(chosen) for s in found):
                continue
            rows = [[vectors[i][j] for i in chosen] for j in range(k)]
            if rank(rows) != size - 1:
                continue
            reduced = fmpq_mat(rows).rref()[0]  # columns that depend on the last, by one vector
            if all(reduced[i, size - 1] < 0 for i in range(size - 1)):
                found.append(set(chosen))
    return found


def classes(seed: int) -> tuple[Array, Array, bool]:
    """Two classes, often touching: on grids, at offsets, on a line up to 2^-k, in odd units."""
    rng = np.random.default_rng(seed)
    n, d, kind = int(rng.integers(3, 8)), int(rng.integers(1, 3)), seed % 6
    X = rng.integers(-3, 4, size=(n, d)).astype(float)
    if kind == 3:
        X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + rng.integers(-1, 2, size=n) * (rng.random() < 0.7) > 0.0, 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    if kind in (0, 5):
        X = X + offsets(rng)
    elif kind == 1:
        X = X * np.exp2(rng.integers(-40, 40, size=d))
    elif kind == 2 and d == 2:
        X[:, 1] = X[:, 0] + 2.0 ** -int(rng.integers(20, 51)) * X[:, 1]
    elif kind == 4:
        X = np.round(rng.normal(size=(n, d)) * 64.0) / 64.0 + 1e10
    return X, y, bool(rng.random() < 0.7)


def told_apart(seed: int, intercept: bool) -> bool:
    """Whether columns differ enough for a linear program in floats to find what there is."""
    return seed % 6 != 2 and (intercept or seed % 6 not in (0, 4, 5))


def signed(X: Array, y: Array, intercept: bool) -> list[Row]:
    E = np.column_stack([X, np.ones(len(X))]) if intercept else X
    return table(E * y[:, None])


@each_seed(range(90))
def test_classes_are_called_inseparable_exactly_where_they_are(seed: int) -> None:
    X, y, intercept = classes(seed)
    problem = LearningProblem(X, y, HardMargin(), L2(1.0), fit_intercept=intercept)
    found = inseparable(problem.objective_parts)
    known = bool(circuits(signed(X, y, intercept)))
    assert known or found is None
    assert found is not None or not (known and told_apart(seed, intercept))
    if found is not None:
        alpha = found.arrays["alpha"]
        assert np.all(alpha >= 0.0)
        assert alpha.sum() == pytest.approx(1.0, abs=1e-14)
        residual = np.abs(X.T @ (alpha * y))
        assert np.all(residual <= 1e-14 * (np.abs(X).T @ alpha))


PENALTIES: tuple[Penalty, ...] = (
    Zero(),
    Nonnegative(),
    Box(-1.0, 1.0),
    L2(1.0, weights=np.array([0.0, 1.0])),
)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@each_seed(range(24))
def test_a_minimiser_is_denied_exactly_where_there_is_none(seed: int, penalty: Penalty) -> None:
    X, y, intercept = classes(seed)
    if X.shape[1] == 1:
        X = np.column_stack([X, X[::-1]])
    width = 2 + intercept
    rows = signed(X, y, intercept)
    units = table(np.eye(width)[:2])
    for j in range(2):  # what a direction may not do is a vector that it must not oppose
        single = np.eye(2)[j]
        falls, rises = (penalty.conjugate(s * single) == np.inf for s in (-1.0, 1.0))
        if not falls:
            rows.append(units[j])
        if not rises:
            rows.append([-a for a in units[j]])
    covered = set().union(*circuits(rows))
    missing = any(i not in covered for i in range(len(y)))
    problem = LearningProblem(X, y, Logistic(), penalty, fit_intercept=intercept)
    found = separating_direction(problem.objective_parts)
    assert missing or found is None
    assert found is not None or not (missing and told_apart(seed, intercept))
    if found is not None:
        w, b = found.arrays["w"], float(found.arrays["b"])
        z = found.arrays["z"]
        assert np.all(y * z >= 0.0)
        assert np.max(y * z) == pytest.approx(1.0)
        assert penalty.violation(1e3 * w) == 0.0 or isinstance(penalty, L2 | Box)
        size = np.abs(X) @ np.abs(w) + abs(b)
        assert np.all(np.abs(X @ w + b - z) <= 1e-14 * size)


@each_seed(range(15))
def test_scores_of_three_classes_separate_exactly_where_they_do(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(int(rng.integers(3, 5)), 1)) + float(seed % 3) * offsets(rng)
    y = np.concatenate([np.arange(3), rng.integers(0, 3, size=len(X) - 3)])
    pairs = []
    for x, own in zip(X[:, 0].tolist(), y.tolist(), strict=True):
        for other in {0, 1, 2} - {own}:
            row = [ZERO] * 6
            row[own], row[other] = exact(x), -exact(x)
            row[3 + own], row[3 + other] = ONE, -ONE
            pairs.append(row)
    covered = set().union(*circuits(pairs))
    problem = cml.SoftmaxRegression(X, y, 0.0)
    found = separating_direction(problem.objective_parts)
    assert (found is not None) == (len(covered) < len(pairs))


@each_seed(range(12))
def test_the_claim_and_its_gap_reach_the_solution(seed: int) -> None:
    X, y, intercept = classes(6 * seed)
    covered = set().union(*circuits(signed(X, y, intercept)))
    problem = cml.LogisticRegression(X, y, 0.0, fit_intercept=intercept)
    solution = problem.solve()
    certificate = solution.certificate
    assert certificate.claim == ("unattained" if solution.status == "unattained" else "optimal")
    if len(covered) == len(y):
        assert solution.status == "optimal"
    elif intercept:  # an infimum may also be reached to within tol, by a bound that is honest
        assert solution.status in ("unattained", "optimal")
    if solution.status == "unattained":
        assert certificate.verdict is Verdict.CERTIFIED
        w, b = solution.evidence["w"], float(solution.evidence["b"])
        further = min(problem.objective(t * w, t * b) for t in (1.0, 10.0, 1e3))
        assert certificate.primal_objective - certificate.gap <= further * (1.0 + 1e-9) + 1e-12


def margin_draw(seed: int) -> tuple[Array, Array, Penalty, bool, bool]:
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


def test_a_margin_out_of_reach_is_infeasible_and_nothing_else_is() -> None:
    seen = []
    for seed in range(36):
        X, y, penalty, free, feasible = margin_draw(seed)
        problem = LearningProblem(X, y, HardMargin(), penalty, fit_intercept=free)
        solution = problem.solve()
        seen.append(feasible)
        assert solution.status == ("optimal" if feasible else "infeasible"), (seed, solution)
        if not feasible:
            assert solution.certificate.verdict is Verdict.CERTIFIED
            assert np.min(solution.evidence["alpha"]) >= 0.0
            assert np.sum(solution.evidence["alpha"]) == pytest.approx(1.0)
    assert 5 <= sum(seen) <= 31


@pytest.mark.parametrize("near", [2.0**-10, 2.0**-48, 0.0, -(2.0**-10)])
@pytest.mark.parametrize("offset", [0.0, 1e9])
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


@each_seed(range(24))
def test_equations_that_hold_down_to_rounding_contradict_themselves(seed: int) -> None:
    """y = X w in floats: optimal where y is in the range of X exactly, else infeasible."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 12)), int(rng.integers(1, 6))
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    if seed % 2:
        X, w = np.round(X * 1024.0) / 1024.0, np.round(w * 1024.0) / 1024.0
    y = X @ w
    solution = cml.MinimumNorm(X, y).solve()
    exact = rank(table(X)) == rank(table(np.column_stack([X, y])))
    assert solution.status == ("optimal" if exact else "infeasible")
    if exact:
        return
    least = 1.0 / float(np.abs(solution.evidence["nu"]).sum())
    assert f"{least:.3g} or more" in solution.certificate.reason
    assert least <= 1e-13 * np.max(np.abs(y))


Vector = list[Fraction]


def inside(penalty: Penalty, w: Vector) -> bool:
    """By the definition, in fractions."""
    if isinstance(penalty, L2Ball):
        return sum(x * x for x in w) <= Fraction(penalty.t) ** 2
    if isinstance(penalty, L1Ball):
        return sum(abs(x) for x in w) <= Fraction(penalty.t)
    assert isinstance(penalty, Box)
    ends = zip(
        np.broadcast_to(penalty.lo, len(w)), np.broadcast_to(penalty.hi, len(w)), strict=True
    )
    return all(
        (lo == -np.inf or x >= Fraction(float(lo))) and (hi == np.inf or x <= Fraction(float(hi)))
        for x, (lo, hi) in zip(w, ends, strict=True)
    )


def constraint_draw(seed: int) -> tuple[Penalty, Array]:
    """A constraint, and a w inside, on its boundary as floats have it, or outside by a hair."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    w = rng.normal(size=d) * (rng.random(d) < 0.8) * 10.0 ** rng.uniform(-3, 3)
    hair = float(rng.choice([-0.1, -(2.0**-50), 0.0, 2.0**-52, 2.0**-45, 0.1]))
    size = max(float(np.abs(w).max()), 1e-3)
    sets: list[Penalty] = [
        L2Ball(max(float(np.linalg.norm(w)), 1e-3) * (1.0 + hair)),
        L1Ball(max(float(np.abs(w).sum()), 1e-3) * (1.0 + hair)),
        Box(-size * (1.0 + hair), size),
        Box(np.abs(w) * (1.0 - hair), np.inf),
        Nonnegative(),
    ]
    kind = seed % len(sets)
    return sets[kind], np.abs(w) if kind >= 3 and rng.random() < 0.8 else w


def test_a_constraint_contains_what_its_definition_does() -> None:
    for seed in range(150):
        penalty, w = constraint_draw(seed)
        exact = [Fraction(x) for x in w.tolist()]
        assert penalty.contains(w) == inside(penalty, exact), seed
        most = penalty.stretch(w)
        for s in {most, min(most, 1.0)} if most < np.inf and not isinstance(penalty, Box) else ():
            assert inside(penalty, [Fraction(s) * x for x in exact]), seed
        if isinstance(penalty, Box) and most > 0.0:
            for s in {1.0, most if most < np.inf else 1e6}:
                assert inside(penalty, [Fraction(s) * x for x in exact]), seed
        free = w != 0.0 if seed % 2 else np.ones(len(w), dtype=bool)
        room, rng = penalty.room(w, free), np.random.default_rng(seed)
        if room > 0.0 and free.any():
            away = rng.normal(size=len(w)) * free
            away *= (room if room < np.inf else 1.0) / np.linalg.norm(away) * (1.0 - 1e-9)
            near = [x + Fraction(t) for x, t in zip(exact, away.tolist(), strict=True)]
            assert inside(penalty, near), seed

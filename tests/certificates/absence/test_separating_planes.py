"""Classes are called inseparable, and minimisers absent, where it is so: exact rationals decide."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from support.draws.absence_draws import offsets
from support.exact.rational_algebra import fractions, rank
from support.sizes import each_seed

import convexml as cml
from convexml import LearningProblem, Verdict
from convexml.certificates.learning.existence import evidence
from convexml.certificates.learning.existence.inseparable import inseparable
from convexml.certificates.learning.existence.separating_direction import separating_direction
from convexml.losses import HardMargin, Logistic
from convexml.numerics import Array
from convexml.penalties import L2, Box, Nonnegative, Penalty, Zero

Vector = list[Fraction]


def circuits(vectors: list[Vector]) -> list[set[int]]:
    """Supports of the nonnegative solutions of sum a_i v_i = 0 that have the fewest entries."""
    k, found = len(vectors[0]), []
    for size in range(1, k + 2):
        for chosen in combinations(range(len(vectors)), size):
            if any(s <= set(chosen) for s in found):
                continue
            rows = [[vectors[i][j] for i in chosen] for j in range(k)]
            if rank(rows) != size - 1:
                continue
            solution = kernel_vector(rows)
            if all(a > 0 for a in solution) or all(a < 0 for a in solution):
                found.append(set(chosen))
    return found


def kernel_vector(rows: list[Vector]) -> Vector:
    """The solution of rows a = 0 for a kernel of dimension 1."""
    table, size, pivots = [row[:] for row in rows], len(rows[0]), []
    for j in range(size):
        top = next((i for i in range(len(pivots), len(table)) if table[i][j] != 0), None)
        if top is None:
            continue
        at = len(pivots)
        table[at], table[top] = table[top], table[at]
        table[at] = [a / table[at][j] for a in table[at]]
        for i in range(len(table)):
            if i != at:
                factor = table[i][j]
                table[i] = [a - factor * b for a, b in zip(table[i], table[at], strict=True)]
        pivots.append(j)
    (free,) = set(range(size)) - set(pivots)
    solution = [Fraction(0)] * size
    solution[free] = Fraction(1)
    for i, j in enumerate(pivots):
        solution[j] = -table[i][free]
    return solution


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


def signed(X: Array, y: Array, intercept: bool) -> list[Vector]:
    E = np.column_stack([X, np.ones(len(X))]) if intercept else X
    return fractions(E * y[:, None])


@each_seed(range(360))
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


@each_seed(range(120))
def test_a_priced_multiplier_never_denies_a_hyperplane(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "OPERATIONS", 0)
    X, y, intercept = classes(seed)
    problem = LearningProblem(X, y, HardMargin(), L2(1.0), fit_intercept=intercept)
    found = inseparable(problem.objective_parts)
    assert found is None or circuits(signed(X, y, intercept))


PENALTIES: tuple[Penalty, ...] = (
    Zero(),
    Nonnegative(),
    Box(-np.inf, 3.0),
    Box(-1.0, 1.0),
    L2(1.0, weights=np.array([0.0, 1.0])),
)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@each_seed(range(72))
def test_a_minimiser_is_denied_exactly_where_there_is_none(seed: int, penalty: Penalty) -> None:
    X, y, intercept = classes(seed)
    if X.shape[1] == 1:
        X = np.column_stack([X, X[::-1]])
    width = 2 + intercept
    table = signed(X, y, intercept)
    units = [[Fraction(int(i == j)) for i in range(width)] for j in range(2)]
    for j in range(2):  # what a direction may not do is a vector that it must not oppose
        single = np.eye(2)[j]
        falls, rises = (penalty.conjugate(s * single) == np.inf for s in (-1.0, 1.0))
        if not falls:
            table.append(units[j])
        if not rises:
            table.append([-a for a in units[j]])
    covered = set().union(*circuits(table))
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


@pytest.mark.parametrize(
    "seed", [*range(30), *(pytest.param(k, marks=pytest.mark.slow) for k in range(30, 100))]
)
def test_scores_of_three_classes_separate_exactly_where_they_do(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(int(rng.integers(3, 5)), 1)) + float(seed % 3) * offsets(rng)
    y = np.concatenate([np.arange(3), rng.integers(0, 3, size=len(X) - 3)])
    pairs = []
    for x, own in zip(X[:, 0].tolist(), y.tolist(), strict=True):
        for other in {0, 1, 2} - {own}:
            row = [Fraction(0)] * 6
            row[own], row[other] = Fraction(x), -Fraction(x)
            row[3 + own], row[3 + other] = Fraction(1), Fraction(-1)
            pairs.append(row)
    covered = set().union(*circuits(pairs))
    problem = cml.SoftmaxRegression(X, y, 0.0)
    found = separating_direction(problem.objective_parts)
    assert (found is not None) == (len(covered) < len(pairs))


@each_seed(range(40))
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


def test_where_the_intercept_alone_is_free_no_program_is_solved(monkeypatch):
    monkeypatch.setattr("scipy.optimize.linprog", None)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    assert cml.LogisticRegression(X, np.sign(X[:, 0]), 1e-8).solve().status == "optimal"
    falling = cml.PoissonRegression(X, np.zeros(12), 0.1).solve()
    assert falling.status == "unattained"
    assert falling.evidence["b"] < 0.0 == np.max(np.abs(falling.evidence["w"]))

"""Verified linear algebra against exact rationals: ranks, least singular values, prices."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from convexml import LearningProblem
from convexml.certificates.algebra import dependence
from convexml.certificates.algebra.dependence import dependence as split
from convexml.certificates.algebra.rationals import as_integers, eliminate, solve_exactly
from convexml.certificates.algebra.singular import least_singular_value, unit_columns
from convexml.certificates.algebra.sums import exact_residual
from convexml.certificates.learning.points import columns
from convexml.certificates.learning.points.columns import price_of_columns
from convexml.certificates.learning.points.primal_repair import repair_primal
from convexml.losses import Huber, Logistic, Pinball, Squared
from convexml.numerics import Array
from convexml.objective import Objective
from convexml.objective.frame import frame_of
from convexml.penalties import L1, L2, Nonnegative, Zero

Table = list[list[Fraction]]


def fractions(matrix: Array) -> Table:
    return [[Fraction(float(x)) for x in row] for row in np.atleast_2d(matrix)]


def rank(table: Table) -> int:
    """Gauss in Fractions: nothing of the package."""
    rows, done = [row[:] for row in table], 0
    for j in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(done, len(rows)) if rows[i][j] != 0), None)
        if pivot is None:
            continue
        rows[done], rows[pivot] = rows[pivot], rows[done]
        for i in range(done + 1, len(rows)):
            factor = rows[i][j] / rows[done][j]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[done], strict=True)]
        done += 1
    return done


def is_positive_definite(table: Table) -> bool:
    rows = [row[:] for row in table]
    for j in range(len(rows)):
        if rows[j][j] <= 0:
            return False
        for i in range(j + 1, len(rows)):
            factor = rows[i][j] / rows[j][j]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[j], strict=True)]
    return True


def exceeds(B: Array, sigma: float) -> bool:
    """Whether sigma_min(B) > sigma, decided in rationals."""
    table, k = fractions(B), B.shape[1]
    gram = [[sum((r[i] * r[j] for r in table), Fraction(0)) for j in range(k)] for i in range(k)]
    for i in range(k):
        gram[i][i] -= Fraction(sigma) ** 2
    return is_positive_definite(gram)


def matrices(seed: int) -> tuple[Array, float]:
    """A matrix with unit columns, and about its condition."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(3, 12)), int(rng.integers(1, 4))
    n = max(n, k)
    B = rng.normal(size=(n, k))
    exponent = rng.uniform(0.0, 15.0)
    if k > 1:
        B[:, -1] = B[:, 0] + 10.0**-exponent * B[:, -1]
    if seed % 5 == 0:
        B = np.ldexp(B, rng.integers(-60, 60, size=k))
    return unit_columns(B)[0], 10.0**exponent if k > 1 else 1.0


@pytest.mark.parametrize("seed", range(300))
def test_the_least_singular_value_is_bounded_from_below_and_not_far(seed: int) -> None:
    B, condition = matrices(seed)
    sigma = least_singular_value(B)
    assert sigma == 0.0 or exceeds(B, sigma * (1.0 - 1e-15))
    if condition < 1e11:
        assert sigma > 0.0
        assert not exceeds(B, 3.0 * sigma)


@pytest.mark.parametrize("seed", range(40))
def test_a_singular_matrix_has_no_positive_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-99, 99, size=(2, 20)) / 8.0
    assert least_singular_value(np.column_stack([a, b, 3.0 * a - 5.0 * b])) == 0.0
    assert least_singular_value(rng.normal(size=(3, 4))) == 0.0
    assert least_singular_value(np.zeros((5, 1))) == 0.0
    assert least_singular_value(np.array([[np.nan], [1.0]])) == 0.0


@pytest.mark.parametrize("seed", range(200))
def test_elimination_knows_rank_and_solutions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k, r = rng.integers(1, 7, size=3)
    small = rng.integers(-4, 5, size=(n, r)) @ rng.integers(-4, 5, size=(r, k))
    matrix = np.ldexp(small.astype(float), rng.integers(-40, 40, size=(1, k)))
    right = matrix @ rng.integers(-3, 4, size=k) + (rng.integers(-1, 2, size=n) * (seed % 2))
    known = rank(fractions(matrix))
    assert eliminate(as_integers(matrix)).rank == known
    x = solve_exactly(matrix, right)
    consistent = rank(fractions(np.column_stack([matrix, right]))) == known
    assert (x is not None) == consistent
    if x is not None:
        for row, y in zip(fractions(matrix), right.tolist(), strict=True):
            assert sum((a * b for a, b in zip(row, x, strict=True)), Fraction(0)) == Fraction(y)


@pytest.mark.parametrize("seed", range(100))
def test_sums_of_products_are_rounded_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4, 9)) * 10.0 ** rng.integers(-12, 12, size=(4, 9))
    w = rng.normal(size=9)
    X[1, -1] = -float(X[1, :-1] @ w[:-1]) / w[-1]
    found = exact_residual(X, w)
    for row, value in zip(X.tolist(), found.tolist(), strict=True):
        exact = sum((Fraction(a) * Fraction(b) for a, b in zip(row, w, strict=True)), Fraction(0))
        assert value == float(exact)


def test_products_below_the_least_exact_one_are_not_called_zero() -> None:
    assert np.isnan(exact_residual(np.array([[1e-200, 0.0]]), np.array([1e-200, 1.0]))[0])


def with_dependence(seed: int) -> tuple[Array, bool]:
    """Columns of which the last depends on the others: exactly, up to rounding, or not at all."""
    rng = np.random.default_rng(seed)
    n, kind = int(rng.integers(8, 40)), seed % 8
    a, b = rng.normal(size=(2, n))
    if kind == 0:
        last = a + b
    elif kind == 1:
        a, b = rng.integers(-500, 500, size=(2, n)) / 16.0
        last = a + b
    elif kind == 2:
        a, b = rng.integers(-500, 500, size=(2, n)) / 16.0
        last = 3.0 * a - 7.0 * b + 2.5
    elif kind == 3:
        last = 0.1 * a
    elif kind == 4:
        last = 2.0**-30 * a
    elif kind == 5:
        last = np.full(n, rng.normal())
    elif kind == 6:
        a, b = rng.integers(-9, 9, size=(2, n)).astype(float)
        a[:4], b[:4] = [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]
        last = (2.0 * a + 31.0 * b) * 2.0**20 / 64.0
    else:
        last = rng.normal(size=n)
    X = np.column_stack([a, b, last])[:, rng.permutation(3)]
    table = fractions(np.column_stack([X, np.ones(n)]))
    return X, rank(table) == 4


@pytest.mark.parametrize("seed", range(240))
def test_columns_are_dependent_exactly_or_they_are_doubtful(seed: int) -> None:
    X, full = with_dependence(seed)
    found = split(X, ones=True)
    if full:
        assert found.exact.size == 0
    else:
        assert found.doubtful.size == 0
        assert found.exact.size == 1
    assert found.independent[-1] == 3  # the ones stay
    if seed % 8 == 7:
        assert found.independent.size == 4


# -- the price ---------------------------------------------------------------------------------


def least_squares(X: Array, y: Array) -> Fraction:
    """The least mean of squares / 2 over (w, b), in rationals, by the normal equations."""
    table = [[*row, Fraction(1)] for row in fractions(X)]
    right = [Fraction(float(v)) for v in y]
    k, n = len(table[0]), len(table)
    rows = [
        [sum((r[i] * r[j] for r in table), Fraction(0)) for j in range(k)]
        + [sum((r[i] * t for r, t in zip(table, right, strict=True)), Fraction(0))]
        for i in range(k)
    ]
    pivots: list[int] = []
    for j in range(k):
        top = next((i for i in range(len(pivots), k) if rows[i][j] != 0), None)
        if top is None:
            continue
        at = len(pivots)
        rows[at], rows[top] = rows[top], rows[at]
        rows[at] = [a / rows[at][j] for a in rows[at]]
        for i in range(k):
            if i != at:
                rows[i] = [a - rows[i][j] * b for a, b in zip(rows[i], rows[at], strict=True)]
        pivots.append(j)
    w = [Fraction(0)] * k
    for i, j in enumerate(pivots):
        w[j] = rows[i][k]
    residual = [
        t - sum((a * b for a, b in zip(r, w, strict=True)), Fraction(0))
        for r, t in zip(table, right, strict=True)
    ]
    return sum((e * e for e in residual), Fraction(0)) / (2 * n)


def squared_dual(y: Array, u: Array) -> Fraction:
    """-F*(u) = -sum n u_i^2 / 2 + u_i y_i, in rationals."""
    n = len(y)
    pairs = [(Fraction(float(a)), Fraction(float(t))) for a, t in zip(u, y, strict=True)]
    return -sum((n * a * a / 2 + a * t for a, t in pairs), Fraction(0))


def overstated(objective: Objective, u: Array, rng: np.random.Generator, size: float) -> Array:
    """U moved towards larger D, off the rows X'u = 0, with 1'u = 0 as far as floats go."""
    moved = u - size * np.abs(u).max() * (objective.y + u * objective.n)
    return moved - moved.mean()


@pytest.mark.parametrize("seed", range(240))
def test_the_price_covers_what_the_residual_gains(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, _ = with_dependence(seed)
    y = rng.normal(size=len(X))
    problem = LearningProblem(X, y, Squared(), Zero())
    objective = problem.objective_parts
    truth = least_squares(X, y)
    E = np.column_stack([X, np.ones(len(X))])
    w = np.linalg.lstsq(E, y, rcond=1e-12)[0]
    u = (E @ w - y) / len(y)
    point = repair_primal(objective, w[:3], float(w[3]))
    for size in (0.0, 1e-13, 1e-9, 1e-5):
        tried = overstated(objective, u, rng, size)
        v = -X.T @ tried
        for given in (point, None):
            price = price_of_columns(objective, tried, v, given).price
            bound = squared_dual(y, tried) - Fraction(float(price))
            assert bound <= truth * (1 + Fraction(1, 10**15))
        if seed % 8 in (1, 2, 4, 5, 7):  # well conditioned: the price is no more than it must be
            assert price <= max(1e-12, 100.0 * size) * float(truth + 1)


def noticed(test: Callable[[int], None], seeds: int) -> bool:
    try:
        for seed in range(seeds):
            test(seed)
    except AssertionError:
        return True
    return False


def rounding_is_dependence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependence, "_is_combination", lambda *args: True)


def no_price_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "above_zero", lambda *args: 0.0)


@pytest.mark.parametrize("fault", [rounding_is_dependence, no_price_at_all])
def test_a_faulty_price_is_noticed(
    fault: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    assert noticed(test_the_price_covers_what_the_residual_gains, 24)


def test_a_bound_ten_times_too_high_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "least_singular_value", lambda B: 10.0 * _true_bound(B))
    assert noticed(test_the_least_singular_value_is_bounded_from_below_and_not_far, 10)


_true_bound = least_singular_value


@pytest.mark.parametrize("loss", [Squared(), Huber(0.5), Logistic(), Pinball(0.3)], ids=repr)
@pytest.mark.parametrize(
    "penalty",
    [Zero(), L2(0.3, weights=np.array([0.0, 1.0, 0.0])), Nonnegative(), L1(0.0)],
    ids=["zero", "l2", "nonnegative", "l1"],
)
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_an_ordinary_optimum_pays_next_to_nothing(
    loss: object, penalty: object, offset: float
) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    y = X @ [1.0, -1.0, 2.0] + 2.0 * rng.normal(size=40)
    y = np.sign(y) if isinstance(loss, Logistic) else y
    problem = LearningProblem(X + offset, y, loss, penalty)  # type: ignore[arg-type]
    solution = problem.solve()
    frame = frame_of(problem.objective_parts)  # the certificate's own coordinates
    objective = frame.objective
    u = frame.dual_inside(solution.dual["u"])
    point = repair_primal(objective, *frame.inside(solution.primal["w"], solution.primal["b"])[:2])
    found = price_of_columns(objective, u, -objective.design.rmatvec(u), point)
    assert found.price <= 1e-13 * max(1.0, offset) * abs(solution.objective)

"""Prices by bounds that rows imply, against vertices and feasible points in rationals."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from scipy import sparse

from convexml.certificates.algebra.rationals import solve_exactly
from convexml.certificates.conic.prices.bounded import bounded_prices
from convexml.certificates.linear.implied import implied_bounds
from convexml.numerics import Array
from convexml.objective.conic.cones import NonnegativeCone, ZeroCone
from convexml.objective.conic.program import ConeProgram, cone_program_of

Point = list[Fraction]


def exact(values: Array) -> Point:
    return [Fraction(float(v)) for v in np.ravel(values)]


def product_of(row: Array, x: Point) -> Fraction:
    return sum((a * v for a, v in zip(exact(row), x, strict=True)), Fraction(0))


def vertices(A: Array, b: Array, equal: Array) -> Iterator[Point]:
    """Every point where n rows hold with equality and all others are met, in rationals."""
    m, n = A.shape
    fixed, others = np.flatnonzero(equal).tolist(), np.flatnonzero(~equal).tolist()
    for rows in combinations(others, n - len(fixed)):
        chosen = [*fixed, *rows]
        if np.linalg.matrix_rank(A[chosen]) < n:
            continue
        x = solve_exactly(A[chosen], b[chosen], [Fraction(0)] * n)
        if x is not None and all(product_of(A[i], x) <= Fraction(float(b[i])) for i in range(m)):
            yield x


def test_implied_bounds_hold_at_every_vertex() -> None:
    """Data that are no decimals: a bound one ulp too tight would cut a vertex off."""
    rng = np.random.default_rng(7)
    finite, touched = 0, 0
    for _ in range(50):
        n, m = 3, 4
        A = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.6)
        start = rng.normal(size=n)
        equal = np.append(rng.random(m) < 0.2, np.zeros(n, dtype=bool))
        A = np.vstack([A, np.diag(rng.choice([-1.0, 1.0], n) * rng.random(n))])
        b = A @ start + np.where(equal, 0.0, rng.random(m + n) * rng.integers(0, 2, m + n))
        lower, upper = implied_bounds(sparse.csr_array(A), b, equal)
        finite += int(np.isfinite(lower).sum() + np.isfinite(upper).sum())
        for x in vertices(A, b, equal):
            for j in range(n):
                assert not (np.isfinite(lower[j]) and x[j] < Fraction(float(lower[j])))
                assert not (np.isfinite(upper[j]) and x[j] > Fraction(float(upper[j])))
                gap = min(abs(float(x[j]) - lower[j]), abs(float(x[j]) - upper[j]))
                touched += gap < 1e-12
    assert finite > 120
    assert touched > 40


def test_what_cancels_is_given_away() -> None:
    """x + a y + c z <= b, y >= l, z >= h: the bound is a small difference of large products."""
    rng = np.random.default_rng(11)
    for _ in range(40):
        (a, c), (low, high) = rng.random(2), 1e8 * rng.normal(size=2)
        b = a * low + c * high + rng.random()
        A = sparse.csr_array([[1.0, a, c], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]])
        upper = implied_bounds(A, np.array([b, -low, -high]), np.zeros(3, dtype=bool))[1]
        a, b, c, low, high = exact(np.array([a, b, c, low, high]))
        assert b - a * low - c * high <= Fraction(float(upper[0]))


def test_rows_that_bound_nothing_imply_nothing() -> None:
    A = sparse.csr_array([[1.0, -1.0], [0.0, -1.0]])
    lower, upper = implied_bounds(A, np.array([0.0, 0.0]), np.zeros(2, dtype=bool))
    assert np.all(upper == np.inf)
    assert lower[0] == -np.inf
    assert -1e-300 <= lower[1] <= 0.0
    huge = sparse.csr_array([[1e-300, 1e300], [-1.0, 0.0], [0.0, -1.0]])
    bounds = implied_bounds(huge, np.array([1e300, 0.0, 1e10]), np.zeros(3, dtype=bool))
    assert bounds[1][0] == np.inf  # (1e300 + 1e310) / 1e-300
    assert np.isfinite(bounds[0][0])


def random_program(rng: np.random.Generator) -> tuple[ConeProgram, Array, Array]:
    """x >= 0, a pair of opposite columns or a free variable that one equality defines.

    The multipliers are exactly dual feasible in integers, and so are the costs.
    """
    n, m = 3, 3
    A = rng.integers(-3, 4, (m, n)).astype(float)
    kind, equal = rng.integers(3), np.array([True, False, False])
    scale = 2.0 ** rng.integers(-2, 3)
    if kind == 0:
        A[:, 1] = -scale * A[:, 0]
    if kind == 1:
        A[:, 0] = [-1.0, 0.0, 0.0]
    x = rng.integers(0, 4, n).astype(float)
    y = np.where(equal, rng.integers(-3, 4, m), rng.integers(0, 4, m)).astype(float)
    own = np.where(x > 0.0, 0.0, rng.integers(0, 3, n))
    if kind < 2:
        own[: 2 - kind] = 0.0
    q = -A.T @ y + own
    signs = np.arange(n) if kind != 1 else np.arange(1, n)
    rows = np.vstack([A, -np.eye(n)[signs]])
    b = np.append(A @ x + np.where(equal | (y > 0.0), 0.0, 1.0), np.zeros(signs.size))
    mask = np.append(equal, np.zeros(signs.size, dtype=bool))
    cones = (ZeroCone(1), NonnegativeCone(b.size - 1))
    return cone_program_of(None, q, rows, b, cones), np.append(y, own[signs]), mask


def test_no_price_is_too_small_for_the_best_vertex() -> None:
    """Multipliers off by rounding up to 1e-2, data by thirds and fifths."""
    rng = np.random.default_rng(3)
    priced, aside = 0, 0
    for _ in range(22):
        program, y, equal = random_program(rng)
        units = 1.0 / rng.integers(1, 8, 3)
        A = program.A.toarray() * units
        program = cone_program_of(None, program.q * units, A, program.b, program.cones)
        values = [product_of(program.q, x) for x in vertices(A, program.b, equal)]
        for size in (0.0, 1e-16, 1e-12, 1e-7, 1e-2):
            moved = y + size * rng.normal(size=y.size) * rng.integers(0, 2, y.size)
            for found in bounded_prices(program, np.zeros(3), program.project_dual(moved)):
                priced += 1
                aside += not np.array_equal(found.y, program.project_dual(moved))
                assert all(Fraction(found.value) - Fraction(found.price) <= v for v in values)
                assert found.price >= 0.0
    assert priced > 40
    assert aside > 3


@pytest.mark.parametrize("ulp", [0.0, 2.0**-52])
def test_opposite_columns_are_one_variable_only_where_their_costs_are_opposite(ulp: float) -> None:
    """Minimise x - (1 + ulp) z + v, x - z + v / 3 = 1, all >= 0, v <= 5: unbounded for ulp > 0."""
    A = [[1.0, -1.0, 1 / 3], *(-np.eye(3)), [0.0, 0.0, 1.0]]
    b = [1.0, 0.0, 0.0, 0.0, 5.0]
    program = cone_program_of(None, [1.0, -1.0 - ulp, 1.0], A, b, (ZeroCone(1), NonnegativeCone(4)))
    for off in (0.0, 1e-15, 1e-9):
        y = np.array([-1.0 + off, 0.0, 0.0, 2 / 3, 0.0])
        found = [each.bound for each in bounded_prices(program, np.zeros(3), y)]
        if ulp:
            assert not np.any(np.isfinite(found))
        else:
            assert 1.0 - 20.0 * (off + 1e-15) <= max(found) <= 1.0


@pytest.mark.parametrize(("off", "t"), [(1e-9, 1e-6), (-1e-9, 1e-3)])
def test_multipliers_of_bounds_of_opposite_columns_are_given_back(off: float, t: float) -> None:
    """Minimise x - z + v, x - z + v / 3 = 1, x, z >= 3, 0 <= v <= 5: 1, where D is 1 + 6 t."""
    A = [[1.0, -1.0, 1 / 3], *(-np.eye(3)), [0.0, 0.0, 1.0]]
    cones = (ZeroCone(1), NonnegativeCone(4))
    program = cone_program_of(None, [1.0, -1.0, 1.0], A, [1.0, -3.0, -3.0, 0.0, 5.0], cones)
    y = np.array([-1.0 + off, t, t, 2 / 3, 0.0])
    (found,) = bounded_prices(program, np.zeros(3), y)
    assert found.value == pytest.approx(1.0 + 6.0 * t - off, abs=1e-15)
    assert 1.0 - t <= found.bound <= 1.0


@pytest.mark.parametrize("off", [1e-12, -1e-12, 1e-3, -1e-3])
def test_a_variable_that_one_equality_defines_moves_its_multiplier(off: float) -> None:
    """Minimise z + 2 v, z - x + v = 5, x, v >= 0, z free: 5, where D is 5 - 5 off."""
    A = [[1.0, -1.0, 1.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]
    cones = (ZeroCone(1), NonnegativeCone(2))
    program = cone_program_of(None, [1.0, 0.0, 2.0], A, [5.0, 0.0, 0.0], cones)
    y = np.array([-1.0 + off, 1.0 - off, 1.0 + off])
    (found,) = bounded_prices(program, np.zeros(3), y)
    assert np.array_equal(found.y, y)
    assert 5.0 - 11.0 * abs(off) <= found.bound <= 5.0


def test_a_quadratic_program_is_bounded_at_every_feasible_point() -> None:
    """Any w and y with bounds on all variables: against points of a grid, in rationals."""
    rng = np.random.default_rng(5)
    finite = 0
    for _ in range(8):
        root = rng.integers(-2, 3, (2, 3)).astype(float)
        P, q = root.T @ root, rng.normal(size=3)
        A = np.vstack([rng.integers(0, 4, (2, 3)) + 1.0, -np.eye(3)])
        b = np.append(rng.integers(1, 9, 2), np.zeros(3)).astype(float)
        program = cone_program_of(P, q, A, b, (NonnegativeCone(5),))
        grid = [
            x
            for x in product((Fraction(k, 2) for k in range(9)), repeat=3)
            if all(product_of(A[i], list(x)) <= Fraction(float(b[i])) for i in range(2))
        ]
        values = []
        for x in map(list, grid):
            bent = [product_of(row, x) for row in P]
            curve = sum((u * v for u, v in zip(bent, x, strict=True)), Fraction(0)) / 2
            values.append(product_of(q, x) + curve)
        for _ in range(3):
            w, y = rng.normal(size=3), np.abs(rng.normal(size=5))
            for found in bounded_prices(program, w, y):
                finite += 1
                assert Fraction(found.value) - Fraction(found.price) <= min(values)
    assert finite == 24

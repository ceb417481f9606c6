"""The gap of a sum of terms is never below P - D of exact rationals, whatever its terms and units.

The points lie next to an optimum, so that the gap is of the size of rounding: a charge that is left
out shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq
from scipy import sparse
from support.exact.exact_numbers import HALF, ONE, ZERO, Row, ball, dot, exact, row, table

import convexml as cml
from convexml import losses, penalties
from convexml.numerics import Array
from convexml.problem.terms import NeighbourDifferences, Pairs, Squares, Summand, SumOfTerms

Rng = np.random.Generator
EVERY = (penalties.L1, penalties.GroupL2, penalties.Nonnegative, penalties.Box)


@dataclass
class Sum(SumOfTerms):
    """A sum that a test draws."""

    y: Array
    c: Array
    parts: list[Summand]

    null = property(lambda self: 1.0)

    @property
    def terms(self) -> list[Summand]:
        return [Summand(Squares(self.y, self.c)), *self.parts]


def drawn_function(rng: Rng, size: int, level: float) -> Any:
    kind = rng.integers(5)
    if kind == 0:
        return penalties.L1(level)
    if kind == 1:
        return penalties.L1(level, rng.uniform(0.1, 3.0, size))
    if kind == 2:
        return penalties.GroupL2(level, rng.integers(0, 2, size))
    if kind == 3:
        return penalties.Nonnegative()
    return penalties.Box(-rng.uniform(0.1, 2.0, size), np.inf)


def drawn_map(rng: Rng, n: int) -> tuple[Any, Array]:
    """A map, and its matrix."""
    if rng.integers(3):
        times, sign = int(rng.integers(1, 4)), float(rng.choice([-1.0, 1.0]))
        return NeighbourDifferences(times, sign), sign * np.diff(np.eye(n), times, axis=0)
    i, j = np.triu_indices(n, 1)
    A = np.eye(n)[i] - np.eye(n)[j]
    return Pairs(sparse.csr_array(A)), A


def value_of(function: Any, z: Row) -> arb:
    """f(z), with 120 digits."""
    if isinstance(function, penalties.L1):
        weights = [ONE] * len(z) if function.weights is None else row(function.weights)
        return ball(exact(function.lam) * dot(weights, [abs(x) for x in z]))
    if isinstance(function, penalties.GroupL2):
        return sum((s * ball(dot(g, g)).sqrt() for s, g in in_groups(function, z)), arb(0))
    return arb(0)


def in_groups(function: penalties.GroupL2, z: Row) -> list[tuple[arb, Row]]:
    """lam sqrt of its size, and entries, of every group."""
    found = []
    for label in np.unique(function.groups):
        part = [x for x, g in zip(z, function.groups, strict=True) if g == label]
        found.append((ball(exact(function.lam)) * arb(len(part)).sqrt(), part))
    return found


def conjugate_of(function: Any, v: Row) -> arb:
    """f*(v), which must be finite."""
    if isinstance(function, penalties.L1):
        weights = [ONE] * len(v) if function.weights is None else row(function.weights)
        pairs = zip(v, weights, strict=True)
        assert all(abs(x) <= exact(function.lam) * weight for x, weight in pairs)
        return arb(0)
    if isinstance(function, penalties.GroupL2):
        assert all(ball(dot(g, g)).sqrt() <= level for level, g in in_groups(function, v))
        return arb(0)
    assert all(x <= 0 for x in v)
    lo = np.broadcast_to(function.lo, len(v))
    return ball(sum((x * exact(end) for x, end in zip(v, lo, strict=True)), ZERO))


def exact_gap(problem: Sum, matrices: list[Array], x: Array, given: list[Array]) -> arb:
    """P(x) - D, D at the u_0 that the others leave; what x violates counts as 0."""
    y, c, point = row(problem.y), row(problem.c), row(x)
    left, total = [ZERO] * len(y), arb(0)
    for term, A, u in zip(problem.parts, matrices, given, strict=True):
        rows, pull = table(A), row(u)
        z = [dot(line, point) for line in rows]
        total += value_of(term.function, z) + conjugate_of(term.function, pull)
        left = [
            a - dot(pull, column) for a, column in zip(left, zip(*rows, strict=True), strict=True)
        ]
    for a, target, weight, at in zip(left, y, c, point, strict=True):
        total += ball(HALF * weight * (at - target) ** 2)
        total += ball(HALF * a * a / weight + a * target)
    return total


def best_pull(function: Any, z: Array) -> Array:
    """The multipliers for which nothing is left of a term, but for rounding."""
    if function.is_constraint:
        return np.zeros_like(z)
    return np.asarray(function.subgradient(z))


def drawn(rng: Rng) -> tuple[Sum, list[Array], Array, list[Array]]:
    """A problem, the matrices of its terms, a point, and multipliers that fit its squares."""
    n, unit = int(rng.integers(4, 8)), 2.0 ** int(rng.integers(-40, 41))
    offset = float(rng.choice([0.0, 0.0, 1e4, 1e8]))
    c, terms, matrices, given = rng.uniform(0.2, 1.0, n), [], [], []
    x, is_best = unit * (offset + rng.normal(size=n)), bool(rng.integers(2))

    def anything(A: Array) -> Array:
        return 3.0 * rng.normal(size=len(A)) * (rng.random(len(A)) < 0.6)

    for _ in range(int(rng.integers(1, 4))):
        map_, A = drawn_map(rng, n)
        function = drawn_function(rng, len(A), unit * rng.uniform(0.1, 2.0))
        terms.append(Summand(function, map_, "u"))
        matrices.append(A)
        given.append(function.clip(best_pull(function, A @ x) if is_best else unit * anything(A)))
    problem = Sum(np.zeros(n), c, terms)
    problem.y = x - problem.completed(given)[0][0] / c
    return problem, matrices, x, given


def bound(problem: Sum, x: Array, given: list[Array]) -> float:
    return problem.excess(problem.images(x), problem.completed(given))


def check(seed: int) -> int:
    """How many of 50 gaps were finite."""
    rng, finite = np.random.default_rng(seed), 0
    for _ in range(50):
        problem, matrices, x, given = drawn(rng)
        for moved in (0.0, 1e-12, 1e-3):
            at = x * (1.0 + moved * rng.normal(size=x.size))
            found, true = bound(problem, at, given), exact_gap(problem, matrices, at, given)
            assert not ball(found) < true
            finite += found < np.inf
    return finite


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_holds_in_rationals(seed: int) -> None:
    assert check(seed) == 150


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 140))
def test_it_holds_for_twenty_thousand_sums(seed: int) -> None:
    assert check(seed) == 150


def test_the_bound_is_that_of_exact_arithmetic_where_rounding_is_small() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        problem, matrices, x, given = drawn(rng)
        at = x + rng.normal(size=x.size) * (1.0 + np.abs(x))
        if all(not term.function.is_constraint for term in problem.parts):
            true = float(exact_gap(problem, matrices, at, given).mid())
            assert bound(problem, at, given) <= true * (1.0 + 1e-6)


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.name)
def test_an_excess_covers_the_neighbourhood_it_is_told(kind: Any) -> None:
    """f(w') + f*(v') - <w', v'> at w' and v' as far away as e and h allow."""
    rng, d = np.random.default_rng(1), 4
    for _ in range(60):
        function: Any = {
            penalties.L1: lambda: penalties.L1(2.0, rng.uniform(0.5, 2.0, d)),
            penalties.GroupL2: lambda: penalties.GroupL2(2.0, [0, 0, 1, 1]),
            penalties.Nonnegative: penalties.Nonnegative,
            penalties.Box: lambda: penalties.Box(-rng.uniform(0.1, 2.0, d), np.inf),
        }[kind]()
        e, h = rng.choice([0.0, 0.1, 0.5], (2, d)) * rng.integers(0, 2, (2, 1))
        w, share = rng.normal(size=d), rng.uniform()
        w = np.abs(w) + e if function.is_constraint else w  # what is violated has no say here
        v = share * function.clip(4.0 * rng.normal(size=d)) - (h if function.is_constraint else 0.0)
        most = float(np.sum(function.excess(w, e, v, h)))
        for _ in range(8):
            ends = rng.choice([-1.0, 1.0], (2, d))
            near, pull = w + ends[0] * e, v + ends[1] * h
            inside = bool(np.all(function.conjugate(pull) < np.inf))
            assert inside or most == np.inf
            if inside and most < np.inf:
                there = value_of(function, row(near)) + conjugate_of(function, row(pull))
                assert float((there - ball(dot(row(near), row(pull)))).mid()) <= most


def test_squares_cover_the_neighbourhood_they_are_told() -> None:
    rng, loss = np.random.default_rng(2), losses.Squared()
    for _ in range(100):
        y, z, u = rng.normal(size=(3, 5))
        c, (e, h) = rng.uniform(0.1, 1.0, 5), rng.choice([0.0, 0.1, 0.5], (2, 5))
        most = loss.excess(y, c, z, e, u, h)
        for ends in rng.choice([-1.0, 1.0], (20, 2, 5)):
            at, pull = row(z + ends[0] * e), row(u + ends[1] * h)
            for k in range(5):
                off: fmpq = exact(c[k]) * (at[k] - exact(y[k])) - pull[k]
                assert off * off / (2 * exact(c[k])) <= exact(most[k])
    nothing = loss.excess(np.ones(2), *np.zeros((3, 2)), np.eye(2)[1], np.zeros(2))
    assert nothing.tolist() == [0.0, np.inf]  # c l*(u / c) of a sample that weighs nothing


def test_products_of_maps_are_as_near_as_they_tell() -> None:
    rng = np.random.default_rng(4)
    for _ in range(100):
        n = int(rng.integers(4, 8))
        map_, A = drawn_map(rng, n)
        x, u = rng.normal(size=n) + rng.choice([0.0, 1e4]), rng.normal(size=len(A))
        for (found, error), matrix, at in ((map_.forward(x), A, x), (map_.adjoint(u), A.T, u)):
            true = [dot(line, row(at)) for line in table(matrix)]
            for value, off, exactly in zip(row(found), row(error), true, strict=True):
                assert abs(value - exactly) <= off


def test_what_is_left_for_the_squares_is_as_near_as_it_tells() -> None:
    rng = np.random.default_rng(5)
    for _ in range(100):
        problem, matrices, _, given = drawn(rng)
        u, h = problem.completed(given)[0]
        columns = [row(0.0 * u)] + [
            [dot(line, row(own)) for line in table(A.T)]
            for A, own in zip(matrices, given, strict=True)
        ]
        for value, off, parts in zip(row(u), row(h), zip(*columns, strict=True), strict=True):
            assert abs(value + sum(parts, ZERO)) <= off


def test_multipliers_that_are_moved_count_where_they_are() -> None:
    """s of 3 lam: D is that of lam, and P - D of these is below no gap."""
    y = np.array([0.0, 1.0, -1.0, 2.0, 0.5, 3.0])
    problem = cml.TrendFilter(y, 0.1, order=0)
    signs = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    s, A = row(0.1 * signs), table(np.diff(np.eye(6), axis=0))
    pull = [dot(s, column) for column in zip(*A, strict=True)]
    D = dot(pull, row(y)) - 3 * dot(pull, pull)
    own = y - 6.0 * np.diff(np.eye(6), axis=0).T @ (0.3 * signs)  # stationary for what was passed
    for w in (y, own, np.full(6, y.mean())):
        found = problem.certify(w=w, s=0.3 * signs)
        assert exact(found.gap) >= exact(problem.objective(w=w)) - D - exact(1e-15)
        assert found.repaired == pytest.approx(0.2)
        rows = [row.residual for row in found.conditions if row.kind == "dual_feasibility"]
        assert max(rows) == pytest.approx(0.2)  # of what was passed


def test_what_clips_is_exactly_inside() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        size = int(rng.integers(1, 9))
        function = drawn_function(rng, size, 2.0 ** int(rng.integers(-40, 41)))
        conjugate_of(function, row(function.clip(10.0 * rng.normal(size=size))))
        norm = penalties.SortedL1(np.sort(rng.uniform(size=size))[::-1])
        found, most = row(np.sort(np.abs(norm.clip(rng.normal(size=size))))[::-1]), row(norm.lams)
        assert all(sum(found[:k], ZERO) <= sum(most[:k], ZERO) for k in range(1, size + 1))

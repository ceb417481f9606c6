"""Sums of any terms with an optimum that is planted in rationals: no gap is below P - P*."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import arb
from scipy import sparse
from support.exact.exact_losses import loss_value
from support.exact.exact_numbers import ZERO, Row, ball, dot, exact, row, solve_consistent, table

from convexml import losses, penalties
from convexml.certificates import affine
from convexml.certificates.affine import AffineMap, AffineSum, Nearly, Projection
from convexml.certificates.scale import ProgramUnits
from convexml.numerics import Array
from convexml.problem.terms import Multiple, Summand, WeightedLoss

Rng = np.random.Generator
LEVELS = {
    "epsilon_insensitive": 0.25,
    "squared_epsilon_insensitive": 0.25,
    "huber": 0.5,
    "pinball": 0.25,
}
LOSSES = [name for name in losses.ALL if name != "softmax"]
SMOOTH = {"logistic": 0.0, "exponential": 0.0, "poisson": 0.0}


def planted_loss(rng: Rng, name: str, n: int) -> tuple[WeightedLoss, Array, Array]:
    """A loss, predictions and slopes, all on a grid."""
    loss: Any = losses.ALL[name](*([LEVELS[name]] if name in LEVELS else []))
    y = {"real": rng.integers(-8, 9, n) / 4.0, "binary": rng.choice([-1.0, 1.0], n),
         "count": rng.integers(0, 4, n) * 1.0}[loss.labels]  # fmt: skip
    z, c = rng.integers(-8, 9, n) / 4.0, rng.integers(1, 9, n) / 4.0
    if name in SMOOTH or name == "linex":
        z = y if name == "linex" else 0.0 * z
        return WeightedLoss(loss, y, c), z, c * loss.derivative(y, z)
    if loss.is_indicator:
        z, u = y.copy(), rng.integers(-4, 5, n) / 4.0
        return WeightedLoss(loss, y, c), z, u if name == "interpolation" else -y * np.abs(u)
    near = rng.random(n) < 0.5
    z[near] = (y + rng.choice([-0.25, 0.0, 0.25], n) if loss.labels == "real" else y)[near]
    ends = [loss.derivative(y, z + step) for step in (-(2.0**-20), 2.0**-20)]
    steep = np.abs(ends[1] - ends[0]) > 0.1
    u = np.where(
        steep, ends[0] + rng.integers(0, 5, n) / 4.0 * (ends[1] - ends[0]), loss.derivative(y, z)
    )
    return WeightedLoss(loss, y, c), z, c * u


def planted_penalty(rng: Rng, name: str, n: int) -> tuple[Multiple, Array, Array]:
    """A penalty with a factor, a point and a subgradient, all on a grid."""
    t, w, v = 2.0 ** rng.integers(-2, 3), rng.integers(-8, 9, n) / 4.0, rng.integers(-4, 5, n) / 4.0
    w[rng.random(n) < 0.5] = 0.0
    factor, at_zero = t * float(rng.choice([1.0, 3.0])), w == 0.0
    penalty: Any = penalties.Zero()
    match name:
        case "l1":
            penalty, u = penalties.L1(1.0), np.where(at_zero, v, np.sign(w))
        case "l2":
            penalty, u = penalties.L2(1.0), w
        case "elastic_net":
            penalty, u = penalties.ElasticNet(1.0), 0.5 * (w + np.where(at_zero, v, np.sign(w)))
        case "sorted_l1":
            lams, w = np.arange(n, 0.0, -1.0), np.arange(n, 0.0, -1.0) * rng.choice([-1.0, 1.0], n)
            penalty, u = penalties.SortedL1(lams), lams * np.sign(w)
        case "group_l2":
            penalty, w, u = penalties.GroupL2(1.0, np.arange(n) // 2), 0.0 * w, 0.25 * v
        case "nonnegative":
            penalty, factor, w, u = penalties.Nonnegative(), 1.0, np.abs(w), -np.abs(v) * at_zero
        case "nonnegative_elastic_net":
            w, u = np.abs(w), 0.5 + 0.5 * np.abs(w) - np.abs(v) * at_zero
            penalty = penalties.NonnegativeElasticNet(1.0, 0.5)
        case "box":
            penalty, factor, w = penalties.Box(-1.0, 1.0), 1.0, np.clip(w, -1.0, 1.0)
            u = np.where(np.abs(w) == 1.0, np.abs(v) * w, 0.0)
        case "l1_ball" | "l2_ball":
            penalty, factor, w, u = penalties.ALL[name](2.0), 1.0, np.zeros(n), np.zeros(n)
            w[0], u[0] = 2.0, t
        case _:
            factor, u = 1.0, 0.0 * w
    return Multiple(penalty, factor), w, factor * u


def value_of(function: Any, z: Row) -> arb:
    """f(z); a constraint counts as 0."""
    if isinstance(function, WeightedLoss):
        kind = function.loss.name, *function.loss.hyperparameters().values()
        if function.loss.is_indicator:
            return arb(0)
        triples = zip(row(function.weights), row(function.targets), z, strict=True)
        own = [ball(c) * ball(loss_value(kind, y, x)) for c, y, x in triples]
        return sum(own, arb(0))
    penalty, total = function.penalty, ZERO
    sizes = sorted((abs(x) for x in z), reverse=True)
    match penalty.name:
        case "l1":
            total = sum(sizes, ZERO)
        case "l2":
            total = dot(z, z) / 2
        case "elastic_net":
            total = sum(sizes, ZERO) / 2 + dot(z, z) / 4
        case "sorted_l1":
            total = dot(row(penalty.lams), sizes)
        case "nonnegative_elastic_net":
            total = sum(z, ZERO) / 2 + dot(z, z) / 4
        case "group_l2":
            groups = [z[k : k + 2] for k in range(0, len(z), 2)]
            return ball(exact(function.factor)) * sum(
                (arb(len(g)).sqrt() * ball(dot(g, g)).sqrt() for g in groups), arb(0)
            )
    return ball(exact(function.factor) * total)


def drawn(rng: Rng, names: list[str]) -> tuple[AffineSum, Array, list[Array], arb]:
    """A sum of these and a square that balances it, its optimum, multipliers and P*."""
    d = int(rng.integers(2, 6))
    x, units = rng.integers(-8, 9, d) / 4.0, 2.0 ** rng.integers(-40, 41, d)
    parts, given, push = [], [], np.zeros(d)
    for name in names:
        kind = rng.integers(3)
        A = np.diff(np.eye(d), axis=0) if kind == 1 else np.eye(d)
        if name in losses.ALL or kind == 2:
            A = rng.integers(-4, 5, (int(rng.integers(1, 8)), d)) * 2.0 ** rng.integers(-1, 3)
            A[:, -1] = A[:, 0] if rng.integers(2) else A[:, -1]
        draw: Any = planted_loss if name in losses.ALL else planted_penalty
        function, z, u = draw(rng, name, len(A))
        parts.append(Summand(function, AffineMap(A / units, z - A @ x), f"u_{len(parts)}"))
        given.append(u)
        push += A.T @ u
    far = 2.0 ** rng.integers(0, 20) if rng.integers(2) else 0.0
    square = WeightedLoss(losses.Squared(), far + push, np.ones(d))
    parts.append(Summand(square, AffineMap(np.eye(d) / units, far - x), "u"))
    shift, extra = rng.integers(-3, 4, d) * 2.0 ** rng.choice([0, 27]), np.zeros((d, 0))
    if rng.integers(2):  # a column that depends on the others, exactly
        extra = rng.integers(-2, 3, (d, 1)) * 2.0 ** -rng.integers(0, 20, (d, 1))
    for k, part in enumerate(parts):
        A, a = part.map.A * units, part.map.a
        moved = AffineMap(np.hstack([part.map.A, A @ extra]), a - A @ shift)
        parts[k] = replace(part, map=moved)
    ones = np.ones(extra.shape[1])
    at = np.append(units * (x + shift - extra @ ones), ones)
    problem = AffineSum(parts, ProgramUnits(1.0, np.ones(0), np.append(units, ones), 1.0))
    return problem, at, [*given, -push], exact_value(problem, at)


def exact_value(problem: AffineSum, x: Array) -> arb:
    total = arb(0)
    for part in problem.parts:
        z = [
            dot(line, row(x)) + a
            for line, a in zip(table(part.map.A), row(part.map.a), strict=True)
        ]
        total += value_of(part.function, z)
    return total


def moved_point(rng: Rng, problem: AffineSum, x: Array, by: float) -> Array:
    """x moved by so much of its units, and by rounding."""
    step = by * problem.units.columns * rng.normal(size=x.size)
    return x * (1.0 + min(by, 1e-15) * rng.normal(size=x.size)) + step


def slopes(part: Summand, image: Any, u: Array) -> Array:
    """Those of a loss at z; u else."""
    f, (z, _) = part.function, image
    is_loss = isinstance(f, WeightedLoss) and not f.loss.is_indicator
    return f.weights * f.loss.derivative(f.targets, z) if is_loss else u


def as_sparse(problem: AffineSum) -> AffineSum:
    parts = [replace(p, map=replace(p.map, A=sparse.csr_array(p.map.A))) for p in problem.parts]
    return replace(problem, parts=parts)


def check(seed: int, count: int = 50, is_sparse: bool = False) -> int:
    """How many of the gaps were finite."""
    rng, finite = np.random.default_rng(seed), 0
    every = [*LOSSES, *penalties.ALL]
    for k in range(count):
        names = [every[(seed * count + k) % len(every)], *rng.choice(every, rng.integers(1, 4))]
        problem, x, given, least = drawn(rng, names)
        judged = as_sparse(problem) if is_sparse else problem
        for moved in (0.0, 1e-15, 1e-9, 1e-4):
            at = moved_point(rng, problem, x, moved)
            images, true = judged.images(at), exact_value(problem, at) - least
            # What is next to dual points, and slopes at the point: of these nothing but h is left.
            near = [u * (1.0 + moved * rng.normal(size=u.size)) for u in given]
            for own in (near, list(map(slopes, problem.parts, images[1:], given))):
                found = judged.excess(images, judged.dual_point(own, ()))
                finite += found < np.inf
                assert found == np.inf or not ball(found) < true, (seed, k, names, moved)
    return finite


def test_products_are_as_near_as_they_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    for k in range(40):
        A, far = rng.normal(size=(4, 6)), rng.choice([0.0, 1e8])
        x, u = rng.normal(size=6) + far, rng.normal(size=4)
        map_ = AffineMap(sparse.csr_array(A) if k % 2 else A, -A @ x + rng.normal(size=4))
        monkeypatch.setattr(affine, "EXACTLY", 0 if k % 4 > 1 else 100)
        ahead = [dot(line, row(x)) + a for line, a in zip(table(A), row(map_.a), strict=True)]
        for found, true in ((map_.forward(x), ahead), (map_.adjoint(u), dots(A.T, u))):
            for value, off, at in zip(row(found[0]), row(found[1]), true, strict=True):
                assert abs(value - at) <= off


def test_sums_of_pushes_are_as_near_as_they_tell() -> None:
    rng, units = np.random.default_rng(7), ProgramUnits(1.0, np.ones(0), np.ones(9), 1.0)
    part = Summand(Multiple(penalties.L1(1.0), 1.0), AffineMap(np.eye(9), np.zeros(9)), "u")
    given = list(rng.uniform(size=(40, 9)))
    total, off = map(row, AffineSum([part] * 40, units).completed(given)[0])
    pushes = [sum(column, ZERO) for column in zip(*table(given), strict=True)]
    assert all(abs(a + b) <= most for a, b, most in zip(total, pushes, off, strict=True))


def test_what_multipliers_leave_fits_into_what_exact_ones_may_be_away() -> None:
    rng, finite = np.random.default_rng(6), 0
    for k in range(200):
        problem, _, given, _ = drawn(
            rng, [LOSSES[k % len(LOSSES)], *rng.choice([*penalties.ALL], 2)]
        )
        given = [u * (1.0 + 10.0 ** -(k % 16) * rng.normal(size=u.size)) for u in given]
        judged = as_sparse(problem) if k % 2 else problem
        with np.errstate(invalid="ignore"):
            near = judged.dual_point(given, ())[1:]
        if not all(np.all(h < np.inf) for _, h in near):
            continue
        finite += 1
        rows = np.vstack([part.map.A for part in problem.parts]).T
        left, room = (dots(A, np.concatenate(own)) for A, own in
                      zip((rows, abs(rows)), zip(*near, strict=True), strict=True))  # fmt: skip
        assert all(abs(a) <= b for a, b in zip(left, room, strict=True))
    assert finite > 120


def dots(A: Array, x: Array) -> Row:
    return [dot(line, row(x)) for line in table(A)]


WAYS = ("projected", "as they are", "large", "sparse")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(2))
def test_no_gap_is_below_that_of_a_planted_optimum(monkeypatch: Any, seed: int, way: str) -> None:
    monkeypatch.setattr(affine, "STEPS", 4 if way == "projected" else 0)
    monkeypatch.setattr(affine, "EXACTLY", 0 if way == "large" else affine.EXACTLY)
    is_sparse = way == "sparse"  # where dependent columns leave no bound
    with np.errstate(invalid="ignore"):
        assert check(seed, 15 if is_sparse else 50, is_sparse) > (40 if is_sparse else 300)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 410))
def test_it_is_not_for_twenty_thousand_sums(monkeypatch: Any, seed: int) -> None:
    monkeypatch.setattr(affine, "STEPS", 4 * (seed % 2))
    assert check(seed) > 300


def test_an_exactly_feasible_point_is_as_near_as_is_told() -> None:
    """Of columns that nearly depend; what is left is told with its error, or as an error alone."""
    rng, known = np.random.default_rng(0), 0
    for _ in range(60):
        n, d = int(rng.integers(4, 8)), int(rng.integers(2, 5))
        A, root, u = rng.normal(size=(n, d)), 2.0 ** rng.integers(-3, 4, n), rng.normal(size=n)
        A[:, -1] = A[:, 0] + 10.0 ** -rng.integers(0, 6) * A[:, -1]
        columns, M = table(A.T), [r * r for r in row(root)]
        left = [dot(column, row(u)) for column in columns]
        told = float(rng.integers(2)) * (A.T @ u)
        off = np.array([float(x) for x in left]) - told
        error = 1.001 * float(np.linalg.norm(off)) + 1e-16
        most = Projection([root[:, None] * A], [root]).distance(Nearly([u], told, error))
        weighed = [[m * a for m, a in zip(M, column, strict=True)] for column in columns]
        step = solve_consistent([[dot(a, b) for b in columns] for a in weighed], left)
        assert step is not None
        moved = [m * dot(line, step) for m, line in zip(M, table(A), strict=True)]
        known += most < np.inf
        assert most == np.inf or all(
            dv * dv <= m * exact(most) ** 2 for dv, m in zip(moved, M, strict=True)
        )
    assert known >= 50


DISTANCE, PENALTY, LOSS = Projection.distance, Multiple.excess, WeightedLoss.excess
FAULTS: dict[str, tuple[Any, str, Any]] = {
    "what is left is free": (Projection, "distance", lambda self, near: 0.0),
    "sigma 4 times too large": (
        Projection, "distance", lambda self, near: 0.25 * DISTANCE(self, near)),
    "h of a loss": (WeightedLoss, "excess", lambda self, z, e, u, h: LOSS(self, z, e, u, 0.0 * h)),
    "h of a penalty": (Multiple, "excess", lambda self, w, e, v, h: PENALTY(self, w, e, v, 0 * h)),
    "e": (AffineMap, "forward", lambda self, x: (self.A @ x + self.a, 0.0 * self.a)),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_charge_that_is_left_out_is_noticed(monkeypatch: Any, fault: str) -> None:
    monkeypatch.setattr(affine, "STEPS", 0)
    monkeypatch.setattr(*FAULTS[fault])
    with pytest.raises(AssertionError):
        list(map(check, range(6)))

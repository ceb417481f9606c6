"""Unpenalised columns: which depend on others, and what a residual of X'u = 0 costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import fmpq
from scipy.optimize import linprog
from support.exact.exact_learning import Learning
from support.exact.exact_numbers import dot, exact, rank, row, table
from support.sizes import each_seed

import convexml as cml
from convexml import LearningProblem, losses
from convexml.certificates.algebra.rationals import dependence as split
from convexml.certificates.learning import unpenalised
from convexml.certificates.learning.paths import Tangent, relative_gaps, worst_between
from convexml.certificates.learning.repair import DualPoint, product_error, repair_primal
from convexml.certificates.learning.unpenalised import origin, price_of_columns
from convexml.numerics import Array
from convexml.penalties import L2, Box, GroupL2, Nonnegative, Penalty, Zero
from convexml.problem import Objective


def at_u(objective: Objective, u: Array, v: Array) -> DualPoint:
    """A dual point whose value is not asked for."""
    return DualPoint(u, np.nan, v, 0.0, "passed", product_error(objective, u))


@each_seed(range(8))
def test_the_price_covers_what_the_residual_gains(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, _ = with_dependence(seed)
    y = rng.normal(size=len(X))
    problem = LearningProblem(X, y, losses.Squared(), Zero())
    objective = problem.objective_parts
    truth = least_squares(X, y)
    E = np.column_stack([X, np.ones(len(X))])
    w = np.linalg.lstsq(E, y, rcond=1e-12)[0]
    u = (E @ w - y) / len(y)
    point = repair_primal(objective, w[:3], float(w[3]))
    for size in (0.0, 1e-13, 1e-9, 1e-5):
        tried = overstated(objective, u, rng, size)
        v = -X.T @ tried
        for given in (point, origin(objective)):
            price = price_of_columns(objective, at_u(objective, tried, v), given).price
            bound = squared_dual(y, tried) - exact(price)
            assert bound <= truth * (1 + exact(1e-15))
        if seed % 8 in (1, 2, 4, 5, 7):  # well conditioned: the price is no more than it must be
            assert price <= max(1e-12, 100.0 * size) * float(truth + 1)


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
    return X, rank(table(np.column_stack([X, np.ones(n)]))) == 4


def least_squares(X: Array, y: Array) -> fmpq:
    """The least mean of squares / 2 over (w, b), in rationals."""
    return Learning(X, y, ("squared",), ("none",)).optimum.value


def squared_dual(y: Array, u: Array) -> fmpq:
    """-F*(u) = -sum n u_i^2 / 2 + u_i y_i, in rationals."""
    return -(dot(row(u), row(u)) * len(y) / 2 + dot(row(u), row(y)))


def overstated(objective: Objective, u: Array, rng: np.random.Generator, size: float) -> Array:
    """U moved towards larger D, off the rows X'u = 0, with 1'u = 0 as far as floats go."""
    moved = u - size * np.abs(u).max() * (objective.y + u * objective.n)
    return moved - moved.mean()


@each_seed(range(16))
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


LOSSES: tuple[losses.Loss, ...] = (
    losses.Squared(), losses.Huber(0.5), losses.Logistic(), losses.Pinball(0.3), losses.Absolute(),
    losses.Hinge(), losses.EpsilonInsensitive(0.3), losses.Poisson(), losses.SquaredHinge(),
)  # fmt: skip
PENALTIES: tuple[Penalty, ...] = (
    Zero(),
    Nonnegative(),
    Box(np.array([-1.0, -np.inf, -np.inf]), np.array([1.0, np.inf, np.inf])),
    L2(0.1, weights=np.array([0.0, 1.0, 0.0])),
    GroupL2(0.05, [0, 1, 0], weights=np.array([0.0, 1.0])),
)
SIZES = (0.0, 1e-14, 1e-10, 1e-7, 1e-4)


def samples_of(loss: losses.Loss, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 40))
    X = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-1.0, 1.0, size=3)
    if seed % 3 == 0:
        X[:, 2] = X[:, 0]
    z = X @ rng.normal(size=3)
    if loss.labels == "binary":
        y = np.where(z + 3.0 * rng.normal(size=n) > 0.0, 1.0, -1.0)
        y[:2] = [1.0, -1.0]
        return X, y
    if loss.labels == "count":
        return X, rng.poisson(1.0, size=n).astype(float)
    return X, z + rng.normal(size=n)


def overstatements(loss: losses.Loss, penalty: Penalty, seed: int) -> tuple[int, int]:
    """How many perturbed u have D(u) > P, and how many still do after the price."""
    rng = np.random.default_rng(seed)
    X, y = samples_of(loss, seed)
    problem = LearningProblem(X, y, loss, penalty, fit_intercept=bool(seed % 2))
    solution = problem.solve(tol=1e-9)
    if "w" not in solution.primal or solution.status not in ("optimal", "inaccurate"):
        return 0, 0
    objective = problem.objective_parts
    point = repair_primal(objective, solution.primal["w"], float(solution.primal["b"]))
    best = solution.certificate.dual["u"]
    above = wrong = 0
    for size in SIZES:
        step = size * np.abs(best).max() * np.sign(-y) * rng.random(len(y))
        u = np.clip(best + step, *objective.dual_bounds())
        v = -X.T @ u
        inside = v - penalty.outside(v)
        if penalty.domain_scale(inside) < 1.0:
            continue
        value = objective.dual_formula(u, inside)
        slack = 1e-9 * abs(point.value) + 1e-12
        above += value > point.value + slack
        dual = at_u(objective, u, v)
        for seen in (point, origin(objective)):
            price = price_of_columns(objective, dual, seen).price
            wrong += not value - price <= point.value + slack
        if size == 0.0 and solution.status == "optimal":
            assert price_of_columns(objective, dual, point).price <= 1e-9 * abs(point.value) + slack
    return above, wrong


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_what_exceeds_the_optimum_pays_for_it(penalty: Penalty) -> None:
    found = [overstatements(loss, penalty, seed) for loss in LOSSES for seed in range(3)]
    above, wrong = np.sum(found, axis=0)
    assert wrong == 0
    assert above >= 5  # there was something to pay for


def unpaid(seed: int) -> int:
    """How many clipped u of least absolute deviations have D(u) less the price above P."""
    rng, found = np.random.default_rng(seed), 0
    n, d = int(rng.integers(6, 20)), int(rng.integers(1, 4))
    X, y = rng.integers(-8, 9, (n, d)) / 4.0, rng.integers(-8, 9, n) / 4.0
    problem = LearningProblem(X, y, losses.Absolute(), Zero())
    best, objective = problem.solve(tol=1e-10), problem.objective_parts
    w, b = best.primal["w"], float(best.primal["b"])
    value = float(np.mean(np.abs(X @ w + b - y)))
    for size in (0.01, 0.1, 1.0, 4.0):
        raised = best.dual["u"] - size * y / n * rng.uniform(size=n)
        u = np.clip(raised, *objective.dual_bounds()) * (1.0 - 1e-3)
        for point in (origin(objective), repair_primal(objective, w, b)):
            price = price_of_columns(objective, at_u(objective, u, -X.T @ u), point).price
            found += -float(y @ u) - price > value * (1.0 + 1e-9) + 1e-12
    return found


def test_a_correction_that_leaves_the_box_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sum(map(unpaid, range(60))) == 0
    monkeypatch.setattr(unpenalised, "_length", without_room)  # notices a check that is left out
    assert sum(map(unpaid, range(60))) > 0


def without_room(rows: Any, room: Array, u: Array, known: Any, sharply: bool) -> Any:
    """A correction of any samples, whether it fits into their boxes or not."""
    *_, gram = unpenalised._metrics(rows, room, u, known)
    shares = np.sqrt(gram.h)
    inside = np.flatnonzero(shares)
    return rows.distance(gram), inside, shares[inside], ""


def test_a_price_from_some_of_the_rows_covers_what_the_residual_gains() -> None:
    paid = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(400, 2)) + rng.choice([0.0, 100.0]), rng.normal(size=400)
        problem = LearningProblem(X, y, losses.Squared(), Zero())
        objective, truth = problem.objective_parts, least_squares(X, y)
        E = np.column_stack([X, np.ones(400)])
        w = np.linalg.lstsq(E, y, rcond=None)[0]
        u = (E @ w - y) / 400.0
        point = repair_primal(objective, w[:2], float(w[2]))
        for size in (0.0, 1e-9, 1e-5, 1e-3):
            tried = overstated(objective, u, rng, size)
            value = squared_dual(y, tried)
            paid += value > truth
            for seen in (point, origin(objective)):
                dual = at_u(objective, tried, -X.T @ tried)
                price = price_of_columns(objective, dual, seen).price
                assert value - exact(price) <= truth
    assert paid > 4  # there was something to pay for


PATHS: dict[str, Any] = {
    "l1": lambda lam: cml.penalties.L1(lam),
    "weighted l1": lambda lam: cml.penalties.L1(lam, np.array([1.0, 2.0, 0.5, 1.0])),
    "elastic net": lambda lam: cml.penalties.ElasticNet(lam, 0.4),
    "l2": lambda lam: cml.penalties.L2(lam),
}
LAMS = (0.5, 0.1, 0.01)


def exact_objective(X: Array, y: Array, penalty: Any, w: Array, b: float) -> fmpq:
    """P with the mean squared loss, in rationals."""
    weights, name = getattr(penalty, "weights", None), penalty.name
    levels = row(np.ones(len(w)) if weights is None else weights)
    l1, l2 = (0.0, penalty.lam) if name == "l2" else (penalty.lam, 0.0)
    if name == "elastic_net":
        l1, l2 = (getattr(penalty, part) for part in ("_l1", "_l2"))
    sizes = dot(levels, [abs(v) for v in row(w)])
    squares = Learning(X, y, ("squared",), ("none",)).value(w, b)
    return squares + exact(l1) * sizes + exact(l2) / 2 * dot(row(w), row(w))


def posed_path(kind: str, seed: int, offset: float, intercept: bool = True) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(16, 4)) + offset  # 1 / 16 is exact
    y = rng.normal(size=16) + X[:, 0]
    parts = ((cml.losses.Squared(), PATHS[kind](lam)) for lam in LAMS)
    return X, y, [LearningProblem(X, y, *each, fit_intercept=intercept) for each in parts]


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("kind", PATHS)
def test_the_bound_is_below_no_exact_gap(kind: str, offset: float) -> None:
    for seed in range(2):
        X, y, problems = posed_path(kind, seed, offset)
        best = [each.solve(tol=1e-12).primal for each in problems]
        rng = np.random.default_rng(seed)
        penalties = [each.objective_parts.penalty for each in problems]
        objective = problems[0].objective_parts
        for size in (0.0, 1e-12, 1e-6, 1e-2):
            W = np.array([point["w"] * (1.0 + size * rng.normal(size=4)) for point in best])
            b = np.array([float(point["b"]) for point in best])
            found = relative_gaps(objective, penalties, W, b)
            for k, penalty in enumerate(penalties):
                here = exact_objective(X, y, penalty, W[k], b[k])
                there = exact_objective(X, y, penalty, best[k]["w"], float(best[k]["b"]))
                certificate = problems[k].certify(W[k], b[k])
                assert found[k] * certificate.scale >= float(here - there) * (1.0 - 1e-12)
                if offset == 0.0 and size <= 1e-12:
                    assert found[k] <= 10.0 * certificate.relative_gap + 1e-11


def test_what_it_cannot_bound_is_inf() -> None:
    *_, problems = posed_path("l1", 1, 0.0)
    objective, w = problems[0].objective_parts, np.zeros((2, 4))
    penalties = [cml.penalties.L1(0.0), cml.penalties.L1(1.0, np.array([0.0, 1.0, 1.0, 1.0]))]
    assert np.all(relative_gaps(objective, penalties, w, np.zeros(2)) == np.inf)


def test_a_tangent_that_is_broken_bounds_nothing() -> None:
    known = Tangent(2.0, 1.0, 1.0, 1.0, 0.0, 5.0)
    for broken in ((np.inf, -np.inf, 0.0), (1.0, -np.inf, 0.0), (np.nan, np.nan, 0.0)):
        value, lower, error = broken
        other = Tangent(1.0, value, lower, 1.0, error, 5.0)
        assert worst_between(known, other) == worst_between(other, known) == np.inf


@pytest.mark.parametrize("seed", [1, 5, 6, 10])
def test_whole_numbers_without_a_penalty_are_certified(seed: int) -> None:
    """Columns of 0 and 1, where few samples are inside the domain: the optimum is SciPy's."""
    rng, n = np.random.default_rng(seed), 40
    X, y = rng.integers(0, 2, size=(n, 3)).astype(float), rng.integers(0, 5, size=n).astype(float)
    found = cml.QuantileRegression(X, y, 0.5, 0.0).solve()
    columns = np.column_stack([X, -X, np.ones(n), -np.ones(n), np.eye(n), -np.eye(n)])
    costs = np.concatenate([np.zeros(8), np.full(2 * n, 0.5 / n)])
    assert found.certificate.verdict is cml.Verdict.CERTIFIED
    assert found.objective == pytest.approx(linprog(costs, A_eq=columns, b_eq=y).fun, rel=1e-9)

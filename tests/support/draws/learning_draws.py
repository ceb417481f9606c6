"""Learning problems far from ordinary data, and points of them to judge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from flint import arb

from support.exact.exact_judging import Tally, Truth, some
from support.exact.exact_learning import Learning
from support.exact.exact_losses import SMOOTH, Kind, labels, penalty_value
from support.exact.exact_numbers import ONE, ZERO, above, ball, exact
from support.exact.exact_program import OPTIMAL

Random = np.random.Generator
LOSSES: tuple[Kind, ...] = (
    ("squared",), ("absolute",), ("pinball", 0.3), ("huber", 0.5), ("epsilon_insensitive", 0.1),
    ("hinge",), ("squared_hinge",), ("hard_margin",), ("interpolation",), ("logistic",),
    ("exponential",), ("poisson",),
)  # fmt: skip
PENALTIES: tuple[Kind, ...] = (
    ("none",), ("l2", 0.1), ("l1", 0.1), ("elastic_net", 0.1, 0.5), ("l1_ball", 1.0),
    ("box", -1.0, 1.0), ("nonnegative",),
)  # fmt: skip


def pair(rng: Random) -> tuple[Kind, Kind]:
    """A loss and a penalty that the oracle solves."""
    loss = LOSSES[rng.integers(len(LOSSES))]
    penalty = PENALTIES[rng.integers(2 if loss[0] in SMOOTH else len(PENALTIES))]
    if loss[0] in ("hard_margin", "interpolation") and penalty[0] == "none":
        penalty = ("l2", 1.0)
    return loss, penalty


def targets(rng: Random, loss: Kind, scores: np.ndarray, noise: float = 1.0) -> np.ndarray:
    """Targets of the right kind around scores of size 1."""
    n = scores.size
    match labels(loss):
        case "real":
            return scores + noise * rng.normal(size=n)
        case "count":
            y = rng.poisson(np.exp(np.clip(scores, -2, 2))).astype(float)
            y[0] += 1.0
            return y
    y = np.where(scores + noise * rng.normal(size=n) > 0.0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return y


def ordinary(rng: Random, loss: Kind | None = None, penalty: Kind | None = None) -> Learning:
    """n 3 to 7, d 1 to 3, entries of size 1."""
    drawn = pair(rng)
    loss, penalty = loss or drawn[0], penalty or drawn[1]
    d = int(rng.integers(1, 4))
    n = int(rng.integers(2, d + 2)) if loss[0] == "interpolation" else int(rng.integers(3, 8))
    X = rng.normal(size=(n, d))
    noise = 0.0 if loss[0] == "hard_margin" and rng.random() < 0.7 else float(rng.random() < 0.8)
    y = targets(rng, loss, X @ rng.normal(size=d), noise)
    weight = None if rng.random() < 0.7 else float(2.0 ** rng.integers(-3, 4))
    return Learning(X, y, loss, penalty, bool(rng.random() < 0.8), weight)


def offset(rng: Random, problem: Learning, largest: float = 14.0) -> Learning:
    """Columns, and real targets, moved far from 0."""
    X, y = problem.X, problem.y
    shift = 10.0 ** rng.uniform(0, largest, X.shape[1]) * rng.choice([-1.0, 1.0], X.shape[1])
    X = X + shift * (rng.random(X.shape[1]) < 0.7)
    if labels(problem.loss) == "real" and rng.random() < 0.5:
        y = y + 10.0 ** rng.uniform(0, largest)
    return remade(problem, X, y)


def rescaled(rng: Random, problem: Learning, largest: int = 60) -> Learning:
    """Columns in units 2^+-60; where they all have the same, penalties move along."""
    X, y, d = problem.X, problem.y, problem.X.shape[1]
    if rng.random() < 0.5:
        unit = 2.0 ** rng.integers(-largest, largest + 1)
        return remade(problem, X * unit, y, moved(problem.penalty, unit))
    return remade(problem, X * 2.0 ** rng.integers(-largest, largest + 1, d), y)


def moved(penalty: Kind, unit: float) -> Kind:
    """The penalty for X times unit."""
    match penalty[0]:
        case "l2":
            return ("l2", penalty[1] * unit**2)
        case "l1":
            return ("l1", penalty[1] * unit)
        case "l1_ball":
            return ("l1_ball", penalty[1] / unit)
        case "box":
            return ("box", penalty[1] / unit, penalty[2] / unit)
    return penalty


def dependent(rng: Random, problem: Learning) -> Learning:
    """Columns that depend on one another, exactly or up to rounding."""
    X = problem.X[:, :2]
    size = 10.0 ** rng.uniform(-3, 3)
    if X.shape[1] == 1 or rng.random() < 0.3:
        column = X[:, 0] * 3.0 if rng.random() < 0.5 else X[:, 0] * (1.0 + 2.0**-46)
    else:
        column = X[:, 0] + size * X[:, 1]
    if rng.random() < 0.2:
        column = np.full(len(X), rng.choice([0.1, 1.0, 1e10]))
    return remade(problem, np.c_[X, column], problem.y)


def remade(
    problem: Learning, X: np.ndarray, y: np.ndarray, penalty: Kind | None = None
) -> Learning:
    """The problem with other data."""
    kind = penalty or problem.penalty
    return Learning(X, y, problem.loss, kind, problem.intercept, problem.weight)


def truth_of(problem: Learning) -> Truth:
    """Status, P*, and 1e-6 P_0."""
    found, null = problem.optimum, ball(problem.null)
    if labels(problem.loss) == "count":  # counts have a unit of their own, one nat a sample
        null = arb(1) if not null.is_finite() or null < 1 else null
    floor = ball(1e-6) * null if null.is_finite() else arb(0)
    return Truth(found.status, found.value, floor)


def points(
    rng: Random, problem: Learning, solution: Any
) -> Iterator[tuple[np.ndarray, float | None, np.ndarray | None]]:
    """The solution, the optimum, points near and far, and dual points: (w, b, u)."""
    d, n = problem.d, len(problem.y)
    free = problem.intercept
    w, b, u = np.zeros(d), 0.0, None
    if solution is not None and "w" in solution.primal:
        w, b = solution.primal["w"], float(solution.primal["b"]) if free else 0.0
        u = solution.dual.get("u")
        yield w, b, None
        yield w, b, u
    optimum = problem.optimum
    if optimum.status == OPTIMAL:
        w, b = np.array([float(v) for v in optimum.x[:d]]), float(optimum.x[d])
        yield w, b, None
        yield w, None if free else b, u
    size = np.maximum(np.abs(w), 1.0 / np.maximum(np.abs(problem.X).max(axis=0), 1e-300))
    for _ in range(3):
        step = 10.0 ** rng.uniform(-16, 0)
        other = w + step * size * rng.normal(size=d)
        yield other, (None if free and rng.random() < 0.5 else b), None
        if u is not None:
            yield w, b, u * (1.0 + 10.0 ** rng.uniform(-16, 0) * rng.normal(size=n))
    yield np.zeros(d), None if free else 0.0, None
    if u is not None:
        K = 10.0 ** rng.uniform(0, 15) * max(np.abs(u).max(), 1e-300)
        yield w, b, u + K * rng.choice([-1.0, 0.0, 1.0], n)
        yield w, b, u * 2.0 ** rng.integers(-3, 4)
        yield w * 10.0 ** rng.uniform(0, 12), b, u


def judge_learning(
    rng: Random, problem: Learning, where: str, tol: float = 1e-6, few: int | None = None
) -> Tally:
    """Solve, judge many points, and compare with the exact optimum."""
    tally, truth = Tally(), truth_of(problem)
    solution = tally.asked(f"{where}: solve", lambda: problem.posed.solve(tol=tol))
    if solution is None:
        return tally
    tally.solved(solution, truth, where)
    for k, (w, b, u) in some(rng, enumerate(points(rng, problem, solution)), few):
        judge_one(tally, truth, problem, w, b, u, f"{where}, point {k}", tol)
    return tally


def judge_one(
    tally: Tally,
    truth: Truth,
    problem: Learning,
    w: np.ndarray,
    b: float | None,
    u: np.ndarray | None,
    where: str,
    tol: float,
) -> None:
    """Judge one point."""
    found = tally.asked(f"{where}: certify", problem.posed.certify, w, b, u, tol=tol)
    if found is None:
        return
    feasible, missed, refutable = True, ZERO, None
    if b is None:  # what is said of the best b holds for that of the rationals
        values = problem.at_best_intercept(w)
        if values is None:
            return
        value, refutable = values
        feasible = ball(penalty_value(problem.penalty, [exact(v) for v in w])).is_finite()
        if problem.loss[0] in ("hard_margin", "interpolation"):
            # Far from 0 no float b may be near enough to the best one: then w may be refuted.
            feasible &= float(np.max(np.abs(problem.X @ w))) * 2.0**-52 <= 0.1 * tol
    else:
        value = problem.value(w, b, constrained=False)
        feasible = ball(problem.value(w, b)).is_finite()
        if problem.loss[0] == "hard_margin":
            missed = problem.margin_missed(w, b)
    witness = None
    if found.witness is not None and "w" in found.witness:
        witness = problem.value(found.witness["w"], found.witness.get("b", 0.0), constrained=False)
    tally.point(
        found,
        truth,
        value,
        where,
        feasible=feasible,
        violated=above(missed, exact(tol) * (ONE + exact(1e-9))),
        witness=witness,
        refutable=refutable,
    )

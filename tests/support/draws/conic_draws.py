"""Problems posed in CVXPY of which the optimum is known exactly, and the judge of their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
from flint import arb

import convexml as cml
import support.draws.linear_draws as linear_draws
from support.exact.exact_judging import Tally, Truth
from support.exact.exact_learning import Learning
from support.exact.exact_numbers import HALF, ZERO, Row, ball, dot, exact, row, table
from support.exact.exact_program import OPTIMAL

Random = np.random.Generator


@dataclass(frozen=True, eq=False)
class Conic:
    """A problem in one variable, its truth, a minimiser, and P and feasibility without rounding."""

    problem: Any
    x: Any
    truth: Truth
    best: np.ndarray | None
    value: Callable[[Row], Any]
    feasible: Callable[[Row], bool]


def quadratic(rng: Random, base: linear_draws.Linear, P: np.ndarray | None = None) -> Conic:
    """A linear program of ``linear_draws``, or min x'Px/2 + c'x over its points."""
    n = base.c.size
    found = base.least(P)
    nonnegative = bool(np.all(base.lower == 0.0))
    x = cp.Variable(n, nonneg=True) if nonnegative and rng.random() < 0.3 else cp.Variable(n)
    objective = base.c @ x
    if P is not None:
        objective = objective + 0.5 * cp.quad_form(x, cp.psd_wrap(P))
    constraints = []
    if len(base.b_ub):
        constraints.append(base.A_ub @ x <= base.b_ub)
    if len(base.b_eq):
        constraints.append(base.A_eq @ x == base.b_eq)
    for ends, below in ((base.lower, False), (base.upper, True)):
        at = np.flatnonzero(np.isfinite(ends))
        if at.size and not (x.is_nonneg() and not below):
            constraints.append(x[at] <= ends[at] if below else x[at] >= ends[at])
    size = base.sized(P).objective
    Q = table(P) if P is not None else None

    def value(at: Row) -> Any:
        curve = HALF * dot(at, [dot(line, at) for line in Q]) if Q is not None else ZERO
        return dot(row(base.c), at) + curve

    return Conic(
        cp.Problem(cp.Minimize(objective), constraints),
        x,
        Truth(found.status, found.value, ball(1.001e-3) * ball(size)),
        np.array([float(v) for v in found.x]) if found.status == OPTIMAL else None,
        value,
        lambda at: not any(base.violations(at)[0]),
    )


def linear(rng: Random) -> Conic:
    """Any linear program."""
    _, base = linear_draws.draw(rng)
    return quadratic(rng, base)


def curved(rng: Random) -> Conic:
    """A quadratic program, near or far."""
    base = linear_draws.solvable(rng, far=rng.random() < 0.3)
    if rng.random() < 0.5:
        base = linear_draws.rescaled(rng, base, 20)
    n = base.c.size
    M = rng.integers(-2, 3, (int(rng.integers(1, n + 1)), n)).astype(float)
    return quadratic(rng, base, M.T @ M * 2.0 ** rng.integers(-20, 20))


def second_order(rng: Random) -> Conic:
    """min c'x subject to |x - a| <= r."""
    n = int(rng.integers(1, 5))
    a = rng.normal(size=n) * 10.0 ** rng.uniform(-2, 10 if rng.random() < 0.3 else 3)
    r, c = float(10.0 ** rng.uniform(-4, 4)), rng.normal(size=n) * 10.0 ** rng.uniform(-4, 4)
    x = cp.Variable(n)
    norm = ball(dot(row(c), row(c))).sqrt()
    best = ball(dot(row(c), row(a))) - ball(r) * norm
    minimiser = a - r * c / np.linalg.norm(c)

    def feasible(at: Row) -> bool:
        step = [s - t for s, t in zip(at, row(a), strict=True)]
        return bool(dot(step, step) <= exact(r) ** 2)

    return Conic(
        cp.Problem(cp.Minimize(c @ x), [cp.norm(x - a) <= r]),
        x,
        Truth(OPTIMAL, best, ball(1e-2) * (ball(r) * norm + abs(ball(dot(row(c), row(a)))))),
        minimiser,
        lambda at: dot(row(c), at),
        feasible,
    )


def exponentials(rng: Random) -> Conic:
    """min sum of exp(x_i) - c_i x_i, c > 0: sum of c_i - c_i log c_i."""
    n = int(rng.integers(1, 4))
    c = 10.0 ** rng.uniform(-3, 3, n)
    x = cp.Variable(n)
    best = sum((ball(v) - ball(v) * ball(v).log() for v in c), arb(0))

    def value(at: Row) -> Any:
        return sum((ball(t).exp() - ball(v) * ball(t) for v, t in zip(c, at, strict=True)), arb(0))

    return Conic(
        cp.Problem(cp.Minimize(cp.sum(cp.exp(x)) - c @ x)),
        x,
        Truth(OPTIMAL, best, ball(1e-2) * sum((ball(v) for v in c), arb(0))),
        np.log(c),
        value,
        lambda at: True,
    )


def largest_eigenvalue(rng: Random) -> Conic:
    """min t subject to t I - A being semidefinite, A 2 x 2."""
    a, b, c = rng.normal(size=3) * 10.0 ** rng.uniform(-3, 3)
    A = np.array([[a, b], [b, c]])
    t = cp.Variable()
    ea, eb, ec = row([a, b, c])
    best = (ball(ea + ec) + ball((ea - ec) ** 2 + 4 * eb * eb).sqrt()) / 2

    def feasible(at: Row) -> bool:
        return at[0] >= ea and (at[0] - ea) * (at[0] - ec) >= eb * eb

    return Conic(
        cp.Problem(cp.Minimize(t), [t * np.eye(2) - A >> 0]),
        t,
        Truth(OPTIMAL, best, ball(1e-2) * (abs(ball(ea)) + abs(ball(eb)) + abs(ball(ec)))),
        np.array(float(best)),
        lambda at: at[0],
        feasible,
    )


def least_squares(rng: Random) -> Conic:
    """A ridge regression with columns in other units and far from 0."""
    n, d = int(rng.integers(2, 7)), int(rng.integers(1, 3))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-6, 6, d)
    X = X + rng.normal(size=d) * 10.0 ** rng.uniform(0, 8) * (rng.random(d) < 0.3)
    y, lam = rng.normal(size=n), float(10.0 ** rng.uniform(-3, 1))
    known = Learning(X, y, ("squared",), ("l2", lam), False, 2.0)
    w = cp.Variable(d)
    objective = cp.sum_squares(X @ w - y) + 0.5 * lam * cp.sum_squares(w)
    best = known.optimum
    return Conic(
        cp.Problem(cp.Minimize(objective)),
        w,
        Truth(OPTIMAL, best.value, ball(1e-3) * ball(known.null)),
        np.array([float(v) for v in best.x[:d]]),
        lambda at: known.value(at),
        lambda at: True,
    )


def logistic(rng: Random) -> Conic:
    """Mean logistic loss of X in other units, with a ridge term that suits them, or none."""
    n, d = int(rng.integers(4, 9)), int(rng.integers(1, 3))
    unit = 10.0 ** rng.uniform(-9, 3)
    X, y = rng.normal(size=(n, d)) * unit, np.where(rng.random(n) < 0.5, 1.0, -1.0)
    lam = float(10.0 ** rng.uniform(-3, 0) * unit**2) if rng.random() < 0.6 else 0.0
    penalty = ("l2", lam) if lam else ("none",)
    known = Learning(X, y, ("logistic",), penalty, False)
    w = cp.Variable(d)
    objective = cp.sum(cp.logistic(cp.multiply(-y, X @ w))) / n
    if lam:
        objective = objective + 0.5 * lam * cp.sum_squares(w)
    best = known.optimum
    return Conic(
        cp.Problem(cp.Minimize(objective)),
        w,
        Truth(best.status, best.value, ball(1e-3)),
        np.array([float(v) for v in best.x[:d]]) if best.status == OPTIMAL else None,
        lambda at: known.value(at),
        lambda at: True,
    )


DRAWS: dict[str, Callable[[Random], Conic]] = {
    "linear": linear, "curved": curved, "second order": second_order, "exponentials": exponentials,
    "largest eigenvalue": largest_eigenvalue, "least squares": least_squares, "logistic": logistic,
}  # fmt: skip


# -- judging ---------------------------------------------------------------------------------


def points(rng: Random, drawn: Conic) -> Iterator[str]:
    """Set values and dual values of the problem, one after the other; yield what was set."""
    x, duals = drawn.x, [d for c in drawn.problem.constraints for d in c.dual_variables]
    solved = x.value is not None
    start = np.array(x.value, dtype=float) if solved else np.zeros(x.shape)
    kept = [None if d.value is None else np.array(d.value, dtype=float) for d in duals]

    def put(value: np.ndarray, share: float | None = 1.0, noise: float = 0.0) -> None:
        x.save_value(np.asarray(value, dtype=float).reshape(x.shape))
        for leaf, old in zip(duals, kept, strict=True):
            if share is None or old is None:
                leaf.save_value(None)
                continue
            leaf.save_value(share * (old + noise * rng.choice([0.0, 1.0], old.shape)))

    if solved:
        put(start)
        yield "solved"
    if drawn.best is not None:
        start = drawn.best
        put(start)
        yield "the optimum"
        put(start, None)
        yield "the optimum, no duals"
    step = 10.0 ** rng.uniform(-14, 1)
    size = np.maximum(np.abs(start), 1e-3 * np.max(np.abs(start), initial=1e-3))
    put(start + step * size * rng.normal(size=x.shape))
    yield "near"
    put(start, 1.0, 10.0 ** rng.uniform(-6, 15))
    yield "multipliers moved"
    put(start, 2.0 ** rng.integers(-4, 40))
    yield "multipliers scaled"
    put(start * 10.0 ** rng.uniform(-3, 12))
    yield "far"


def judge_conic(
    rng: Random, drawn: Conic, where: str, tol: float = 1e-6, few: int | None = None
) -> Tally:
    """``cml.solve``, then ``cml.certify`` of many values, compared with the exact optimum."""
    tally = Tally()
    found = tally.asked(f"{where}: solve", cml.solve, drawn.problem, tol=tol)
    if found is None:
        return tally
    if found.claim != "optimal" or drawn.x.value is None:
        tally.claim(found, drawn.truth, where)
    else:
        judge_values(tally, drawn, found, f"{where}, solve")
    drawn.problem._status = None
    for k, name in enumerate(points(rng, drawn)):
        if few is not None and k >= 2 and rng.random() > few / 8.0:
            continue
        found = tally.asked(f"{where}, {name}", cml.certify, drawn.problem, tol=tol)
        if found is not None:
            judge_values(tally, drawn, found, f"{where}, {name}")
    return tally


def judge_values(tally: Tally, drawn: Conic, found: Any, where: str) -> None:
    """Judge the certificate of the values that stand in the variable."""
    at = row(drawn.x.value)
    tally.point(found, drawn.truth, drawn.value(at), where, feasible=drawn.feasible(at))

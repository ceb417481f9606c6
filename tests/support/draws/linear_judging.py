"""Points, multipliers and evidence of linear programs, judged against the exact optimum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from convexml import Verdict
from support.draws.linear_draws import Linear, Random
from support.exact.exact_judging import CRASH, FALSE_ABSENCE, Tally, some
from support.exact.exact_numbers import dot, exact, row
from support.exact.exact_program import OPTIMAL


def points(
    rng: Random, problem: Linear, solution: Any
) -> Iterator[tuple[np.ndarray, dict[str, np.ndarray] | None]]:
    """The solution, the optimum, points near and far; multipliers near and far."""
    n, best = problem.c.size, problem.optimum
    x, multipliers = np.zeros(n), None
    if solution.primal:
        x, multipliers = solution.primal["x"], dict(solution.dual)
        yield x, None
        yield x, multipliers
    if best.status == OPTIMAL:
        x = np.array([float(v) for v in best.x])
        yield x, None
        yield x, multipliers
    for _ in range(2):
        step = 10.0 ** rng.uniform(-16, 1)
        yield x + step * np.maximum(np.abs(x), problem.sizes.columns) * rng.normal(size=n), None
        yield x * (1.0 + step * rng.normal(size=n)), multipliers
    yield np.zeros(n), None
    ray = rng.choice([0.0, 1.0], n) * problem.sizes.columns
    yield x + 2.0 ** rng.integers(0, 50) * ray, multipliers
    if multipliers is None:
        multipliers = {"lambda_ub": np.zeros(len(problem.b_ub)), "nu": np.zeros(len(problem.b_eq))}
    for _ in range(3):
        K = 10.0 ** rng.uniform(0, 15)
        moved = {key: multipliers[key] for key in ("lambda_ub", "nu")}
        size = max(max((np.abs(v).max(initial=0.0) for v in moved.values()), default=0.0), 1.0)
        moved = {
            key: v + K * size * rng.choice([0.0, 1.0, 1.0], v.size) * (1.0 + rng.integers(2) / K)
            for key, v in moved.items()
        }
        yield x, moved


def judge_linear(
    rng: Random, problem: Linear, where: str, tol: float = 1e-6, few: int | None = None
) -> Tally:
    """Solve, judge many points, Farkas vectors and rays, and compare with the exact optimum."""
    tally, truth = Tally(), problem.truth
    try:
        solution = problem.posed.solve(tol=tol)
        tally.solved(solution, truth, where)
    except Exception as error:
        tally.blame(CRASH, f"{where}: solve: {type(error).__name__}: {error}")
        return tally
    for k, (x, multipliers) in some(rng, enumerate(points(rng, problem, solution)), few):
        judge_point(tally, problem, x, multipliers, f"{where}, point {k}", tol)
    for k, (kind, arguments) in enumerate(evidence(rng, problem, solution)):
        try:
            found = getattr(problem.posed, f"certify_{kind}")(*arguments, tol=tol)
        except Exception as error:
            tally.blame(CRASH, f"{where}: {kind}: {type(error).__name__}: {error}")
            continue
        tally.judged += 1
        tally.counts[str(found.verdict)] += 1
        if found.verdict is Verdict.CERTIFIED and truth.status != kind:
            tally.blame(FALSE_ABSENCE, f"{where}, {kind} {k}: truth {truth.status}")
    return tally


def evidence(rng: Random, problem: Linear, solution: Any) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Farkas vectors and rays, random ones and those of almost dependent rows."""
    n, m, p = problem.c.size, len(problem.b_ub), len(problem.b_eq)
    for _ in range(2):
        K = 10.0 ** rng.uniform(-3, 12)
        nu = rng.choice([-1.0, 0.0, 1.0], p)
        yield "infeasible", ({"lambda_ub": K * rng.choice([0.0, 1.0], m), "nu": K * nu},)
    if solution.status == "infeasible":
        found = {k: v for k, v in solution.evidence.items() if np.ndim(v) == 1}
        yield "infeasible", (found,)
    x = solution.primal.get("x", np.zeros(n)) if solution.primal else np.zeros(n)
    ray = rng.choice([0.0, 1.0, -1.0], n) * problem.sizes.columns
    yield "unbounded", (ray if np.any(ray) else np.ones(n), x)


def judge_point(
    tally: Tally,
    problem: Linear,
    x: np.ndarray,
    multipliers: dict[str, np.ndarray] | None,
    where: str,
    tol: float,
) -> None:
    """Judge one point."""
    try:
        found = problem.posed.certify(x, multipliers, tol=tol)
    except Exception as error:
        tally.blame(CRASH, f"{where}: certify: {type(error).__name__}: {error}")
        return
    off, size = problem.violations(x)
    ratio = max((float(v) / s if v else 0.0 for v, s in zip(off, size, strict=True)), default=0.0)
    value, witness = dot(row(problem.c), [exact(v) for v in x]), None
    if found.witness is not None:
        witness = dot(row(problem.c), [exact(v) for v in found.witness["x"]])
    tally.point(
        found,
        problem.truth,
        value,
        where,
        feasible=not any(off),
        violated=ratio > 10.0 * tol,
        witness=witness,
    )

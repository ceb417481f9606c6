"""Linear programs far from ordinary data; points and evidence of them, judged exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

import convexml as cml
from support.exact.exact_judging import Tally, Truth, some
from support.exact.exact_numbers import ZERO, ball, dot, exact, row, table
from support.exact.exact_program import OPTIMAL, Answer, solve_program
from support.exact.exact_sizes import Sizes, sizes

Random = np.random.Generator
NONE = np.zeros((0, 0))


@dataclass(frozen=True, eq=False)
class Linear:
    """Minimise c'x subject to A_ub x <= b_ub, A_eq x = b_eq, lower <= x <= upper."""

    c: np.ndarray
    A_ub: np.ndarray
    b_ub: np.ndarray
    A_eq: np.ndarray
    b_eq: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @cached_property
    def posed(self) -> Any:
        """The library's problem."""
        bounds = list(zip(self.lower.tolist(), self.upper.tolist(), strict=True))
        return cml.LinearProgram(self.c, self.A_ub, self.b_ub, self.A_eq, self.b_eq, bounds)

    def least(self, P: Any = None) -> Answer:
        """The least value, of x'Px/2 + c'x as well."""
        rows = self.A_ub, self.b_ub, self.A_eq, self.b_eq
        return solve_program(self.c, *rows, self.lower, self.upper, P)

    @cached_property
    def optimum(self) -> Answer:
        """Status, P* and a vertex."""
        return self.least()

    @cached_property
    def sizes(self) -> Sizes:
        """Of objective, rows and columns."""
        return self.sized()

    def sized(self, P: Any = None) -> Sizes:
        """The same of x'Px/2 + c'x."""
        eye, m = np.eye(self.c.size), len(self.b_ub) + len(self.b_eq)
        told = [np.isfinite(end) & (end != 0.0) for end in (self.lower, self.upper)]
        A = np.r_[self.A_ub, self.A_eq, eye[told[0]], eye[told[1]]]
        b = np.r_[self.b_ub, self.b_eq, self.lower[told[0]], self.upper[told[1]]]
        found = sizes(A, b, self.c, P)
        return Sizes(found.objective, found.rows[:m], found.columns)

    @cached_property
    def truth(self) -> Truth:
        """Status, P* and 1e-3 of the size."""
        return Truth(
            self.optimum.status, self.optimum.value, ball(1.001e-3) * ball(self.sizes.objective)
        )

    def violations(self, x: Any) -> tuple[list[Any], np.ndarray]:
        """Exact violations of rows and bounds, and what they count against."""
        at = [exact(v) for v in x]
        off = [dot(line, at) - s for line, s in zip(table(self.A_ub), row(self.b_ub), strict=True)]
        off = [max(ZERO, v) for v in off]
        off += [
            abs(dot(line, at) - s) for line, s in zip(table(self.A_eq), row(self.b_eq), strict=True)
        ]
        size = np.maximum(self.sizes.rows, np.abs(np.r_[self.b_ub, self.b_eq]))
        for ends, sign in ((self.lower, -1), (self.upper, 1)):
            for v, end, unit in zip(at, ends, self.sizes.columns, strict=True):
                if np.isfinite(end):
                    off.append(max(ZERO, sign * (v - exact(end))))
                    size = np.append(size, max(unit, abs(end)))
        return off, size


def program(
    c: Any,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    lower: Any = 0.0,
    upper: Any = np.inf,
) -> Linear:
    """A ``Linear`` from whatever is there."""
    c = np.asarray(c, dtype=float)
    n = c.size

    def pair(A: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
        if A is None:
            return np.zeros((0, n)), np.zeros(0)
        return np.asarray(A, dtype=float), np.asarray(b, dtype=float)

    ends = (np.broadcast_to(np.asarray(end, dtype=float), n).copy() for end in (lower, upper))
    return Linear(c, *pair(A_ub, b_ub), *pair(A_eq, b_eq), *ends)


def solvable(rng: Random, far: bool = False) -> Linear:
    """Integers, with a known primal and dual point; far: a vertex with entries up to 1e14."""
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    A = rng.integers(-5, 6, (m, n)).astype(float)
    x = rng.integers(0, 4, n) * (rng.random(n) < 0.7).astype(float)
    if far:
        x = np.floor(x * 10.0 ** rng.uniform(0, 14, n))
    duals = rng.integers(0, 4, m) * (rng.random(m) < 0.6).astype(float)
    slack = rng.integers(0, 5, m) * (duals == 0.0)
    reduced = rng.integers(0, 4, n) * (x == 0.0)
    equal = rng.random() < 0.3
    c, b = reduced - A.T @ duals, A @ x + slack
    if equal:
        return program(c, A[1:], b[1:], A[:1], (A @ x)[:1])
    upper = np.where(rng.random(n) < 0.3, x + 1.0, np.inf)
    return program(c, A, b, upper=upper)


def anything(rng: Random) -> Linear:
    """Integers: half of the time 0 is feasible, half of the time no cost is below 0."""
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 7))
    A = rng.integers(-5, 6, (m, n)).astype(float)
    c, b = (np.asarray(rng.integers(-9, 20, size)) for size in (n, m))
    c, b = (np.abs(each) if rng.random() < 0.5 else each for each in (c, b))
    lower = 0.0 if rng.random() < 0.7 else -np.inf
    return program(c, A, b, lower=np.full(n, lower))


def opposite(rng: Random) -> Linear:
    """An equality as two inequalities: multipliers may grow along (1, 1) for ever."""
    base = solvable(rng)
    line, side = (base.A_ub[:1], base.b_ub[:1]) if len(base.b_ub) else (base.A_eq, base.b_eq)
    x = np.array([float(v) for v in base.optimum.x]) if base.optimum.status == OPTIMAL else None
    side = line @ np.round(x) if x is not None else side
    A, b = np.r_[base.A_ub, line, -line], np.r_[base.b_ub, side, -side]
    return replace(base, A_ub=A, b_ub=b)


def game(rng: Random) -> Linear:
    """A skew matrix game, of value 0: max v subject to A'p >= v, p in the simplex."""
    k = int(rng.integers(2, 5))
    G = rng.integers(-4, 5, (k, k)).astype(float)
    G = G - G.T
    A = np.c_[-G.T, np.ones(k)]
    simplex = np.r_[np.ones(k), 0.0][None]
    lower = np.r_[np.zeros(k), -np.inf]
    return program(np.r_[np.zeros(k), -1.0], A, np.zeros(k), simplex, [1.0], lower)


def almost(rng: Random) -> Linear:
    """Rows that contradict one another, or nearly do: by 2^-20 ... 2^-40 either way."""
    n = int(rng.integers(1, 4))
    line = rng.integers(1, 5, (1, n)).astype(float)
    other = line * (1.0 + rng.choice([-1.0, 0.0, 1.0]) * 2.0 ** -rng.integers(20, 41))
    if n > 1 and rng.random() < 0.5:
        other = line.copy()
        other[0, 0] += 2.0 ** -rng.integers(20, 41)
    side = float(rng.integers(1, 6))
    gap = rng.choice([-1.0, 0.0, 1.0]) * 2.0 ** -rng.integers(20, 41)
    A, b = np.r_[line, -other], np.array([side, -side * (1.0 + gap)])
    if rng.random() < 0.4:
        return program(rng.integers(1, 5, n), None, None, np.r_[line, other], [side, -b[1]])
    return program(rng.integers(1, 5, n), A, b)


def in_units(base: Linear, columns: Any, rows: Any, equal: Any, cost: Any) -> Linear:
    """The same program of x / columns, its rows and costs in other units."""
    return Linear(
        base.c * columns * cost,
        base.A_ub * columns * rows[:, None],
        base.b_ub * rows,
        base.A_eq * columns * equal[:, None],
        base.b_eq * equal,
        base.lower / columns,
        base.upper / columns,
    )


def rescaled(rng: Random, base: Linear, largest: int = 60) -> Linear:
    """Rows, columns and objective in units 2^+-largest."""
    half = largest // 2
    unit = 2.0 ** rng.integers(-half, half + 1, base.c.size)
    rows = 2.0 ** rng.integers(-half, half + 1, len(base.b_ub))
    equal = 2.0 ** rng.integers(-half, half + 1, len(base.b_eq))
    cost = 2.0 ** rng.integers(-half, half + 1)
    return in_units(base, unit, rows, equal, cost)


DRAWS = {
    "solvable": solvable, "far": lambda rng: solvable(rng, far=True), "anything": anything,
    "opposite": opposite, "game": game, "almost": almost,
}  # fmt: skip


def draw(rng: Random) -> tuple[str, Linear]:
    """One of them, half of the time in other units."""
    name = str(rng.choice(list(DRAWS)))
    base = DRAWS[name](rng)
    if rng.random() < 0.5:
        return f"{name}, rescaled", rescaled(rng, base)
    return name, base


# -- judging ---------------------------------------------------------------------------------


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
    solution = tally.asked(f"{where}: solve", lambda: problem.posed.solve(tol=tol))
    if solution is None:
        return tally
    tally.solved(solution, truth, where)
    for k, (x, multipliers) in some(rng, enumerate(points(rng, problem, solution)), few):
        judge_point(tally, problem, x, multipliers, f"{where}, point {k}", tol)
    for k, (kind, arguments) in enumerate(evidence(rng, problem, solution)):
        certify = getattr(problem.posed, f"certify_{kind}")
        found = tally.asked(f"{where}: {kind}", certify, *arguments, tol=tol)
        if found is None:
            continue
        assert found.claim == kind
        tally.claim(found, truth, f"{where}, {kind} {k}")
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
    found = tally.asked(f"{where}: certify", problem.posed.certify, x, multipliers, tol=tol)
    if found is None:
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

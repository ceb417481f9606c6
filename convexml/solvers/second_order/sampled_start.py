"""Where Newton's method starts on many rows: on some of them, and corrected by gradients of all."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg

from ...numerics import Array
from ...objective import Objective
from ...objective.pair import slopes_at
from ..driver import Iterate
from .hessian import Coordinates, Solve

SMALLER, LEAST = 8, 20
"""A sample is solved from the solution on so many times fewer rows, where these are so many for
each unknown."""
FIRST, EXACT = 8, 0.1
"""Steps on a sample, at most, until its gap is this share of d / sample: of what it is off by."""
SLOW = 0.25
"""Corrections go on as long as each leaves at most this share of the gap."""
MOST = 30
"""Corrections at most."""
BEYOND = 0.25
"""Share of its slope at the start that P may rise with at the end of a step: a P whose curvature
does not fall below a sixteenth along it has fallen."""

Newton = Callable[[Objective, Array, Any], Iterator[Iterate]]
Point = tuple[Array, float, Array, float]
"""(w, b), the predictions there, and P."""


class Sample:
    """Some of the rows, drawn at random, with weights that add up to those of all.

    ``n`` is the number of these, where the objective is that of a larger sample.
    """

    def __init__(self, objective: Objective, drawn: Array, n: int | None = None) -> None:
        rows = np.sort(drawn)
        c = objective.c[rows]
        self.part = replace(
            objective,
            design=objective.design.rows(rows),
            y=objective.y[rows],
            c=c * (objective.c.sum() / c.sum()),
        )
        self.share = len(rows) / (n or objective.n)

    def solved(self, newton: Newton, w: Array, b: Any) -> tuple[tuple[Array, Any], float]:
        """(w, b), as exactly as it stands for the solution on all rows; passes over all."""
        point, k, part = Iterate(w, b), 0, self.part
        for k, point in enumerate(newton(part, w, b)):
            if k == FIRST or point.promise <= EXACT * part.d / part.n:
                break
        return (point.w, point.b), k * (part.d + 2.0) * self.share

    def solver(self, w: Array, b: Any) -> Solve | None:
        """Solves with its Hessian at (w, b); None where that is not definite."""
        part = self.part
        slope = -part.penalty.gradient(w)
        level = part.penalty.manifold(w, slope, np.ones_like(w)).hessian
        h = part.loss_curvature(part.predict(w, b))
        matrix = part.design.bordered_gram(h) if part.fit_intercept else part.design.gram(h)
        matrix[: part.d, : part.d] += level if level.ndim == 2 else np.diag(level)
        with suppress(linalg.LinAlgError):
            factor = linalg.cho_factor(matrix, check_finite=False)
            return lambda r: linalg.cho_solve(factor, r, check_finite=False)
        return None


def drawn(objective: Objective, sample: int, rng: np.random.Generator) -> list[Sample]:
    """A sample of so many rows, after some of these where that is of use."""
    rows = rng.choice(objective.n, sample, replace=False)
    few, whole = sample // SMALLER, Sample(objective, rows)
    if few < LEAST * (objective.d + 1):
        return [whole]
    return [Sample(whole.part, np.searchsorted(np.sort(rows), rows[:few]), objective.n), whole]


class Corrections:
    """Quasi-Newton steps from the Hessian of a sample (Nocedal and Wright, algorithm 7.4).

    Each step s with the change y of the gradient that it brought is kept: of d + 1 unknowns that is
    little beside the rows.
    """

    def __init__(self, solve: Solve) -> None:
        self.solve = solve
        self.kept: list[tuple[Array, Array, float]] = []

    def keep(self, s: Array, y: Array) -> bool:
        """Take a step into account; whether P curves along it."""
        curve = float(s @ y)
        if curve > 0.0:
            self.kept.append((s, y, curve))
        return curve > 0.0

    def step(self, g: Array) -> Array:
        """Minus the inverse of the Hessian, as it is known so far, times g."""
        q, shares = g.copy(), []
        for s, y, curve in reversed(self.kept):
            shares.append(float(s @ q) / curve)
            q -= shares[-1] * y
        q = self.solve(q)
        for (s, y, curve), share in zip(self.kept, reversed(shares), strict=True):
            q += (share - float(y @ q) / curve) * s
        return -q


def from_a_sample(
    newton: Newton, objective: Objective, start: Point, sample: int, rng: np.random.Generator
) -> Generator[Iterate, None, tuple[Point, float]]:
    """From a starting point to a better one, by way of a sample: it, and the passes so far.

    The Hessian of the sample is nearly that of all rows: with it a gradient of all rows takes what
    the sample is off by to a tenth or so, and two or three more of them to rounding of the gap.
    """
    w, b, passes = start[0], start[1], 1.0
    for each in drawn(objective, sample, rng):
        (w, b), more = each.solved(newton, w, b)
        passes += more
    if objective.zero_scores.ndim == 1 and (solve := each.solver(w, b)) is not None:
        x = Coordinates(objective).joined(w, b)
        return (yield from corrected(objective, start, x, solve, passes))
    z = objective.predict(w, b)
    value, passes = objective.primal(w, b, z), passes + 1.0
    if value < start[3]:
        yield Iterate(w, b, None, passes, {"sampled": 1.0}, promise=np.inf)
        return (w, b, z, value), passes
    return start, passes


def corrected(
    objective: Objective, start: Point, x: Array, solve: Solve, passes: float
) -> Generator[Iterate, None, tuple[Point, float]]:
    """Go from x by gradients of all rows, if P is lower there, until that is slow.

    P does not increase: f(x + s) <= f(x) + f'(x + s) s is clear where the last term is not
    positive, and is asked where it is not small. Returns the last point, and the passes so far.
    """
    at, steps = Coordinates(objective), Corrections(solve)
    w, b = x[: at.d], at.intercept(x)
    z, u, pull = slopes_at(objective, w, b)
    passes += 2.0
    value = objective.primal(w, b, z)
    if not value < start[3]:
        return start, passes
    level = objective.penalty.manifold(w, -pull, np.ones_like(w)).hessian
    g = at.joined(pull + objective.penalty.gradient(w), u.sum())
    left, known = _gap_left(g[: at.d], level), True
    yield Iterate(w, b, None, passes, {"sampled": 1.0}, promise=left / abs(value) or np.nan)
    for _ in range(MOST):
        s = steps.step(g)
        there = x + s
        w, b = there[: at.d], at.intercept(there)
        ahead, u, pull = slopes_at(objective, w, b)
        passes += 2.0
        change = at.joined(pull + objective.penalty.gradient(w), u.sum()) - g
        if not (np.all(np.isfinite(change)) and steps.keep(s, change)):
            break
        if not (g + change) @ s <= -BEYOND * float(g @ s):
            value = value if known else objective.primal(x[: at.d], at.intercept(x), z)
            after, known = objective.primal(w, b, ahead), True
            if not after <= value:
                break
            value = after
        else:
            known = False
        x, z, g = there, ahead, g + change
        before, left = left, _gap_left(g[: at.d], level)
        yield Iterate(w, b, None, passes, {"sampled": 1.0}, promise=left / abs(value) or np.nan)
        if not left <= SLOW * before:
            break
    w, b = x[: at.d], at.intercept(x)
    return (w, b, z, value if known else objective.primal(w, b, z)), passes


def _gap_left(g: Array, level: Array) -> float:
    """g'Lam^-1 g / 2 for Omega = w'Lam w / 2: P - D at u = c l'(z), whose 1'u is about 0."""
    if level.ndim > 1:
        return np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        return 0.5 * float(np.where(g == 0.0, 0.0, g**2 / level).sum())

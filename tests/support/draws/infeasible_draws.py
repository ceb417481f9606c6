"""Learning problems that have a feasible point by a hair, or miss one, and how clearly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from support.draws.learning_draws import judge_learning, remade
from support.exact.exact_judging import Tally
from support.exact.exact_learning import Learning
from support.exact.exact_losses import Kind
from support.exact.exact_numbers import ONE, ZERO
from support.exact.exact_program import INFEASIBLE, OPTIMAL, shifted

Random = np.random.Generator
HAIRS = (0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-3, 0.1)
CLEAR = 1e-6
"""From this share of a radius on nobody may be in doubt."""


@dataclass(frozen=True)
class Drawn:
    """A problem, and whether a solver must know whether it has a feasible point."""

    problem: Learning
    clear: bool


def offsets(rng: Random, X: np.ndarray, largest: float) -> np.ndarray:
    """Columns moved by 1 ... 10^largest, all of them."""
    shift = 10.0 ** rng.uniform(0.0, largest, X.shape[1])
    return X + shift * rng.choice([-1.0, 1.0], X.shape[1])


def _entries(rng: Random, n: int, d: int) -> np.ndarray:
    return (
        rng.integers(-4, 5, (n, d)).astype(float) if rng.random() < 0.5 else rng.normal(size=(n, d))
    )


def far_equations(rng: Random) -> Drawn:
    """X w + b = y at offsets: X near 1e14 keeps two digits, and they decide."""
    n, d = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    X = offsets(rng, _entries(rng, n, d), 14.0)
    y = rng.integers(-3, 4, n).astype(float)
    if rng.random() < 0.5:  # consistent, as exactly as the integers of differences are
        y = (X - X[0]) @ rng.integers(-3, 4, d)
    if rng.random() < 0.5:
        y = y + np.round(10.0 ** rng.uniform(0.0, 9.0))
    return Drawn(Learning(X, y, ("interpolation",), ("l2", 1.0)), True)


def nearly_dependent(rng: Random) -> Drawn:
    """A row that repeats another but for 2^-k, k = 20 ... 52, as integers or with an intercept."""
    n = int(rng.integers(2, 5))
    d = max(int(rng.integers(n - 1, n + 2)), 1)
    X, step = rng.integers(-4, 5, (n, d)).astype(float), 2.0 ** -int(rng.integers(20, 53))
    X[-1] = X[0] * int(rng.integers(1, 3)) + step * rng.integers(-2, 3, d)
    y = rng.integers(-3, 4, n).astype(float)
    return Drawn(Learning(X, y, ("interpolation",), ("l2", 1.0), bool(rng.random() < 0.5)), True)


def _classes(rng: Random, X: np.ndarray, flipped: float) -> np.ndarray:
    scores = X @ rng.normal(size=X.shape[1])
    y = np.where(scores > np.median(scores), 1.0, -1.0)
    y[rng.random(len(y)) < flipped] *= -1.0
    y[:2] = 1.0, -1.0
    return y


def far_margins(rng: Random) -> Drawn:
    """A hard margin at offsets of up to 1e14, labelled before or after they round X."""
    X = _entries(rng, int(rng.integers(3, 8)), int(rng.integers(1, 4)))
    y = _classes(rng, X, 0.3 * float(rng.random() < 0.5))
    X = offsets(rng, X, 14.0)
    return Drawn(Learning(X, y, ("hard_margin",), ("l2", 1.0)), True)


def _plain(rng: Random, loss: Kind) -> Learning:
    """A constraint that some w meets, without a penalty's own."""
    while True:
        if loss[0] == "hard_margin":
            X = _entries(rng, int(rng.integers(3, 7)), int(rng.integers(1, 4)))
            y = _classes(rng, X, 0.0)
        else:
            d = int(rng.integers(2, 4))
            X = _entries(rng, int(rng.integers(2, d + 1)), d)
            y = rng.integers(-3, 4, len(X)).astype(float)
        if rng.random() < 0.3:
            X = offsets(rng, X, 6.0)
        known = Learning(X, y, loss, ("l2", 1.0), bool(rng.random() < 0.7))
        if known.optimum.status == OPTIMAL and known.optimum.value > 0:
            return known


def _in_set(rng: Random, loss: Kind) -> Drawn:
    """A ball or a box whose radius is by a hair enough, or not; or signs."""
    known = _plain(rng, loss)
    kind = ("l2_ball", "l1_ball", "box", "upper", "nonnegative")[rng.integers(5)]
    if kind == "nonnegative":
        return Drawn(remade(known, known.X, known.y, ("nonnegative",)), True)
    least = _least_radius(known, kind)
    if least is None:  # no w >= 0 at all
        return Drawn(remade(known, known.X, known.y, ("box", 0.0, 8.0)), True)
    hair = float(rng.choice(HAIRS)) * float(rng.choice([-1.0, 1.0]))
    t = float(least * (1.0 + hair))
    sets: dict[str, Kind] = {"box": ("box", -t, t), "upper": ("box", 0.0, t)}
    return Drawn(remade(known, known.X, known.y, sets.get(kind, (kind, t))), abs(hair) >= CLEAR)


def _least_radius(known: Learning, kind: str) -> float | None:
    """The smallest radius with a feasible point, rounded to the nearest number."""
    if kind == "l2_ball":
        return float(np.sqrt(2.0 * float(known.optimum.value)))
    if kind == "l1_ball":
        norm = Learning(known.X, known.y, known.loss, ("l1", 1.0), known.intercept).optimum
        return float(norm.value)
    d, size = known.d, known.d + 2  # w, b and r: min r with |w_j| <= r, or 0 <= w_j <= r
    rows, sides = [], []
    for line, y in zip(known.rows, known.sides, strict=True):
        full = [*line, ONE if known.intercept else ZERO, ZERO]
        signs = [y] if known.loss[0] == "hard_margin" else [ONE, -ONE]
        rows += [[s * v for v in full] for s in signs]
        sides += [ONE] if known.loss[0] == "hard_margin" else [y, -y]
    for j in range(d):
        for sign in (-ONE, ONE):
            rows.append([ZERO] * size)
            rows[-1][j] = sign
            rows[-1][-1] = ONE if kind == "box" or sign == -ONE else ZERO
            sides.append(ZERO)
    zeros = [[ZERO] * size for _ in range(size)]
    cost = [ZERO] * (size - 1) + [ONE]
    found = shifted(zeros, cost, rows, sides, [ZERO] * size, list(range(d + 1)))
    return float(found.value) if found.status == OPTIMAL else None


FAMILIES: dict[str, Callable[[Random], Drawn]] = {
    "equations at offsets": far_equations, "nearly dependent rows": nearly_dependent,
    "margins at offsets": far_margins,
    "margins in a set": lambda rng: _in_set(rng, ("hard_margin",)),
    "equations in a set": lambda rng: _in_set(rng, ("interpolation",)),
}  # fmt: skip


def judged(name: str, seed: int, few: int | None = 5) -> tuple[Drawn, Tally]:
    """Draw, solve and judge some points; clear answers that were not given are crimes too."""
    rng = np.random.default_rng([list(FAMILIES).index(name), seed])
    drawn = FAMILIES[name](rng)
    problem = drawn.problem
    where = f"{name}, seed {seed}: {problem.penalty}, intercept {problem.intercept}"
    tally = judge_learning(rng, problem, where, few=few)
    solution = problem.posed.solve()
    truth = problem.optimum.status
    tally.counts[f"{truth} {'clearly' if drawn.clear else 'by a hair'}: {solution.status}"] += 1
    if drawn.clear and truth == INFEASIBLE and solution.status != INFEASIBLE:
        tally.blame("not recognised", f"{where}: {solution.status}, {solution.certificate.reason}")
    return drawn, tally

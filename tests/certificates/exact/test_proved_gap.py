"""``proved_gap`` against P, D and P* in rationals and in balls of 120 digits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.exact.exact_gap import Case, Kind
from support.exact.exact_losses import labels
from support.exact.exact_numbers import ball, below

from convexml.certificates.certificate import Certificate
from convexml.certificates.learning.points.multiclass import balanced_rows

Random = np.random.Generator
LOSSES: list[Kind] = [
    ("squared",),
    ("absolute",),
    ("pinball", 0.3),
    ("huber", 0.7),
    ("epsilon_insensitive", 0.1),
    ("squared_epsilon_insensitive", 0.1),
    ("hinge",),
    ("squared_hinge",),
    ("logistic",),
    ("exponential",),
    ("poisson",),
    ("softmax",),
    ("hard_margin",),
]
PENALTIES = ("l2", "l1", "elastic_net", "group")
SCALES = ("good", "columns", "offsets", "weights", "all")
PAIRS = len(LOSSES) * len(PENALTIES)
CLOSE = 1e-9
SOLVED, MOVED = (0, 1), (3, 5, 7)
"""Places in ``points``: the solution; dual points that are moved, with no credit for the gain."""


def penalty_of(rng: Random, name: str, count: int) -> Kind:
    """One of the four penalties of ``count`` coefficients."""
    lam = float(10.0 ** rng.uniform(-2.5, -0.5))
    match name:
        case "elastic_net":
            return name, lam, float(rng.uniform(0.1, 0.9))
        case "group":
            groups = [j // 2 for j in range(count)]
            return name, lam, groups, rng.uniform(0.5, 2.0, size=groups[-1] + 1).tolist()
    return name, lam


def draw(seed: int) -> tuple[Case, str]:
    """A problem of n 4 ... 11, d 1 ... 3, and how it is scaled: all pairs in turn."""
    rng = np.random.default_rng(seed)
    loss = LOSSES[seed % len(LOSSES)]
    name = PENALTIES[seed // len(LOSSES) % len(PENALTIES)]
    scaled = SCALES[seed // PAIRS % len(SCALES)]
    n, d = int(rng.integers(4, 12)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=d)
    y = targets(rng, loss, scores)
    if scaled in ("columns", "all"):
        X = X * 10.0 ** rng.uniform(-8, 8, size=d)
    if scaled in ("offsets", "all"):
        X = X + np.abs(X).max(axis=0) * 10.0 ** rng.uniform(0, 8, size=d)
        if labels(loss) == "real" and loss[0] != "softmax":
            y = y + 10.0 ** rng.uniform(0, 8)
    c = np.full(n, 1.0 / n)
    if scaled in ("weights", "all"):
        c = c * 10.0 ** rng.uniform(-3, 3, size=n)
    intercept = bool(rng.random() < 0.6)
    if loss[0] == "hard_margin":
        X, y = separable(X, intercept)
    count = d * (len(np.unique(y)) if loss[0] == "softmax" else 1)
    return Case(X, y, c, loss, penalty_of(rng, name, count), intercept), scaled


def separable(X: np.ndarray, intercept: bool) -> tuple[np.ndarray, np.ndarray]:
    """Labels that the first column tells; without an intercept half of the rows are mirrored."""
    if intercept:
        return X, np.where(X[:, 0] > np.median(X[:, 0]), 1.0, -1.0)
    y = np.where(np.arange(len(X)) % 2, 1.0, -1.0)
    return X * (y * np.sign(X[:, 0]))[:, None], y


def by_first_column(case: Case) -> tuple[np.ndarray, float]:
    """Feasible (w, b) of a hard margin drawn by ``separable``."""
    assert case.loss[0] == "hard_margin"
    x, w = case.X[:, 0], np.zeros(case.d)
    low = max(x[case.y < 0.0]) if case.intercept else -min(abs(x))
    w[0] = 2.0 * (1.0 + 1e-6) / (min(x[case.y > 0.0]) - low)
    return w, float(-w[0] * 0.5 * (low + min(x[case.y > 0.0]))) if case.intercept else 0.0


def targets(rng: Random, loss: Kind, scores: np.ndarray) -> np.ndarray:
    """Targets of the right kind around scores of size 1."""
    n = scores.size
    if loss[0] == "softmax":
        classes = int(rng.integers(2, 5))
        y = rng.integers(0, classes, size=n)
        y[:classes] = np.arange(classes)[:n]
        return y.astype(float)
    if labels(loss) == "count":
        return rng.poisson(np.exp(np.clip(scores, -2, 2))).astype(float) + (np.arange(n) == 0)
    if labels(loss) == "real":
        return scores + rng.normal(size=n)
    y = np.where(scores + rng.normal(size=n) > 0.0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return y


def judged(case: Case, w: Any, b: Any, u: Any = None) -> Certificate:
    return case.posed.certify(w, b, u)


def points(case: Case, seed: int) -> Iterator[tuple[Any, Any, Any]]:
    """The solution, points near it and far off, dual points near to its own: (w, b, u)."""
    rng = np.random.default_rng(seed)
    solution = case.posed.solve(tol=1e-9)
    if "w" in solution.primal:
        w, b = solution.primal["w"], solution.primal.get("b", 0.0)
        b = b if case.intercept else np.zeros_like(b)
    else:  # the solvers failed
        w, b = by_first_column(case)
    yield w, b, None
    u = judged(case, w, b).dual["u"]
    yield w, b, u
    for size in (1e-9, 1e-2):
        other = w * (1.0 + size * rng.normal(size=np.shape(w)))
        yield other, b, u
        yield w, b, u * (1.0 + size * rng.normal(size=np.shape(u)))
    yield np.zeros_like(w), b, None
    yield w, b, u + np.abs(u).max() * rng.choice([-1.0, 0.0, 1.0], size=np.shape(u))


def check(seed: int) -> None:
    """P - D of a problem's points, against ``proved_gap``."""
    case, scaled = draw(seed)
    finite = 0
    for place, (w, b, u) in enumerate(points(case, seed)):
        found = judged(case, w, b, u)
        if not np.isfinite(found.primal_objective):
            continue  # labels on the wrong side of a hard margin
        finite += 1
        assert found.proved_gap == found.gap < np.inf, place
        value, bound = case.primal(w, b), case.dual(found.dual["u"])
        assert bound.is_finite(), f"u is not feasible at {place}"
        assert below(value - bound, found.proved_gap), place
        if scaled != "good":
            continue
        size = max(abs(found.primal_objective), abs(found.dual_objective))
        if place not in MOVED:
            assert below(found.proved_gap, value - bound + CLOSE * ball(size)), place
        if place in SOLVED:
            assert found.proved_gap <= CLOSE * size, place
    assert finite >= 6


@pytest.mark.parametrize("seed", range(0, 5 * PAIRS, 11))
def test_the_proved_gap_is_never_below_the_true_one(seed: int) -> None:
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10 * PAIRS))
def test_the_proved_gap_is_never_below_the_true_one_of_520_problems(seed: int) -> None:
    check(seed)


def test_u_of_several_classes_is_in_the_simplex_with_columns_that_vanish() -> None:
    """Also where it comes from anywhere, and weights differ by 10^12."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        n, K = int(rng.integers(3, 30)), int(rng.integers(2, 6))
        y = np.concatenate([np.arange(K), rng.integers(0, K, n)]).astype(float)
        c = 10.0 ** rng.uniform(-6, 6, n + K)
        case = Case(np.ones((n + K, 1)), y, c, ("softmax",), ("l2", 1.0), bool(rng.random() < 0.7))
        p = rng.dirichlet(np.full(K, 10.0 ** rng.uniform(-2, 1)), n + K)
        start = c[:, None] * (p - np.eye(K)[y.astype(int)])
        if case.intercept:  # near to what is wanted, up to a few digits
            start -= start.sum(axis=0) * c[:, None] / c.sum()
            p = start / c[:, None] + np.eye(K)[y.astype(int)]
            if np.any(p < 0.0):
                continue
        found = balanced_rows(case.objective, start)
        assert found is not None
        assert case.dual(found).is_finite()
        digit = np.spacing(np.abs(start).max())
        assert np.abs(found - start).max() <= 4.0 * (n + K) * K * digit

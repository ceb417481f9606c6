"""Trend filters, each with lam and order of the catalogue; and what stands in the way of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
from scipy import sparse

Build = Callable[[], cp.Problem]

N = 24
_rng = np.random.default_rng(24)
SIGNAL = np.repeat([0.0, 2.0, 1.0], 8) + 0.2 * _rng.normal(size=N)
ORDER = _rng.permutation(N - 1)
FIRST, SECOND = (np.diff(np.eye(N), k, axis=0) for k in (1, 2))
COUNTS = np.where(np.arange(N) == 3, 2.0, 1.0)


def of(cost: Callable[[cp.Variable], Any], **attributes: Any) -> Build:
    """Minimise a cost of one signal."""

    def build() -> cp.Problem:
        return cp.Problem(cp.Minimize(cost(cp.Variable(N, name="x", **attributes))))

    return build


def subject_to(
    cost: Callable[[cp.Variable], Any], rows: Callable[[cp.Variable], list[Any]]
) -> Build:
    """The same with constraints."""

    def build() -> cp.Problem:
        x = cp.Variable(N, name="x")
        return cp.Problem(cp.Minimize(cost(x)), rows(x))

    return build


def fit(x: Any) -> Any:
    return 0.5 * cp.sum_squares(x - SIGNAL)


def maximised() -> cp.Problem:
    x = cp.Variable(N)
    gain = -3 * cp.norm(SIGNAL - x, 2) ** 2 - 1.5 * cp.sum(cp.abs(cp.diff(x, 3))) + 2
    return cp.Problem(cp.Maximize(gain))


def column() -> cp.Problem:
    x, ones = cp.Variable((N, 1)), np.ones(N - 2)
    D = sparse.diags_array([ones, -2 * ones, ones], offsets=[0, 1, 2], shape=(N - 2, N))
    fit = cp.sum_squares(x - SIGNAL[:, None]) / (2 * N)
    return cp.Problem(cp.Minimize(fit + 0.02 * cp.norm1(D @ x)))


def epigraph() -> cp.Problem:
    x, t = cp.Variable(N), cp.Variable(N - 1)
    return cp.Problem(cp.Minimize(fit(x) + 0.5 * cp.sum(t)), [-t <= FIRST @ x, FIRST @ x <= t])


def split() -> cp.Problem:
    x, z, r = cp.Variable(N), cp.Variable(N - 2), cp.Variable(N)
    cost = 0.5 * cp.sum_squares(r) + 0.5 * cp.norm1(z)
    return cp.Problem(cp.Minimize(cost), [SECOND @ x == z, r == x - SIGNAL])


def loop() -> cp.Problem:
    x = cp.Variable(N)
    fit = sum(cp.square(x[i] - SIGNAL[i]) for i in range(N))
    return cp.Problem(cp.Minimize(fit + sum(cp.abs(x[i + 1] - x[i]) for i in range(N - 1))))


def parameter() -> cp.Problem:
    x, lam = cp.Variable(N), cp.Parameter(nonneg=True, value=0.5)
    return cp.Problem(cp.Minimize(fit(x) + lam * cp.tv(x)))


TRENDS: dict[str, tuple[Build, float, int]] = {
    "total variation": (of(lambda x: fit(x) + 0.5 * cp.tv(x)), 0.5 / N, 0),
    "a parameter": (parameter, 0.5 / N, 0),
    "third differences, maximised": (maximised, 1.5 / (6 * N), 2),
    "a column, a sparse matrix, means": (column, 0.02, 1),
    "an epigraph": (epigraph, 0.5 / N, 0),
    "differences and residuals as variables": (split, 0.5 / N, 1),
    "loops": (loop, 1.0 / (2 * N), 0),
    "the squares multiplied out": (
        of(lambda x: 0.5 * cp.sum_squares(x) - SIGNAL @ x + 0.5 * cp.tv(x)),
        0.5 / N,
        0,
    ),
    "rows in any order and scale, the signal backwards": (
        of(lambda x: fit(x[::-1]) + 0.5 * cp.norm1(-2 * FIRST[ORDER] @ x)),
        1.0 / N,
        0,
    ),
    "two terms of the same differences": (
        of(lambda x: fit(x) + 0.25 * cp.tv(x) + 0.25 * cp.norm1(FIRST @ x)),
        0.5 / N,
        0,
    ),
}
"""Builders, lam and order of TrendFilter."""

NO_TRENDS: dict[str, tuple[Build, str]] = {
    "neighbours but one": (of(lambda x: fit(x) + cp.norm1(x[2:] - x[:-2])), "norm1"),
    "sums": (of(lambda x: fit(x) + cp.norm1(x[1:] + x[:-1])), "norm1"),
    "about a slope": (of(lambda x: fit(x) + cp.norm1(FIRST @ x - 0.1)), "norm1"),
    "wrapped": (of(lambda x: fit(x) + cp.norm1(cp.diff(cp.hstack([x, x[:1]])))), "norm1"),
    "one is missing": (of(lambda x: fit(x) + cp.norm1(cp.diff(x)[:-1])), "norm1"),
    "one counts more": (of(lambda x: fit(x) + COUNTS[1:] @ cp.abs(cp.diff(x))), "abs"),
    "weights of the samples": (
        of(lambda x: cp.sum_squares(cp.multiply(COUNTS, x - SIGNAL)) + cp.tv(x)),
        "quad_over_lin",
    ),
    "a sample is missing": (
        of(lambda x: cp.sum_squares(x[:-1] - SIGNAL[:-1]) + cp.tv(x)),
        "quad_over_lin",
    ),
    "two orders": (of(lambda x: fit(x) + cp.tv(x) + cp.norm1(cp.diff(x, 2))), "another order"),
    "sparse as well": (of(lambda x: fit(x) + cp.tv(x) + cp.norm1(x)), "norm1(x)"),
    "coefficients nearly those of a difference": (
        of(lambda x: fit(x) + cp.norm1((SECOND + 1e-9 * (SECOND == -2.0)) @ x)),
        "norm1",
    ),
    "the square of a difference beside": (
        of(lambda x: fit(x) + cp.tv(x) + cp.sum_squares(x[:3] - x[3:6])),
        "quad_over_lin",
    ),
    "nonnegative": (subject_to(lambda x: fit(x) + cp.tv(x), lambda x: [x >= 0]), "0.0 <= x"),
    "nonnegative by an attribute": (of(lambda x: fit(x) + cp.tv(x), nonneg=True), "x has bounds"),
    "integers": (of(lambda x: fit(x) + cp.tv(x), integer=True), "x is declared integer"),
    "a fixed end": (subject_to(lambda x: fit(x) + cp.tv(x), lambda x: [x[0] == 1]), "x[0] == 1"),
    "a cone": (
        subject_to(lambda x: fit(x) + cp.tv(x), lambda x: [cp.SOC(x[0], x[1:3])]),
        "SOC",
    ),
    "bounded": (subject_to(fit, lambda x: [cp.tv(x) <= 1]), "norm1"),
    "another loss": (of(lambda x: cp.sum(cp.huber(x - SIGNAL)) + cp.tv(x)), "huber"),
    "of the differences alone": (
        of(lambda x: cp.sum_squares(FIRST @ x - SIGNAL[1:]) + cp.tv(x)),
        "quad_over_lin",
    ),
}
"""Builders, and a part of what is said to stand in the way."""

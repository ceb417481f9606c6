"""The first iterates of gradient methods, against plain NumPy after the published method."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
from support.solvers.by_hand import COUNT, LAM, MASK, A, D, N, S, X, Y, agree, iterates, soft

import convexml as cml
from convexml.numerics import Array
from convexml.solvers import steps

RIDGE_L = float(np.linalg.eigvalsh(A.T @ A / N)[-1]) + LAM


def ridge_value(x: Array) -> float:
    r = A @ x - Y
    return float(r @ r / (2 * N) + 0.5 * LAM * x[:D] @ x[:D])


def ridge_gradient(x: Array) -> Array:
    return A.T @ (A @ x - Y) / N + LAM * MASK * x


def constant_descent(step: float) -> Iterator[Array]:
    x = np.zeros(D + 1)
    while True:
        yield x
        x = x - step * ridge_gradient(x)


@pytest.mark.parametrize("step", [None, 0.07])
def test_gradient_descent(step: float | None) -> None:
    found = iterates(cml.Ridge(X, Y, LAM), "gradient_descent", step=step)
    gamma = 1.0 / RIDGE_L if step is None else step
    agree(found, constant_descent(gamma))
    assert all(each.facts["step"] == pytest.approx(gamma, rel=1e-12) for each in found)


def searched(first: float, slope: float, borwein: bool) -> Iterator[tuple[Array, float]]:
    """Armijo's rule, the first trial the last step doubled, or the Barzilai-Borwein step."""
    x, step = np.zeros(D + 1), np.nan
    before: tuple[Array, Array] | None = None
    while True:
        yield x, step
        g = ridge_gradient(x)
        trial = first if before is None else 2.0 * step
        if borwein and before is not None:
            s, d = x - before[0], g - before[1]
            trial = float(s @ s) / float(s @ d)
        while not ridge_value(x - trial * g) <= ridge_value(x) - slope * trial * g @ g:
            trial *= 0.5
        before, step, x = (x, g), trial, x - trial * g


@pytest.mark.parametrize(
    ("rule", "first", "slope", "borwein"),
    [
        (steps.Backtracking(first=3.0), 3.0, 0.5, False),
        (steps.Backtracking(first=50.0, slope=0.1), 50.0, 0.1, False),
        ("barzilai_borwein", 1.0 / RIDGE_L, 1e-4, True),
        (steps.BarzilaiBorwein(first=40.0, slope=0.4), 40.0, 0.4, True),
    ],
    ids=["armijo", "armijo, slope 0.1", "BB", "BB, slope 0.4"],
)
def test_searched_steps_and_the_decrease_of_armijo(
    rule: Any, first: float, slope: float, borwein: bool
) -> None:
    found = iterates(cml.Ridge(X, Y, LAM), "gradient_descent", step=rule)
    pairs = list(islice(searched(first, slope, borwein), COUNT))
    agree(found, iter([x for x, _ in pairs]))
    points = [np.append(each.w, each.b) for each in found]
    taken = [float(each.facts["step"]) for each in found]
    assert taken[1:] == pytest.approx([step for _, step in pairs][1:], rel=1e-6)
    for x, ahead, step in zip(points, points[1:], taken[1:], strict=False):
        g = ridge_gradient(x)
        assert ridge_value(ahead) <= ridge_value(x) - slope * step * (g @ g) + 1e-14


def accelerated(
    step: float, restart: bool, gradient: Any, prox: Any, x: Array
) -> Iterator[tuple[Array, int]]:
    """Beck and Teboulle's recursion; restarts of O'Donoghue and Candes, by the gradient."""
    y, t, origin, k = x, 1.0, 0, 0
    while True:
        yield x, origin
        ahead = prox(y - step * gradient(y), step)
        k += 1
        following = (1.0 + np.sqrt(1.0 + 4.0 * t**2)) / 2.0
        if restart and (y - ahead) @ (ahead - x) > 0.0:
            y, t, origin = ahead, 1.0, k
        else:
            y, t = ahead + (t - 1.0) / following * (ahead - x), following
        x = ahead


@pytest.mark.parametrize("restart", [True, False])
def test_accelerated_gradient(restart: bool) -> None:
    lam = 1e-3
    problem = cml.LogisticRegression(X, S, lam)
    L = 0.25 * float(np.linalg.eigvalsh(A.T @ A / N)[-1]) + lam
    for step in (None, 5.0 / L):  # the longer one overshoots, and restarts
        found = iterates(problem, "accelerated_gradient", count=60, step=step, restart=restart)
        runs = accelerated(
            1.0 / L if step is None else step,
            restart,
            lambda x: A.T @ (-S / (1.0 + np.exp(S * (A @ x)))) / N + lam * MASK * x,
            lambda v, _: v,
            np.zeros(D + 1),
        )
        goals = list(islice(runs, 60))
        agree(found, iter([x for x, _ in goals]))
        assert [each.facts["restarted_at"] for each in found] == [k for _, k in goals]
        assert (goals[-1][1] > 0) == restart or step is None


def squared_gradient(x: Array) -> Array:
    return A.T @ (A @ x - Y) / N


def lasso_prox(v: Array, step: float) -> Array:
    return np.append(soft(v[:D], step * 0.2), v[D])


LASSO_L = float(np.linalg.eigvalsh(A.T @ A / N)[-1])


@pytest.mark.parametrize("restart", [True, False])
def test_fista(restart: bool) -> None:
    for step in (None, 1.9 / LASSO_L):
        found = iterates(cml.Lasso(X, Y, 0.2), "fista", step=step, restart=restart)
        gamma = 1.0 / LASSO_L if step is None else step
        runs = accelerated(gamma, restart, squared_gradient, lasso_prox, np.zeros(D + 1))
        goals = list(islice(runs, COUNT))
        agree(found, iter([x for x, _ in goals]))
        assert [each.facts["restarted_at"] for each in found] == [k for _, k in goals]


def test_proximal_gradient() -> None:
    def expected() -> Iterator[Array]:
        x = np.zeros(D + 1)
        while True:
            yield x
            x = lasso_prox(x - squared_gradient(x) / LASSO_L, 1.0 / LASSO_L)

    agree(iterates(cml.Lasso(X, Y, 0.2), "proximal_gradient"), expected())

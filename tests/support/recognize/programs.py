"""Linear and quadratic programs, equalities, and sequences, as people write them."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from .statement import regression, separable, states


@states(None, None, "a linear program in standard form", unique=(0,))
def linear_program() -> cp.Problem:
    rng = np.random.default_rng(20)
    A, x0 = rng.normal(size=(4, 9)), rng.uniform(0.5, 1.5, 9)
    x = cp.Variable(9)
    cost = A.T @ rng.normal(size=4) + rng.uniform(0.1, 1.0, 9)
    return cp.Problem(cp.Minimize(cost @ x), [A @ x == A @ x0, x >= 0])


@states(None, None, "a linear program with inequalities, maximised", unique=(0, 1))
def production_plan() -> cp.Problem:
    rng = np.random.default_rng(21)
    hours, profit = rng.uniform(0.5, 2.0, (3, 5)), rng.uniform(1.0, 3.0, 5)
    x = cp.Variable(5, name="amount")
    return cp.Problem(cp.Maximize(profit @ x), [hours @ x <= [8.0, 6.0, 7.0], x >= 0])


@states(None, None, "a quadratic program in standard form", unique=(0, 1))
def quadratic_program() -> cp.Problem:
    rng = np.random.default_rng(22)
    M, G = rng.normal(size=(6, 6)), rng.normal(size=(5, 6))
    x = cp.Variable(6)
    cost = 0.5 * cp.quad_form(x, M.T @ M + np.eye(6)) + rng.normal(size=6) @ x
    return cp.Problem(cp.Minimize(cost), [G @ x <= 1.0, rng.normal(size=(2, 6)) @ x == [0.1, 0.2]])


@states(None, None, "a portfolio: a budget, no short positions", unique=(0, 1))
def portfolio() -> cp.Problem:
    rng = np.random.default_rng(23)
    M, returns = rng.normal(size=(12, 8)), rng.uniform(0.0, 0.2, 8)
    x, gamma = cp.Variable(8), cp.Parameter(nonneg=True, value=0.5)
    gain = returns @ x - gamma * cp.quad_form(x, cp.psd_wrap(M.T @ M / 12))
    return cp.Problem(cp.Maximize(gain), [cp.sum(x) == 1, x >= 0])


@states(None, None, "least squares with equalities", unique=(0,))
def constrained_least_squares() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    rows = [np.array([[1.0, 1, 0, 0, 0], [0, 0, 1, -1, 0]]) @ w == [0.5, 0.0]]
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y)), rows)


@states(None, None, "total variation")
def total_variation() -> cp.Problem:
    rng = np.random.default_rng(24)
    signal = np.repeat([0.0, 2.0, 1.0], 8) + 0.2 * rng.normal(size=24)
    x = cp.Variable(24)
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(x - signal) + 0.5 * cp.tv(x)))


@states(None, None, "a trend filter of second differences")
def trend_filter() -> cp.Problem:
    rng = np.random.default_rng(25)
    signal = np.abs(np.arange(24) - 10.0) / 4 + 0.1 * rng.normal(size=24)
    D = np.diff(np.eye(24), n=2, axis=0)
    x = cp.Variable(24)
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(signal - x) + 2.0 * cp.norm(D @ x, 1)))


@states(None, None, "a separating plane as a linear program")
def halfspace() -> cp.Problem:
    X, y = separable()
    w, b = cp.Variable(3), cp.Variable()
    return cp.Problem(cp.Minimize(0), [cp.multiply(y, X @ w + b) >= 1])


@states(None, None, "the largest residual")
def chebyshev_fit() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.norm_inf(X @ w - y)))

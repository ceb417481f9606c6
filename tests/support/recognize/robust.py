"""Absolute, Huber, quantile and epsilon-insensitive residuals in the ways they are written."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from .statement import regression, states


@states("absolute", "zero", "norm1 of the residual")
def least_absolute_deviations() -> cp.Problem:
    X, y = regression(n=31)
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.norm1(X @ w - y)))


@states("absolute", "l2", "sum of abs, an intercept")
def absolute_residuals_with_ridge() -> cp.Problem:
    X, y = regression(seed=9)
    w, b = cp.Variable(5), cp.Variable()
    return cp.Problem(cp.Minimize(cp.sum(cp.abs(y - X @ w - b)) + 0.5 * cp.sum_squares(w)))


@states("absolute", "l1", "norm(., 1) twice")
def absolute_residuals_with_lasso() -> cp.Problem:
    X, y = regression(seed=10)
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.norm(X @ w - y, 1) + 4.0 * cp.norm(w, 1)))


@states("huber", "zero", "huber of CVXPY, twice the catalogue's")
def robust_regression() -> cp.Problem:
    X, y = regression()
    y[::7] += 6.0
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.sum(cp.huber(y - X @ w, 1))))


@states("huber", "l2", "mean of huber, M = 0.5, an intercept")
def huber_and_ridge() -> cp.Problem:
    X, y = regression()
    y[::7] -= 6.0
    w, b = cp.Variable(5), cp.Variable()
    loss = cp.sum(cp.huber(X @ w + b - y, M=0.5)) / 30
    return cp.Problem(cp.Minimize(loss + 0.05 * cp.sum_squares(w)))


@states("huber", "l1", "huber, columns")
def huber_and_lasso() -> cp.Problem:
    X, y = regression()
    y[::5] += 4.0
    w = cp.Variable((5, 1))
    loss = cp.sum(cp.huber(X @ w - y.reshape(-1, 1), 1.35))
    return cp.Problem(cp.Minimize(0.5 * loss + 3.0 * cp.sum(cp.abs(w))))


@states("pinball", "zero", "maximum of two lines")
def quantile_regression() -> cp.Problem:
    X, y = regression(n=31)
    w, b, tau = cp.Variable(5), cp.Variable(), 0.8
    r = y - X @ w - b
    return cp.Problem(cp.Minimize(cp.sum(cp.maximum(tau * r, (tau - 1) * r))))


@states("pinball", "l2", "half of abs and a tilt")
def tilted_absolute_residuals() -> cp.Problem:
    X, y = regression(n=31)
    w, b, tau = cp.Variable(5), cp.Variable(), 0.25
    r = y - (X @ w + b)
    loss = cp.sum(0.5 * cp.abs(r) + (tau - 0.5) * r)
    return cp.Problem(cp.Minimize(loss + 0.1 * cp.sum_squares(w)))


@states("pinball", "l1", "pos and neg")
def quantile_regression_by_parts() -> cp.Problem:
    X, y = regression(n=31)
    w, b = cp.Variable(5), cp.Variable()
    r = y - X @ w - b
    loss = cp.sum(0.3 * cp.pos(r) + 0.7 * cp.neg(r)) / 31
    return cp.Problem(cp.Minimize(loss + 0.05 * cp.norm1(w)))


@states("pinball", "l2", "pos of both signs")
def newsvendor() -> cp.Problem:
    X, demand = regression(n=33)
    q, b = cp.Variable(5, name="q"), cp.Variable()
    order = X @ q + b
    cost = 4.0 * cp.sum(cp.pos(demand - order)) + 1.0 * cp.sum(cp.pos(order - demand))
    return cp.Problem(cp.Minimize(cost / 33 + 0.1 * cp.sum_squares(q)))


@states("epsilon_insensitive", "l2", "pos of abs less eps")
def support_vector_regression() -> cp.Problem:
    X, y = regression()
    w, b, eps = cp.Variable(5), cp.Variable(), 0.2
    loss = cp.sum(cp.pos(cp.abs(y - X @ w - b) - eps))
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 2.0 * loss))


@states("epsilon_insensitive", "l1", "maximum of 0 and abs less eps")
def support_vector_regression_with_lasso() -> cp.Problem:
    X, y = regression()
    w, b = cp.Variable(5), cp.Variable()
    loss = cp.sum(cp.maximum(0, cp.abs(X @ w + b - y) - 0.3)) / 30
    return cp.Problem(cp.Minimize(loss + 0.05 * cp.norm(w, 1)))


@states("epsilon_insensitive", "l2", "maximum of three")
def support_vector_regression_by_three_lines() -> cp.Problem:
    X, y = regression()
    w, b = cp.Variable(5), cp.Variable()
    r = X @ w + b - y
    loss = cp.sum(cp.maximum(r - 0.25, -r - 0.25, 0))
    return cp.Problem(cp.Minimize(loss + 0.5 * cp.norm2(w) ** 2))


@states("epsilon_insensitive", "l2", "slacks on both sides", unique=(0, 1))
def support_vector_regression_with_slacks() -> cp.Problem:
    X, y = regression()
    w, b = cp.Variable(5), cp.Variable()
    above, below = cp.Variable(30), cp.Variable(30)
    objective = 0.5 * cp.sum_squares(w) + 1.5 * cp.sum(above + below)
    rows = [
        y - X @ w - b <= 0.2 + above,
        X @ w + b - y <= 0.2 + below,
        above >= 0,
        below >= 0,
    ]
    return cp.Problem(cp.Minimize(objective), rows)


@states("epsilon_insensitive", "l2", "one slack for both sides", unique=(0, 1, 2))
def support_vector_regression_with_one_slack() -> cp.Problem:
    X, y = regression(seed=11)
    w, b, xi = cp.Variable(5), cp.Variable(), cp.Variable(30)
    rows = [y - X @ w - b <= 0.2 + xi, X @ w + b - y <= 0.2 + xi, xi >= 0]
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + cp.sum(xi)), rows)


@states("squared_epsilon_insensitive", "l2", "square of pos of abs less eps")
def squared_beyond_a_tube() -> cp.Problem:
    X, y = regression()
    w, b = cp.Variable(5), cp.Variable()
    loss = cp.sum(cp.square(cp.pos(cp.abs(y - X @ w - b) - 0.2)))
    return cp.Problem(cp.Minimize(loss + 0.5 * cp.sum_squares(w)))


@states("absolute", "zero", "an epigraph: -t <= r <= t", unique=(0, 1))
def least_absolute_deviations_as_a_linear_program() -> cp.Problem:
    X, y = regression(n=31)
    w, t = cp.Variable(5), cp.Variable(31)
    r = X @ w - y
    return cp.Problem(cp.Minimize(cp.sum(t)), [-t <= r, r <= t])


@states("pinball", "l2", "an epigraph of two lines", unique=(0, 1))
def quantile_regression_with_slacks() -> cp.Problem:
    X, y = regression(n=31)
    w, b, t = cp.Variable(5), cp.Variable(), cp.Variable(31)
    r = y - X @ w - b
    rows = [t >= 0.9 * r, t >= -0.1 * r]
    return cp.Problem(cp.Minimize(cp.sum(t) / 31 + 0.05 * cp.sum_squares(w)), rows)


@states("huber", "l2", "huber of each entry, a Parameter for the weight")
def huber_in_a_loop() -> cp.Problem:
    X, y = regression(n=12, d=3)
    w, lam = cp.Variable(3), cp.Parameter(nonneg=True, value=0.5)
    loss = cp.sum([cp.huber(X[i] @ w - y[i], 0.8) for i in range(12)])
    return cp.Problem(cp.Minimize(loss + lam * cp.sum_squares(w)))


@states("squared", "l2", "an epigraph of each square", unique=(0,))
def ridge_with_a_bound_for_each_square() -> cp.Problem:
    X, y = regression()
    w, t = cp.Variable(5), cp.Variable(30)
    rows = [cp.square(X @ w - y) <= t]
    return cp.Problem(cp.Minimize(cp.sum(t) + np.float64(0.6) * cp.sum_squares(w)), rows)

"""Groups, several targets, and least squares whose penalty or set is written with constraints."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from .statement import regression, states


@states("squared", "group_l2", "a sum of norms of slices")
def group_lasso() -> cp.Problem:
    X, y = regression(d=6)
    w = cp.Variable(6)
    groups = [slice(0, 2), slice(2, 5), slice(5, 6)]
    penalty = sum(cp.norm(w[g], 2) for g in groups)
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + 6.0 * penalty))


@states("squared", "group_l2", "square roots of the sizes, lists of indices, an intercept")
def group_lasso_with_sizes() -> cp.Problem:
    X, y = regression(d=6)
    w, b = cp.Variable(6), cp.Variable()
    groups = [[0, 3], [1, 4, 5], [2]]
    penalty = cp.sum([np.sqrt(len(g)) * cp.norm2(w[g]) for g in groups])
    loss = cp.sum_squares(X @ w + b - y) / (2 * 30)
    return cp.Problem(cp.Minimize(loss + 0.1 * penalty))


@states("squared", "group_l2", "mixed_norm of a matrix of pairs")
def group_lasso_of_a_matrix() -> cp.Problem:
    X, y = regression(d=6)
    V = cp.Variable((3, 2))
    w = cp.vec(V, order="C")
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + 5.0 * cp.mixed_norm(V, 2, 1)))


@states("squared", "group_l2", "the norm of all coefficients, not squared")
def norm_of_all_coefficients() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + 4.0 * cp.norm(w, 2)))


@states("squared", None, "several targets, mixed_norm")
def multi_task_lasso() -> cp.Problem:
    X, y = regression()
    Y = np.column_stack([y, 0.5 * y + X[:, 1], X[:, 0] - y])
    W = cp.Variable((5, 3))
    loss = cp.sum_squares(X @ W - Y) / (2 * 30)
    return cp.Problem(cp.Minimize(loss + 0.2 * cp.mixed_norm(W, 2, 1)))


@states("squared", None, "several targets, norms of the rows")
def multi_task_lasso_of_rows() -> cp.Problem:
    X, y = regression()
    Y = np.column_stack([y, X[:, 2] - y])
    W = cp.Variable((5, 2))
    loss = cp.norm(X @ W - Y, "fro") ** 2
    return cp.Problem(cp.Minimize(loss + 6.0 * cp.sum(cp.norm(W, 2, axis=1))))


@states("squared", "nonnegative", "w >= 0", unique=(0,))
def nonnegative_least_squares() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y)), [w >= 0])


@states("squared", "nonnegative", "nonneg as an attribute")
def nonnegative_least_squares_with_an_attribute() -> cp.Problem:
    X, y = regression()
    w, b = cp.Variable(5, nonneg=True), cp.Variable()
    return cp.Problem(cp.Minimize(0.5 * cp.norm(X @ w + b - y) ** 2))


@states("squared", "nonnegative_elastic_net", "a sum of nonnegative coefficients", unique=(0,))
def nonnegative_lasso() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    loss = 0.5 * cp.sum_squares(X @ w - y)
    return cp.Problem(cp.Minimize(loss + 2.0 * cp.sum(w)), [w >= 0])


@states("squared", "nonnegative_elastic_net", "elastic net, nonneg as an attribute")
def nonnegative_elastic_net() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5, nonneg=True)
    penalty = 2.0 * cp.norm1(w) + cp.sum_squares(w)
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + penalty))


@states("squared", "box", "lower and upper bounds", unique=(0, 1))
def least_squares_in_a_box() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y)), [-0.5 <= w, w <= 1.0])


@states("squared", "box", "bounds as an attribute, one number each")
def least_squares_with_bounds() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5, bounds=[np.zeros(5), np.array([1.0, 2.0, 1.0, 0.3, 1.0])])
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y)))


@states("squared", "box", "abs(w) <= r", unique=(0,))
def least_squares_in_a_cube() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y)), [cp.abs(w) <= 0.8])


@states("squared", "l1_ball", "norm1(w) <= t", unique=(0,))
def lasso_within_a_ball() -> cp.Problem:
    X, y = regression()
    w, b = cp.Variable(5), cp.Variable()
    loss = cp.sum_squares(X @ w + b - y) / 60
    return cp.Problem(cp.Minimize(loss), [cp.norm(w, 1) <= 2.0])


@states("squared", "l2_ball", "norm(w, 2) <= t", unique=(0,))
def ridge_within_a_ball() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(X @ w - y)), [cp.norm(w, 2) <= 1.5])


@states("squared", "l2_ball", "sum_squares(w) <= t, a Parameter", unique=(0,))
def ridge_within_a_squared_ball() -> cp.Problem:
    X, y = regression()
    w, t = cp.Variable(5), cp.Parameter(nonneg=True, value=2.0)
    return cp.Problem(cp.Minimize(cp.sum_squares(y - X @ w)), [cp.sum_squares(w) <= t])


@states("squared", "l1", "an epigraph: -t <= w <= t, sum(t)", unique=(0, 1))
def lasso_with_a_bound_for_each_coefficient() -> cp.Problem:
    X, y = regression()
    w, t = cp.Variable(5), cp.Variable(5)
    objective = 0.5 * cp.sum_squares(X @ w - y) + 2.0 * cp.sum(t)
    return cp.Problem(cp.Minimize(objective), [-t <= w, w <= t])


@states("squared", "l1", "an epigraph: abs(w) <= t", unique=(0,))
def lasso_with_an_absolute_bound() -> cp.Problem:
    X, y = regression()
    w, t = cp.Variable(5), cp.Variable(5)
    objective = cp.sum_squares(X @ w - y) + 3.0 * cp.sum(t)
    return cp.Problem(cp.Minimize(objective), [cp.abs(w) <= t])


@states("squared", "l1", "an epigraph: norm1(w) <= t, one number", unique=(0,))
def lasso_with_a_bound_for_the_norm() -> cp.Problem:
    X, y = regression()
    w, t = cp.Variable(5), cp.Variable()
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + 5.0 * t), [cp.norm1(w) <= t])


@states("squared", "l1_ball", "an epigraph: sum(t) <= r", unique=(2,))
def lasso_within_a_ball_by_bounds() -> cp.Problem:
    X, y = regression()
    w, t = cp.Variable(5), cp.Variable(5)
    rows = [w <= t, -w <= t, cp.sum(t) <= 2.0]
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y)), rows)


@states("squared", "l1", "the residual is a variable", unique=(0,))
def lasso_with_a_residual() -> cp.Problem:
    X, y = regression()
    w, r = cp.Variable(5), cp.Variable(30)
    return cp.Problem(cp.Minimize(cp.sum_squares(r) + 6.0 * cp.norm1(w)), [r == X @ w - y])


@states(
    "squared", "nonnegative_elastic_net", "two parts, w = u - v, both nonnegative", unique=(0, 1)
)
def lasso_of_two_parts() -> cp.Problem:
    X, y = regression()
    u, v = cp.Variable(5), cp.Variable(5)
    objective = 0.5 * cp.sum_squares(X @ (u - v) - y) + 2.0 * cp.sum(u + v)
    return cp.Problem(cp.Minimize(objective), [u >= 0, v >= 0])


@states("interpolation", "l2", "Xw == y", unique=(0,))
def minimum_norm() -> cp.Problem:
    X, y = regression(n=4, d=6)
    w = cp.Variable(6)
    return cp.Problem(cp.Minimize(cp.sum_squares(w)), [X @ w == y])


@states("interpolation", "l1", "norm1 subject to Xw == y", unique=(0,))
def basis_pursuit() -> cp.Problem:
    X, y = regression(n=4, d=6)
    w = cp.Variable(6)
    return cp.Problem(cp.Minimize(cp.norm(w, 1)), [X @ w == y])

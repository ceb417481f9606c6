"""Squared residuals: least squares, ridge, lasso and elastic net in the ways they are written."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from .statement import regression, states


@states("squared", "zero", "sum_squares")
def least_squares() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y)))


@states("squared", "zero", "norm(., 2)**2, a column of ones")
def least_squares_with_a_column_of_ones() -> cp.Problem:
    X, y = regression()
    A = np.column_stack([np.ones(30), X])
    beta = cp.Variable(6, name="beta")
    return cp.Problem(cp.Minimize(cp.norm(A @ beta - y, 2) ** 2))


@states("squared", "zero", "weights of samples")
def weighted_least_squares() -> cp.Problem:
    X, y = regression(seed=5)
    s = np.linspace(0.2, 3.0, 30)
    w, b = cp.Variable(5), cp.Variable()
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(s, cp.square(y - X @ w - b)))))


@states("squared", "zero", "weights inside of the square")
def weighted_residuals() -> cp.Problem:
    X, y = regression(seed=6)
    s = np.linspace(0.2, 3.0, 30)
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.sum_squares(cp.multiply(np.sqrt(s), X @ w - y))))


@states("squared", "l2", "sum_squares of y - Xw")
def ridge() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.sum_squares(y - X @ w) + 0.7 * cp.sum_squares(w)))


@states("squared", "l2", "1/(2n), lam/2, an intercept")
def ridge_of_the_mean() -> cp.Problem:
    X, y = regression()
    n, d = X.shape
    w, b = cp.Variable(d, name="w"), cp.Variable(name="b")
    loss = 1 / (2 * n) * cp.sum_squares(X @ w + b - y)
    return cp.Problem(cp.Minimize(loss + 0.1 / 2 * cp.norm(w) ** 2))


@states("squared", "l2", "quad_form with the identity")
def ridge_as_a_quadratic_form() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) / 30 + cp.quad_form(w, np.eye(5))))


@states("squared", "l2", "quad_form with a diagonal")
def ridge_with_a_weight_for_each_feature() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    P = np.diag([1.0, 0.5, 2.0, 0.1, 3.0])
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + cp.quad_form(w, P)))


@states("squared", "l2", "quad_over_lin")
def ridge_over_a_number() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.quad_over_lin(X @ w - y, 60.0) + cp.quad_over_lin(w, 5.0)))


@states("squared", "l2", "a diagonal inside of the norm (Tikhonov)")
def tikhonov() -> cp.Problem:
    X, y = regression(seed=7)
    x = cp.Variable(5, name="x")
    G = np.diag([1.0, 2.0, 0.5, 1.5, 0.3])
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ x - y) + 0.4 * cp.sum_squares(G @ x)))


@states("squared", "l2", "a quadratic form of the residual, weights on its diagonal")
def generalised_least_squares() -> cp.Problem:
    X, y = regression(seed=8)
    w = cp.Variable(5)
    precision = np.diag(np.linspace(0.5, 2.0, 30))
    return cp.Problem(cp.Minimize(cp.quad_form(X @ w - y, precision) + cp.sum_squares(w)))


@states("squared", "l1", "norm1, a Parameter")
def lasso() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5, name="w")
    lam = cp.Parameter(nonneg=True, value=6.0)
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + lam * cp.norm1(w)))


@states("squared", "l1", "norm(., 1), a half")
def lasso_with_a_half() -> cp.Problem:
    X, y = regression(d=6)
    beta = cp.Variable(6)
    return cp.Problem(cp.Minimize(0.5 * cp.norm(y - X @ beta, 2) ** 2 + 4.0 * cp.norm(beta, 1)))


@states("squared", "l1", "mean of squares, sum of abs, an intercept")
def lasso_of_the_mean() -> cp.Problem:
    X, y = regression()
    w, b = cp.Variable(5), cp.Variable()
    fit = cp.mean(cp.square(X @ w + b - y))
    return cp.Problem(cp.Minimize(fit + 0.3 * cp.sum(cp.abs(w))))


@states("squared", "l1", "columns: w of (d, 1), y of (n, 1), b of (1, 1)")
def lasso_of_columns() -> cp.Problem:
    X, y = regression()
    w, b = cp.Variable((5, 1)), cp.Variable((1, 1))
    loss = cp.sum_squares(X @ w + b - y[:, None]) / (2 * len(y))
    return cp.Problem(cp.Minimize(loss + 0.2 * cp.norm1(w)))


@states("squared", "l1", "2/n, a b of one entry")
def lasso_times_two_over_n() -> cp.Problem:
    X, y = regression()
    w, b = cp.Variable(5), cp.Variable(1)
    return cp.Problem(cp.Minimize((2 / 30) * cp.sum_squares(y - (X @ w + b)) + cp.norm1(w)))


@states("squared", "l1", "an unpenalised column of ones")
def lasso_with_an_unpenalised_column() -> cp.Problem:
    X, y = regression()
    A = np.hstack([X, np.ones((30, 1))])
    w = cp.Variable(6)
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ w - y) + 8.0 * cp.norm1(w[:5])))


@states("squared", "l1", "weights of features inside of the norm")
def adaptive_lasso() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    weights = np.array([1.0, 2.0, 5.0, 0.5, 4.0])
    penalty = cp.norm1(cp.multiply(weights, w))
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + 3.0 * penalty))


@states("squared", "l1", "Maximize of the negative, a constant")
def lasso_maximised() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    return cp.Problem(cp.Maximize(10.0 - cp.sum_squares(X @ w - y) - 6.0 * cp.norm1(w)))


@states("squared", "l1", "a sparse matrix")
def lasso_of_a_sparse_matrix() -> cp.Problem:
    X, y = regression(n=40, d=6)
    X = sp.csr_array(np.where(np.abs(X) > 0.8, X, 0.0))
    w = cp.Variable(6)
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(X @ w - y) + 2.0 * cp.norm1(w)))


@states("squared", "l1", "X and y as Parameters, X times scale")
def lasso_of_parameters() -> cp.Problem:
    X, y = regression()
    A, t = cp.Parameter(X.shape, value=X), cp.Parameter(30, value=y)
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ w - t) + cp.norm1(6.0 * w)))


@states("squared", "l1", "one sample after the other, in a loop")
def lasso_in_a_loop() -> cp.Problem:
    X, y = regression(n=15, d=3)
    w, cost = cp.Variable(3), 0
    for row, target in zip(X, y, strict=True):
        cost += (row @ w - target) ** 2
    return cp.Problem(cp.Minimize(cost + 2.0 * cp.norm(w, 1)))


@states("squared", "l1", "coordinates permuted and scaled in the penalty")
def lasso_of_a_permuted_variable() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    turned = cp.hstack([w[4], 2.0 * w[3], -w[0], w[2], 0.5 * w[1]])
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + 3.0 * cp.norm1(turned)))


@states("squared", "elastic_net", "two penalties with a ratio")
def elastic_net() -> cp.Problem:
    X, y = regression()
    w, b = cp.Variable(5), cp.Variable()
    rho, lam = 0.5, 0.3
    penalty = rho * cp.norm1(w) + (1 - rho) / 2 * cp.sum_squares(w)
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w + b - y) / (2 * 30) + lam * penalty))


@states("squared", "elastic_net", "two Parameters, power(., 2)")
def elastic_net_of_two_parameters() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    lam1 = cp.Parameter(nonneg=True, value=5.0)
    lam2 = cp.Parameter(nonneg=True, value=1.0)
    ridge = lam2 * cp.sum(cp.power(w, 2))
    return cp.Problem(cp.Minimize(cp.pnorm(X @ w - y, 2) ** 2 + lam1 * cp.norm1(w) + ridge))


@states("squared", "elastic_net", "three penalties of one variable")
def sum_of_three_penalties() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    terms = [cp.sum_squares(X @ w - y), 2 * cp.norm1(w), cp.sum_squares(w), cp.sum(cp.abs(w))]
    return cp.Problem(cp.Minimize(sum(terms)))

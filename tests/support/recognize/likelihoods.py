"""Logistic, softmax and Poisson regression in the ways they are written."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from .statement import classes, counts, species, states


@states("logistic", "zero", "logistic(-y z)")
def logistic_regression() -> cp.Problem:
    X, y = classes()
    w, b = cp.Variable(4), cp.Variable()
    return cp.Problem(cp.Minimize(cp.sum(cp.logistic(-cp.multiply(y, X @ w + b)))))


@states("logistic", "l2", "y inside of X, the mean")
def logistic_ridge_with_signed_rows() -> cp.Problem:
    X, y = classes()
    w = cp.Variable(4)
    loss = cp.sum(cp.logistic(-(y[:, None] * X) @ w)) / 36
    return cp.Problem(cp.Minimize(loss + 0.05 * cp.sum_squares(w)))


@states("logistic", "l1", "0/1 labels: logistic(z) - y z, maximised")
def logistic_lasso_by_its_likelihood() -> cp.Problem:
    X, y = classes()
    t = (y > 0).astype(float)
    beta = cp.Variable(4)
    likelihood = cp.sum(cp.multiply(t, X @ beta) - cp.logistic(X @ beta))
    return cp.Problem(cp.Maximize(likelihood / 36 - 0.05 * cp.norm(beta, 1)))


@states("logistic", "l2", "0/1 labels: y @ z, the intercept a column")
def logistic_ridge_of_zero_one_labels() -> cp.Problem:
    X, y = classes()
    A, t = np.column_stack([X, np.ones(36)]), (y > 0).astype(float)
    w = cp.Variable(5)
    loss = cp.sum(cp.logistic(A @ w)) - t @ (A @ w)
    return cp.Problem(cp.Minimize(loss + 0.5 * cp.sum_squares(w[:-1])))


@states("logistic", "l1", "0/1 labels of a column, X'y taken out")
def logistic_lasso_of_columns() -> cp.Problem:
    X, y = classes()
    t = (y[:, None] > 0).astype(float)
    w = cp.Variable((4, 1))
    loss = cp.sum(cp.logistic(X @ w)) - cp.sum(cp.multiply(t, X @ w))
    return cp.Problem(cp.Minimize(loss + 2.0 * cp.norm1(w)))


@states("logistic", "elastic_net", "the mean of logistic, a Parameter")
def logistic_elastic_net() -> cp.Problem:
    X, y = classes()
    w, b = cp.Variable(4), cp.Variable()
    lam = cp.Parameter(nonneg=True, value=0.05)
    penalty = cp.norm1(w) + 0.5 * cp.sum_squares(w)
    loss = cp.mean(cp.logistic(cp.multiply(-y, X @ w + b)))
    return cp.Problem(cp.Minimize(loss + lam * penalty))


@states("logistic", "l2", "log_sum_exp of two columns")
def logistic_regression_as_log_sum_exp() -> cp.Problem:
    X, y = classes()
    w, b = cp.Variable(4), cp.Variable()
    z = cp.multiply(y, X @ w + b)
    both = cp.vstack([np.zeros(36), -z])
    return cp.Problem(cp.Minimize(cp.sum(cp.log_sum_exp(both, axis=0)) + cp.sum_squares(w)))


@states("logistic", "l2", "one sample after the other")
def logistic_regression_in_a_loop() -> cp.Problem:
    X, y = classes(n=14, d=3)
    w, b = cp.Variable(3), cp.Variable()
    loss = sum(cp.logistic(-y[i] * (X[i] @ w + b)) for i in range(14))
    return cp.Problem(cp.Minimize(loss / 14 + 0.1 * cp.norm(w, 2) ** 2))


@states("logistic", "l2", "weights of samples")
def weighted_logistic_regression() -> cp.Problem:
    X, y = classes()
    s = np.linspace(0.5, 2.0, 36)
    w, b = cp.Variable(4), cp.Variable()
    return cp.Problem(cp.Minimize(s @ cp.logistic(-cp.multiply(y, X @ w + b)) + cp.sum_squares(w)))


@states("softmax", "l2", "log_sum_exp of the rows less the score of the class")
def softmax_regression() -> cp.Problem:
    X, k = species()
    Y = np.eye(3)[k]
    W = cp.Variable((3, 3), name="W")
    Z = X @ W
    loss = cp.sum(cp.log_sum_exp(Z, axis=1)) - cp.sum(cp.multiply(Y, Z))
    return cp.Problem(cp.Minimize(loss / 36 + 0.05 * cp.sum_squares(W)))


@states("softmax", "l1", "a trace, sum of abs")
def softmax_lasso() -> cp.Problem:
    X, k = species()
    Y = np.eye(3)[k]
    W = cp.Variable((3, 3))
    likelihood = cp.trace(Y.T @ X @ W) - cp.sum(cp.log_sum_exp(X @ W, axis=1))
    return cp.Problem(cp.Maximize(likelihood - 2.0 * cp.sum(cp.abs(W))))


@states("softmax", "l2", "an intercept for each class, the Frobenius norm")
def softmax_regression_with_intercepts() -> cp.Problem:
    X, k = species()
    Y = np.eye(3)[k]
    W, b = cp.Variable((3, 3)), cp.Variable((1, 3))
    Z = X @ W + np.ones((36, 1)) @ b
    loss = cp.sum(cp.log_sum_exp(Z, axis=1)) - cp.sum(cp.multiply(Z, Y))
    return cp.Problem(cp.Minimize(loss + cp.norm(W, "fro") ** 2))


@states("softmax", "l2", "row by row")
def softmax_regression_in_a_loop() -> cp.Problem:
    X, k = species(n=12)
    W = cp.Variable((3, 3))
    loss = sum(cp.log_sum_exp(X[i] @ W) - X[i] @ W[:, k[i]] for i in range(12))
    return cp.Problem(cp.Minimize(loss + 0.5 * cp.sum_squares(W)))


@states("poisson", "l2", "exp(z) - y z")
def poisson_regression() -> cp.Problem:
    X, y = counts()
    w, b = cp.Variable(3), cp.Variable()
    z = X @ w + b
    loss = cp.sum(cp.exp(z) - cp.multiply(y, z)) / 30
    return cp.Problem(cp.Minimize(loss + 0.05 * cp.sum_squares(w)))


@states("poisson", "zero", "the likelihood, maximised")
def poisson_regression_by_its_likelihood() -> cp.Problem:
    X, y = counts()
    A = np.column_stack([np.ones(30), X])
    beta = cp.Variable(4)
    return cp.Problem(cp.Maximize(y @ (A @ beta) - cp.sum(cp.exp(A @ beta))))


@states("poisson", "l1", "X'y taken out of the sum")
def poisson_lasso() -> cp.Problem:
    X, y = counts()
    w, b = cp.Variable(3), cp.Variable()
    loss = cp.sum(cp.exp(X @ w + b)) - (X.T @ y) @ w - y.sum() * b
    return cp.Problem(cp.Minimize(loss + 3.0 * cp.norm1(w)))


@states("logistic", "l2", "0/1 labels, one sample after the other")
def logistic_likelihood_in_a_loop() -> cp.Problem:
    X, y = classes(n=14, d=3)
    w, b, cost = cp.Variable(3), cp.Variable(), 0
    for row, label in zip(X, y > 0, strict=True):
        z = row @ w + b
        cost += cp.logistic(z) - float(label) * z
    return cp.Problem(cp.Minimize(cost + 0.5 * cp.sum_squares(w)))


@states("poisson", "l2", "one sample after the other")
def poisson_regression_in_a_loop() -> cp.Problem:
    X, y = counts(n=14)
    w = cp.Variable(3)
    cost = cp.sum([cp.exp(X[i] @ w) - y[i] * (X[i] @ w) for i in range(14)])
    return cp.Problem(cp.Minimize(cost + cp.sum_squares(w)))

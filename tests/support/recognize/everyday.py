"""What data and code of every day bring along: types, containers, reuse, zeros."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from .statement import classes, regression, states


@states("squared", "l1", "integers, and a list of targets")
def lasso_of_integers() -> cp.Problem:
    X, y = regression()
    X, y = np.round(4 * X).astype(int), [int(target) for target in np.round(10 * y)]
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + 40 * cp.norm(w, 1)))


@states("squared", "l2", "float32")
def ridge_of_single_precision() -> cp.Problem:
    X, y = (part.astype(np.float32) for part in regression())
    w, b = cp.Variable(5), cp.Variable()
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w + b - y) + cp.sum_squares(w)))


@states("squared", "l1", "Constants, matmul as a function")
def lasso_of_constants() -> cp.Problem:
    X, y = (cp.Constant(part) for part in regression())
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.sum_squares(cp.matmul(X, w) - y) + 4.0 * cp.norm(w, p=1)))


@states("squared", "l1", "a Parameter for each feature")
def lasso_with_a_vector_of_parameters() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    lam = cp.Parameter(5, nonneg=True, value=[1.0, 2.0, 3.0, 4.0, 5.0])
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + lam @ cp.abs(w)))


@states("squared", None, "a Parameter that is 0")
def lasso_without_a_penalty() -> cp.Problem:
    X, y = regression()
    w, lam = cp.Variable(5), cp.Parameter(nonneg=True, value=0.0)
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + lam * cp.norm1(w)))


@states("squared", "l2", "means of both")
def ridge_of_two_means() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.mean((y - X @ w) ** 2) + 0.3 * cp.mean(cp.square(w))))


@states("squared", "l1", "two problems added")
def lasso_of_two_problems() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    fit = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y)))
    return fit + 3.0 * cp.Problem(cp.Minimize(cp.norm1(w)))


@states("squared", "l2", "a training loop's functions, units of a thousand")
def ridge_of_functions() -> cp.Problem:
    X, y = regression()

    def loss(w: cp.Expression) -> cp.Expression:
        return cp.pnorm(X @ w - 1000.0 * y, p=2) ** 2

    beta = cp.Variable(5)
    lam = cp.Parameter(nonneg=True)
    problem = cp.Problem(cp.Minimize((1.0 / 30) * loss(beta) + lam * cp.pnorm(beta, p=2) ** 2))
    lam.value = 0.2
    return problem


@states("hinge", "l2", "a Parameter for C and one for lam")
def svm_of_two_parameters() -> cp.Problem:
    X, y = classes()
    w, b = cp.Variable(4), cp.Variable()
    C, lam = cp.Parameter(nonneg=True, value=2.0), cp.Parameter(nonneg=True, value=1.0)
    hinge = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
    return cp.Problem(cp.Minimize(C * hinge + lam * cp.sum_squares(w)))


@states("logistic", "l2", "a slice of the data, labels of booleans")
def logistic_regression_of_booleans() -> cp.Problem:
    X, y = classes()
    positive = y > 0
    w, b = cp.Variable(4), cp.Variable()
    z = X @ w + b
    loss = cp.sum(cp.logistic(-z[positive])) + cp.sum(cp.logistic(z[~positive]))
    return cp.Problem(cp.Minimize(loss + 0.5 * cp.sum_squares(w)))


@states("hinge", "l2", "points of two classes apart")
def svm_of_two_clouds() -> cp.Problem:
    X, y = classes()
    red, blue = X[y > 0], X[y < 0]
    a, b = cp.Variable(4), cp.Variable()
    errors = cp.sum(cp.pos(1 - red @ a + b)) + cp.sum(cp.pos(1 + blue @ a - b))
    return cp.Problem(cp.Minimize(cp.norm(a, 2) ** 2 + 0.8 * errors))


@states("hinge", "l2", "slacks of two classes apart", unique=(0, 1, 2, 3))
def svm_of_two_clouds_with_slacks() -> cp.Problem:
    X, y = classes()
    red, blue = X[y > 0], X[y < 0]
    a, b = cp.Variable(4), cp.Variable()
    u, v = cp.Variable(len(red)), cp.Variable(len(blue))
    rows = [red @ a - b >= 1 - u, blue @ a - b <= v - 1, u >= 0, v >= 0]
    return cp.Problem(cp.Minimize(cp.sum_squares(a) + cp.sum(u) + cp.sum(v)), rows)


@states(None, None, "the normal equations as a quadratic program")
def least_squares_by_its_gram_matrix() -> cp.Problem:
    X, y = regression()
    w = cp.Variable(5)
    cost = cp.quad_form(w, X.T @ X) - 2 * (X.T @ y) @ w + float(y @ y)
    return cp.Problem(cp.Minimize(cost))


@states("squared", "l1", "an l1 norm of a product with a diagonal, a transposed row")
def lasso_of_rows() -> cp.Problem:
    X, y = regression()
    w = cp.Variable((1, 5))
    loss = cp.sum_squares(w @ X.T - y[None, :])
    return cp.Problem(cp.Minimize(loss + 2.0 * cp.sum(cp.abs(w @ np.diag([1.0, 2, 3, 1, 1])))))

"""Support vector machines and other losses of the margin in the ways they are written."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from .statement import classes, separable, states


@states("hinge", "l2", "pos(1 - y z)")
def svm() -> cp.Problem:
    X, y = classes()
    w, b = cp.Variable(4), cp.Variable()
    hinge = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 1.5 * hinge))


@states("hinge", "l2", "maximum(0, .), the norm squared, C as a Parameter")
def svm_of_a_maximum() -> cp.Problem:
    X, y = classes()
    w, b, C = cp.Variable(4), cp.Variable(), cp.Parameter(pos=True, value=0.5)
    hinge = cp.sum(cp.maximum(0, 1 - cp.multiply(y, X @ w + b)))
    return cp.Problem(cp.Minimize(cp.norm(w, 2) ** 2 / 2 + C * hinge))


@states("hinge", "l1", "the mean, columns, minus an offset")
def svm_with_lasso() -> cp.Problem:
    X, y = classes()
    beta, v = cp.Variable((4, 1)), cp.Variable()
    loss = cp.sum(cp.pos(1 - cp.multiply(y[:, None], X @ beta - v)))
    return cp.Problem(cp.Minimize(loss / 36 + 0.05 * cp.norm(beta, 1)))


@states("hinge", "l2", "y inside of X")
def svm_with_signed_rows() -> cp.Problem:
    X, y = classes()
    w, b = cp.Variable(4), cp.Variable()
    margins = (y[:, None] * X) @ w + y * b
    return cp.Problem(cp.Minimize(cp.sum(cp.pos(1 - margins)) / 36 + 0.1 * cp.sum_squares(w)))


@states("hinge", "l2", "0/1 labels")
def svm_of_zero_one_labels() -> cp.Problem:
    X, y = classes()
    t = (y > 0).astype(int)
    w, b = cp.Variable(4), cp.Variable()
    hinge = cp.sum(cp.pos(1 - cp.multiply(2 * t - 1, X @ w + b)))
    return cp.Problem(cp.Minimize(hinge + cp.sum_squares(w)))


@states("hinge", "l2", "diag(y), a sum over a list of samples")
def svm_in_a_loop() -> cp.Problem:
    X, y = classes(n=14, d=3)
    w, b = cp.Variable(3), cp.Variable()
    losses = [cp.pos(1 - y[i] * (X[i] @ w + b)) for i in range(14)]
    return cp.Problem(cp.Minimize(0.5 * cp.norm(w) ** 2 + sum(losses)))


@states("hinge", "elastic_net", "a diagonal of labels, no intercept")
def svm_with_elastic_net() -> cp.Problem:
    X, y = classes()
    w = cp.Variable(4)
    loss = cp.sum(cp.pos(1 - np.diag(y) @ X @ w))
    return cp.Problem(cp.Minimize(loss + 1.0 * cp.norm1(w) + 0.5 * cp.sum_squares(w)))


@states("hinge", "l2", "costs of the two classes")
def svm_with_costs() -> cp.Problem:
    X, y = classes()
    cost = np.where(y > 0, 3.0, 1.0)
    w, b = cp.Variable(4), cp.Variable()
    return cp.Problem(
        cp.Minimize(0.5 * cp.sum_squares(w) + cost @ cp.pos(1 - cp.multiply(y, X @ w + b)))
    )


@states("squared_hinge", "l2", "square of pos")
def squared_hinge() -> cp.Problem:
    X, y = classes()
    w, b = cp.Variable(4), cp.Variable()
    loss = cp.sum(cp.square(cp.pos(1 - cp.multiply(y, X @ w + b))))
    return cp.Problem(cp.Minimize(loss + 0.5 * cp.sum_squares(w)))


@states("squared_hinge", "l2", "sum_squares of maximum")
def squared_hinge_of_a_maximum() -> cp.Problem:
    X, y = classes()
    w, b = cp.Variable(4), cp.Variable()
    loss = cp.sum_squares(cp.maximum(1 - cp.multiply(y, X @ w + b), 0))
    return cp.Problem(cp.Minimize(loss / 36 + 0.05 * cp.norm(w, 2) ** 2))


@states("exponential", "l2", "exp(-y z)")
def exponential_loss() -> cp.Problem:
    X, y = classes()
    w, b = cp.Variable(4), cp.Variable()
    return cp.Problem(
        cp.Minimize(cp.sum(cp.exp(-cp.multiply(y, X @ w + b))) / 36 + 0.1 * cp.sum_squares(w))
    )


@states("hinge", "l2", "slacks", unique=(0, 1))
def soft_margin() -> cp.Problem:
    X, y = classes()
    w, b, xi = cp.Variable(4), cp.Variable(), cp.Variable(36)
    rows = [cp.multiply(y, X @ w + b) >= 1 - xi, xi >= 0]
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 1.0 * cp.sum(xi)), rows)


@states("hinge", "l2", "slacks, nonneg as an attribute, labels inside of X", unique=(0,))
def soft_margin_with_an_attribute() -> cp.Problem:
    X, y = classes(seed=12)
    w, b, xi = cp.Variable(4), cp.Variable(), cp.Variable(36, nonneg=True)
    rows = [(y[:, None] * X) @ w + y * b + xi >= 1]
    return cp.Problem(cp.Minimize(0.5 * cp.norm(w, 2) ** 2 + 2.0 * cp.sum(xi)), rows)


@states("hinge", "l2", "slacks of columns, the mean", unique=(0, 1))
def soft_margin_of_columns() -> cp.Problem:
    X, y = classes(seed=13)
    w, b, xi = cp.Variable((4, 1)), cp.Variable(), cp.Variable((36, 1))
    rows = [1 - xi <= cp.multiply(y[:, None], X @ w + b), 0 <= xi]
    return cp.Problem(cp.Minimize(0.1 * cp.sum_squares(w) + cp.sum(xi) / 36), rows)


@states("hinge", "l1", "slacks, a linear program", unique=(0, 1))
def soft_margin_with_lasso() -> cp.Problem:
    X, y = classes(n=37)
    w, b, xi = cp.Variable(4), cp.Variable(), cp.Variable(37)
    rows = [cp.multiply(y, X @ w + b) >= 1 - xi, xi >= 0]
    return cp.Problem(cp.Minimize(2.5 * cp.norm(w, 1) + cp.sum(xi)), rows)


@states("squared_hinge", "l2", "squared slacks", unique=(0,))
def soft_margin_with_squared_slacks() -> cp.Problem:
    X, y = classes()
    w, b, xi = cp.Variable(4), cp.Variable(), cp.Variable(36)
    rows = [cp.multiply(y, X @ w + b) >= 1 - xi]
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 0.5 * cp.sum_squares(xi)), rows)


@states("hard_margin", "l2", "y z >= 1", unique=(0,))
def hard_margin() -> cp.Problem:
    X, y = separable()
    w, b = cp.Variable(3), cp.Variable()
    rows = [cp.multiply(y, X @ w + b) >= 1]
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w)), rows)


@states("hard_margin", "l2", "one constraint for each sample", unique=tuple(range(24)))
def hard_margin_in_a_loop() -> cp.Problem:
    X, y = separable()
    w, b = cp.Variable(3), cp.Variable()
    rows = [y[i] * (w @ X[i] + b) >= 1 for i in range(24)]
    return cp.Problem(cp.Minimize(cp.norm(w, 2) ** 2), rows)


@states("hinge", "l2", "the dual: a box and an equality", unique=(2,))
def svm_dual() -> cp.Problem:
    X, y = classes()
    alpha = cp.Variable(36, name="alpha")
    gain = cp.sum(alpha) - 0.5 * cp.sum_squares((y[:, None] * X).T @ alpha)
    return cp.Problem(cp.Maximize(gain), [alpha >= 0, alpha <= 1.5, y @ alpha == 0])


@states("hinge", "l2", "the dual by its Gram matrix, minimised", unique=(2,))
def svm_dual_by_its_gram_matrix() -> cp.Problem:
    X, y = classes(n=20)
    Q = np.outer(y, y) * (X @ X.T)
    alpha = cp.Variable(20)
    cost = 0.5 * cp.quad_form(alpha, cp.psd_wrap(Q)) - cp.sum(alpha)
    rows = [0 <= alpha, alpha <= 1.0, cp.sum(cp.multiply(y, alpha)) == 0]
    return cp.Problem(cp.Minimize(cost), rows)


@states("hard_margin", "l2", "the dual without C", unique=(1,))
def hard_margin_dual() -> cp.Problem:
    X, y = separable()
    alpha = cp.Variable(24)
    gain = cp.sum(alpha) - 0.5 * cp.sum_squares(X.T @ cp.multiply(alpha, y))
    return cp.Problem(cp.Maximize(gain), [alpha >= 0, alpha @ y == 0])


@states("squared", "l1", "the dual of the lasso: a point of a polytope", unique=(0,))
def lasso_dual() -> cp.Problem:
    rng = np.random.default_rng(14)
    X, y = rng.normal(size=(30, 5)), rng.normal(size=30)
    u = cp.Variable(30, name="u")
    gain = -0.5 * cp.sum_squares(u) - y @ u
    return cp.Problem(cp.Maximize(gain), [cp.norm_inf(X.T @ u) <= 2.0])


@states("squared", "l1", "the dual of the lasso: a projection", unique=(0, 1))
def lasso_dual_as_a_projection() -> cp.Problem:
    rng = np.random.default_rng(15)
    X, y = rng.normal(size=(30, 5)), rng.normal(size=30)
    theta = cp.Variable(30)
    rows = [X.T @ theta <= 1.5, -1.5 <= X.T @ theta]
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(y - theta)), rows)

"""More near misses: labels, targets and atoms that are not what they look like."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from .misses import looks_like, parts
from .statement import classes, counts, regression, species


@looks_like("w", "logistic")
def labels_in_the_wrong_formula() -> cp.Problem:
    X, y = classes()
    t = (y > 0).astype(float)  # logistic(-t z) is a constant where t = 0
    w = cp.Variable(4, name="w")
    loss = cp.sum(cp.logistic(-cp.multiply(t, X @ w)))
    return cp.Problem(cp.Minimize(loss + 0.5 * cp.sum_squares(w)))


@looks_like("w", "logistic")
def signs_in_the_formula_of_zero_and_one() -> cp.Problem:
    X, y = classes()
    w = cp.Variable(4, name="w")  # logistic(z) - y z with y = -1: logistic(z) + z
    loss = cp.sum(cp.logistic(X @ w) - cp.multiply(y, X @ w))
    return cp.Problem(cp.Minimize(loss + 0.5 * cp.sum_squares(w)))


@looks_like("w", "logistic")
def probabilities_for_labels() -> cp.Problem:
    X, _ = classes()
    p = np.linspace(0.1, 0.9, 36)
    w = cp.Variable(4, name="w")
    loss = cp.sum(cp.logistic(X @ w) - cp.multiply(p, X @ w))
    return cp.Problem(cp.Minimize(loss + 0.5 * cp.sum_squares(w)))


@looks_like("w", "logistic")
def a_linear_term_beside_the_loss() -> cp.Problem:
    X, y = classes()
    w = cp.Variable(4, name="w")
    loss = cp.sum(cp.logistic(-cp.multiply(y, X @ w))) + np.array([3.0, 0.0, -1.0, 2.0]) @ w
    return cp.Problem(cp.Minimize(loss + cp.sum_squares(w)))


@looks_like("exp")
def targets_that_are_no_counts() -> cp.Problem:
    X, y = counts()
    w = cp.Variable(3, name="w")
    z = X @ w
    loss = cp.sum(cp.exp(z) - cp.multiply(y - 1.5, z))
    return cp.Problem(cp.Minimize(loss + cp.sum_squares(w)))


@looks_like("log_sum_exp")
def classes_that_do_not_add_up() -> cp.Problem:
    X, k = species()
    Y = np.eye(3)[k]
    Y[::4] *= 1.5  # weights the score, not the normaliser
    W = cp.Variable((3, 3), name="W")
    loss = cp.sum(cp.log_sum_exp(X @ W, axis=1)) - cp.sum(cp.multiply(Y, X @ W))
    return cp.Problem(cp.Minimize(loss + 2.0 * cp.sum_squares(W)))


@looks_like("log_sum_exp")
def normalised_over_the_samples() -> cp.Problem:
    X, k = species()
    Y = np.eye(3)[k]
    W = cp.Variable((3, 3), name="W")
    loss = cp.sum(cp.log_sum_exp(X @ W, axis=0)) - cp.sum(cp.multiply(Y, X @ W)) / 12
    return cp.Problem(cp.Minimize(loss + 2.0 * cp.sum_squares(W)))


@looks_like("norm2", "Pnorm", "@ w")
def square_root_lasso() -> cp.Problem:
    X, y, w, _ = parts()
    return cp.Problem(cp.Minimize(cp.norm(X @ w - y, 2) + 0.4 * cp.norm1(w)))


@looks_like("power", "quad_over_lin", "w")
def square_of_the_penalty() -> cp.Problem:
    X, y, w, _ = parts()
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + cp.square(cp.norm1(w))))


@looks_like("max")
def worst_sample() -> cp.Problem:
    X, y, w, _ = parts()
    return cp.Problem(cp.Minimize(cp.max(cp.square(X @ w - y)) + 0.1 * cp.norm1(w)))


@looks_like("normInf", "norm_inf")
def largest_coefficient() -> cp.Problem:
    X, y, w, _ = parts()
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + 5.0 * cp.norm_inf(w)))


@looks_like("power", "w")
def fourth_power() -> cp.Problem:
    X, y, w, _ = parts()
    return cp.Problem(cp.Minimize(cp.sum(cp.power(X @ w - y, 4)) + cp.sum_squares(w)))


@looks_like("maximum")
def three_different_lines() -> cp.Problem:
    X, y, w, _ = parts()
    r = X @ w - y
    loss = cp.sum(cp.maximum(2.0 * r - 1.0, -r, 0.2))
    return cp.Problem(cp.Minimize(loss + 0.3 * cp.sum_squares(w)))


@looks_like("maximum")
def lines_that_do_not_meet_at_zero() -> cp.Problem:
    X, y, w, _ = parts()
    r = y - X @ w
    loss = cp.sum(cp.maximum(0.8 * r + 0.1, -0.2 * r - 0.4))
    return cp.Problem(cp.Minimize(loss + 0.3 * cp.sum_squares(w)))


@looks_like("w", "v")
def two_variables_of_one_design() -> cp.Problem:
    X, y, w, _ = parts()
    v = cp.Variable(5, name="v")
    objective = cp.sum_squares(X @ (w + v) - y) + 3.0 * cp.norm1(w) + 2.0 * cp.sum_squares(v)
    return cp.Problem(cp.Minimize(objective))


@looks_like("w")
def one_norm_of_two_variables() -> cp.Problem:
    X, y, w, _ = parts()
    v = cp.Variable(3, name="v")
    Z = np.random.default_rng(32).normal(size=(30, 3))
    penalty = cp.norm(cp.hstack([w, v]), 2)
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w + Z @ v - y) + 4.0 * penalty))


@looks_like("w")
def slopes_that_change_sign() -> cp.Problem:
    X, y, w, _ = parts()
    penalty = cp.sum(cp.maximum(1.0 * w, -4.0 * w))  # an l1 norm, steeper below 0
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + 2.0 * penalty))


@looks_like("w")
def ball_about_another_point() -> cp.Problem:
    X, y, w, _ = parts()
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y)), [cp.norm(w - 1.0, 2) <= 0.5])


@looks_like("w")
def ball_and_half_space() -> cp.Problem:
    X, y, w, _ = parts()
    rows = [cp.norm(w, 2) <= 1.5, w[0] + w[1] <= 0.2]
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y)), rows)


@looks_like("w")
def ball_of_a_part() -> cp.Problem:
    X, y, w, _ = parts()
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y)), [cp.norm1(w[:3]) <= 1.0])


@looks_like("b")
def bounded_intercept() -> cp.Problem:
    X, y, w, b = parts()
    objective = cp.sum_squares(X @ w + b - y) + 2.0 * cp.norm1(w)
    return cp.Problem(cp.Minimize(objective), [b <= 0.3])


@looks_like("r")
def residual_with_room() -> cp.Problem:
    X, y, w, _ = parts()
    r = cp.Variable(30, name="r")
    rows = [r >= X @ w - y]  # not an equality: only residuals above 0 cost
    return cp.Problem(cp.Minimize(cp.sum_squares(r) + 2.0 * cp.norm1(w)), rows)


@looks_like("w")
def some_samples_interpolated() -> cp.Problem:
    X, y, w, _ = parts()
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + cp.norm1(w)), [X[:2] @ w == y[:2]])


@looks_like("w")
def rows_used_twice() -> cp.Problem:
    X, y = regression(n=20)
    w = cp.Variable(5, name="w")
    loss = cp.sum_squares(X @ w - y) + cp.sum_squares(X[:8] @ w - y[:8])  # weights 2 and 1
    return cp.Problem(cp.Minimize(loss + 2.0 * cp.norm1(w)))


@looks_like("w")
def means_of_two_blocks() -> cp.Problem:
    X, y = regression(n=30)
    w = cp.Variable(5, name="w")
    loss = cp.mean(cp.square(X[:6] @ w - y[:6])) + cp.mean(cp.square(X[6:] @ w - y[6:]))
    return cp.Problem(cp.Minimize(loss + 0.3 * cp.norm1(w)))

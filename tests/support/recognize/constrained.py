"""Problems with constraints of every kind that is read: loss, penalty, unique multipliers."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np

from .statement import classes, regression, separable

X, y = regression()
Z, labels = classes()
S, sides = separable()
squares = cp.sum_squares


def of_groups() -> cp.Problem:
    w, t = cp.Variable((3, 2)), cp.Variable(3)
    loss = squares(X[:, :3] @ w[:, 0] + X[:, 2:] @ w[:, 1] - y)
    return cp.Problem(cp.Minimize(loss + 3.0 * cp.sum(t)), [cp.norm(w, 2, axis=1) <= t])


def of_logistic_losses() -> cp.Problem:
    w, b, t = cp.Variable(4), cp.Variable(), cp.Variable(36)
    rows = [cp.logistic(-cp.multiply(labels, Z @ w + b)) <= t]
    return cp.Problem(cp.Minimize(cp.sum(t) + 0.5 * squares(w)), rows)


def of_the_whole_objective() -> cp.Problem:
    w, t = cp.Variable(5), cp.Variable()
    return cp.Problem(cp.Minimize(2.0 * t), [squares(X @ w - y) + 3.0 * cp.norm1(w) <= t])


def of_scaled_slacks() -> cp.Problem:
    w, b, xi = cp.Variable(4), cp.Variable(), cp.Variable(36)
    rows = [2.0 * cp.multiply(labels, Z @ w + b) >= 2.0 - 3.0 * xi, 5.0 * xi >= 0.0]
    cost = np.linspace(0.5, 1.5, 36)
    return cp.Problem(cp.Maximize(7.0 - cost @ xi - squares(w)), rows)


def of_parts_of_the_residual() -> cp.Problem:
    w, above, below = cp.Variable(5), cp.Variable(30), cp.Variable(30, nonneg=True)
    rows = [y - X @ w == above - below, above >= 0.0]
    cost = 0.7 * cp.sum(above) + 0.3 * cp.sum(below) + 0.5 * squares(w)
    return cp.Problem(cp.Minimize(cost), rows)


def of_margins_that_are_variables() -> cp.Problem:
    w, z, xi = cp.Variable(4), cp.Variable(36), cp.Variable(36)
    rows = [z == cp.multiply(labels, Z @ w), xi >= 1.0 - z, xi >= 0.0]
    return cp.Problem(cp.Minimize(0.5 * squares(w) + cp.sum(xi)), rows)


def of_copies() -> cp.Problem:
    w, v = cp.Variable(5), cp.Variable(5)
    return cp.Problem(cp.Minimize(squares(X @ w - y) + 6.0 * cp.norm1(v)), [w - v == 0])


def of_squared_tubes() -> cp.Problem:
    w, t = cp.Variable(5), cp.Variable(30)
    rows = [X @ w - y <= t + 0.3, y - X @ w <= t + 0.3]
    return cp.Problem(cp.Minimize(squares(t) + squares(w)), rows)


def of_slacks_in_another_order() -> cp.Problem:
    w, xi = cp.Variable(4), cp.Variable(36)
    rows = [xi[::-1] >= 1.0 - cp.multiply(labels, Z @ w), xi >= 0.0]
    cost = np.linspace(0.5, 1.5, 36)
    return cp.Problem(cp.Minimize(0.5 * squares(w) + cost @ xi), rows)


def of_bounds_in_parts() -> cp.Problem:
    w = cp.Variable(5)
    rows = [w[:2] >= 0.1, w[2:] >= -0.2, -2.0 * w >= -1.0, w[3] <= 0.4, w <= 5.0]
    return cp.Problem(cp.Minimize(squares(X @ w - y)), rows)


def of_the_margin_alone() -> cp.Problem:
    w, b = cp.Variable(3), cp.Variable()
    rows = [sides[k] * (S[k] @ w + b) - 3.0 >= 0.0 for k in range(24)]
    return cp.Problem(cp.Minimize(squares(w)), rows)


def of_a_ball_of_another_size() -> cp.Problem:
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(squares(X @ w - y)), [3.0 >= 2.0 * cp.norm1(w)])


def of_samples_of_zeros() -> cp.Problem:
    w, r = cp.Variable(1), cp.Variable(6)
    design, target = np.array([[1.0], [0.0], [2.0], [0.0], [1.0], [1.0]]), np.arange(6.0) - 1.5
    return cp.Problem(cp.Minimize(cp.norm1(r) + 0.3 * cp.norm1(w)), [r == design @ w - target])


def of_the_same_margin_twice() -> cp.Problem:
    w, b = cp.Variable(3), cp.Variable()
    rows = [sides[k] * (S[k] @ w + b) >= 1.0 for k in [*range(24), 3, 3]]
    return cp.Problem(cp.Minimize(0.5 * squares(w)), rows)


def of_thirds_of_a_slack() -> cp.Problem:
    w, b, xi = cp.Variable(1), cp.Variable(), cp.Variable(36)
    rows = [cp.multiply(labels, Z[:, :1] @ w + b) >= 1.0 - 3.0 * xi, xi >= 0.0]
    return cp.Problem(cp.Minimize(cp.sum(xi) + 0.1 * squares(w)), rows)


def of_exponentials() -> cp.Problem:
    w, t = cp.Variable(4), cp.Variable(36)
    rows = [cp.exp(-cp.multiply(labels, Z @ w)) <= t]
    return cp.Problem(cp.Minimize(cp.sum(t) + squares(w)), rows)


BUILT: dict[Callable[[], cp.Problem], tuple[str, str, tuple[int, ...]]] = {
    of_groups: ("squared", "group_l2", (0,)),
    of_logistic_losses: ("logistic", "l2", (0,)),
    of_the_whole_objective: ("squared", "l1", (0,)),
    of_scaled_slacks: ("hinge", "l2", (0, 1)),
    of_parts_of_the_residual: ("pinball", "l2", (0, 1)),
    of_margins_that_are_variables: ("hinge", "l2", (0, 1, 2)),
    of_copies: ("squared", "l1", (0,)),
    of_squared_tubes: ("squared_epsilon_insensitive", "l2", (0, 1)),
    of_slacks_in_another_order: ("hinge", "l2", (0, 1)),
    of_bounds_in_parts: ("squared", "box", (0, 1, 2, 3, 4)),
    of_the_margin_alone: ("hard_margin", "l2", tuple(range(24))),
    of_a_ball_of_another_size: ("squared", "l1_ball", (0,)),
    of_samples_of_zeros: ("absolute", "l1", (0,)),
    of_thirds_of_a_slack: ("hinge", "l2", ()),
    of_exponentials: ("exponential", "l2", (0,)),
    of_the_same_margin_twice: ("hard_margin", "l2", ()),
}

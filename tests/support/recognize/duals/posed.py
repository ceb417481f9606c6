"""How duals are posed: what is maximised, and subject to what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np

from ..statement import classes, regression, separable

X, y = classes(n=24)
S, sides = separable()
A, target = regression(n=20)
target = target - target.mean()
COSTS = np.linspace(0.5, 2.0, 24)
KERNEL = np.outer(y, y) * np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
Spread = Callable[[Any], Any]


def margin(
    spread: Spread, rows: Callable[[Any], list[Any]], gain: Spread = cp.sum, **attributes: Any
) -> Callable[[], cp.Problem]:
    """max gain(alpha) - spread(alpha), with a variable of its own each time."""

    def build() -> cp.Problem:
        alpha = cp.Variable(24, name="alpha", **attributes)
        return cp.Problem(cp.Maximize(gain(alpha) - spread(alpha)), rows(alpha))

    return build


def correlated(rows: Callable[[Any], list[Any]], cost: Spread | None = None) -> Any:
    """Min the cost of theta, by default of its distance from the target."""

    def build() -> cp.Problem:
        theta = cp.Variable(20, name="theta")
        found = 0.5 * cp.sum_squares(target - theta) if cost is None else cost(theta)
        return cp.Problem(cp.Minimize(found), rows(theta))

    return build


def of_columns(alpha: Any) -> Any:
    return 0.5 * cp.sum_squares((y[:, None] * X).T @ alpha)


def of_products(alpha: Any) -> Any:
    return 0.5 * cp.norm(X.T @ cp.multiply(alpha, y), 2) ** 2


def of_separable(alpha: Any) -> Any:
    return 0.5 * cp.sum_squares(cp.multiply(sides, alpha) @ S)


def of_a_kernel(alpha: Any) -> Any:
    return 0.5 * cp.quad_form(alpha, cp.psd_wrap(KERNEL))


def of_labels_and_a_kernel(alpha: Any) -> Any:
    return 0.5 * cp.quad_form(cp.multiply(y, alpha), cp.psd_wrap(X @ X.T))


def of_the_dual(u: Any) -> Any:
    return 10.0 * cp.sum_squares(u) + target @ u


def columns() -> cp.Problem:
    alpha = cp.Variable((24, 1), name="alpha")
    spread = 0.5 * cp.sum_squares((y[:, None] * X).T @ alpha)
    rows = [alpha >= 0, alpha <= 1, y[None, :] @ alpha == 0]
    return cp.Problem(cp.Minimize(spread - cp.sum(alpha)), rows)


def balanced(alpha: Any) -> Any:
    return y @ alpha == 0


DUALS: dict[str, tuple[Callable[[], cp.Problem], str, str]] = {
    "no intercept": (margin(of_columns, lambda a: [a >= 0, a <= 1]), "hinge", "l2"),
    "costs": (margin(of_products, lambda a: [0 <= a, a <= COSTS, balanced(a)]), "hinge", "l2"),
    "other units": (
        margin(
            of_columns, lambda a: [a >= 0, a <= 1, (3 * y * COSTS) @ a == 0], lambda a: COSTS @ a
        ),
        "hinge",
        "l2",
    ),
    "a column": (columns, "hinge", "l2"),
    "attributes": (margin(of_columns, lambda a: [0 == a @ y], bounds=[0, 2]), "hinge", "l2"),
    "two rows of a bound": (
        margin(of_products, lambda a: [a >= 0, a[:5] <= 0.3, a <= 1, balanced(a)]),
        "hinge",
        "l2",
    ),
    "a kernel": (margin(of_a_kernel, lambda a: [a >= 0, a <= 5, balanced(a)]), "hinge", "l2"),
    "a kernel, costs": (margin(of_a_kernel, lambda a: [a >= 0, a <= COSTS]), "hinge", "l2"),
    "labels and a kernel": (
        margin(of_labels_and_a_kernel, lambda a: [a >= 0, a <= 1, balanced(a)]),
        "hinge",
        "l2",
    ),
    "no bound above": (
        margin(of_separable, lambda a: [sides @ a == 0], nonneg=True),
        "hard_margin",
        "l2",
    ),
    "squared slacks": (
        margin(lambda a: of_columns(a) + 0.25 * cp.sum_squares(a), lambda a: [a >= 0, balanced(a)]),
        "squared_hinge",
        "l2",
    ),
    "a linear program": (
        margin(
            lambda a: 0.0,
            lambda a: [cp.norm_inf((y[:, None] * X).T @ a) <= 2.5, a >= 0, a <= 1, balanced(a)],
        ),
        "hinge",
        "l1",
    ),
    "an intercept": (
        correlated(lambda u: [cp.norm(A.T @ u, "inf") <= 0.2, cp.sum(u) == 0], of_the_dual),
        "squared",
        "l1",
    ),
    "sizes": (correlated(lambda u: [cp.abs(A.T @ u) <= 0.2], of_the_dual), "squared", "l1"),
    "a level for each": (
        correlated(lambda u: [cp.abs(A.T @ u) <= np.linspace(0.1, 0.3, 5)], of_the_dual),
        "squared",
        "l1",
    ),
    "the largest size": (
        correlated(lambda u: [cp.max(cp.abs(A.T @ u)) <= 0.2], of_the_dual),
        "squared",
        "l1",
    ),
    "a scaled projection": (
        correlated(
            lambda u: [cp.norm_inf(A.T @ u) <= 1],
            lambda u: 4.0 * cp.sum_squares(u - target / 2.0) - 0.5 * float(target @ target),
        ),
        "squared",
        "l1",
    ),
    "in a loop": (
        correlated(lambda u: [cp.abs(A[:, j] @ u) <= 2 + j for j in range(5)]),
        "squared",
        "l1",
    ),
    "ridge": (
        correlated(
            lambda u: [cp.sum(u) == 0], lambda u: of_the_dual(u) + 0.5 * cp.sum_squares(A.T @ u)
        ),
        "squared",
        "l2",
    ),
}
"""How to build it, the loss and the penalty whose dual it is; every multiplier is unique."""

BOX = [lambda a: a >= 0, lambda a: a <= 1.5]


def boxed(*more: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    return lambda a: [each(a) for each in (*BOX, *more)]


NO_DUALS: dict[str, tuple[Callable[[], cp.Problem], str]] = {
    "y'alpha == 1": (margin(of_columns, boxed(lambda a: y @ a == 1)), "alpha"),
    "alpha >= 0.1": (margin(of_columns, lambda a: [a >= 0.1, a <= 1, balanced(a)]), "entries"),
    "two equations": (margin(of_columns, boxed(balanced, lambda a: cp.sum(a) == 5)), "alpha"),
    "an equation in other units": (
        margin(of_columns, boxed(balanced), lambda a: COSTS @ a),
        "units",
    ),
    "another row": (margin(of_columns, boxed(balanced, lambda a: cp.sum(a) >= 3)), "alpha"),
    "two spreads": (
        margin(lambda a: of_columns(a) + cp.sum_squares(np.eye(2, 24, 3) @ a), boxed(balanced)),
        "quad_over_lin",
    ),
    "no bound of a kernel": (margin(of_a_kernel, lambda a: [a >= 0, balanced(a)]), "QuadForm"),
    "a gain of either sign": (
        margin(of_columns, boxed(balanced), lambda a: a[0] - cp.sum(a[1:])),
        "entries",
    ),
    "one side": (correlated(lambda u: [A.T @ u <= 1.5]), "theta"),
    "other sides": (correlated(lambda u: [A.T @ u <= 1.5, A.T @ u >= -1.0]), "theta"),
    "about another point": (correlated(lambda u: [cp.norm_inf(A.T @ u - 1.0) <= 2.0]), "theta"),
    "a side twice": (
        correlated(lambda u: [A.T @ u <= 1.5, A.T @ u >= -1.5, cp.norm_inf(A.T @ u) <= 2.0]),
        "theta",
    ),
    "another norm": (correlated(lambda u: [cp.norm(A.T @ u, 1) <= 2.0]), "theta"),
    "a spread and facets": (
        correlated(
            lambda u: [cp.norm_inf(A.T @ u) <= 0.2],
            lambda u: of_the_dual(u) + cp.sum_squares(A.T @ u),
        ),
        "theta",
    ),
}
"""How to build it, and what the reason names."""

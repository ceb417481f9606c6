"""Problems that look like a learning problem of the catalogue and are another one.

Each is read as what it is or declined; ``culprit`` is what stands in the way, as CVXPY prints it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from .statement import classes, regression


@dataclass(frozen=True)
class Miss:
    """A problem, and parts of what CVXPY prints of the expression in the way."""

    name: str
    build: Callable[[], cp.Problem]
    culprit: tuple[str, ...]


MISSES: dict[str, Miss] = {}


def looks_like(*culprit: str) -> Callable[[Callable[[], cp.Problem]], Callable[[], cp.Problem]]:
    """Enter the function that builds a problem under its name."""

    def enter(build: Callable[[], cp.Problem]) -> Callable[[], cp.Problem]:
        assert build.__name__ not in MISSES
        MISSES[build.__name__] = Miss(build.__name__, build, culprit)
        return build

    return enter


def parts() -> tuple[np.ndarray, np.ndarray, cp.Variable, cp.Variable]:
    X, y = regression()
    return X, y, cp.Variable(5, name="w"), cp.Variable(name="b")


@looks_like("b")
def penalised_intercept() -> cp.Problem:
    X, y, w, b = parts()
    penalty = cp.sum_squares(w) + cp.square(b)
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w + b - y) + penalty))


@looks_like("b", "abs")
def intercept_with_another_penalty() -> cp.Problem:
    X, y, w, b = parts()
    penalty = cp.sum_squares(w) + 9.0 * cp.abs(b)
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w + b - y) + penalty))


@looks_like("norm1", "quad_over_lin", "abs")
def penalty_of_the_predictions() -> cp.Problem:
    X, y, w, _ = parts()
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + 0.5 * cp.norm1(X @ w)))


@looks_like("w")
def penalty_about_another_point() -> cp.Problem:
    X, y, w, _ = parts()
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + 4.0 * cp.norm1(w - 1.0)))


@looks_like("w")
def ridge_about_another_point() -> cp.Problem:
    X, y, w, b = parts()
    prior = np.array([1.0, -2.0, 0.0, 3.0, 0.5])
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w + b - y) + cp.sum_squares(w - prior)))


@looks_like("huber", "norm1", "@ w", "sum_squares", "quad_over_lin")
def two_designs() -> cp.Problem:
    X, y, w, _ = parts()
    Z, t = regression(n=20, seed=31)
    loss = cp.sum_squares(X @ w - y) + cp.norm1(Z @ w - t)
    return cp.Problem(cp.Minimize(loss + cp.sum_squares(w)))


@looks_like("w")
def coupled_coefficients() -> cp.Problem:
    X, y, w, _ = parts()
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + cp.norm1(w)), [cp.sum(w) == 1.0])


@looks_like("w")
def ordered_coefficients() -> cp.Problem:
    X, y, w, _ = parts()
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y)), [w[:-1] <= w[1:]])


@looks_like("w[0]")
def fixed_coefficient() -> cp.Problem:
    X, y, w, _ = parts()
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + 5.0 * cp.norm1(w)), [w[0] == 1.0])


@looks_like("w")
def weights_within_the_square() -> cp.Problem:
    X, y, w, _ = parts()
    s = np.linspace(0.1, 3.0, 30)  # weighs by s**2, not by s
    loss = cp.sum_squares(cp.multiply(s, X @ w - y))
    return cp.Problem(cp.Minimize(loss + 2.0 * cp.norm1(w)))


@looks_like("multiply", "pos", "maximum")
def weights_within_the_hinge() -> cp.Problem:
    X, y = classes()
    w, b, s = cp.Variable(4, name="w"), cp.Variable(name="b"), np.linspace(0.5, 2.0, 36)
    hinge = cp.sum(cp.pos(1 - cp.multiply(s * y, X @ w + b)))  # scales z, not the loss
    return cp.Problem(cp.Minimize(hinge + cp.sum_squares(w)))


@looks_like("pos", "maximum")
def margins_of_their_own() -> cp.Problem:
    X, y = classes()
    w, b = cp.Variable(4, name="w"), cp.Variable(name="b")
    hinge = cp.sum(cp.pos(np.linspace(0.0, 2.0, 36) - cp.multiply(y, X @ w + b)))
    return cp.Problem(cp.Minimize(hinge + cp.sum_squares(w)))


@looks_like("QuadForm", "quad_form")
def quadratic_form_with_products() -> cp.Problem:
    X, y, w, _ = parts()
    P = np.eye(5) + 0.4 * np.ones((5, 5))
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + cp.quad_form(w, P)))


@looks_like("QuadForm", "quad_form")
def correlated_residuals() -> cp.Problem:
    X, y, w, _ = parts()
    lag = np.abs(np.subtract.outer(np.arange(30), np.arange(30)))
    return cp.Problem(
        cp.Minimize(cp.quad_form(X @ w - y, cp.psd_wrap(0.5**lag)) + cp.sum_squares(w))
    )


@looks_like("huber")
def huber_of_two_thresholds() -> cp.Problem:
    X, y, w, _ = parts()
    r = X @ w - y
    loss = cp.sum(cp.huber(r[:15], 0.3)) + cp.sum(cp.huber(r[15:], 1.5))
    return cp.Problem(cp.Minimize(loss + 0.2 * cp.sum_squares(w)))


@looks_like("huber")
def two_hubers_of_all_residuals() -> cp.Problem:
    X, y, w, _ = parts()
    loss = cp.sum(cp.huber(X @ w - y, 0.3)) + cp.sum(cp.huber(X @ w - y, 1.5))
    return cp.Problem(cp.Minimize(loss + 0.2 * cp.sum_squares(w)))


@looks_like("Pnorm", "w")
def overlapping_groups() -> cp.Problem:
    X, y, w, _ = parts()
    penalty = cp.norm(w[:3], 2) + cp.norm(w[2:], 2)
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + 5.0 * penalty))


@looks_like("Pnorm", "w")
def sparse_groups() -> cp.Problem:
    X, y, w, _ = parts()
    penalty = 2.0 * cp.norm1(w) + 3.0 * (cp.norm(w[:3], 2) + cp.norm(w[3:], 2))
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + penalty))


@looks_like("w")
def nonnegative_in_part() -> cp.Problem:
    X, y, w, _ = parts()
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + cp.norm1(w)), [w[1:3] >= 0])


@looks_like("w")
def gain_of_a_coefficient() -> cp.Problem:
    X, y, w, _ = parts()
    objective = cp.sum_squares(X @ w - y) + 3.0 * cp.norm1(w) - 2.5 * cp.sum(w[:2])
    return cp.Problem(cp.Minimize(objective))


@looks_like("t")
def bound_with_two_uses() -> cp.Problem:
    X, y, w, _ = parts()
    t = cp.Variable(5, name="t")
    objective = cp.sum_squares(X @ w - y) + 3.0 * cp.sum(t)
    return cp.Problem(cp.Minimize(objective), [cp.abs(w) <= t, t >= 0.4])


@looks_like("t")
def bound_that_is_not_tight() -> cp.Problem:
    X, y, w, _ = parts()
    t = cp.Variable(5, name="t")
    objective = cp.sum_squares(X @ w - y) + 3.0 * cp.sum(cp.square(t - 1.0))
    return cp.Problem(cp.Minimize(objective), [cp.abs(w) <= t])


@looks_like("t")
def bound_without_a_cost_for_one() -> cp.Problem:
    X, y, w, _ = parts()
    t = cp.Variable(5, name="t")
    objective = cp.sum_squares(X @ w - y) + 3.0 * cp.sum(t[:4])
    return cp.Problem(cp.Minimize(objective), [-t <= w, w <= t])


@looks_like("xi")
def slack_with_a_second_cost() -> cp.Problem:
    X, y = classes()
    w, b, xi = cp.Variable(4, name="w"), cp.Variable(name="b"), cp.Variable(36, name="xi")
    objective = 0.5 * cp.sum_squares(w) + cp.sum(xi) + 2.0 * cp.max(xi)
    return cp.Problem(cp.Minimize(objective), [cp.multiply(y, X @ w + b) >= 1 - xi, xi >= 0])


@looks_like("xi")
def slack_that_may_be_negative() -> cp.Problem:
    X, y = classes()
    w, b, xi = cp.Variable(4, name="w"), cp.Variable(name="b"), cp.Variable(36, name="xi")
    objective = 0.5 * cp.sum_squares(w) + cp.sum(xi)
    return cp.Problem(cp.Minimize(objective), [cp.multiply(y, X @ w + b) >= 1 - xi, xi >= -0.3])


@looks_like("xi")
def slack_with_a_ceiling() -> cp.Problem:
    X, y = classes()
    w, b, xi = cp.Variable(4, name="w"), cp.Variable(name="b"), cp.Variable(36, name="xi")
    rows = [cp.multiply(y, X @ w + b) >= 1 - xi, xi >= 0, xi <= 1.5]
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + cp.sum(xi)), rows)


@looks_like("w")
def coefficient_in_both_roles() -> cp.Problem:
    X, y, w, _ = parts()
    r = X[:, :4] @ w[:4] + w[4] - y  # the last one is an intercept, and is penalised
    return cp.Problem(cp.Minimize(cp.sum_squares(r) + 4.0 * cp.norm1(w)))

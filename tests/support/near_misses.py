"""Problems that look like one of the catalogue and are another one, and what stands in the way.

Each is read as what it is or declined with a reason that names one of the culprits, as CVXPY
prints them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np

from . import spellings as of
from .spellings import (
    builder,
    classes,
    fit,
    gain,
    l1,
    of_a_signal,
    pos,
    regression,
    sq,
    times,
    total,
)

LAG = np.abs(np.subtract.outer(np.arange(30), np.arange(30)))
STEPS, MARGINS = np.linspace(0.1, 3.0, 30), np.linspace(0.0, 2.0, 36)
HILBERT = 1.0 / (np.arange(8)[:, None] + np.arange(8) + 1.0)


def named(name: str, size: int) -> cp.Variable:
    return cp.Variable(size, name=name)


Rows = dict[str, tuple[tuple[str, ...], Callable[[Any, Any, Any, Any], Any]]]
OF_REGRESSION: Rows = {
    "penalised_intercept": (("b",), lambda X, y, w, b: sq(X @ w + b - y) + sq(w) + cp.square(b)),
    "penalty_of_the_predictions": (("norm1", "quad_over_lin", "abs"), lambda X, y, w, b:
        sq(X @ w - y) + 0.5 * l1(X @ w)),
    "penalty_about_another_point": (("w",), lambda X, y, w, b: sq(X @ w - y) + 4.0 * l1(w - 1.0)),
    "ridge_about_another_point": (("w",), lambda X, y, w, b:
        sq(X @ w + b - y) + sq(w - np.array([1.0, -2.0, 0.0, 3.0, 0.5]))),
    "two_designs": (("norm1", "@ w", "quad_over_lin"), lambda X, y, w, b:
        sq(X @ w - y) + l1(np.sin(X[:20]) @ w - y[:20]) + sq(w)),
    "coupled_coefficients": (("w",), lambda X, y, w, b: (sq(X @ w - y) + l1(w), total(w) == 1.0)),
    "ordered_coefficients": (("w",), lambda X, y, w, b: (sq(X @ w - y), w[:-1] <= w[1:])),
    "fixed_coefficient": (("w[0]",), lambda X, y, w, b: (sq(X @ w - y) + l1(w), w[0] == 1.0)),
    "weights_within_the_square": (("w",), lambda X, y, w, b:
        sq(times(STEPS, X @ w - y)) + 2.0 * l1(w)),
    "quadratic_form_with_products": (("QuadForm",), lambda X, y, w, b:
        sq(X @ w - y) + of.form(w, np.eye(5) + 0.4)),
    "correlated_residuals": (("QuadForm",), lambda X, y, w, b:
        of.form(X @ w - y, cp.psd_wrap(0.5**LAG)) + sq(w)),
    "huber_of_two_thresholds": (("huber",), lambda X, y, w, b: 0.2 * sq(w)
        + total(cp.huber(X[:15] @ w - y[:15], 0.3)) + total(cp.huber(X[15:] @ w - y[15:], 1.5))),
    "overlapping_groups": (("Pnorm", "w"), lambda X, y, w, b:
        sq(X @ w - y) + 5.0 * (cp.norm(w[:3], 2) + cp.norm(w[2:], 2))),
    "nonnegative_in_part": (("w",), lambda X, y, w, b: (sq(X @ w - y) + l1(w), w[1:3] >= 0)),
    "gain_of_a_coefficient": (("w",), lambda X, y, w, b:
        sq(X @ w - y) + 3.0 * l1(w) - 2.5 * total(w[:2])),
    "bound_with_two_uses": (("t",), lambda X, y, w, b:
        (sq(X @ w - y) + 3.0 * total(t := named("t", 5)), cp.abs(w) <= t, t >= 0.4)),
    "bound_that_is_not_tight": (("t",), lambda X, y, w, b:
        (sq(X @ w - y) + 3.0 * total(cp.square((t := named("t", 5)) - 1.0)), cp.abs(w) <= t)),
    "bound_without_a_cost_for_one": (("t",), lambda X, y, w, b:
        (sq(X @ w - y) + 3.0 * total((t := named("t", 5))[:4]), -t <= w, w <= t)),
    "coefficient_in_both_roles": (("w",), lambda X, y, w, b:
        sq(X[:, :4] @ w[:4] + w[4] - y) + 4.0 * l1(w)),
    "square_root_lasso": (("norm2", "Pnorm", "@ w"), lambda X, y, w, b:
        cp.norm(X @ w - y, 2) + 0.4 * l1(w)),
    "square_of_the_penalty": (("power", "quad_over_lin", "w"), lambda X, y, w, b:
        sq(X @ w - y) + cp.square(l1(w))),
    "worst_sample": (("max",), lambda X, y, w, b: cp.max(cp.square(X @ w - y)) + 0.1 * l1(w)),
    "largest_coefficient": (("norm_inf",), lambda X, y, w, b: sq(X @ w - y) + 5.0 * cp.norm_inf(w)),
    "fourth_power": (("power", "w"), lambda X, y, w, b: total(cp.power(X @ w - y, 4)) + sq(w)),
    "lines_that_do_not_meet_at_zero": (("maximum",), lambda X, y, w, b:
        total(cp.maximum(0.8 * (r := y - X @ w) + 0.1, -0.2 * r - 0.4)) + 0.3 * sq(w)),
    "two_variables_of_one_design": (("w", "v"), lambda X, y, w, b:
        sq(X @ (w + (v := named("v", 5))) - y) + 3.0 * l1(w) + 2.0 * sq(v)),
    "slopes_that_change_sign": (("w",), lambda X, y, w, b:
        sq(X @ w - y) + 2.0 * total(cp.maximum(1.0 * w, -4.0 * w))),
    "ball_about_another_point": (("w",), lambda X, y, w, b:
        (sq(X @ w - y), cp.norm(w - 1.0, 2) <= 0.5)),
    "ball_of_a_part": (("w",), lambda X, y, w, b: (sq(X @ w - y), l1(w[:3]) <= 1.0)),
    "bounded_intercept": (("b",), lambda X, y, w, b: (sq(X @ w + b - y) + 2.0 * l1(w), b <= 0.3)),
    "residual_with_room": (("r",), lambda X, y, w, b:
        (sq(r := named("r", 30)) + 2.0 * l1(w), r >= X @ w - y)),
    "some_samples_interpolated": (("w",), lambda X, y, w, b:
        (sq(X @ w - y) + l1(w), X[:2] @ w == y[:2])),
    "means_of_two_blocks": (("w",), lambda X, y, w, b: 0.3 * l1(w)
        + cp.mean(cp.square(X[:6] @ w - y[:6])) + cp.mean(cp.square(X[6:] @ w - y[6:]))),
    "no_room": (("w <= ",), lambda X, y, w, b: (sq(X @ w - y), w <= [1.0, 2.0, -np.inf, 1.0, 1.0])),
    "two_forms": (("QuadForm",), lambda X, y, w, b:
        of.form(w, X.T @ X) + of.form(w - 1.0, X.T @ X + np.ones((5, 5)))),
    "a_line_beside_huber": (("linear",), lambda X, y, w, b:
        total(cp.huber(X @ w - y)) - 0.1 * (X.T @ y) @ w + sq(w)),
    "a_singular_matrix": (("QuadForm",), lambda X, y, w, b:
        of.form(v := named("v", 12), cp.psd_wrap(of.WIDE.T @ of.WIDE)) + l1(v - 1.0)),
    "singular_to_rounding": (("QuadForm",), lambda X, y, w, b:
        of.form(v := named("v", 8), cp.psd_wrap(HILBERT)) - total(v)),
    "another_direction": (("linear",), lambda X, y, w, b:
        sq(of.WIDE @ (v := named("v", 12))) + np.arange(12.0) @ v + l1(v)),
    "a_direction_that_nothing_holds": (("linear",), lambda X, y, w, b:
        sq((Z := X[:, [0, 1, 1]]) @ (v := named("v", 3))) - (Z.T @ y) @ v),
}  # fmt: skip
SOFT = ("xi",)
OF_CLASSES: Rows = {
    "weights_within_the_hinge": (("multiply", "pos", "maximum"), lambda X, y, w, b:
        total(pos(1 - times((1.0 + MARGINS) * y, X @ w + b))) + sq(w)),
    "margins_of_their_own": (("pos", "maximum"), lambda X, y, w, b:
        total(pos(MARGINS - times(y, X @ w + b))) + sq(w)),
    "labels_in_the_wrong_formula": (("w", "logistic"), lambda X, y, w, b:
        total(cp.logistic(-times((y > 0).astype(float), X @ w))) + 0.5 * sq(w)),
    "signs_in_the_formula_of_zero_and_one": (("w", "logistic"), lambda X, y, w, b:
        total(cp.logistic(X @ w) - times(y, X @ w)) + 0.5 * sq(w)),
    "probabilities_for_labels": (("w", "logistic"), lambda X, y, w, b:
        total(cp.logistic(X @ w) - times(0.1 + 0.4 * MARGINS, X @ w)) + 0.5 * sq(w)),
    "a_linear_term_beside_the_loss": (("w", "logistic"), lambda X, y, w, b:
        total(cp.logistic(-times(y, X @ w))) + np.array([3.0, 0.0, -1.0, 2.0]) @ w + sq(w)),
    "no_labels": (("linear",), lambda X, y, w, b:
        total(cp.logistic(X @ w)) - 20 * (X.T @ (y > 0)) @ w + 8 * sq(w)),
}  # fmt: skip


def slack(cost: Callable[[Any], Any], *rows: Callable[[Any], Any]) -> Any:
    """A soft margin whose slacks have another cost, or another use."""
    return SOFT, lambda X, y, w, b: (
        0.5 * sq(w) + cost(xi := named("xi", 36)),
        times(y, X @ w + b) >= 1.0 - xi,
        *(row(xi) for row in rows),
    )


OF_CLASSES |= {
    "slack_with_a_second_cost": slack(lambda xi: total(xi) + 2.0 * cp.max(xi), lambda xi: xi >= 0),
    "slack_that_may_be_negative": slack(total, lambda xi: xi >= -0.3),
    "some_slacks_with_a_floor": slack(total, lambda xi: xi[:20] >= 0),
    "slack_with_a_ceiling": slack(total, lambda xi: xi >= 0, lambda xi: xi <= 1.5),
    "a_budget_of_slacks": slack(total, lambda xi: xi >= 0, lambda xi: total(xi) <= 3.0),
    "equal_slacks": slack(total, lambda xi: xi >= 0, lambda xi: xi[0] == xi[1]),
    "a_slack_that_gains": slack(lambda xi: total(xi[:-1]) - 0.1 * xi[-1], lambda xi: xi >= 0),
    "a_slack_without_a_cost": slack(lambda xi: total(xi[:-1]), lambda xi: xi >= 0),
    "a_cost_and_a_norm": slack(lambda xi: total(xi) + cp.norm(xi), lambda xi: xi >= 0),
    "costs_and_squares": slack(lambda xi: total(xi) + sq(xi), lambda xi: xi >= 0),
    "squares_about_1": slack(lambda xi: sq(xi - 1.0), lambda xi: xi >= 0),
    "slacks_in_a_cone": slack(total, lambda xi: xi >= 0, lambda xi: cp.SOC(cp.Constant(9.0), xi)),
}
OF_COUNTS: Rows = {
    "targets_that_are_no_counts": (("exp",), lambda X, y, w, b:
        total(cp.exp(X @ w) - times(y - 1.5, X @ w)) + sq(w)),
    "no_counts": (("linear",), lambda X, y, w, b:
        total(cp.exp(np.abs(X) @ w)) + (np.abs(X).T @ y) @ w + sq(w)),
}  # fmt: skip
OF_SPECIES: Rows = {
    "classes_that_do_not_add_up": (("log_sum_exp",), lambda X, k, w, b:
        total(cp.log_sum_exp(Z := X @ (W := cp.Variable((3, 3), name="W")), axis=1))
        - total(times(of.one_hot(k) * np.where(k, 1.0, 1.5)[:, None], Z)) + 2.0 * sq(W)),
    "normalised_over_the_samples": (("log_sum_exp",), lambda X, k, w, b:
        total(cp.log_sum_exp(Z := X @ (W := cp.Variable((3, 3), name="W")), axis=0))
        - total(times(of.one_hot(k), Z)) / 12 + 2.0 * sq(W)),
    "classes_without_a_penalty": (("nothing else holds",), lambda X, k, w, b:
        total(cp.log_sum_exp(Z := X @ of.new(3, 3), axis=1)) - cp.trace(of.one_hot(k).T @ Z)),
}  # fmt: skip


def boxed(
    *rows: Callable[[Any, Any], Any],
    cost: Callable[[Any, Any, Any], Any] = gain,
    above: float | None = 1.5,
    below: float = 0.0,
) -> Callable[[Any, Any, Any, Any], Any]:
    """A dual of a margin in a box, with rows of alpha and y."""
    return lambda X, y, w, b: (
        cp.Maximize(cost(X, y, a := named("alpha", 24))),
        a >= below,
        *([] if above is None else [a <= above]),
        *(row(a, y) for row in rows),
    )


def balanced(a: Any, y: Any) -> Any:
    return y @ a == 0


OF_ALPHAS: Rows = {
    "y'alpha == 1": (("alpha",), boxed(lambda a, y: y @ a == 1)),
    "alpha >= 0.1": (("entries",), boxed(balanced, below=0.1)),
    "an equation in other units": (
        ("units",), boxed(balanced, cost=lambda X, y, a: gain(X, y, a) + (of.COSTS - 1.0) @ a)
    ),
    "two spreads": (
        ("quad_over_lin",),
        boxed(balanced, cost=lambda X, y, a: gain(X, y, a) - sq(np.eye(2, 24, 3) @ a)),
    ),
    "no bound of a kernel": (("QuadForm",), boxed(balanced, cost=of.by_kernel, above=None)),
}  # fmt: skip


def theta(
    *rows: Callable[[Any, Any], Any], cost: Callable[[Any, Any, Any], Any] | None = None
) -> tuple[tuple[str, ...], Callable[[Any, Any, Any, Any], Any]]:
    """A projection of y, or another cost of theta, with rows of X'theta."""
    chosen = cost or (lambda X, y, u: 0.5 * sq(y - u))
    return ("theta",), lambda X, y, w, b: (
        chosen(X, y, u := named("theta", 20)),
        *(row(X.T @ u, u) for row in rows),
    )


OF_THETAS: Rows = {
    "other sides": theta(lambda z, u: z <= 1.5, lambda z, u: z >= -1.0),
    "about a point": theta(lambda z, u: cp.norm_inf(z - 1.0) <= 2.0),
    "one side": theta(lambda z, u: z <= 1.5),
    "another norm": theta(lambda z, u: l1(z) <= 2.0),
    "a spread and facets": theta(
        lambda z, u: cp.norm_inf(z) <= 0.2, cost=lambda X, y, u: of.of_the_dual(u, y) + sq(X.T @ u)
    ),
}
ONE = np.where(np.arange(24) == 3, 2.0, 1.0)
TRENDS: dict[str, tuple[str, Callable[[Any], Any], dict[str, Any]]] = {
    "neighbours but one": ("norm1", lambda x: fit(x) + l1(x[2:] - x[:-2]), {}),
    "about a slope": ("norm1", lambda x: fit(x) + l1(of.FIRST @ x - 0.1), {}),
    "one is missing": ("norm1", lambda x: fit(x) + l1(cp.diff(x)[:-1]), {}),
    "one of.counts more": ("abs", lambda x: fit(x) + ONE[1:] @ cp.abs(cp.diff(x)), {}),
    "weights": ("quad_over_lin", lambda x: sq(times(ONE, x - of.SIGNAL)) + cp.tv(x), {}),
    "a sample less": ("quad_over_lin", lambda x: sq(x[:-1] - of.SIGNAL[:-1]) + cp.tv(x), {}),
    "two orders": ("another order", lambda x: fit(x) + cp.tv(x) + l1(cp.diff(x, 2)), {}),
    "sparse as well": ("norm1(x)", lambda x: fit(x) + cp.tv(x) + l1(x), {}),
    "nearly": ("norm1", lambda x: fit(x) + l1((of.SECOND + 1e-9 * (of.SECOND == -2.0)) @ x), {}),
    "another square": ("quad_over_lin", lambda x: fit(x) + cp.tv(x) + sq(x[:3] - x[3:6]), {}),
    "nonnegative": ("0.0 <= x", lambda x: (fit(x) + cp.tv(x), x >= 0), {}),
    "an attribute": ("x has bounds", lambda x: fit(x) + cp.tv(x), {"nonneg": True}),
    "integers": ("x is declared integer", lambda x: fit(x) + cp.tv(x), {"integer": True}),
    "a fixed end": ("x[0] == 1", lambda x: (fit(x) + cp.tv(x), x[0] == 1), {}),
    "a cone": ("SOC", lambda x: (fit(x) + cp.tv(x), cp.SOC(x[0], x[1:3])), {}),
    "another loss": ("huber", lambda x: total(cp.huber(x - of.SIGNAL)) + cp.tv(x), {}),
    "differences": ("quad_over_lin", lambda x: sq(of.FIRST @ x - of.SIGNAL[1:]) + cp.tv(x), {}),
}  # fmt: skip
MISSES = {
    name: (builder(data, write), culprit)
    for data, table in (
        (regression, OF_REGRESSION), (classes, OF_CLASSES), (of.counts, OF_COUNTS),
        (of.species, OF_SPECIES), (lambda: classes(n=24), OF_ALPHAS), (of.centred, OF_THETAS),
    )
    for name, (culprit, write) in table.items()
} | {
    name: (of_a_signal(write, **attributes), (culprit,))
    for name, (culprit, write, attributes) in TRENDS.items()
}  # fmt: skip
"""Builders, and parts of what is said to stand in the way."""
DECLINED = {*OF_ALPHAS, *OF_THETAS, *TRENDS, *(n for n in OF_CLASSES if OF_CLASSES[n][0] == SOFT)}
DECLINED.remove("slack_that_may_be_negative")
"""Those that are never read as something else."""

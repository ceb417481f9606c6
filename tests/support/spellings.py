"""Learning problems as people write them in CVXPY: what should be read in each of them.

A row has the names of a loss and a penalty of the catalogue ("-" where any will do), a function
that writes the cost (or a goal, or both with constraints) of data, coefficients w and an intercept
b, and the numbers of the constraints whose multiplier is unique.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
from scipy import sparse

sq, l1, total, pos, times, form = (
    cp.sum_squares, cp.norm1, cp.sum, cp.pos, cp.multiply, cp.quad_form
)  # fmt: skip
Write = Callable[[Any, Any, Any, Any], Any]
Array = np.ndarray


@dataclass(frozen=True)
class Statement:
    """A problem as somebody writes it, built anew each time."""

    build: Callable[[], cp.Problem]
    loss: str | None
    penalty: str | None
    unique: tuple[int, ...] = ()


# -- data ------------------------------------------------------------------------------------------


def regression(n: int = 30, d: int = 5, seed: int = 0) -> tuple[Array, Array]:
    """A linear model with noise, about a level that is not 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.3
    w = np.array([2.0, -1.0, 0.0, 0.5, 0.0, 1.5])[:d]
    return X, X @ w + 0.7 + 0.4 * rng.normal(size=n)


def classes(n: int = 36, d: int = 4, seed: int = 1) -> tuple[Array, Array]:
    """Labels -1 and 1 that no plane separates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.2
    return X, np.where(X[:, 0] - 0.5 * X[:, 1] + 0.8 * rng.normal(size=n) > 0.1, 1.0, -1.0)


def separable(n: int = 24, d: int = 3, seed: int = 2) -> tuple[Array, Array]:
    """Labels -1 and 1 that a plane separates."""
    rng, way = np.random.default_rng(seed), np.array([1.0, -2.0, 0.5])[:d]
    X = rng.normal(size=(n, d))
    y = np.where(X @ way + 0.2 > 0.0, 1.0, -1.0)
    return X + 0.4 * y[:, None] * way, y


def counts(n: int = 30, d: int = 3, seed: int = 3) -> tuple[Array, Array]:
    """Numbers of events."""
    rng = np.random.default_rng(seed)
    X = 0.5 * rng.normal(size=(n, d))
    return X, rng.poisson(np.exp(X @ np.array([0.8, -0.5, 0.3])[:d] + 0.4)).astype(float)


def species(n: int = 36, d: int = 3, K: int = 3, seed: int = 4) -> tuple[Array, Array]:
    """Labels 0, ..., K - 1 that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.argmax(X @ rng.normal(size=(d, K)) + rng.normal(size=(n, K)), axis=1)


def one_hot(k: Array) -> Array:
    return np.eye(3)[k]


def new(*shape: int, **attributes: Any) -> cp.Variable:
    return cp.Variable(shape, **attributes)


def given(value: Any) -> cp.Parameter:
    return cp.Parameter(np.shape(value), nonneg=True, value=value)


def builder(data: Callable[[], tuple[Array, Array]], write: Write) -> Callable[[], cp.Problem]:
    """The problem that is written of the data, with variables of its own."""

    def build() -> cp.Problem:
        X, y = data()
        written = write(X, y, cp.Variable(X.shape[1], name="w"), cp.Variable(name="b"))
        goal, *rows = written if isinstance(written, tuple) else (written,)
        if isinstance(goal, cp.Problem):
            return goal
        posed = isinstance(goal, cp.Minimize | cp.Maximize)
        return cp.Problem(goal if posed else cp.Minimize(goal), rows)

    return build


STEPS = np.linspace(0.2, 3.0, 30)
ROWS = np.linspace(0.5, 1.5, 36)
WIDE = np.random.default_rng(3).normal(size=(6, 12))
SQUARES: dict[str, tuple[Any, ...]] = {
    "least_squares": ("squared zero", lambda X, y, w, b: sq(X @ w - y)),
    "weighted_least_squares": ("squared zero", lambda X, y, w, b:
        total(times(STEPS, cp.square(y - X @ w - b)))),
    "ridge": ("squared l2", lambda X, y, w, b: sq(y - X @ w) + 0.7 * sq(w)),
    "ridge_as_a_quadratic_form": ("squared l2", lambda X, y, w, b:
        sq(X @ w - y) / 30 + form(w, np.diag([1.0, 0.5, 2.0, 0.1, 3.0]))),
    "tikhonov": ("squared l2", lambda X, y, w, b:
        sq(X @ w - y) + 0.4 * sq(np.diag([1.0, 2.0, 0.5, 1.5, 0.3]) @ w)),
    "generalised_least_squares": ("squared l2", lambda X, y, w, b:
        form(X @ w - y, np.diag(STEPS)) + sq(w)),
    "ridge_of_single_precision": ("squared l2", lambda X, y, w, b:
        sq(X.astype(np.float32) @ w + b - y.astype(np.float32)) + sq(w)),
    "ridge_with_a_bound_for_each_square": ("squared l2", lambda X, y, w, b:
        (total(t := new(30)) + np.float64(0.6) * sq(w), cp.square(X @ w - y) <= t), (0,)),
    "lasso": ("squared l1", lambda X, y, w, b: sq(X @ w - y) + given(6.0) * l1(w)),
    "lasso_of_columns": ("squared l1", lambda X, y, w, b:
        sq(X @ (v := new(5, 1)) + new(1, 1) - y[:, None]) / (2 * len(y)) + 0.2 * l1(v)),
    "lasso_with_an_unpenalised_column": ("squared l1", lambda X, y, w, b:
        sq(np.hstack([X, np.ones((30, 1))]) @ (v := new(6)) - y) + 8.0 * l1(v[:5])),
    "adaptive_lasso": ("squared l1", lambda X, y, w, b:
        sq(X @ w - y) + 3.0 * l1(times([1.0, 2.0, 5.0, 0.5, 4.0], w))),
    "lasso_without_a_penalty": ("squared -", lambda X, y, w, b: sq(X @ w - y) + given(0.0) * l1(w)),
    "lasso_maximised": ("squared l1", lambda X, y, w, b:
        cp.Problem(cp.Maximize(10.0 - sq(X @ w - y) - 6.0 * l1(w)))),
    "lasso_of_a_sparse_matrix": ("squared l1", lambda X, y, w, b:
        0.5 * sq(sparse.csr_array(np.where(np.abs(X) > 0.8, X, 0.0)) @ w - y) + 2.0 * l1(w)),
    "lasso_of_parameters": ("squared l1", lambda X, y, w, b:
        sq(cp.Parameter(X.shape, value=X) @ w - cp.Parameter(30, value=y)) + l1(6.0 * w)),
    "lasso_in_a_loop": ("squared l1", lambda X, y, w, b:
        sum((row @ w - target) ** 2 for row, target in zip(X, y, strict=True)) + 2.0 * l1(w)),
    "lasso_of_a_permuted_variable": ("squared l1", lambda X, y, w, b: sq(X @ w - y)
        + 3.0 * l1(cp.hstack([w[4], 2.0 * w[3], -w[0], w[2], 0.5 * w[1]]))),
    "lasso_with_a_bound_for_each_coefficient": ("squared l1", lambda X, y, w, b:
        (0.5 * sq(X @ w - y) + 2.0 * total(t := new(5)), -t <= w, w <= t), (0, 1)),
    "lasso_with_a_residual": ("squared l1", lambda X, y, w, b:
        (sq(r := new(30)) + 6.0 * l1(w), r == X @ w - y), (0,)),
    "elastic_net": ("squared elastic_net", lambda X, y, w, b:
        sq(X @ w + b - y) / (2 * 30) + 0.3 * (0.5 * l1(w) + (1 - 0.5) / 2 * sq(w))),
    "norm_of_all_coefficients": ("squared group_l2", lambda X, y, w, b:
        sq(X @ w - y) + 4.0 * cp.norm(w, 2)),
    "groups_with_bounds": ("squared group_l2", lambda X, y, w, b:
        (sq(X[:, :3] @ (v := new(3, 2))[:, 0] + X[:, 2:] @ v[:, 1] - y) + 3.0 * total(t := new(3)),
         cp.norm(v, 2, axis=1) <= t), (0,)),
    "multi_task_lasso": ("squared -", lambda X, y, w, b:
        sq(X @ (W := new(5, 3)) - np.column_stack([y, 0.5 * y + X[:, 1], X[:, 0] - y])) / (2 * 30)
        + 0.2 * cp.mixed_norm(W, 2, 1)),
    "nonnegative_least_squares": ("squared nonnegative", lambda X, y, w, b:
        (sq(X @ w - y), w >= 0), (0,)),
    "nonnegative_least_squares_with_an_attribute": ("squared nonnegative", lambda X, y, w, b:
        0.5 * cp.norm(X @ new(5, nonneg=True) + b - y) ** 2),
    "nonnegative_lasso": ("squared nonnegative_elastic_net", lambda X, y, w, b:
        (0.5 * sq(X @ w - y) + 2.0 * total(w), w >= 0), (0,)),
    "lasso_of_two_parts": ("squared nonnegative_elastic_net", lambda X, y, w, b:
        (0.5 * sq(X @ (w - (v := new(5))) - y) + 2.0 * total(w + v), w >= 0, v >= 0), (0, 1)),
    "least_squares_in_a_box": ("squared box", lambda X, y, w, b:
        (sq(X @ w - y), -0.5 <= w, w <= 1.0), (0, 1)),
    "least_squares_with_bounds": ("squared box", lambda X, y, w, b:
        sq(X @ new(5, bounds=[np.zeros(5), np.array([1.0, 2.0, 1.0, 0.3, 1.0])]) - y)),
    "least_squares_in_a_cube": ("squared box", lambda X, y, w, b:
        (sq(X @ w - y), cp.abs(w) <= 0.8), (0,)),
    "bounds_in_parts": ("squared box", lambda X, y, w, b:
        (sq(X @ w - y), w[:2] >= 0.1, w[2:] >= -0.2, -2.0 * w >= -1.0, w[3] <= 0.4, w <= 5.0),
        (0, 1, 2, 3, 4)),
    "lasso_within_a_ball_of_another_size": ("squared l1_ball", lambda X, y, w, b:
        (sq(X @ w - y), 3.0 >= 2.0 * l1(w)), (0,)),
    "lasso_within_a_ball_by_bounds": ("squared l1_ball", lambda X, y, w, b:
        (sq(X @ w - y), w <= (t := new(5)), -w <= t, total(t) <= 2.0), (2,)),
    "ridge_within_a_ball": ("squared l2_ball", lambda X, y, w, b:
        (0.5 * sq(X @ w - y), cp.norm(w, 2) <= 1.5), (0,)),
    "ridge_within_a_squared_ball": ("squared l2_ball", lambda X, y, w, b:
        (sq(y - X @ w), sq(w) <= given(2.0)), (0,)),
    "a_gram_matrix": ("squared l1", lambda X, y, w, b:
        form(w, X.T @ X) - 2 * (X.T @ y) @ w + 3 * l1(w)),
    "half_of_a_gram_matrix": ("squared zero", lambda X, y, w, b:
        0.5 * form(w, cp.psd_wrap(X.T @ X)) - (X.T @ y) @ w),
    "a_gram_matrix_in_a_box": ("squared box", lambda X, y, w, b:
        (form(w, X.T @ X) - 2 * (X.T @ y) @ w, w >= -0.5, w <= 1.0), (0, 1)),
    "expanded_squares": ("squared l1", lambda X, y, w, b:
        sq(X @ w) - 2 * (X.T @ y) @ w + 3 * l1(w)),
    "a_proximal_step": ("squared l1", lambda X, y, w, b: sq(w) - (X.T @ y) @ w + l1(w)),
    "absolute_residuals_with_lasso": ("absolute l1", lambda X, y, w, b:
        cp.norm(X @ w - y, 1) + 4.0 * cp.norm(w, 1)),
    "huber": ("huber zero", lambda X, y, w, b: total(cp.huber(y + 6.0 * (STEPS > 2.5) - X @ w, 1))),
    "huber_and_ridge": ("huber l2", lambda X, y, w, b:
        total(cp.huber(X @ w + b - y + 6.0 * (STEPS > 2.5), M=0.5)) / 30 + 0.05 * sq(w)),
    "huber_and_lasso": ("huber l1", lambda X, y, w, b:
        0.5 * total(cp.huber(X @ (v := new(5, 1)) - y[:, None], 1.35)) + 3.0 * total(cp.abs(v))),
    "parts_of_the_residual": ("pinball l2", lambda X, y, w, b:
        (0.7 * total(above := new(30)) + 0.3 * total(below := new(30, nonneg=True)) + 0.5 * sq(w),
         y - X @ w == above - below, above >= 0.0), (0, 1)),
    "support_vector_regression": ("epsilon_insensitive l2", lambda X, y, w, b:
        0.5 * sq(w) + 2.0 * total(pos(cp.abs(y - X @ w - b) - 0.2))),
    "support_vector_regression_by_three_lines": ("epsilon_insensitive l2", lambda X, y, w, b:
        total(cp.maximum((r := X @ w + b - y) - 0.25, -r - 0.25, 0)) + 0.5 * cp.norm2(w) ** 2),
    "support_vector_regression_with_slacks": ("epsilon_insensitive l2", lambda X, y, w, b:
        (0.5 * sq(w) + 1.5 * total((s := new(30)) + (t := new(30))), y - X @ w - b <= 0.2 + s,
         X @ w + b - y <= 0.2 + t, s >= 0, t >= 0), (0, 1)),
    "support_vector_regression_with_one_slack": ("epsilon_insensitive l2", lambda X, y, w, b:
        (0.5 * sq(w) + total(t := new(30)), y - X @ w - b <= 0.2 + t, X @ w + b - y <= 0.2 + t,
         t >= 0), (0, 1, 2)),
    "squared_slacks_of_a_tube": ("squared_epsilon_insensitive l2", lambda X, y, w, b:
        (sq(t := new(30)) + sq(w), X @ w - y <= t + 0.3, y - X @ w <= t + 0.3), (0, 1)),
    "least_squares_with_equations": ("- -", lambda X, y, w, b:
        (sq(X @ w - y), np.array([[1.0, 1, 0, 0, 0], [0, 0, 1, -1, 0]]) @ w == [0.5, 0.0]), (0,)),
    "chebyshev_fit": ("- -", lambda X, y, w, b: cp.norm_inf(X @ w - y)),
}  # fmt: skip
OF_31: dict[str, tuple[Any, ...]] = {
    "least_absolute_deviations": ("absolute zero", lambda X, y, w, b: l1(X @ w - y)),
    "least_absolute_deviations_as_a_linear_program": ("absolute zero", lambda X, y, w, b:
        (total(t := new(31)), -t <= X @ w - y, X @ w - y <= t), (0, 1)),
    "quantile_regression": ("pinball zero", lambda X, y, w, b:
        total(cp.maximum(0.8 * (r := y - X @ w - b), (0.8 - 1) * r))),
    "quantile_regression_by_parts": ("pinball l1", lambda X, y, w, b:
        total(0.3 * pos(r := y - X @ w - b) + 0.7 * cp.neg(r)) / 31 + 0.05 * l1(w)),
    "quantile_regression_with_slacks": ("pinball l2", lambda X, y, w, b:
        (total(t := new(31)) / 31 + 0.05 * sq(w), t >= 0.9 * (r := y - X @ w - b), t >= -0.1 * r),
        (0, 1)),
}  # fmt: skip
OF_6: dict[str, tuple[Any, ...]] = {
    "group_lasso": ("squared group_l2", lambda X, y, w, b: sq(X @ w - y)
        + 6.0 * sum(cp.norm(w[g], 2) for g in (slice(0, 2), slice(2, 5), slice(5, 6)))),
    "group_lasso_with_sizes": ("squared group_l2", lambda X, y, w, b: sq(X @ w + b - y) / (2 * 30)
        + 0.1 * total([np.sqrt(len(g)) * cp.norm2(w[g]) for g in ([0, 3], [1, 4, 5], [2])])),
    "group_lasso_of_a_matrix": ("squared group_l2", lambda X, y, w, b:
        sq(X @ cp.vec(V := new(3, 2), order="C") - y) + 5.0 * cp.mixed_norm(V, 2, 1)),
}  # fmt: skip
OF_MANY: dict[str, tuple[Any, ...]] = {
    "minimum_norm": ("interpolation l2", lambda X, y, w, b: (sq(w), X @ w == y), (0,)),
    "basis_pursuit": ("interpolation l1", lambda X, y, w, b: (cp.norm(w, 1), X @ w == y), (0,)),
}
OF_CLASSES: dict[str, tuple[Any, ...]] = {
    "svm": ("hinge l2", lambda X, y, w, b:
        0.5 * sq(w) + 1.5 * total(pos(1 - times(y, X @ w + b)))),
    "svm_with_lasso": ("hinge l1", lambda X, y, w, b:
        total(pos(1 - times(y[:, None], X @ (v := new(4, 1)) - b))) / 36 + 0.05 * cp.norm(v, 1)),
    "svm_in_a_loop": ("hinge l2", lambda X, y, w, b:
        0.5 * cp.norm(w) ** 2 + sum([pos(1 - y[i] * (X[i] @ w + b)) for i in range(36)])),
    "svm_with_elastic_net": ("hinge elastic_net", lambda X, y, w, b:
        total(pos(1 - np.diag(y) @ X @ w)) + 1.0 * l1(w) + 0.5 * sq(w)),
    "svm_with_costs": ("hinge l2", lambda X, y, w, b:
        0.5 * sq(w) + np.where(y > 0, 3.0, 1.0) @ pos(1 - times(y, X @ w + b))),
    "svm_of_two_clouds": ("hinge l2", lambda X, y, w, b: cp.norm(w, 2) ** 2 + 0.8 * (
        total(pos(1 - X[y > 0] @ w + b)) + total(pos(1 + X[y < 0] @ w - b)))),
    "svm_of_two_clouds_with_slacks": ("hinge l2", lambda X, y, w, b:
        (sq(w) + total(u := new(int(np.sum(y > 0)))) + total(v := new(int(np.sum(y < 0)))),
         X[y > 0] @ w - b >= 1 - u, X[y < 0] @ w - b <= v - 1, u >= 0, v >= 0), (0, 1, 2, 3)),
    "soft_margin": ("hinge l2", lambda X, y, w, b:
        (0.5 * sq(w) + 1.0 * total(xi := new(36)), times(y, X @ w + b) >= 1 - xi, xi >= 0), (0, 1)),
    "soft_margin_of_columns": ("hinge l2", lambda X, y, w, b:
        (0.1 * sq(v := new(4, 1)) + total(xi := new(36, 1)) / 36,
         1 - xi <= times(y[:, None], X @ v + b), 0 <= xi), (0, 1)),
    "soft_margin_with_lasso": ("hinge l1", lambda X, y, w, b:
        (2.5 * cp.norm(w, 1) + total(xi := new(36)), times(y, X @ w + b) >= 1 - xi, xi >= 0)),
    "soft_margin_with_squared_slacks": ("squared_hinge l2", lambda X, y, w, b:
        (0.5 * sq(w) + 0.5 * sq(xi := new(36)), times(y, X @ w + b) >= 1 - xi), (0,)),
    "soft_margin_with_two_costs_of_squares": ("squared_hinge l2", lambda X, y, w, b:
        (0.5 * sq(w) + 0.5 * sq(s := new(36)) + sq(t := new(36)), times(y, X @ w + b) >= 1 - s,
         times(y, X @ w + b) >= 1 - t), (0, 1)),
    "soft_margin_of_scaled_slacks": ("hinge l2", lambda X, y, w, b:
        (cp.Maximize(7.0 - ROWS @ (xi := new(36)) - sq(w)),
         2.0 * times(y, X @ w + b) >= 2.0 - 3.0 * xi, 5.0 * xi >= 0.0), (0, 1)),
    "soft_margin_of_margins_that_are_variables": ("hinge l2", lambda X, y, w, b:
        (0.5 * sq(w) + total(xi := new(36)), (z := new(36)) == times(y, X @ w), xi >= 1.0 - z,
         xi >= 0.0), (0, 1, 2)),
    "soft_margin_in_thirds": ("hinge l2", lambda X, y, w, b:
        (total(xi := new(36)) + 0.1 * sq(v := new(1)),
         times(y, X[:, :1] @ v + b) >= 1.0 - 3.0 * xi, xi >= 0.0)),
    "squared_hinge": ("squared_hinge l2", lambda X, y, w, b:
        total(cp.square(pos(1 - times(y, X @ w + b)))) + 0.5 * sq(w)),
    "exponential_loss": ("exponential l2", lambda X, y, w, b:
        total(cp.exp(-times(y, X @ w + b))) / 36 + 0.1 * sq(w)),
    "exponential_loss_with_rows_of_zeros": ("exponential l2", lambda X, y, w, b:
        total(cp.exp(-times(y * (abs(ROWS - 1.0) > 0.2), X @ w))) / 36 + 0.1 * sq(w)),
    "logistic_regression": ("logistic zero", lambda X, y, w, b:
        total(cp.logistic(-times(y, X @ w + b)))),
    "logistic_ridge_with_signed_rows": ("logistic l2", lambda X, y, w, b:
        total(cp.logistic(-(y[:, None] * X) @ w)) / 36 + 0.05 * sq(w)),
    "logistic_lasso_by_its_likelihood": ("logistic l1", lambda X, y, w, b: cp.Maximize(
        total(times(y > 0, X @ w) - cp.logistic(X @ w)) / 36 - 0.05 * cp.norm(w, 1))),
    "logistic_ridge_of_zero_one_labels": ("logistic l2", lambda X, y, w, b:
        total(cp.logistic(z := np.column_stack([X, np.ones(36)]) @ (v := new(5))))
        - (y > 0).astype(float) @ z + 0.5 * sq(v[:-1])),
    "logistic_lasso_of_columns": ("logistic l1", lambda X, y, w, b:
        total(cp.logistic(X @ (v := new(4, 1)))) - total(times(1.0 * (y[:, None] > 0), X @ v))
        + 2.0 * l1(v)),
    "logistic_elastic_net": ("logistic elastic_net", lambda X, y, w, b:
        cp.mean(cp.logistic(times(-y, X @ w + b))) + given(0.05) * (l1(w) + 0.5 * sq(w))),
    "logistic_regression_as_log_sum_exp": ("logistic l2", lambda X, y, w, b: sq(w)
        + total(cp.log_sum_exp(cp.vstack([np.zeros(36), -times(y, X @ w + b)]), axis=0))),
    "logistic_regression_of_booleans": ("logistic l2", lambda X, y, w, b:
        total(cp.logistic(-(z := X @ w + b)[y > 0])) + total(cp.logistic(z[y < 0])) + 0.5 * sq(w)),
    "logistic_losses_with_bounds": ("logistic l2", lambda X, y, w, b:
        (total(t := new(36)) + 0.5 * sq(w), cp.logistic(-times(y, X @ w + b)) <= t), (0,)),
    "labels_taken_out": ("logistic l2", lambda X, y, w, b:
        total(cp.logistic(X @ w)) - (X.T @ (y > 0)) @ w + sq(w)),
    "labels_taken_out_of_an_intercept": ("logistic l2", lambda X, y, w, b: cp.Maximize(
        (X.T @ (y > 0)) @ w + float(sum(y > 0)) * b - total(cp.logistic(X @ w + b)) - sq(w))),
}  # fmt: skip
OF_SEPARABLE: dict[str, tuple[Any, ...]] = {
    "hard_margin": ("hard_margin l2", lambda X, y, w, b:
        (0.5 * sq(w), times(y, X @ w + b) >= 1), (0,)),
    "hard_margin_in_a_loop": ("hard_margin l2", lambda X, y, w, b:
        (sq(w), *(y[i] * (w @ X[i] + b) - 3.0 >= 0.0 for i in range(24))), tuple(range(24))),
    "the_same_margin_twice": ("hard_margin l2", lambda X, y, w, b:
        (0.5 * sq(w), *(y[k] * (X[k] @ w + b) >= 1.0 for k in [*range(24), 3, 3]))),
    "halfspace": ("- -", lambda X, y, w, b: (0.0 * b, times(y, X @ w + b) >= 1)),
}  # fmt: skip
OF_COUNTS: dict[str, tuple[Any, ...]] = {
    "poisson_regression": ("poisson l2", lambda X, y, w, b:
        total(cp.exp(z := X @ w + b) - times(y, z)) / 30 + 0.05 * sq(w)),
    "poisson_regression_by_its_likelihood": ("poisson zero", lambda X, y, w, b: cp.Maximize(
        y @ (z := np.column_stack([np.ones(30), X]) @ new(4)) - total(cp.exp(z)))),
    "poisson_lasso": ("poisson l1", lambda X, y, w, b:
        total(cp.exp(X @ w + b)) - (X.T @ y) @ w - y.sum() * b + 3.0 * l1(w)),
    "nonnegative_poisson_regression": ("poisson nonnegative", lambda X, y, w, b:
        (total(cp.exp(X @ w)) - (X.T @ y) @ w, w >= 0.0), (0,)),
}  # fmt: skip
OF_SPECIES: dict[str, tuple[Any, ...]] = {
    "softmax_regression": ("softmax l2", lambda X, k, w, b:
        (total(cp.log_sum_exp(Z := X @ (W := new(3, 3)), axis=1)) - total(times(one_hot(k), Z)))
        / 36 + 0.05 * sq(W)),
    "softmax_regression_with_intercepts": ("softmax l2", lambda X, k, w, b:
        total(cp.log_sum_exp(Z := X @ (W := new(3, 3)) + np.ones((36, 1)) @ new(1, 3), axis=1))
        - total(times(Z, one_hot(k))) + cp.norm(W, "fro") ** 2),
    "classes_taken_out_of_intercepts": ("softmax l2", lambda X, k, w, b:
        sq(W := new(3, 3)) - cp.trace(one_hot(k).T @ X @ W)
        - one_hot(k).sum(axis=0) @ (c := new(3))
        + total(cp.log_sum_exp(X @ W + np.ones((36, 1)) @ cp.reshape(c, (1, 3), "F"), axis=1))),
}  # fmt: skip
ZEROS = np.array([[1.0], [0.0], [2.0], [0.0], [1.0], [1.0]]), np.arange(6.0) - 1.5
OF_ZEROS: dict[str, tuple[Any, ...]] = {
    "samples_of_zeros": ("absolute l1", lambda X, y, w, b:
        (l1(r := new(6)) + 0.3 * l1(w), r == X @ w - y), (0,)),
}  # fmt: skip
RNG = np.random.default_rng(20)
A, G, M = RNG.normal(size=(4, 9)), RNG.normal(size=(5, 6)), RNG.normal(size=(6, 6))
OF_NOTHING: dict[str, tuple[Any, ...]] = {
    "linear_program": ("- -", lambda X, y, w, b:
        ((A.T @ np.ones(4) + 0.5 + STEPS[:9]) @ (x := new(9)), A @ x == A @ np.ones(9), x >= 0),
        (0,)),
    "production_plan": ("- -", lambda X, y, w, b:
        (cp.Maximize([1.0, 3.0, 2.0, 1.5, 2.5] @ (x := new(5))),
         np.abs(A[:3, :5]) @ x + 0.5 * total(x) <= [8.0, 6.0, 7.0], x >= 0), (0, 1)),
    "quadratic_program": ("- -", lambda X, y, w, b:
        (0.5 * form(x := new(6), M.T @ M + np.eye(6)) + M[0] @ x, G @ x <= 1.0,
         A[:2, :6] @ x == [0.1, 0.2]), (0, 1)),
    "portfolio": ("- -", lambda X, y, w, b:
        (cp.Maximize(STEPS[:6] @ (x := new(6)) - given(0.5) * form(x, cp.psd_wrap(M.T @ M / 12))),
         total(x) == 1, x >= 0), (0, 1)),
}  # fmt: skip


COSTS = np.linspace(0.5, 2.0, 24)


def gain(X: Array, y: Array, a: Any) -> Any:
    return total(a) - 0.5 * sq((y[:, None] * X).T @ a)


def by_products(X: Array, y: Array, a: Any) -> Any:
    return total(a) - 0.5 * cp.norm(X.T @ times(a, y), 2) ** 2


def gaussian(X: Array, y: Array) -> Array:
    return np.outer(y, y) * np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))


def by_kernel(X: Array, y: Array, a: Any) -> Any:
    return total(a) - 0.5 * form(a, cp.psd_wrap(gaussian(X, y)))


def of_the_dual(u: Any, y: Array) -> Any:
    return 10.0 * sq(u) + y @ u


OF_ALPHAS: dict[str, tuple[Any, ...]] = {
    "no intercept": ("hinge l2", lambda X, y, w, b:
        (cp.Maximize(gain(X, y, a := new(24))), a >= 0, a <= 1), (0, 1)),
    "costs": ("hinge l2", lambda X, y, w, b:
        (cp.Maximize(by_products(X, y, a := new(24))), 0 <= a, a <= COSTS, y @ a == 0), (0, 1, 2)),
    "other units": ("hinge l2", lambda X, y, w, b:
        (cp.Maximize(gain(X, y, a := new(24)) + (COSTS - 1.0) @ a), a >= 0, a <= 1,
         (3 * y * COSTS) @ a == 0), (0, 1, 2)),
    "a column": ("hinge l2", lambda X, y, w, b:
        (-gain(X, y, a := new(24, 1)), a >= 0, a <= 1, y[None, :] @ a == 0), (0, 1, 2)),
    "attributes": ("hinge l2", lambda X, y, w, b:
        (cp.Maximize(gain(X, y, a := new(24, bounds=[0, 2]))), 0 == a @ y), (0,)),
    "two rows of a bound": ("hinge l2", lambda X, y, w, b:
        (cp.Maximize(by_products(X, y, a := new(24))), a >= 0, a[:5] <= 0.3, a <= 1, y @ a == 0),
        (0, 1, 2, 3)),
    "a kernel": ("hinge l2", lambda X, y, w, b:
        (cp.Maximize(by_kernel(X, y, a := new(24))), a >= 0, a <= 5, y @ a == 0), (0, 1, 2)),
    "a kernel, costs": ("hinge l2", lambda X, y, w, b:
        (cp.Maximize(by_kernel(X, y, a := new(24))), a >= 0, a <= COSTS), (0, 1)),
    "squared slacks": ("squared_hinge l2", lambda X, y, w, b:
        (cp.Maximize(gain(X, y, a := new(24)) - 0.25 * sq(a)), a >= 0, y @ a == 0), (0, 1)),
    "a linear program": ("hinge l1", lambda X, y, w, b:
        (cp.Maximize(total(a := new(24))), cp.norm_inf((y[:, None] * X).T @ a) <= 2.5, a >= 0,
         a <= 1, y @ a == 0), (0, 1, 2, 3)),
}  # fmt: skip
OF_SEPARABLE_ALPHAS: dict[str, tuple[Any, ...]] = {
    "no bound above": ("hard_margin l2", lambda X, y, w, b:
        (cp.Maximize(total(a := new(24, nonneg=True)) - 0.5 * sq(times(y, a) @ X)), y @ a == 0),
        (0,)),
}  # fmt: skip
OF_THETAS: dict[str, tuple[Any, ...]] = {
    "an intercept": ("squared l1", lambda X, y, w, b:
        (of_the_dual(u := new(20), y), cp.norm(X.T @ u, "inf") <= 0.2, total(u) == 0), (0, 1)),
    "the largest size": ("squared l1", lambda X, y, w, b:
        (of_the_dual(u := new(20), y), cp.max(cp.abs(X.T @ u)) <= 0.2), (0,)),
    "a scaled projection": ("squared l1", lambda X, y, w, b:
        (4.0 * sq((u := new(20)) - y / 2.0) - 0.5 * float(y @ y), cp.norm_inf(X.T @ u) <= 1),
        (0,)),
    "two sides": ("squared l1", lambda X, y, w, b:
        (0.5 * sq(y - (u := new(20))), X.T @ u <= 1.5, -1.5 <= X.T @ u), (0, 1)),
    "a side twice": ("squared l1", lambda X, y, w, b:
        (0.5 * sq(y - (u := new(20))), X.T @ u <= 1.5, -1.5 <= X.T @ u, cp.norm_inf(X.T @ u) <= 2),
        (0, 1, 2)),
    "sizes": ("absolute l2", lambda X, y, w, b:
        (0.5 * sq(X.T @ (u := new(20))) - y @ u, cp.abs(u) <= 2.0, total(u) == 0), (0, 1)),
    "two ends": ("pinball l2", lambda X, y, w, b:
        (0.5 * sq(X.T @ (u := new(20))) - y @ u, u >= -1.0, u <= 3.0), (0, 1)),
    "ridge": ("squared l2", lambda X, y, w, b:
        (of_the_dual(u := new(20), y) + 0.5 * sq(X.T @ u), total(u) == 0), (0,)),
}  # fmt: skip


def centred() -> tuple[Array, Array]:
    X, y = regression(n=20)
    return X, y - y.mean()


N = 24
NOISE = np.random.default_rng(24)
SIGNAL = np.repeat([0.0, 2.0, 1.0], 8) + 0.2 * NOISE.normal(size=N)
ORDER = NOISE.permutation(N - 1)
FIRST, SECOND = (np.diff(np.eye(N), k, axis=0) for k in (1, 2))


def fit(x: Any) -> Any:
    return 0.5 * sq(x - SIGNAL)


def of_a_signal(write: Callable[[Any], Any], **attributes: Any) -> Callable[[], cp.Problem]:
    """The problem that is written of one signal x."""
    return builder(lambda: (FIRST, SIGNAL), lambda *_: write(cp.Variable(N, "x", **attributes)))


TRENDS: dict[str, tuple[Callable[[], cp.Problem], float, int]] = {
    "total variation": (of_a_signal(lambda x: fit(x) + 0.5 * cp.tv(x)), 0.5 / N, 0),
    "a parameter": (of_a_signal(lambda x: fit(x) + given(0.5) * cp.tv(x)), 0.5 / N, 0),
    "third differences, maximised": (of_a_signal(lambda x: cp.Maximize(
        -3 * cp.norm(SIGNAL - x, 2) ** 2 - 1.5 * total(cp.abs(cp.diff(x, 3))) + 2)),
        1.5 / (6 * N), 2),
    "a column, a sparse matrix, means": (of_a_signal(lambda x:
        sq((c := new(N, 1)) - SIGNAL[:, None]) / (2 * N) + 0.02 * l1(sparse.csr_array(SECOND) @ c)),
        0.02, 1),
    "an epigraph": (of_a_signal(lambda x:
        (fit(x) + 0.5 * total(t := new(N - 1)), -t <= FIRST @ x, FIRST @ x <= t)), 0.5 / N, 0),
    "differences and residuals as variables": (of_a_signal(lambda x:
        (0.5 * sq(r := new(N)) + 0.5 * l1(z := new(N - 2)), SECOND @ x == z, r == x - SIGNAL)),
        0.5 / N, 1),
    "the squares multiplied out": (of_a_signal(lambda x:
        0.5 * sq(x) - SIGNAL @ x + 0.5 * cp.tv(x)), 0.5 / N, 0),
    "rows in any order and scale, the signal backwards": (of_a_signal(lambda x:
        fit(x[::-1]) + 0.5 * l1(-2 * FIRST[ORDER] @ x)), 1.0 / N, 0),
}  # fmt: skip
"""Builders, lam and order of TrendFilter."""


def rows_of(data: Any, table: dict[str, tuple[Any, ...]]) -> dict[str, Statement]:
    found = {}
    for name, (kinds, write, *unique) in table.items():
        loss, penalty = (None if kind == "-" else kind for kind in kinds.split())
        found[name] = Statement(builder(data, write), loss, penalty, *unique)
    return found


STATEMENTS = {
    **rows_of(regression, SQUARES), **rows_of(lambda: regression(n=31), OF_31),
    **rows_of(lambda: regression(d=6), OF_6), **rows_of(lambda: regression(n=4, d=6), OF_MANY),
    **rows_of(classes, OF_CLASSES), **rows_of(separable, OF_SEPARABLE),
    **rows_of(counts, OF_COUNTS), **rows_of(species, OF_SPECIES),
    **rows_of(lambda: ZEROS, OF_ZEROS), **rows_of(regression, OF_NOTHING),
}  # fmt: skip
"""All of them; those without a loss are solved by cones."""


DUALS = {
    **rows_of(lambda: classes(n=24), OF_ALPHAS),
    **rows_of(separable, OF_SEPARABLE_ALPHAS),
    **rows_of(centred, OF_THETAS),
}
"""Those whose dual they are."""

"""Products and bounds of the rows in the words of the textbooks, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.model_cases import GROUPS, bind, samples, weights

import convexml as cml
from convexml.numerics import Array


def test_products_and_bounds_by_hand() -> None:
    """Residuals of rows of several models, restated from the raw data."""
    rng = np.random.default_rng(9)
    X, y = samples("real")
    labels = samples("binary")[1]
    w, b = rng.normal(size=5), 0.3
    z, s = X @ w + b, weights(24)
    s[s == 0.0] = 0.5
    mean, r = s / s.sum(), y - z
    u = 0.9 * rng.normal(size=24)
    tau, C, eps = 0.3, 0.7, 0.4
    alpha, xi = -labels * u, np.maximum(1.0 - labels * z, 0.0)
    left, right = np.maximum(-u, 0.0), np.maximum(u, 0.0)
    above, below = np.maximum(r - eps, 0.0), np.maximum(-r - eps, 0.0)
    grad, size = X.T @ u, np.linalg.norm(X.T @ u)
    cases: list[tuple[Any, Array, dict[str, Array]]] = [
        (bind(cml.QuantileRegression, tau, 0.1), y, {
            "r_plus_i (u_i + tau c_i) = 0": np.maximum(r, 0.0) * (u + tau * mean),
            "r_minus_i ((1 - tau) c_i - u_i) = 0": np.maximum(-r, 0.0) * ((1 - tau) * mean - u),
        }),
        (bind(cml.SoftMarginSVM, C), labels, {
            "alpha_i (1 - xi_i - y_i z_i) = 0": alpha * (1.0 - xi - labels * z),
            "beta_i xi_i = 0": (C * s - alpha) * xi,
        }),
        (bind(cml.HardMarginSVM), labels, {
            "alpha_i (1 - y_i z_i) = 0": alpha * (1.0 - labels * z),
            "y_i z_i >= 1": np.maximum(1.0 - labels * z, 0.0),
        }),
        (bind(cml.SVR, C, eps), y, {
            "alpha_i (y_i - z_i - epsilon - xi_i) = 0": left * (r - eps - above),
            "alpha*_i (z_i - y_i - epsilon - xi*_i) = 0": right * (-r - eps - below),
            "beta_i xi_i = 0": (C * s - left) * above,
            "beta*_i xi*_i = 0": (C * s - right) * below,
        }),
        (bind(cml.ConstrainedLasso, 2.0), y, {
            "lambda |w_j| + w_j x_j'u = 0": np.max(np.abs(grad)) * np.abs(w) + w * grad,
            "|w|_1 <= t": np.maximum(np.sum(np.abs(w), keepdims=True) - 2.0, 0.0),
            "lambda (t - |w|_1) = 0": np.max(np.abs(grad)) * (2.0 - np.abs(w).sum()),
        }),
        (bind(cml.ConstrainedRidge, 1.2), y, {
            "|w| <= t": np.maximum(np.linalg.norm(w) - 1.2, 0.0),
            "mu (t - |w|) = 0": size * (1.2 - np.linalg.norm(w)),
        }),
        (bind(cml.ElasticNet, 0.5, 0.6), y, {
            "w_j (x_j'u + lam(1-rho)w_j + lam rho sign w_j) = 0":
                w * (grad + 0.2 * w + 0.3 * np.sign(w)),
        }),
        (bind(cml.GroupLasso, 0.3, GROUPS), y, {
            "lam sqrt|g| |w_g| + w_g'X_g'u = 0": np.array([
                0.3 * len(g) ** 0.5 * np.linalg.norm(w[g]) + w[g] @ grad[g]
                for g in ([0, 2], [1, 4], [3])
            ]),
        }),
    ]  # fmt: skip
    for make, targets, expected in cases:
        certificate = make(X, targets, sample_weight=s).certify(w, b, u)
        rows = {row.name: row for row in certificate.conditions}
        for name, values in expected.items():
            assert rows[name].residual == pytest.approx(np.max(np.abs(values)), rel=1e-11), name
            assert rows[name].residual > 1e-2 or np.max(np.abs(values)) == 0.0


def test_a_gradient_is_one_of_w_alone() -> None:
    """At the minimiser by normal equations it is 0, whatever u is; the row of a given u is not."""
    X, y = samples("real")
    w = np.linalg.solve(X.T @ X / 24 + 0.3 * np.eye(5), X.T @ y / 24)
    problem = cml.Ridge(X, y, 0.3, fit_intercept=False)
    for u in ((X @ w - y) / 24, np.full(24, 0.1)):
        row = problem.certify(w, 0.0, u).conditions[0]
        assert row.name == "X'(Xw - y)/n + lam w = 0"
        assert row.relative < 1e-12
    twin = cml.LearningProblem(X, y, cml.losses.Huber(99.0), cml.penalties.ElasticNet(0.3, 0.0))
    assert twin.certify(w, 0.0, np.full(24, 0.1)).conditions[0].relative > 1e-2

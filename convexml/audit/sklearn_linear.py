"""Least squares in scikit-learn: LinearRegression, Ridge, Lasso, ElasticNet.

=================  =============================================================================
LinearRegression   sum_i s_i (y_i - z_i)^2, and w >= 0 with ``positive=True``
Ridge              sum_i s_i (y_i - z_i)^2 + alpha |w|_2^2, and w >= 0 with ``positive=True``
Lasso              (1/2S) sum_i s_i (y_i - z_i)^2 + alpha |w|_1
ElasticNet         (1/2S) sum_i s_i (y_i - z_i)^2 + alpha (rho |w|_1 + (1 - rho) |w|_2^2 / 2)
=================  =============================================================================

z = X w + b, S = sum_i s_i, rho = ``l1_ratio``. The intercept is not penalised. Several targets are
as many independent problems.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from ..losses import Squared
from ..numerics import Array
from ..penalties import L1, L2, Box, ElasticNet, Nonnegative, Penalty, Zero
from .fitted import Fitted
from .parts import LearningPart, append_column, learning_part


def linear_regression(fitted: Fitted) -> Iterator[LearningPart]:
    """LinearRegression: the residual sum of squares, without 1/2 and without 1/n."""
    penalty: Penalty = Nonnegative() if fitted.estimator.positive else Zero()
    for name, y, w, b in fitted.per_target():
        yield learning_part(
            fitted.X, y, Squared(), penalty, 2.0 * fitted.s, w, b,
            fit_intercept=fitted.estimator.fit_intercept, name=name,
        )  # fmt: skip


def ridge(fitted: Fitted) -> Iterator[LearningPart]:
    """Ridge: a *sum* of squares, so that alpha is lam / 2 of a sum and not of a mean."""
    alphas = np.ravel(np.asarray(fitted.estimator.alpha, dtype=np.float64))
    for k, (name, y, w, b) in enumerate(fitted.per_target()):
        alpha = float(alphas[k if alphas.size > 1 else 0])
        if fitted.estimator.positive:
            yield _nonnegative_ridge(fitted, alpha, name, y, w, b)
        else:
            yield learning_part(
                fitted.X, y, Squared(), L2(2.0 * alpha), 2.0 * fitted.s, w, b,
                fit_intercept=fitted.estimator.fit_intercept, name=name,
            )  # fmt: skip


def _nonnegative_ridge(
    fitted: Fitted, alpha: float, name: str, y: Array, w: Array, b: float
) -> LearningPart:
    """Pose alpha |w|^2 as d more squared residuals, so that w >= 0 remains as the penalty."""
    X, d = fitted.X, fitted.X.shape[1]
    below = np.sqrt(alpha) * np.eye(d)
    stacked = (
        sparse.csr_array(sparse.vstack([X, sparse.csr_array(below)]))
        if sparse.issparse(X)
        else np.vstack([X, below])
    )
    center, lower = 0.0, np.zeros(d)
    if fitted.estimator.fit_intercept:
        center = float(fitted.mean_weights @ y)
        stacked = append_column(stacked, np.repeat([1.0, 0.0], [fitted.n, d]))
        w, lower = np.append(w, b - center), np.append(lower, -np.inf)
    target = np.append(y - center, np.zeros(d))
    c = np.append(2.0 * fitted.s, np.full(d, 2.0))
    return learning_part(stacked, target, Squared(), Box(lower, np.inf), c, w, name=name)


def lasso(fitted: Fitted) -> Iterator[LearningPart]:
    """Lasso: (1/2n) of the sum of squares; weights are normalised to mean 1."""
    return _mean_squares(fitted, L1(fitted.estimator.alpha))


def elastic_net(fitted: Fitted) -> Iterator[LearningPart]:
    """ElasticNet: as Lasso, with alpha l1_ratio and alpha (1 - l1_ratio) / 2."""
    return _mean_squares(fitted, ElasticNet(fitted.estimator.alpha, fitted.estimator.l1_ratio))


def _mean_squares(fitted: Fitted, penalty: Penalty) -> Iterator[LearningPart]:
    if fitted.estimator.positive:
        raise fitted.refuse("positive=True is not supported.")
    for name, y, w, b in fitted.per_target():
        yield learning_part(
            fitted.X, y, Squared(), penalty, fitted.mean_weights, w, b,
            fit_intercept=fitted.estimator.fit_intercept, name=name,
        )  # fmt: skip

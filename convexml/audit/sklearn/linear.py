"""Least squares in scikit-learn, with one target, several, or a kernel.

===================  ===========================================================================
LinearRegression     sum_i s_i (y_i - z_i)^2, and w >= 0 with ``positive=True``
Ridge                sum_i s_i (y_i - z_i)^2 + alpha |w|_2^2, and w >= 0 with ``positive=True``
Lasso                (1/2S) sum_i s_i (y_i - z_i)^2 + alpha |w|_1
ElasticNet           (1/2S) sum_i s_i (y_i - z_i)^2 + alpha (rho |w|_1 + (1 - rho) |w|_2^2 / 2)
KernelRidge          sum_i s_i (y_i - f(x_i))^2 + alpha |f|_H^2, without intercept
MultiTaskLasso       (1/2n) |Y - X W - 1 b'|_F^2 + alpha sum_j |W_j.|_2
MultiTaskElasticNet  the same with alpha (rho sum_j |W_j.|_2 + (1 - rho) |W|_F^2 / 2)
===================  ===========================================================================

z = X w + b, S = sum_i s_i, rho = ``l1_ratio``. The intercept is not penalised. Several targets are
as many independent problems but of the last two, where W, (d, K), is the transpose of ``coef_``.
f = sum_i q_i k(x_i, .) with q = ``dual_coef_`` and |f|_H^2 = q'Kq.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from ...losses import Squared
from ...numerics import Array
from ...penalties import L1, L2, Box, ElasticNet, GroupL2, Nonnegative, Penalty, Zero
from .fitted import Fitted
from .kernel_matrix import features, kernel_matrix
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


def kernel_ridge(fitted: Fitted) -> Iterator[LearningPart]:
    """KernelRidge with any positive semidefinite kernel; each target may have its own alpha."""
    estimator, Y = fitted.estimator, fitted.targets()
    Y = Y[:, None] if Y.ndim == 1 else Y
    q = np.asarray(estimator.dual_coef_, dtype=np.float64)
    q = q[:, None] if q.ndim == 1 else q
    if q.shape != Y.shape:
        raise fitted.refuse(f"it was fitted on y of shape {q.shape}, got {Y.shape}.")
    alphas = np.broadcast_to(np.ravel(np.asarray(estimator.alpha, dtype=np.float64)), Y.shape[1])
    L = features(fitted, kernel_matrix(fitted, estimator.gamma))
    for k in range(Y.shape[1]):
        yield learning_part(
            L, Y[:, k], Squared(), L2(2.0 * alphas[k]), 2.0 * fitted.s, L.T @ q[:, k],
            u=2.0 * alphas[k] * -q[:, k], name=f"target {k}" if Y.shape[1] > 1 else "",
        )  # fmt: skip


def multi_task(fitted: Fitted) -> Iterator[LearningPart]:
    """Vectorise: row (i, k) predicts y_ik by (x_i kron e_k).vec(W) + b_k; groups are rows of W.

    The targets are centred, which only shifts b: the null model of the problem is then w = 0. A
    ridge term is posed as d K more squared residuals.
    """
    estimator, Y = fitted.estimator, fitted.targets()
    if Y.ndim != 2:
        raise fitted.refuse(f"y must have shape (n, K), got {Y.shape}.")
    if np.any(fitted.s != fitted.s[0]):
        raise fitted.refuse("it takes no sample_weight.")
    (n, K), d = Y.shape, fitted.X.shape[1]
    if np.shape(estimator.coef_) != (K, d):
        raise fitted.refuse(f"coef_ of shape {np.shape(estimator.coef_)} does not fit ({K}, {d}).")
    b = np.broadcast_to(fitted.intercepts, (K,))
    center = Y.mean(axis=0) if estimator.fit_intercept else np.zeros(K)
    each = sparse.eye_array(K, format="csr")
    blocks = [sparse.kron(sparse.csr_array(fitted.X), each, format="csr")]
    w = np.asarray(estimator.coef_, dtype=np.float64).T.ravel()
    groups, scale = np.repeat(np.arange(d), K), np.ones(d)
    if estimator.fit_intercept:
        blocks.append(sparse.kron(sparse.csr_array(np.ones((n, 1))), each, format="csr"))
        w = np.append(w, b - center)
        groups, scale = np.append(groups, d + np.arange(K)), np.append(scale, np.zeros(K))
    design = sparse.hstack(blocks, format="csr")
    target, c = (Y - center).ravel(), np.full(n * K, 1.0 / n)
    rho = float(getattr(estimator, "l1_ratio", 1.0))
    ridge = float(estimator.alpha) * (1.0 - rho)
    if ridge > 0.0:
        below = sparse.csr_array(np.sqrt(ridge) * sparse.eye_array(d * K, design.shape[1]))
        design = sparse.vstack([design, below], format="csr")
        target, c = np.append(target, np.zeros(d * K)), np.append(c, np.ones(d * K))
    penalty = GroupL2(float(estimator.alpha) * rho, groups, scale)
    yield learning_part(sparse.csr_array(design), target, Squared(), penalty, c, w)

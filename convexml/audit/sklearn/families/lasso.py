"""Squares and norms that select: one target, or several together.

===================  ===========================================================================
Lasso, LassoLars     (1/2S) sum_i s_i (y_i - z_i)^2 + alpha |w|_1
ElasticNet           (1/2S) sum_i s_i (y_i - z_i)^2 + alpha (rho |w|_1 + (1 - rho) |w|_2^2 / 2)
MultiTaskLasso       (1/2S) sum_i s_i |y_i - W'x_i - b|_2^2 + alpha sum_j |W_j.|_2
MultiTaskElasticNet  the same with alpha (rho sum_j |W_j.|_2 + (1 - rho) |W|_F^2 / 2)
===================  ===========================================================================

z = X w + b, S = sum_i s_i, rho = ``l1_ratio``; w >= 0 in the first two rows with
``positive=True``. The intercept is not penalised. Several targets are
as many independent problems but of the last two, where W, (d, K), is the transpose of ``coef_``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from ....losses import Squared
from ....penalties import L1, ElasticNet, GroupL2, Nonnegative, NonnegativeElasticNet, Penalty
from ..fitted import Fitted
from ..parts import LearningPart, learning_part


def lasso(fitted: Fitted) -> Iterator[LearningPart]:
    """Lasso: (1/2n) of the sum of squares; weights are normalised to mean 1."""
    return _mean_squares(fitted, float(fitted.estimator.alpha), 1.0)


def elastic_net(fitted: Fitted) -> Iterator[LearningPart]:
    """ElasticNet: as Lasso, with alpha l1_ratio and alpha (1 - l1_ratio) / 2."""
    estimator = fitted.estimator
    return _mean_squares(fitted, float(estimator.alpha), float(estimator.l1_ratio))


def _mean_squares(fitted: Fitted, alpha: float, rho: float) -> Iterator[LearningPart]:
    penalty: Penalty = L1(alpha) if rho == 1.0 else ElasticNet(alpha, rho)
    if fitted.estimator.positive:
        penalty = NonnegativeElasticNet(alpha, rho) if alpha > 0.0 else Nonnegative()
    for name, y, w, b in fitted.per_target():
        yield learning_part(
            fitted.X, y, Squared(), penalty, fitted.mean_weights, w, b,
            fit_intercept=fitted.estimator.fit_intercept, features=fitted.features, name=name,
        )  # fmt: skip


def multi_task(fitted: Fitted) -> Iterator[LearningPart]:
    """Vectorise: row (i, k) predicts y_ik by (x_i kron e_k).vec(W) + b_k; groups are rows of W.

    The targets are centred, which only shifts b: the null model of the problem is then w = 0. A
    ridge term is posed as d K more squared residuals.
    """
    estimator, Y = fitted.estimator, fitted.targets()
    if Y.ndim != 2:
        raise fitted.refuse(f"y must have shape (n, K), got {Y.shape}.")
    (n, K), d = Y.shape, fitted.X.shape[1]
    if fitted.coef.shape != (K, d):
        raise fitted.refuse(f"coef_ of shape {fitted.coef.shape} does not fit ({K}, {d}).")
    b = np.broadcast_to(fitted.intercepts, (K,))
    center = fitted.mean_weights @ Y if estimator.fit_intercept else np.zeros(K)
    each = sparse.eye_array(K, format="csr")
    blocks = [sparse.kron(sparse.csr_array(fitted.X), each, format="csr")]
    w = fitted.coef.T.ravel()
    groups, scale = np.repeat(np.arange(d), K), np.ones(d)
    if estimator.fit_intercept:
        blocks.append(sparse.kron(sparse.csr_array(np.ones((n, 1))), each, format="csr"))
        w = np.append(w, b - center)
        groups, scale = np.append(groups, d + np.arange(K)), np.append(scale, np.zeros(K))
    design = sparse.hstack(blocks, format="csr")
    target, c = (Y - center).ravel(), np.repeat(fitted.mean_weights, K)
    rho = float(getattr(estimator, "l1_ratio", 1.0))
    ridge = float(estimator.alpha) * (1.0 - rho)
    if ridge > 0.0:
        below = sparse.csr_array(np.sqrt(ridge) * sparse.eye_array(d * K, design.shape[1]))
        design = sparse.vstack([design, below], format="csr")
        target, c = np.append(target, np.zeros(d * K)), np.append(c, np.ones(d * K))
    penalty = GroupL2(float(estimator.alpha) * rho, groups, scale)
    yield learning_part(sparse.csr_array(design), target, Squared(), penalty, c, w)

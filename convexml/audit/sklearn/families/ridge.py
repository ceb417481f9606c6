"""Least squares with no penalty or a ridge: one target, several, classes, or a kernel.

================  ==============================================================================
LinearRegression  sum_i s_i (y_i - z_i)^2, and w >= 0 with ``positive=True``
Ridge             sum_i s_i (y_i - z_i)^2 + alpha |w|_2^2, and w >= 0 with ``positive=True``
RidgeClassifier   the same for targets -1 and +1, one for each class if there are more than two
KernelRidge       sum_i s_i (y_i - f(x_i))^2 + alpha |f|_H^2, without intercept
================  ==============================================================================

z = X w + b. The intercept is not penalised. Several targets are as many independent problems.
f = sum_i q_i k(x_i, .) with q = ``dual_coef_`` and |f|_H^2 = q'Kq. Class weights multiply s.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy import sparse

from ....losses import Squared
from ....numerics import Array
from ....penalties import L2, Box, Nonnegative, Penalty, Zero
from ..fitted import Fitted
from ..parts import LearningPart, append_column, learning_part
from .kernel_matrix import features, kernel_matrix, stands_on
from .liblinear import columns


def linear_regression(fitted: Fitted) -> Iterator[LearningPart]:
    """LinearRegression: the residual sum of squares, without 1/2 and without 1/n."""
    penalty: Penalty = Nonnegative() if fitted.estimator.positive else Zero()
    for name, y, w, b in fitted.per_target():
        yield learning_part(
            fitted.X, y, Squared(), penalty, 2.0 * fitted.s, w, b,
            fit_intercept=fitted.estimator.fit_intercept, features=fitted.features, name=name,
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
                fit_intercept=fitted.estimator.fit_intercept, features=fitted.features, name=name,
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
    return learning_part(
        stacked, target, Squared(), Box(lower, np.inf), c, w, name=name,
        features=columns(fitted, stacked),
    )  # fmt: skip


def ridge_classifier(fitted: Fitted) -> Iterator[LearningPart]:
    """RidgeClassifier: ridge regression of -1 and +1; with two classes there is one target."""
    binarizer = getattr(fitted.estimator, "_label_binarizer", None)
    if fitted.y.ndim == 2 and str(getattr(binarizer, "y_type_", "")).startswith("multilabel"):
        yield from _labels_of_each(fitted)
        return
    index, classes = fitted.labels(), np.asarray(fitted.estimator.classes_)
    coded = np.where(index[:, None] == np.arange(len(classes)), 1.0, -1.0)
    names = [f"class {label}" for label in classes]
    if len(classes) == 2:
        coded, names = coded[:, 1:], [""]
    s = fitted.s * fitted.class_weights(weighted=False)[index]
    parts = ridge(replace(fitted, y=coded, s=s))
    yield from (replace(part, name=name) for part, name in zip(parts, names, strict=True))


def _labels_of_each(fitted: Fitted) -> Iterator[LearningPart]:
    """RidgeClassifier where a sample has several labels: a target of -1 and +1 for each of them."""
    from sklearn.utils import compute_sample_weight

    if fitted.y.shape[1] != len(fitted.estimator.classes_) or set(np.unique(fitted.y)) - {0, 1}:
        raise fitted.refuse("y must have a column of 0 and 1 for each label, as it was fitted on.")
    setting = fitted.estimator.class_weight
    if setting not in (None, "balanced"):
        raise fitted.refuse("with several labels for a sample class_weight is 'balanced' or None.")
    v = 1.0 if setting is None else compute_sample_weight(setting, fitted.y)
    coded = np.where(fitted.y == 1, 1.0, -1.0)
    yield from ridge(replace(fitted, y=coded, s=fitted.s * v))


def kernel_ridge(fitted: Fitted) -> Iterator[LearningPart]:
    """KernelRidge with any positive semidefinite kernel; each target may have its own alpha."""
    estimator, Y = fitted.estimator, fitted.targets()
    Y = Y[:, None] if Y.ndim == 1 else Y
    q = np.asarray(estimator.dual_coef_, dtype=np.float64)
    q = q[:, None] if q.ndim == 1 else q
    if q.shape != Y.shape:
        raise fitted.refuse(f"it was fitted on y of shape {q.shape}, got {Y.shape}.")
    if estimator.kernel != "precomputed":
        stands_on(fitted, estimator.X_fit_)
    alphas = np.broadcast_to(np.ravel(np.asarray(estimator.alpha, dtype=np.float64)), Y.shape[1])
    L = features(fitted, kernel_matrix(fitted, estimator.gamma))
    for k in range(Y.shape[1]):
        yield learning_part(
            L, Y[:, k], Squared(), L2(2.0 * alphas[k]), 2.0 * fitted.s, L.T @ q[:, k],
            u=2.0 * alphas[k] * -q[:, k], name=f"target {k}" if Y.shape[1] > 1 else "",
        )  # fmt: skip

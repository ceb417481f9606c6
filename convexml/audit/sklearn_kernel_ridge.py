"""KernelRidge: sum_i s_i (y_i - f(x_i))^2 + alpha |f|_H^2, without intercept.

f = sum_i q_i k(x_i, .) with q = ``dual_coef_`` and |f|_H^2 = q'Kq. Several targets are as many
independent problems, each with its own alpha if there are several.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..losses import Squared
from ..penalties import L2
from .fitted import Fitted
from .kernel_matrix import features, kernel_matrix
from .parts import LearningPart, learning_part


def kernel_ridge(fitted: Fitted) -> Iterator[LearningPart]:
    """KernelRidge with any positive semidefinite kernel."""
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

"""Regression with other losses: QuantileRegressor and PoissonRegressor.

==================  =============================================================================
QuantileRegressor   (1/S) sum_i s_i pinball_q(y_i - z_i) + alpha |w|_1, q = ``quantile``
PoissonRegressor    (1/2S) sum_i s_i deviance(y_i, e^{z_i}) + (alpha / 2) |w|_2^2
==================  =============================================================================

z = X w + b, S = sum_i s_i. The half deviance is e^z - y z + y log y - y. The intercept is not
penalised.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...losses import Loss, Pinball, Poisson
from ...penalties import L1, L2, Penalty
from .fitted import Fitted
from .parts import LearningPart, learning_part


def quantile_regressor(fitted: Fitted) -> Iterator[LearningPart]:
    """QuantileRegressor: the mean pinball loss with an l1 penalty."""
    yield _mean(fitted, Pinball(fitted.estimator.quantile), L1(fitted.estimator.alpha))


def poisson_regressor(fitted: Fitted) -> Iterator[LearningPart]:
    """PoissonRegressor: the mean half deviance with a ridge penalty."""
    if np.any(fitted.targets() < 0.0):
        raise fitted.refuse("y must be >= 0.")
    yield _mean(fitted, Poisson(), L2(fitted.estimator.alpha))


def _mean(fitted: Fitted, loss: Loss, penalty: Penalty) -> LearningPart:
    y, w, b = fitted.single()
    return learning_part(
        fitted.X, y, loss, penalty, fitted.mean_weights, w, b,
        fit_intercept=fitted.estimator.fit_intercept,
    )  # fmt: skip

"""Regression with other losses: quantiles, and generalised linear models.

==================  =============================================================================
QuantileRegressor   (1/S) sum_i s_i pinball_q(y_i - z_i) + alpha |w|_1, q = ``quantile``
PoissonRegressor    (1/2S) sum_i s_i deviance(y_i, e^{z_i}) + (alpha / 2) |w|_2^2
GammaRegressor      the same with the gamma deviance
TweedieRegressor    (1/2S) sum_i s_i (y_i - z_i)^2 + ... with ``power=0``, PoissonRegressor's with
                    1, GammaRegressor's with 2
==================  =============================================================================

z = X w + b, S = sum_i s_i. The half deviance is e^z - y z + y log y - y, and e^t - t - 1 with t =
log y - z for gamma. The intercept is not penalised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ....losses import Linex, Loss, Pinball, Poisson, Squared
from ....penalties import L1, L2, Penalty
from ..fitted import Fitted
from ..parts import LearningPart, learning_part


def quantile_regressor(fitted: Fitted) -> Iterator[LearningPart]:
    """QuantileRegressor: the mean pinball loss with an l1 penalty."""
    yield _mean(fitted, Pinball(fitted.estimator.quantile), L1(fitted.estimator.alpha))


def poisson_regressor(fitted: Fitted) -> Iterator[LearningPart]:
    """PoissonRegressor: the mean half deviance with a ridge penalty."""
    if np.any(fitted.targets() < 0.0):
        raise fitted.refuse("y must be >= 0.")
    yield _mean(fitted, Poisson(), L2(fitted.estimator.alpha))


def gamma_regressor(fitted: Fitted) -> Iterator[LearningPart]:
    """GammaRegressor: the mean half deviance with a ridge penalty, of the targets log y."""
    if not np.all(fitted.targets() > 0.0):
        raise fitted.refuse("y must be > 0.")
    logs = replace(fitted, y=np.log(fitted.target()))
    yield _mean(logs, Linex(), L2(fitted.estimator.alpha))


def tweedie_regressor(fitted: Fitted) -> Iterator[LearningPart]:
    """TweedieRegressor: squares with the identity, the Poisson and gamma deviances with log."""
    power, link = fitted.estimator.power, fitted.estimator.link
    if power == 0 and link in ("auto", "identity"):
        yield _mean(fitted, Squared(), L2(fitted.estimator.alpha))
    elif power == 1 and link in ("auto", "log"):
        yield from poisson_regressor(fitted)
    elif power == 2 and link in ("auto", "log"):
        yield from gamma_regressor(fitted)
    else:
        reason = "is not judged"
        if link in ("auto", "log"):
            reason = "is not convex"
            if 1 < power < 2:
                reason = "has no dual in closed form, and so nothing to be judged by"
        raise fitted.refuse(
            f"power={power:g} with link={link!r} {reason}; power=0 with the identity, and 1 and 2 "
            "with log are judged."
        )


def _mean(fitted: Fitted, loss: Loss, penalty: Penalty) -> LearningPart:
    y, w, b = fitted.single()
    return learning_part(
        fitted.X, y, loss, penalty, fitted.mean_weights, w, b,
        fit_intercept=fitted.estimator.fit_intercept, features=fitted.features,
    )  # fmt: skip

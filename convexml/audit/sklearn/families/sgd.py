"""Stochastic gradient descent: SGDClassifier and SGDRegressor.

    (1/n) sum_i v_i s_i loss(y_i, z_i) + alpha R(w)

n counts all samples, and is not the sum of the weights: each visit to a sample takes the full
step of the penalty. R is |w|_2^2 / 2 ("l2"), |w|_1 ("l1"), l1_ratio |w|_1 + (1 - l1_ratio)
|w|_2^2 / 2 ("elasticnet") or 0 (None). The intercept is not penalised. Losses: "hinge",
"log_loss", "epsilon_insensitive" and "huber" (delta = ``epsilon``) are those of the catalogue,
"squared_error" has the factor 1/2, "squared_hinge" and "squared_epsilon_insensitive" have none.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....errors import nearest
from ....losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Loss,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from ....penalties import L1, L2, ElasticNet, Penalty, Zero
from ..fitted import Fitted, one_versus_rest
from ..parts import LearningPart, learning_part


def sgd_classifier(fitted: Fitted) -> Iterator[LearningPart]:
    """SGDClassifier, one binary problem per class if there are more than two."""
    loss, factor = _loss(fitted)
    penalty = _penalty(fitted)
    for name, y, v, w, b in one_versus_rest(fitted):
        c = factor * v * fitted.s / fitted.n
        yield learning_part(
            fitted.X, y, loss, penalty, c, w, b,
            fit_intercept=fitted.estimator.fit_intercept, features=fitted.features, name=name,
        )  # fmt: skip


def sgd_regressor(fitted: Fitted) -> Iterator[LearningPart]:
    """SGDRegressor."""
    loss, factor = _loss(fitted)
    y, w, b = fitted.single()
    yield learning_part(
        fitted.X, y, loss, _penalty(fitted), factor * fitted.s / fitted.n, w, b,
        fit_intercept=fitted.estimator.fit_intercept, features=fitted.features,
    )  # fmt: skip


def _loss(fitted: Fitted) -> tuple[Loss, float]:
    """The loss, and how many times it is taken."""
    name, epsilon = fitted.estimator.loss, fitted.estimator.epsilon
    if name == "huber":
        return Huber(epsilon), 1.0
    losses: dict[str, tuple[Loss, float]] = {
        "hinge": (Hinge(), 1.0),
        "squared_hinge": (SquaredHinge(), 2.0),
        "log_loss": (Logistic(), 1.0),
        "squared_error": (Squared(), 1.0),
        "epsilon_insensitive": (EpsilonInsensitive(epsilon), 1.0),
        "squared_epsilon_insensitive": (SquaredEpsilonInsensitive(epsilon), 2.0),
    }
    if name not in losses:
        known = ", ".join(map(repr, [*losses, "huber"]))
        raise fitted.refuse(
            f"loss={name!r} is not supported; supported are {known}.{nearest(name, losses)}"
        )
    return losses[name]


def _penalty(fitted: Fitted) -> Penalty:
    estimator = fitted.estimator
    if estimator.penalty is None:
        return Zero()
    if estimator.penalty == "l2":
        return L2(estimator.alpha)
    if estimator.penalty == "l1":
        return L1(estimator.alpha)
    return ElasticNet(estimator.alpha, estimator.l1_ratio)

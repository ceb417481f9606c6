"""Stochastic gradient descent: SGDClassifier, SGDRegressor and SGDOneClassSVM.

    (1/n) sum_i v_i s_i loss(y_i, z_i) + alpha R(w)

n counts all samples, and is not the sum of the weights: each visit to a sample takes the full
step of the penalty. R is |w|_2^2 / 2 ("l2"), |w|_1 ("l1"), l1_ratio |w|_1 + (1 - l1_ratio)
|w|_2^2 / 2 ("elasticnet") or 0 (None). The intercept is not penalised. Losses: "hinge",
"log_loss", "epsilon_insensitive" and "huber" (delta = ``epsilon``) are those of the catalogue,
"squared_error" has the factor 1/2, "squared_hinge" and "squared_epsilon_insensitive" have none.

    SGDOneClassSVM   |w|_2^2 / 2 + 1 / (nu n) sum_i s_i (rho - x_i.w)_+ - rho

rho is ``offset_``. That is a OneClassSVM with a linear kernel and its w and rho divided by nu n,
which is solved for a dual point.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial

import numpy as np

from ....certificates.learning.machines.functions import OfFeatures
from ....certificates.learning.machines.nu import HeldPoint, NuPart
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
from ....validation import refuse_nonfinite
from ..fitted import Fitted, one_versus_rest
from ..parts import LearningPart, Subproblem, learning_part
from .nu import STEPS, TIGHT


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


def sgd_one_class_svm(fitted: Fitted) -> Iterator[Subproblem]:
    """SGDOneClassSVM."""
    estimator, n, s = fitted.estimator, fitted.n, fitted.s
    w, nu = fitted.coef.ravel(), float(estimator.nu)
    if not estimator.fit_intercept:
        raise fitted.refuse("without an intercept rho stays at 0, and the minimum is w = 0.")
    if not nu * n <= float(s.sum()):
        raise fitted.refuse("nu is larger than the mean of the weights: there is no minimum.")
    held = HeldPoint(w, 0.0, float(np.ravel(estimator.offset_)[0]), np.zeros(n))
    for name, values in (("coef_", w), ("offset_", np.array([held.level]))):
        refuse_nonfinite(values, f"certify: {fitted.owner}", name)
    again = partial(_by_libsvm, fitted, nu * n)
    yield NuPart(OfFeatures(fitted.X), np.ones(n), s / (nu * n), 1.0, held, again)


def _by_libsvm(fitted: Fitted, total: float) -> HeldPoint:
    """The point of a OneClassSVM on these samples, in the units of SGDOneClassSVM."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import OneClassSVM

    share = min(total / float(fitted.s.sum()), 1.0)
    machine = OneClassSVM(kernel="linear", nu=share, tol=TIGHT, max_iter=STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(fitted.X, sample_weight=fitted.s)
    q = np.zeros(fitted.n)
    held = machine.dual_coef_
    q[np.flatnonzero(fitted.s > 0.0)[machine.support_]] = np.ravel(
        held.toarray() if hasattr(held, "toarray") else held
    )
    w = fitted.X.T @ q
    return HeldPoint(w / total, 0.0, -float(machine.intercept_[0]) / total, q / total)


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

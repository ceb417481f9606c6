"""liblinear's machines, whose intercept is *penalised*: LinearSVC and LinearSVR.

===================================  ============================================================
LinearSVC(loss="hinge")              |(w, b/m)|_2^2 / 2 + C sum_i v_i s_i (1 - y_i z_i)_+
LinearSVC(loss="squared_hinge")      Omega(w, b/m) + C sum_i v_i s_i (1 - y_i z_i)_+^2
LinearSVR("epsilon_insensitive")     |(w, b/m)|_2^2 / 2 + C sum_i s_i (|r_i| - epsilon)_+
LinearSVR("squared_epsilon_...")     |(w, b/m)|_2^2 / 2 + C sum_i s_i (|r_i| - epsilon)_+^2
===================================  ============================================================

z = X w + b, r = z - y, v the class weights, m = ``intercept_scaling``: the intercept is the
coefficient b / m of a constant column m. Omega is |.|_2^2 / 2, or |.|_1 with ``penalty="l1"``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....losses import EpsilonInsensitive, Hinge, Loss, SquaredEpsilonInsensitive, SquaredHinge
from ....numerics import Array
from ....penalties import L1, L2, Penalty
from ..fitted import Fitted, one_versus_rest
from ..parts import LearningPart, append_column, learning_part


def linear_svc(fitted: Fitted) -> Iterator[LearningPart]:
    """LinearSVC, one binary problem per class if there are more than two."""
    estimator = fitted.estimator
    if estimator.multi_class != "ovr":
        raise fitted.refuse(f"multi_class={estimator.multi_class!r} is not supported, only 'ovr'.")
    squared = estimator.loss == "squared_hinge"
    loss: Loss = SquaredHinge() if squared else Hinge()
    penalty: Penalty = L1(1.0) if estimator.penalty == "l1" else L2(1.0)
    scale = estimator.C * (2.0 if squared else 1.0)
    if not np.isfinite(scale):
        raise fitted.refuse("C must be finite; without slack it is cml.HardMarginSVM(X, y).")
    for name, y, v, w, b in one_versus_rest(fitted):
        X, w = with_constant(fitted, w, b)
        yield learning_part(
            X, y, loss, penalty, scale * v * fitted.s, w, name=name, features=columns(fitted, X)
        )


def linear_svr(fitted: Fitted) -> Iterator[LearningPart]:
    """LinearSVR."""
    estimator = fitted.estimator
    squared = estimator.loss == "squared_epsilon_insensitive"
    kind = SquaredEpsilonInsensitive if squared else EpsilonInsensitive
    y, w, b = fitted.single()
    X, w = with_constant(fitted, w, b)
    scale = estimator.C * (2.0 if squared else 1.0)
    if not np.isfinite(scale):
        raise fitted.refuse("C must be finite.")
    yield learning_part(
        X, y, kind(estimator.epsilon), L2(1.0), scale * fitted.s, w, features=columns(fitted, X)
    )


def with_constant(fitted: Fitted, w: Array, b: float) -> tuple[Any, Array]:
    """[X, m 1] and (w, b / m): the intercept as liblinear sees it."""
    if not fitted.estimator.fit_intercept:
        return fitted.X, w
    m = float(fitted.estimator.intercept_scaling)
    return append_column(fitted.X, np.full(fitted.n, m)), np.append(w, b / m)


def columns(fitted: Fitted, X: Any) -> tuple[str, ...]:
    """The names of the columns of X, the constant one among them."""
    more = X.shape[1] - fitted.X.shape[1]
    return (*fitted.features, *(["intercept"] * more)) if fitted.features else ()

"""libsvm's machines: SVC and SVR, whose intercept is *not* penalised.

====  ==========================================================================================
SVC   |f|_H^2 / 2 + C sum_i v_i s_i (1 - y_i (f(x_i) + b))_+
SVR   |f|_H^2 / 2 + C sum_i s_i (|f(x_i) + b - y_i| - epsilon)_+
====  ==========================================================================================

f = sum_i q_i k(x_i, .) with q = ``dual_coef_`` on ``support_``, |f|_H^2 = q'Kq, v the class
weights. With more than two classes SVC solves one such problem for each pair of classes, in which
the class that comes first in ``classes_`` is +1. The dual point u = -q that the estimator holds
competes with the one that is constructed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from ....kernels.matrix import KernelMatrix
from ....losses import EpsilonInsensitive, Hinge, Loss
from ....numerics import Array
from ....objective.kernel import KernelObjective
from ....penalties import L2
from ..fitted import Fitted
from ..parts import FunctionPart, LearningPart, function_part, learning_part
from .kernel_matrix import features, kernel_matrix, known_kernel, stands_on

HARD = (
    "C times the weights must be finite; without slack it is cml.HardMarginSVM(X, y), whose "
    "certify(w, b) judges the coefficients."
)


def svc(fitted: Fitted) -> Iterator[LearningPart | FunctionPart]:
    """SVC, one binary problem per pair of classes."""
    estimator = fitted.estimator
    c = estimator.C * (estimator.class_weight_[fitted.labels()] * fitted.s)
    machine = Machine(fitted)
    for rows, y, pair, b, name in pairs(fitted):
        yield machine.part(rows, y, Hinge(), c[rows], pair, b, name)


def pairs(fitted: Fitted) -> Iterator[tuple[Array, Array, Array, float, str]]:
    """(rows, y, q, b, name) of each binary problem of a machine with classes."""
    index, classes = fitted.labels(), np.asarray(fitted.estimator.classes_)
    q = dual_coefficients(fitted)
    for at, (i, j) in enumerate(combinations(range(len(classes)), 2)):
        rows = np.flatnonzero((index == i) | (index == j))
        if len(classes) == 2:
            y, pair = np.where(index == 1, 1.0, -1.0), q[0]
        else:
            # The coefficients of a class against the others stand in K - 1 rows, itself left out.
            y = np.where(index[rows] == i, 1.0, -1.0)
            pair = np.where(index[rows] == i, q[j - 1, rows], q[i, rows])
        name = f"{classes[i]} or {classes[j]}" if len(classes) > 2 else ""
        yield rows, y, pair, float(fitted.intercepts[at]), name


def svr(fitted: Fitted) -> Iterator[LearningPart | FunctionPart]:
    """SVR."""
    estimator = fitted.estimator
    q, b = dual_coefficients(fitted)[0], float(fitted.intercepts[0])
    loss, c = EpsilonInsensitive(estimator.epsilon), estimator.C * fitted.s
    yield Machine(fitted).part(np.arange(fitted.n), fitted.target(), loss, c, q, b)


class Machine:
    """The samples of a fitted machine with its kernel, of which each problem takes some rows."""

    def __init__(self, fitted: Fitted) -> None:
        self.fitted, self.kernel = fitted, known_kernel(fitted.estimator, fitted.estimator._gamma)

    @cached_property
    def matrix(self) -> Array | None:
        """All of K; None where it is linear."""
        estimator = self.fitted.estimator
        linear = estimator.kernel == "linear"
        return None if linear else kernel_matrix(self.fitted, estimator._gamma)

    def part(
        self, rows: Array, y: Array, loss: Loss, c: Array, q: Array, b: float, name: str = ""
    ) -> LearningPart | FunctionPart:
        """The problem of these rows, at q and b."""
        fitted, kept = self.fitted, np.flatnonzero(c > 0.0)
        if not np.all(np.isfinite(c)):
            raise fitted.refuse(HARD)
        used = kept.size and not np.any(np.delete(q, kept))  # else f is not of these samples
        if self.kernel is not None and used:
            K = KernelMatrix(f"certify: {fitted.owner}", self.kernel, fitted.X[rows[kept]])
            if K.is_exact:
                objective = KernelObjective(K, y[kept], loss, L2(1.0), c[kept], True)
                return function_part(objective, q[kept], b, name, fitted.features)
        design, w = in_feature_space(fitted, self.matrix, rows, q)
        return learning_part(
            design, y, loss, L2(1.0), c, w, b, fit_intercept=True, u=-q, name=name,
            features=fitted.features if self.matrix is None else (),
        )  # fmt: skip


def dual_coefficients(fitted: Fitted) -> Array:
    """``dual_coef_`` on all samples, shape (rows, n); refuses samples that were not fitted.

    libsvm drops samples of weight 0, and ``support_`` counts without them (ours with them). Where K
    is passed in, scikit-learn predicts with ``support_`` as it is, and so it is judged
    (https://github.com/scikit-learn/scikit-learn/pull/27763).
    """
    estimator = fitted.estimator
    if tuple(estimator.shape_fit_) != tuple(fitted.X.shape):
        raise fitted.refuse(
            f"it was fitted on X of shape {tuple(estimator.shape_fit_)}, got {fitted.X.shape}."
        )
    support = np.asarray(estimator.support_)
    if estimator.kernel != "precomputed" and not callable(estimator.kernel):
        kept = np.flatnonzero(fitted.s > 0.0)
        if not _stand_at(support, fitted) and support.max(initial=0) < kept.size:
            support = kept[support]
        if not _stand_at(support, fitted):
            raise fitted.refuse(
                "its support vectors are not among X[sample_weight > 0] in their places; pass the "
                "data and the weights that it was fitted on."
            )
    if callable(estimator.kernel):
        stands_on(fitted, estimator._BaseLibSVM__Xfit)
    held = estimator.dual_coef_
    held = np.asarray(held.toarray() if hasattr(held, "toarray") else held, dtype=np.float64)
    q = np.zeros((len(held), fitted.n))
    q[:, support] = held
    return q


def _stand_at(support: Array, fitted: Fitted) -> bool:
    """Whether the support vectors are these samples."""
    if support.max(initial=-1) >= fitted.n:
        return False
    moved = abs(fitted.X[support] - fitted.estimator.support_vectors_)
    return not (moved.size and moved.max() > 0.0)


def in_feature_space(fitted: Fitted, K: Array | None, rows: Array, q: Array) -> tuple[Any, Array]:
    """The design whose Gram matrix is the kernel of these rows, and w = design' q."""
    design = fitted.X[rows] if K is None else features(fitted, K[np.ix_(rows, rows)])
    return design, design.T @ q

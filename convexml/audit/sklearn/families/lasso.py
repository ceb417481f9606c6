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
from dataclasses import dataclass

import numpy as np

from ....certificates import Certificate
from ....certificates.learning.several_targets import certify_targets
from ....design import as_design
from ....losses import Squared
from ....numerics import Array
from ....objective.outputs.several_targets import SeveralTargets
from ....penalties import L1, ElasticNet, Nonnegative, NonnegativeElasticNet, Penalty
from ....validation import refuse_nonfinite
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


@dataclass(frozen=True)
class TargetsPart:
    """Coefficients (w, b) of several targets, of shapes (d, K) and (K,), and a dual point u."""

    targets: SeveralTargets
    w: Array
    b: Array
    u: Array | None = None
    name: str = ""

    @property
    def value(self) -> float:
        """P(w, b)."""
        return self.targets.primal(self.w, self.b)

    def certify(self, tol: float) -> Certificate:
        """Judge (w, b); u competes with the dual points that are constructed."""
        u = None if self.u is None else self.u.ravel()
        return certify_targets(self.targets, self.w, self.b, tol=tol, solver_dual=u)


def multi_task(fitted: Fitted) -> Iterator[TargetsPart]:
    """MultiTaskLasso, and MultiTaskElasticNet with a ridge term beside it."""
    estimator, Y = fitted.estimator, fitted.targets()
    if Y.ndim != 2:
        raise fitted.refuse(f"y must have shape (n, K), got {Y.shape}.")
    K, d = Y.shape[1], fitted.X.shape[1]
    if fitted.coef.shape != (K, d):
        raise fitted.refuse(f"coef_ of shape {fitted.coef.shape} does not fit ({K}, {d}).")
    b = np.array(np.broadcast_to(fitted.intercepts, (K,)))
    for name, held in (("coef_", fitted.coef), ("intercept_", b)):
        refuse_nonfinite(held, "certify", name)
    alpha, rho = float(estimator.alpha), float(getattr(estimator, "l1_ratio", 1.0))
    kept = np.flatnonzero(fitted.s > 0.0)
    given = as_design(fitted.X[kept]), Y[kept], fitted.mean_weights[kept], alpha * rho
    intercept, ridge = bool(estimator.fit_intercept), alpha * (1.0 - rho)
    targets = SeveralTargets(*given, intercept, ridge, fitted.features)
    yield TargetsPart(targets, fitted.coef.T.copy(), b)

"""IsotonicRegression: ``MonotoneRegression`` in the order of X, one value for equal X.

    sum_i s_i (y_i - f(x_i))^2  over f that does not fall (or does not rise)

Samples of one x are one sample of their weight, with the mean of their targets; what they differ
among each other is a constant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ....certificates import Certificate
from ....certificates.judge import bounded, judge, refuted
from ....certificates.scale import learning_scale
from ....certificates.shape.monotone import Monotone
from ....numerics import Array, gamma
from ..fitted import Fitted


def isotonic_regression(fitted: Fitted) -> Iterator[MonotonePart]:
    """IsotonicRegression with what it predicts for X."""
    estimator = fitted.estimator
    fitted.refuse_sparse()
    if estimator.y_min is not None or estimator.y_max is not None:
        raise fitted.refuse("the bounds y_min and y_max are not judged; leave them out.")
    if fitted.X.shape[1] != 1:
        raise fitted.refuse(f"X must have one column, got shape {fitted.X.shape}.")
    x, y, kept = np.asarray(fitted.X)[:, 0], fitted.target(), fitted.s > 0.0
    w = np.ravel(np.asarray(estimator.predict(x), dtype=np.float64))
    x, y, s, w = x[kept], y[kept], fitted.s[kept], w[kept]
    if not np.all(np.isfinite(w)):
        raise fitted.refuse("it predicts nan of X; pass the data that it was fitted on.")
    centre = float(np.average(y, weights=s))  # rounding is of the spread of y, not of its level
    y, w = y - centre, w - centre
    _, first, place = np.unique(x, return_index=True, return_inverse=True)
    weights = np.bincount(place, weights=s)
    means = np.bincount(place, weights=s * y) / weights
    sign = 1.0 if estimator.increasing_ else -1.0
    program = Monotone(means, weights / weights.sum(), sign)
    within = float(s @ np.square(y - means[place]))
    null = float(s @ np.square(y))
    yield MonotonePart(program, w[first], 2.0 * float(weights.sum()), within, null, len(y))


@dataclass(frozen=True)
class MonotonePart:
    """``factor`` times the monotone problem plus ``constant``, and the values w of its samples."""

    program: Monotone
    w: Array
    factor: float
    constant: float
    null: float
    n: int
    name: str = ""

    @property
    def value(self) -> float:
        """The sum of squares at w."""
        return self.factor * self.program.cost(self.w) + self.constant

    def certify(self, tol: float) -> Certificate:
        """Judge w by the cumulative sums of its residuals."""
        inner = self.program.certify(self.w, None, tol, search=True)
        primal, factor = self.value, self.factor
        lost = gamma(4 * self.n + 32) * (primal + self.null)
        dual = factor * inner.dual_objective + self.constant
        certificate = judge(
            bounded(
                primal,
                dual,
                inner.conditions,
                tol,
                scale=learning_scale(primal, dual, self.null),
                gap=factor * inner.gap,
                rounding=lost,
                dual=inner.dual,
                dual_source=inner.dual_source,
                reason=inner.reason if not np.isfinite(inner.gap) else "",
                unproved="the means of samples of one x are rounded",
            )
        )
        if inner.witness is None:
            return certificate
        better = factor * inner.witness["objective"] + self.constant
        return refuted(certificate, better, {**inner.witness, "objective": better}, lost)

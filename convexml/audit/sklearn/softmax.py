"""Multinomial logistic regression with the (W, b) of a fitted estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...certificates import Certificate, certify_objective
from ...certificates.learning.points.dual_repair import repair_dual
from ...design import StackedDesign, as_design
from ...losses import Softmax
from ...numerics import Array
from ...objective import MulticlassObjective
from ...penalties import Penalty
from .fitted import Fitted

Point = tuple[Array, Array]
"""W of shape (d, K) and b of shape (K,)."""


@dataclass(frozen=True)
class SoftmaxPart:
    """A point (W, b) of a ``MulticlassObjective``.

    Attributes
    ----------
    objective : MulticlassObjective
    w : array, shape (d, K)
        The transpose of scikit-learn's ``coef_``.
    b : array, shape (K,)
    """

    objective: MulticlassObjective
    w: Array
    b: Any
    name: str = ""

    @property
    def value(self) -> float:
        """P(W, b) at the fitted point."""
        return self.value_at((self.w, self.b))

    def value_at(self, point: Point) -> float:
        """P(W, b)."""
        return self.objective.primal(point[0].ravel(), point[1])

    def derivative(self, point: Point) -> Array:
        """U with rows c_i (softmax(z_i) - e_{y_i}), shape (n, K)."""
        return self.objective.loss_derivative(self.objective.predict(point[0].ravel(), point[1]))

    def repaired(self, U: Array) -> Array:
        """A dual feasible U near to the one passed."""
        return repair_dual(self.objective, U).u

    def dual(self, U: Array) -> float:
        """D(U); -inf where U is infeasible beyond rounding."""
        return self.objective.dual(U)

    def certify(self, tol: float) -> Certificate:
        """Judge (W, b); the dual point is constructed."""
        return certify_objective(self.objective, self.w.ravel(), self.b, tol=tol)


def softmax_part(fitted: Fitted, penalty: Penalty, c: Array) -> SoftmaxPart:
    """Pose the multinomial problem of a fitted estimator with ``coef_`` (K, d).

    Parameters
    ----------
    fitted : Fitted
    penalty : Penalty
        Of the entries of W, row by row.
    c : array, shape (n,)
        Coefficients >= 0; samples of coefficient 0 are left out.

    Raises
    ------
    InputError
        If the coefficients do not fit X, or are not finite, or if no sample has a positive weight.
    """
    W = np.asarray(fitted.estimator.coef_, dtype=np.float64).T
    K = len(fitted.estimator.classes_)
    b = np.array(np.broadcast_to(fitted.intercepts, (K,)))
    if W.shape != (fitted.X.shape[1], K):
        raise fitted.refuse(f"coef_ of shape {W.T.shape} does not fit X {fitted.X.shape}.")
    if not (np.all(np.isfinite(W)) and np.all(np.isfinite(b))):
        raise fitted.refuse("coef_ or intercept_ contains NaN or infinite entries.")
    kept = np.flatnonzero(c > 0.0)
    if not kept.size:
        raise fitted.refuse("no sample has a positive weight.")
    objective = MulticlassObjective(
        StackedDesign(as_design(fitted.X[kept]), K),
        fitted.labels()[kept].astype(np.float64),
        Softmax(),
        penalty,
        c[kept],
        bool(fitted.estimator.fit_intercept),
    )
    return SoftmaxPart(objective, W, b)

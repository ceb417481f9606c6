"""Learning a halfspace as a linear program of which only the feasibility matters."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...losses import HardMargin, Loss
from ...numerics import Array
from ...objective import Statement, label_all
from ...penalties import Penalty, Zero
from ...terms import constant
from ..problem import LearningProblem


class HalfspaceLP(LearningProblem):
    """Find w (and b) with y_i (w.x_i + b) >= 1 for every sample.

    Where there is none, ``evidence`` holds Farkas multipliers alpha >= 0, sum alpha_i = 1, with
    sum alpha_i y_i x_i = 0 (and sum alpha_i y_i = 0 with an intercept). With a residual r they
    prove that no such w has abs(w) < 1 / r.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Two labels of any kind; the larger is +1.
    fit_intercept : bool
        Whether b is free; by default b = 0.
    sample_weight : array, shape (n,), optional
        Rows of weight 0 are dropped; other weights change nothing.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, other than two classes, bad weights.

    References
    ----------
    Shalev-Shwartz and Ben-David, *Understanding Machine Learning*, section 9.1.1.
    """

    multiplier_names: ClassVar = {"halfspace": "alpha"}

    def __init__(
        self, X: Any, y: Any, *, fit_intercept: bool = False, sample_weight: Any = None
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return HardMargin(), Zero(), "sum"

    def _pose(self) -> Statement:
        import cvxpy as cp

        parts = self.objective_parts
        variables = {"w": cp.Variable(parts.d, name="w")}
        scores = constant(parts.design.constant, "X") @ variables["w"]
        if parts.fit_intercept:
            variables["b"] = cp.Variable(name="b")
            scores = scores + variables["b"]
        constraints = {"halfspace": cp.multiply(constant(parts.y, "y"), scores) >= 1.0}
        problem = cp.Problem(cp.Minimize(0.0), label_all(constraints))
        return Statement(problem, variables, constraints)

    def _pose_dual(self) -> Statement:
        import cvxpy as cp

        parts = self.objective_parts
        alpha, y = cp.Variable(parts.n, name="alpha"), constant(parts.y, "y")
        pull = constant(parts.design.constant, "X").T @ cp.multiply(y, alpha)
        constraints = {"balance": pull == 0.0, "alpha": alpha >= 0.0}
        if parts.fit_intercept:
            constraints["intercept"] = y @ alpha == 0.0
        problem = cp.Problem(cp.Maximize(cp.sum(alpha)), label_all(constraints))
        return Statement(problem, {"alpha": alpha}, constraints)

    def posed_values(self, w: Array, b: float, u: Array) -> tuple[dict[str, Any], dict[str, Any]]:
        """Values of w, b and z, and the multiplier alpha = -y u of "halfspace"."""
        values = {"w": w, "b": np.asarray(b), "z": self.objective_parts.predict(w, b)}
        return values, {"halfspace": -self.objective_parts.y * u + 0.0}

    def dual_from_constraints(self) -> Array | None:
        """The u = -y alpha of the multiplier that a solver left in the posed primal."""
        alpha = self.constraints["halfspace"].dual_value
        return None if alpha is None else -self.objective_parts.y * alpha

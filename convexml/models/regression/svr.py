"""Support vector regression."""

from __future__ import annotations

from typing import Any, ClassVar

from ...losses import EpsilonInsensitive, Loss
from ...numerics import Array
from ...objective import Statement, label_all
from ...penalties import L2, Penalty
from ...terms import constant
from ...validation import positive_number
from ..base import Hyperparameter
from ..learning.posing import coefficients, pose_in_slacks
from ..problem import LearningProblem


class SVR(LearningProblem):
    r"""Minimise (1/2) |w|^2 + C sum_i s_i (|y_i - w.x_i - b| - epsilon)_+.

    Posed with slacks: ``above`` y - z <= epsilon + xi (multiplier alpha), ``below``
    z - y <= epsilon + xi_star (alpha_star), ``slack`` and ``slack_star`` xi, xi_star >= 0 (beta,
    beta_star). w = sum_i (alpha_i - alpha_star_i) x_i and u = alpha_star - alpha.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    C : float
        Cost of a unit of slack, > 0.
    epsilon : float
        Half-width of the tube without loss, >= 0, in units of y.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        The s_i.

    Raises
    ------
    InputError
        For C <= 0, a negative epsilon, NaN or infinite entries, wrong shapes, bad weights.

    References
    ----------
    Smola and Schölkopf, *A tutorial on support vector regression*, 2004,
    https://doi.org/10.1023/B:STCO.0000035301.49549.88
    """

    scikit_learn: ClassVar = {"SVR": {"C": "C = C", "epsilon": "epsilon = ε"}}

    C = Hyperparameter()
    epsilon = Hyperparameter()
    multiplier_names: ClassVar = {
        "above": "alpha",
        "below": "alpha_star",
        "slack": "beta",
        "slack_star": "beta_star",
    }

    def __init__(
        self,
        X: Any,
        y: Any,
        C: float,
        epsilon: float,
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight, C=C, epsilon=epsilon)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, float]:
        loss = EpsilonInsensitive(hyper["epsilon"])
        return loss, L2(1.0), positive_number(hyper["C"], self.name, "C")

    def _pose(self) -> Statement:
        return pose_in_slacks(self)

    def _pose_dual(self) -> Statement:
        import cvxpy as cp

        parts, epsilon = self.objective_parts, self.theta["loss"]["epsilon"]
        X = constant(parts.design.constant, self._design_name)
        alpha, alpha_star = (
            cp.Variable(parts.n, name="alpha"),
            cp.Variable(parts.n, name="alpha_star"),
        )
        constraints = {
            "alpha": alpha >= 0.0,
            "alpha_star": alpha_star >= 0.0,
            "beta": alpha <= coefficients(self),
            "beta_star": alpha_star <= coefficients(self),
        }
        if parts.fit_intercept:
            constraints["balance"] = cp.sum(alpha - alpha_star) == 0.0
        norm = cp.sum_squares(X.T @ (alpha - alpha_star))
        value = (
            constant(parts.y, "y") @ (alpha - alpha_star)
            - epsilon * cp.sum(alpha + alpha_star)
            - 0.5 * norm
        )
        problem = cp.Problem(cp.Maximize(value), label_all(constraints))
        return Statement(problem, {"alpha": alpha, "alpha_star": alpha_star}, constraints)

    def dual_from_constraints(self) -> Array | None:
        alpha, alpha_star = (self.constraints[label].dual_value for label in ("above", "below"))
        return None if alpha is None else alpha_star - alpha

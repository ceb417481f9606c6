"""Ridge regression, penalised and constrained."""

from __future__ import annotations

from typing import Any, ClassVar

from ...losses import Loss, Squared
from ...penalties import L2, L2Ball, Penalty
from ...validation import positive_number
from ..base import Hyperparameter
from ..problem import LearningProblem


class Ridge(LearningProblem):
    r"""Minimise (1/2) mean (y - X w - b)^2 + (lam/2) |w|^2.

    Closed form (centred data): (X'X + n lam I)^-1 X'y = X'(XX' + n lam I)^-1 y. Sources: [G] 2.5,
    [P] 16.3, [E] 1.9, [H] 5.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    lam : float
        Strength, >= 0.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, NaN or infinite entries, wrong shapes, bad weights.
    """

    lam = Hyperparameter()

    def __init__(
        self, X: Any, y: Any, lam: float, *, fit_intercept: bool = True, sample_weight: Any = None
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight, lam=lam)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Squared(), L2(hyper["lam"]), "mean"


class ConstrainedRidge(LearningProblem):
    r"""Minimise (1/2) mean (y - X w - b)^2 subject to |w|_2 <= radius.

    The multiplier of ``ball`` is mu >= 0; the solution is the ridge solution with
    lam = mu / radius. Source: [H] 5.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    radius : float
        Radius of the ball, > 0, in units of w.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For radius <= 0, NaN or infinite entries, wrong shapes, bad weights.
    """

    radius = Hyperparameter()
    multiplier_names: ClassVar = {"ball": "mu"}

    def __init__(
        self,
        X: Any,
        y: Any,
        radius: float,
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight, radius=radius)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        radius = positive_number(hyper["radius"], self.name, "radius")
        return Squared(), L2Ball(radius), "mean"

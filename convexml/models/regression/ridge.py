"""Ridge regression, penalised and constrained."""

from __future__ import annotations

from typing import Any, ClassVar

from ...errors import InputError
from ...losses import Loss, Squared
from ...numerics import Array
from ...penalties import L2, L2Ball, Penalty
from ...validation import nonnegative_array, positive_number
from ..base import Hyperparameter
from ..folds.leave_one_out import leave_one_out
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

    scikit_learn: ClassVar = {
        "Ridge": {"alpha": "lam = alpha / S"},
        "RidgeClassifier": {"alpha": "lam = alpha / S"},
    }

    lam = Hyperparameter()

    def __init__(
        self, X: Any, y: Any, lam: float, *, fit_intercept: bool = True, sample_weight: Any = None
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight, lam=lam)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Squared(), L2(hyper["lam"]), "mean"

    def leave_one_out(self, lams: Any) -> Array:
        """The mean squared error of predicting each sample from all others, in closed form.

        Parameters
        ----------
        lams : sequence of float
            Values of ``lam`` >= 0; each fit is that of ``Ridge`` posed on the other samples with
            the same ``lam``. A sample of weight 2 is left out whole and counts twice.

        Returns
        -------
        array, shape (len(lams),)

        Raises
        ------
        InputError
            For values that are none, or fewer than two samples.
        """
        owner = f"{self.name}.leave_one_out"
        values = nonnegative_array(lams, owner, "lams")
        if self.objective_parts.n < 2:
            raise InputError(f"{owner}: takes two samples of positive weight at least.")
        self._samples.refuse_changed(self.name)
        return leave_one_out(self.objective_parts, self._samples.weights, values)


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

"""Multinomial logistic regression with the (W, b) of a fitted estimator."""

from __future__ import annotations

import numpy as np

from ....design import StackedDesign, as_design
from ....losses import Softmax
from ....numerics import Array
from ....objective import MulticlassObjective
from ....penalties import Penalty
from ....validation import refuse_nonfinite
from ..fitted import Fitted
from ..parts import LearningPart


def softmax_part(fitted: Fitted, penalty: Penalty, c: Array) -> LearningPart:
    """Pose the multinomial problem of a fitted estimator with ``coef_`` (K, d).

    Parameters
    ----------
    fitted : Fitted
    penalty : Penalty
        Of the entries of W, row by row.
    c : array, shape (n,)
        Coefficients >= 0; samples of coefficient 0 are left out.

    Returns
    -------
    LearningPart
        At W as one vector, row by row, and b of shape (K,).

    Raises
    ------
    InputError
        If the coefficients do not fit X, or are not finite, or if no sample has a positive weight.
    """
    W = fitted.coef.T
    K = len(fitted.estimator.classes_)
    b = np.array(np.broadcast_to(fitted.intercepts, (K,)))
    if W.shape != (fitted.X.shape[1], K):
        raise fitted.refuse(f"coef_ of shape {W.T.shape} does not fit X {fitted.X.shape}.")
    for name, values in (("coef_", W.T), ("intercept_", b)):
        refuse_nonfinite(values, f"certify: {fitted.owner}", name)
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
        fitted.features,
    )
    return LearningPart(objective, W.ravel(), b)

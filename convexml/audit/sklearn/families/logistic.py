"""LogisticRegression, binary and multinomial.

==============  ================================================================================
two classes     C sum_i v_i s_i log(1 + e^{-y_i z_i}) + Omega(w), z = X w + b
more            C sum_i v_i s_i (log sum_k e^{z_ik} - z_{i y_i}) + Omega(W), Z = X W + 1 b'
==============  ================================================================================

v are the class weights. Omega is |w|_2^2 / 2 (``l1_ratio=0``), |w|_1 (``l1_ratio=1``), rho |w|_1 +
(1 - rho) |w|_2^2 / 2 between (rho = ``l1_ratio``), and 0 where C is infinite or ``penalty`` None:
the factor C is then 1. The intercept is not penalised, except by ``solver="liblinear"``, where
b / m is the coefficient of a constant column m = ``intercept_scaling`` and is penalised as w is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....losses import Logistic
from ....penalties import L1, L2, ElasticNet, Penalty, Zero
from ..fitted import Fitted, one_versus_rest
from ..parts import Subproblem, learning_part
from .liblinear import columns, with_constant
from .softmax import softmax_part


def logistic_regression(fitted: Fitted) -> Iterator[Subproblem]:
    """LogisticRegression with any solver."""
    estimator = fitted.estimator
    penalty = _penalty(fitted)
    scale = 1.0 if isinstance(penalty, Zero) else float(estimator.C)
    classes, rows = np.asarray(estimator.classes_), len(np.atleast_2d(fitted.coef))
    if len(classes) > 2:
        if rows != len(classes):
            raise fitted.refuse(f"coef_ has {rows} rows for {len(classes)} classes.")
        weights = fitted.class_weights(weighted=True)[fitted.labels()]
        yield softmax_part(fitted, penalty, scale * weights * fitted.s)
        return
    liblinear = estimator.solver == "liblinear"
    for name, y, v, w, b in one_versus_rest(fitted):
        X = fitted.X
        if liblinear:
            X, w = with_constant(fitted, w, b)
        yield learning_part(
            X, y, Logistic(), penalty, scale * v * fitted.s, w, 0.0 if liblinear else b,
            fit_intercept=estimator.fit_intercept and not liblinear, name=name,
            features=columns(fitted, X),
        )  # fmt: skip


def _penalty(fitted: Fitted) -> Penalty:
    """Omega, by the deprecated ``penalty`` where it is set, else by ``l1_ratio`` and C."""
    estimator = fitted.estimator
    given = getattr(estimator, "penalty", "deprecated")
    rho = estimator.l1_ratio or 0.0
    if given == "deprecated":
        given = {0.0: "l2", 1.0: "l1"}.get(float(rho), "elasticnet")
        given = None if estimator.C == np.inf else given
    if given is None:
        return Zero()
    if given == "elasticnet":
        return ElasticNet(1.0, rho)
    return L1(1.0) if given == "l1" else L2(1.0)

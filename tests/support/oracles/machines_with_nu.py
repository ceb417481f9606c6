"""What libsvm's machines with nu minimise, as its authors document it (Chang and Lin, 2011).

What is not held, the margin rho of NuSVC and the epsilon of NuSVR, is searched for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from support.estimator_objectives import dense, kernel_matrix, of_pairs, support, svc_gamma

Array = np.ndarray


def one_class(e: Any, X: Any, y: Array, s: Array) -> float:
    K = kernel_matrix(e, X, svc_gamma(e, X))
    q = np.zeros(len(s))
    q[support(e, s)] = np.ravel(dense(e.dual_coef_))
    rho = -float(e.intercept_[0])
    missed = np.maximum(0.0, -e.decision_function(X))
    return float(0.5 * q @ K @ q + s @ missed - e.nu * s.sum() * rho)


def nu_svc(e: Any, X: Any, y: Array, s: Array) -> float:
    K = kernel_matrix(e, X, svc_gamma(e, X))
    total = 0.0
    for rows, margins, q in of_pairs(e, X, y, s):
        square, weights = q @ K @ q, s * rows

        def value(
            rho: float, square: float = square, margins: Array = margins, s: Array = weights
        ) -> float:
            hinge = np.maximum(0.0, rho - rho * margins)
            return float(0.5 * rho**2 * square + s @ hinge - e.nu * s.sum() * rho)

        most = 2.0 * e.nu * weights.sum() / square
        found = minimize_scalar(value, bounds=(0.0, most), method="bounded",
                                options={"xatol": 1e-10 * most})  # fmt: skip
        # Where no rho > 0 is better than 0: the one that it was divided by.
        total += found.fun if found.fun < 0.0 else value(e.nu * weights.sum() / np.abs(q).sum())
    return total


def nu_svr(e: Any, X: Any, y: Array, s: Array) -> float:
    K = kernel_matrix(e, X, svc_gamma(e, X))
    q = np.zeros(len(y))
    q[support(e, s)] = np.ravel(e.dual_coef_)
    size = np.abs(y - e.predict(X))
    best = min(
        s @ np.maximum(0.0, size - epsilon) + e.nu * s.sum() * epsilon for epsilon in (0.0, *size)
    )
    return float(0.5 * q @ K @ q + e.C * best)

"""Peers on logistic regression and support vector machines: fit(data, tol) -> (w, b).

Peers whose name ends with "(no intercept)" solve the problem without one, and are verified on it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data import SIGMA, Data
from ..rows import NO_INTERCEPT
from .squared import MANY, Point, fitted


def logistic(solver: str, l1_ratio: float = 0.0, fit_intercept: bool = True) -> Any:
    """Scikit-learn's logistic regression, a sum with C = 1 / (n lam), by one of its solvers."""

    def fit(data: Data, tol: float) -> Point:
        from sklearn.linear_model import LogisticRegression

        C = 1.0 / (data.level * len(data.y))
        model = LogisticRegression(
            C=C,
            l1_ratio=l1_ratio,
            solver=solver,
            tol=tol,
            max_iter=MANY,
            fit_intercept=fit_intercept,
        )
        return fitted(model, data)

    return fit


def celer_logistic(data: Data, tol: float) -> Point:
    from celer import LogisticRegression

    C = 1.0 / (data.level * len(data.y))
    return fitted(LogisticRegression(C=C, tol=tol, max_iter=1000), data)


def skglm_l1(data: Data, tol: float) -> Point:
    from skglm import SparseLogisticRegression

    model = SparseLogisticRegression(data.level, tol=tol, max_iter=1000, max_epochs=50_000)
    return fitted(model, data)


@cache
def compiled_parts(level: float) -> tuple[Any, Any]:
    """Loss and penalty of skglm, compiled once."""
    from skglm.datafits import Logistic
    from skglm.penalties import L2
    from skglm.utils.jit_compilation import compiled_clone

    return compiled_clone(Logistic()), compiled_clone(L2(level))


def skglm_l2(data: Data, tol: float) -> Point:
    """Sparse data go by columns, which it takes for granted."""
    from skglm.solvers import LBFGS

    X = data.X.tocsc() if sp.issparse(data.X) else data.X
    solver = LBFGS(max_iter=10_000, tol=tol)
    return solver.solve(X, data.y, *compiled_parts(data.level))[0], 0.0


def libsvm(data: Data, tol: float) -> Point:
    from sklearn.svm import SVC

    return fitted(SVC(C=data.level, kernel="linear", tol=tol), data)


def liblinear_svm(data: Data, tol: float) -> Point:
    from sklearn.svm import LinearSVC

    model = LinearSVC(
        C=data.level, loss="hinge", tol=tol, max_iter=MANY, fit_intercept=False, random_state=0
    )
    return fitted(model, data)


def libsvm_kernel(data: Data, tol: float) -> Point:
    """(q, b) with f = sum_j q_j k(x_j, .) + b."""
    from sklearn.svm import SVC

    model = SVC(C=data.level, gamma=0.5 / SIGMA**2, tol=tol).fit(data.X, data.y)
    q = np.zeros(len(data.y))
    q[model.support_] = model.dual_coef_[0]
    return q, float(model.intercept_[0])


LIBLINEAR, SKGLM, CELER = (f"{name} {NO_INTERCEPT}" for name in ("liblinear", "skglm", "celer"))
L1_LOGISTIC = {
    "skglm": skglm_l1,
    CELER: celer_logistic,
    LIBLINEAR: logistic("liblinear", 1.0, fit_intercept=False),
}
L2_LOGISTIC = {name: logistic(name) for name in ("lbfgs", "newton-cholesky", "newton-cg")}
L2_LOGISTIC |= {LIBLINEAR: logistic("liblinear", fit_intercept=False), SKGLM: skglm_l2}
SVM = {"libsvm": libsvm, LIBLINEAR: liblinear_svm}
KERNEL_SVM = {"libsvm": libsvm_kernel}

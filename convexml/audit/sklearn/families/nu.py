"""libsvm's machines with nu: a margin, or the width of a tube, is found with the coefficients.

===========  ==================================================================================
OneClassSVM  |f|_H^2 / 2 + sum_i s_i (rho - f(x_i))_+ - nu S rho
NuSVC        |f|_H^2 / 2 + sum_i s_i (rho - y_i (f(x_i) + b))_+ - nu S rho, rho >= 0
NuSVR        |f|_H^2 / 2 + C sum_i s_i (|f(x_i) + b - y_i| - epsilon)_+ + C nu S epsilon
===========  ==================================================================================

S = sum_i s_i; f = sum_i q_i k(x_i, .) with q of ``dual_coef_``. The duals are

    OneClassSVM, NuSVC  maximise -|sum_i alpha_i y_i k(x_i, .)|_H^2 / 2
                        subject to 0 <= alpha <= s, sum alpha = nu S, and sum alpha_i y_i = 0
    NuSVR               maximise q'y - |sum_i q_i k(x_i, .)|_H^2 / 2
                        subject to |q_i| <= C s_i, sum q = 0, sum |q| <= C nu S

An NuSVC holds f / rho and b / rho, which decide as f and b do: rho is the best one for them, as is
epsilon, which no NuSVR holds. With more than two classes NuSVC solves a problem for each pair.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ....certificates.learning.machines.centre import about_centre, moved_intercept
from ....certificates.learning.machines.functions import Functions, OfFeatures, OfSamples
from ....certificates.learning.machines.nu import HeldPoint, NuPart
from ....certificates.learning.machines.tube import TubePart
from ....kernels.matrix import KernelMatrix
from ....numerics import Array
from ..fitted import Fitted
from .kernel_matrix import features, kernel_matrix, known_kernel
from .libsvm import dual_coefficients, in_feature_space, pairs

TIGHT, STEPS = 1e-8, 100_000
"""Of a fit that may be better than the one that is judged."""


def one_class_svm(fitted: Fitted) -> Iterator[NuPart]:
    """OneClassSVM: rho is minus ``intercept_``, which decides as ``offset_`` does."""
    space = functions_of(fitted)
    total = float(fitted.estimator.nu) * float(fitted.s.sum())
    yield NuPart(space, np.ones(fitted.n), fitted.s, total, _one_class(fitted, space),
                 lambda: _one_class(tighter(fitted), space))  # fmt: skip


def functions_of(fitted: Fitted) -> Functions:
    """Functions by the samples, of a kernel that is semidefinite by a theorem; else by features."""
    kernel = known_kernel(fitted.estimator, fitted.estimator._gamma)
    if kernel is not None:
        matrix = KernelMatrix(f"certify: {fitted.owner}", kernel, fitted.X)
        if matrix.is_exact:
            return OfSamples(matrix)
    K = _kernel(fitted)
    return OfFeatures(fitted.X if K is None else features(fitted, K))


def _one_class(held: Fitted, space: Functions) -> HeldPoint:
    q = dual_coefficients(held)[0]
    return HeldPoint(space.of(q), 0.0, -float(held.intercepts[0]), q)


def nu_svc(fitted: Fitted) -> Iterator[NuPart]:
    """NuSVC, one binary problem per pair of classes; ``class_weight`` does not enter, as there."""
    K, nu = _kernel(fitted), float(fitted.estimator.nu)
    count = len(fitted.estimator.classes_)
    for at in range(count * (count - 1) // 2):
        part, point = _pair(fitted, fitted, K, at)
        A, y, s, name = part
        yield NuPart(OfFeatures(A), y, s, nu * float(s.sum()), point,
                     partial(_another, fitted, K, at), name, nu)  # fmt: skip


def _another(fitted: Fitted, K: Array | None, at: int) -> HeldPoint:
    return _pair(fitted, tighter(fitted), K, at)[1]


def _pair(fitted: Fitted, held: Fitted, K: Array | None, at: int) -> tuple[Any, HeldPoint]:
    rows, y, q, b, name = [*pairs(held)][at]
    A, w = in_feature_space(fitted, K, rows, q)
    A, c = about_centre(A)
    s, b = fitted.s[rows], moved_intercept(b, c, w)
    total = float(fitted.estimator.nu) * float(s.sum())
    # Over multiples rho (w, b, 1) the objective is rho^2 |w|^2 / 2 - rho (nu S - hinge losses).
    hinge, square = float(s @ np.maximum(1.0 - y * (A @ w + b), 0.0)), float(w @ w)
    rho = (total - hinge) / square if square > 0.0 else 0.0
    # The dual point has the sum nu S, whatever it was divided by: by rho, if it is optimal.
    size = float(np.abs(q).sum())
    alpha = q * (total / size) if size > 0.0 else q
    rho = rho if rho > 0.0 else total / max(size, 1.0)
    return (A, y, s, name), HeldPoint(rho * w, rho * b, rho, alpha)


def nu_svr(fitted: Fitted) -> Iterator[TubePart]:
    """NuSVR: epsilon is the best one for its residuals."""
    K = _kernel(fitted)
    A, point = _tube(fitted, fitted, K)
    limits = float(fitted.estimator.C) * fitted.s
    total = float(fitted.estimator.nu) * float(limits.sum())
    yield TubePart(OfFeatures(A), fitted.target(), limits, total, point,
                   lambda: _tube(fitted, tighter(fitted), K)[1])  # fmt: skip


def _tube(fitted: Fitted, held: Fitted, K: Array | None) -> tuple[Any, HeldPoint]:
    q, b = dual_coefficients(held)[0], float(held.intercepts[0])
    A, w = in_feature_space(fitted, K, np.arange(fitted.n), q)
    size = np.abs(fitted.target() - A @ w - b)
    order = np.argsort(-size)  # epsilon leaves samples of weight nu S outside, no more
    outside = np.cumsum(fitted.s[order]) > float(fitted.estimator.nu) * float(fitted.s.sum())
    epsilon = float(size[order][int(np.argmax(outside))]) if outside.any() else 0.0
    return A, HeldPoint(w, b, epsilon, q)


def tighter(fitted: Fitted) -> Fitted:
    """The same machine of libsvm, fitted anew to a smaller tolerance, in no more than STEPS.

    What it finds is a point as any other: it may be a better one, and is judged to be.
    """
    from sklearn.exceptions import ConvergenceWarning

    estimator = fitted.estimator
    bases = type(estimator).__mro__
    kind: Any = next(base for base in bases if base.__module__.startswith("sklearn."))
    settings = {name: getattr(estimator, name) for name in kind._get_param_names()}
    again = kind(**settings | {"tol": min(estimator.tol, TIGHT), "max_iter": STEPS})
    options = {"sample_weight": fitted.s} if np.any(fitted.s != 1.0) else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        again.fit(fitted.X, np.ravel(fitted.y), **options)
    return replace(fitted, estimator=again)


def _kernel(fitted: Fitted) -> Array | None:
    estimator = fitted.estimator
    return None if estimator.kernel == "linear" else kernel_matrix(fitted, estimator._gamma)

"""libsvm's machines: SVC and SVR, whose intercept is *not* penalised.

====  ==========================================================================================
SVC   |f|_H^2 / 2 + C sum_i v_i s_i (1 - y_i (f(x_i) + b))_+
SVR   |f|_H^2 / 2 + C sum_i s_i (|f(x_i) + b - y_i| - epsilon)_+
====  ==========================================================================================

f = sum_i q_i k(x_i, .) with q = ``dual_coef_`` on ``support_``, |f|_H^2 = q'Kq, v the class
weights. With more than two classes SVC solves one such problem for each pair of classes, in which
the class that comes first in ``classes_`` is +1. The dual point u = -q that the estimator holds
competes with the one that is constructed.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from ..certificates.learning.nu import (
    Functions,
    HeldPoint,
    NuPart,
    NuProgram,
    OfFeatures,
    OfSamples,
    TubeProgram,
    about_centre,
    moved_intercept,
)
from ..errors import InputError, warn
from ..kernels import Gaussian, Kernel, Polynomial, factor
from ..kernels.matrix import CLIPPED, KernelMatrix, clipped
from ..losses import EpsilonInsensitive, Hinge, Loss
from ..numerics import Array, all_finite
from ..penalties import L2
from ..problem.kernel import KernelObjective
from .fitted import Fitted, FunctionPart, LearningPart, function_part, learning_part

# The kernel of an estimator: one of ours, or a design matrix whose Gram matrix it is.


def kernel_matrix(fitted: Fitted, gamma: float | None) -> Array:
    """K of the training samples, (n, n), computed by the formulas that scikit-learn documents.

    Raises
    ------
    InputError
        If ``kernel="precomputed"`` and X is not square.
    """
    from sklearn.metrics.pairwise import pairwise_kernels

    estimator, kernel = fitted.estimator, fitted.estimator.kernel
    if kernel == "precomputed":
        if fitted.X.shape[0] != fitted.X.shape[1]:
            raise fitted.refuse(
                f"X must be the kernel matrix of the training samples, got shape {fitted.X.shape}."
            )
        return np.asarray(fitted.X.toarray() if hasattr(fitted.X, "toarray") else fitted.X)
    if callable(kernel):
        if fitted.owner == "KernelRidge":
            extra = estimator.kernel_params or {}
            return np.asarray(pairwise_kernels(fitted.X, metric=kernel, **extra))
        return np.asarray(kernel(fitted.X, fitted.X), dtype=np.float64)
    settings = {"gamma": gamma, "degree": estimator.degree, "coef0": estimator.coef0}
    K = pairwise_kernels(fitted.X, metric=kernel, filter_params=True, **settings)
    return np.asarray(K.toarray() if hasattr(K, "toarray") else K, dtype=np.float64)


def known_kernel(estimator: Any, gamma: float) -> Kernel | None:
    """The kernel of ours with these values, where it is semidefinite by a theorem."""
    if not 0.0 < gamma < np.inf:
        return None
    if estimator.kernel == "rbf":
        sigma = float(np.sqrt(0.5 / gamma))
        return Gaussian(sigma) if 0.0 < sigma < np.inf else None
    if estimator.kernel == "poly" and estimator.degree >= 1 and 0.0 <= estimator.coef0 < np.inf:
        return Polynomial(int(estimator.degree), float(estimator.coef0), gamma)
    return None


def stands_on(fitted: Fitted, rows: Any) -> None:
    """Refuse X unless it is the rows that the estimator predicts from.

    K alone does not tell: X + 5, -X and X[:, ::-1] have the same Gaussian kernel.

    Raises
    ------
    InputError
        If the rows are not those of X.
    """
    if not sparse.issparse(rows) and not sparse.issparse(fitted.X):
        same = np.array_equal(np.asarray(rows, dtype=np.float64), fitted.X)
    else:
        held, X = sparse.csr_array(rows), sparse.csr_array(fitted.X)
        same = held.shape == X.shape and (held != X).nnz == 0
    if not same:
        raise fitted.refuse(
            "the rows that it predicts from are not those of X; pass the data that it was fitted "
            "on."
        )


def features(fitted: Fitted, K: Array) -> Array:
    """L with K = L L': predictions K q + b are L w + b with w = L'q, and q'Kq is |w|^2.

    Negative eigenvalues that may be rounding are clipped, with a warning.

    Raises
    ------
    InputError
        If K has a negative eigenvalue, as the estimator's problem is then not convex; or an entry
        that is not finite.
    """
    kernel = fitted.estimator.kernel
    if not all_finite(K):
        raise fitted.refuse(
            f"kernel={kernel!r} is not finite on these samples; scale X, or set its parameters."
        )
    K = np.asarray(0.5 * (K + K.T)) if _nearly_symmetric(K) else K
    try:
        L = factor(K)
    except InputError as error:
        near = clipped(K) if K.ndim == 2 and K.shape[0] == K.shape[1] else None
        if near is None:
            raise fitted.refuse(f"kernel={kernel!r}: {error}") from None
        warn(f"{fitted.owner}: {CLIPPED.format(near[1])}")
        L = factor(near[0])
    return L if L.shape[1] else np.zeros((len(K), 1))


def _nearly_symmetric(K: Array) -> Any:
    return np.max(np.abs(K - K.T), initial=0.0) <= 1e-12 * np.max(np.abs(K), initial=0.0)


HARD = (
    "C times the weights must be finite; without slack it is cml.HardMarginSVM(X, y), whose "
    "certify(w, b) judges the coefficients."
)


def svc(fitted: Fitted) -> Iterator[LearningPart | FunctionPart]:
    """SVC, one binary problem per pair of classes."""
    estimator = fitted.estimator
    c = estimator.C * (estimator.class_weight_[fitted.labels()] * fitted.s)
    machine = Machine(fitted)
    for rows, y, pair, b, name in pairs(fitted):
        yield machine.part(rows, y, Hinge(), c[rows], pair, b, name)


def pairs(fitted: Fitted) -> Iterator[tuple[Array, Array, Array, float, str]]:
    """(rows, y, q, b, name) of each binary problem of a machine with classes."""
    index, classes = fitted.labels(), np.asarray(fitted.estimator.classes_)
    q = dual_coefficients(fitted)
    for at, (i, j) in enumerate(combinations(range(len(classes)), 2)):
        rows = np.flatnonzero((index == i) | (index == j))
        if len(classes) == 2:
            y, pair = np.where(index == 1, 1.0, -1.0), q[0]
        else:
            # The coefficients of a class against the others stand in K - 1 rows, itself left out.
            y = np.where(index[rows] == i, 1.0, -1.0)
            pair = np.where(index[rows] == i, q[j - 1, rows], q[i, rows])
        name = f"{classes[i]} or {classes[j]}" if len(classes) > 2 else ""
        yield rows, y, pair, float(fitted.intercepts[at]), name


def svr(fitted: Fitted) -> Iterator[LearningPart | FunctionPart]:
    """SVR."""
    estimator = fitted.estimator
    q, b = dual_coefficients(fitted)[0], float(fitted.intercepts[0])
    loss, c = EpsilonInsensitive(estimator.epsilon), estimator.C * fitted.s
    yield Machine(fitted).part(np.arange(fitted.n), fitted.target(), loss, c, q, b)


class Machine:
    """The samples of a fitted machine with its kernel, of which each problem takes some rows."""

    def __init__(self, fitted: Fitted) -> None:
        self.fitted, self.kernel = fitted, known_kernel(fitted.estimator, fitted.estimator._gamma)

    @cached_property
    def matrix(self) -> Array | None:
        """All of K; None where it is linear."""
        estimator = self.fitted.estimator
        linear = estimator.kernel == "linear"
        return None if linear else kernel_matrix(self.fitted, estimator._gamma)

    def part(
        self, rows: Array, y: Array, loss: Loss, c: Array, q: Array, b: float, name: str = ""
    ) -> LearningPart | FunctionPart:
        """The problem of these rows, at q and b."""
        fitted, kept = self.fitted, np.flatnonzero(c > 0.0)
        if not np.all(np.isfinite(c)):
            raise fitted.refuse(HARD)
        used = kept.size and not np.any(np.delete(q, kept))  # else f is not of these samples
        if self.kernel is not None and used:
            K = KernelMatrix(f"certify: {fitted.owner}", self.kernel, fitted.X[rows[kept]])
            if K.is_exact:
                objective = KernelObjective(K, y[kept], loss, L2(1.0), c[kept], True)
                return function_part(objective, q[kept], b, name, fitted.features)
        design, w = in_feature_space(fitted, self.matrix, rows, q)
        return learning_part(
            design, y, loss, L2(1.0), c, w, b, fit_intercept=True, u=-q, name=name,
            features=fitted.features if self.matrix is None else (),
        )  # fmt: skip


def dual_coefficients(fitted: Fitted) -> Array:
    """``dual_coef_`` on all samples, shape (rows, n); refuses samples that were not fitted.

    libsvm drops samples of weight 0, and ``support_`` counts without them (ours with them). Where K
    is passed in, scikit-learn predicts with ``support_`` as it is, and so it is judged
    (https://github.com/scikit-learn/scikit-learn/pull/27763).
    """
    estimator = fitted.estimator
    if tuple(estimator.shape_fit_) != tuple(fitted.X.shape):
        raise fitted.refuse(
            f"it was fitted on X of shape {tuple(estimator.shape_fit_)}, got {fitted.X.shape}."
        )
    support = np.asarray(estimator.support_)
    if estimator.kernel != "precomputed" and not callable(estimator.kernel):
        kept = np.flatnonzero(fitted.s > 0.0)
        if not _stand_at(support, fitted) and support.max(initial=0) < kept.size:
            support = kept[support]
        if not _stand_at(support, fitted):
            raise fitted.refuse(
                "its support vectors are not among X[sample_weight > 0] in their places; pass the "
                "data and the weights that it was fitted on."
            )
    if callable(estimator.kernel):
        stands_on(fitted, estimator._BaseLibSVM__Xfit)
    held = estimator.dual_coef_
    held = np.asarray(held.toarray() if hasattr(held, "toarray") else held, dtype=np.float64)
    q = np.zeros((len(held), fitted.n))
    q[:, support] = held
    return q


def _stand_at(support: Array, fitted: Fitted) -> bool:
    """Whether the support vectors are these samples."""
    if support.max(initial=-1) >= fitted.n:
        return False
    moved = abs(fitted.X[support] - fitted.estimator.support_vectors_)
    return not (moved.size and moved.max() > 0.0)


def in_feature_space(fitted: Fitted, K: Array | None, rows: Array, q: Array) -> tuple[Any, Array]:
    """The design whose Gram matrix is the kernel of these rows, and w = design' q."""
    design = fitted.X[rows] if K is None else features(fitted, K[np.ix_(rows, rows)])
    return design, design.T @ q


# libsvm's machines with nu: a margin, or the width of a tube, is found with the coefficients.
#
# ===========  ==================================================================================
# OneClassSVM  |f|_H^2 / 2 + sum_i s_i (rho - f(x_i))_+ - nu S rho
# NuSVC        |f|_H^2 / 2 + sum_i s_i (rho - y_i (f(x_i) + b))_+ - nu S rho, rho >= 0
# NuSVR        |f|_H^2 / 2 + C sum_i s_i (|f(x_i) + b - y_i| - epsilon)_+ + C nu S epsilon
# ===========  ==================================================================================
#
# S = sum_i s_i; f = sum_i q_i k(x_i, .) with q of ``dual_coef_``. The duals are
#
#     OneClassSVM, NuSVC  maximise -|sum_i alpha_i y_i k(x_i, .)|_H^2 / 2
#                         subject to 0 <= alpha <= s, sum alpha = nu S, and sum alpha_i y_i = 0
#     NuSVR               maximise q'y - |sum_i q_i k(x_i, .)|_H^2 / 2
#                         subject to |q_i| <= C s_i, sum q = 0, sum |q| <= C nu S
#
# An NuSVC holds f / rho and b / rho, which decide as f and b do: rho is the best one for them, as
# is
# epsilon, which no NuSVR holds. With more than two classes NuSVC solves a problem for each pair.


TIGHT, STEPS = 1e-8, 100_000
"""Of a fit that may be better than the one that is judged."""


def one_class_svm(fitted: Fitted) -> Iterator[NuPart]:
    """OneClassSVM: rho is minus ``intercept_``, which decides as ``offset_`` does."""
    space = functions_of(fitted)
    total = float(fitted.estimator.nu) * float(fitted.s.sum())
    program = NuProgram(space, np.ones(fitted.n), fitted.s, total)
    yield NuPart(program, _one_class(fitted, space), lambda: _one_class(tighter(fitted), space))


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
        (A, y, s, name), point = _pair(fitted, fitted, K, at)
        program = NuProgram(OfFeatures(A), y, s, nu * float(s.sum()), nu=nu)
        yield NuPart(program, point, partial(_another, fitted, K, at), name)


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


def nu_svr(fitted: Fitted) -> Iterator[NuPart]:
    """NuSVR: epsilon is the best one for its residuals."""
    K = _kernel(fitted)
    A, point = _tube(fitted, fitted, K)
    limits = float(fitted.estimator.C) * fitted.s
    total = float(fitted.estimator.nu) * float(limits.sum())
    program = TubeProgram(OfFeatures(A), np.ones(fitted.n), limits, total, fitted.target())
    yield NuPart(program, point, lambda: _tube(fitted, tighter(fitted), K)[1])


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

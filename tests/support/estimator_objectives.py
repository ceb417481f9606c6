"""What scikit-learn documents that each estimator minimises, written in NumPy for the tests.

Every function takes (estimator, X, y, s) and knows nothing of convexml. Sources: the docstrings and
the user guide of scikit-learn 1.9, and the papers of liblinear and libsvm that it refers to.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import logsumexp, xlogy
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, polynomial_kernel, rbf_kernel

Array = np.ndarray


def residuals(e: Any, X: Any, y: Array) -> Array:
    return y - (X @ e.coef_.T + e.intercept_)


def squares(e: Any, X: Any, y: Array, s: Array) -> float:
    r = residuals(e, X, y)
    return float(np.sum(s * (r**2).T))


def ridge(e: Any, X: Any, y: Array, s: Array) -> float:
    per_target = np.sum(np.atleast_2d(e.coef_) ** 2, axis=1)
    return squares(e, X, y, s) + float(np.sum(np.asarray(e.alpha) * per_target))


def ridge_classifier(e: Any, X: Any, y: Array, s: Array) -> float:
    v = s * balanced(y, s, e.class_weight, weighted=False)
    rows = e.classes_[1:] if len(e.classes_) == 2 else e.classes_
    signs = np.where(y == 1 if y.ndim == 2 else y[:, None] == rows, 1.0, -1.0)
    z = X @ np.atleast_2d(e.coef_).T + e.intercept_
    return float(v @ np.sum((signs - z) ** 2, axis=1) + e.alpha * np.sum(e.coef_**2))


def tweedie(e: Any, X: Any, y: Array, s: Array) -> float:
    if e.power == 1:
        return poisson(e, X, y, s)
    return squares(e, X, y, s) / (2.0 * s.sum()) + 0.5 * e.alpha * float(e.coef_ @ e.coef_)


def elastic_net(e: Any, X: Any, y: Array, s: Array) -> float:
    rho = getattr(e, "l1_ratio", 1.0)
    norm1, norm2 = np.sum(np.abs(e.coef_)), np.sum(e.coef_**2)
    penalty = e.alpha * rho * norm1 + 0.5 * e.alpha * (1.0 - rho) * norm2
    return squares(e, X, y, s) / (2.0 * s.sum()) + float(penalty)


def multi_task(e: Any, X: Any, y: Array, s: Array) -> float:
    rho = getattr(e, "l1_ratio", 1.0)
    rows = float(np.sum(np.sqrt(np.sum(e.coef_**2, axis=0))))
    fro = float(np.sum(e.coef_**2))
    fit = squares(e, X, y, s) / (2.0 * s.sum())
    return fit + e.alpha * rho * rows + 0.5 * e.alpha * (1.0 - rho) * fro


def balanced(y: Array, s: Array, setting: Any, *, weighted: bool = True) -> Array:
    """The class weight of each sample."""
    if setting is None:
        return np.ones(len(y))
    labels = np.unique(y)
    if setting == "balanced":
        t = s if weighted else np.ones_like(s)
        weight = {k: t.sum() / (len(labels) * t[y == k].sum()) for k in labels}
    else:
        weight = setting
    return np.array([weight[k] for k in y])


def logistic(e: Any, X: Any, y: Array, s: Array) -> float:
    v = balanced(y, s, e.class_weight) * s
    index = np.searchsorted(e.classes_, y)
    z = X @ e.coef_.T + e.intercept_
    if len(e.classes_) == 2:
        margin = np.where(index == 1, 1.0, -1.0) * z[:, 0]
        losses = np.logaddexp(0.0, -margin)
    else:
        losses = logsumexp(z, axis=1) - z[np.arange(len(y)), index]
    if np.isinf(e.C):
        return float(v @ losses)
    w = e.coef_.ravel()
    if e.solver == "liblinear" and e.fit_intercept:
        w = np.append(w, e.intercept_ / e.intercept_scaling)
    rho = e.l1_ratio
    penalty = rho * np.abs(w).sum() + 0.5 * (1.0 - rho) * w @ w
    return float(e.C * (v @ losses) + penalty)


def linear_svc(e: Any, X: Any, y: Array, s: Array) -> float:
    index = np.searchsorted(e.classes_, y)
    v = balanced(y, s, e.class_weight)
    total = 0.0
    for k, (row, b) in enumerate(zip(e.coef_, np.ravel(e.intercept_), strict=True)):
        chosen = index == (1 if len(e.coef_) == 1 else k)
        sign = np.where(chosen, 1.0, -1.0)
        weight = v if len(e.coef_) == 1 else np.where(chosen, v, 1.0)
        slack = np.maximum(0.0, 1.0 - sign * (X @ row + b))
        losses = slack**2 if e.loss == "squared_hinge" else slack
        full = np.append(row, b / e.intercept_scaling)
        penalty = np.abs(full).sum() if e.penalty == "l1" else 0.5 * full @ full
        total += float(penalty + e.C * np.sum(weight * s * losses))
    return total


def linear_svr(e: Any, X: Any, y: Array, s: Array) -> float:
    excess = np.maximum(0.0, np.abs(residuals(e, X, y)) - e.epsilon)
    losses = excess if e.loss == "epsilon_insensitive" else excess**2
    full = np.append(e.coef_, np.ravel(e.intercept_) / e.intercept_scaling)
    return float(0.5 * full @ full + e.C * np.sum(s * losses))


def kernel_matrix(e: Any, X: Any, gamma: float | None) -> Array:
    if e.kernel == "precomputed":
        return X
    if callable(e.kernel):
        return e.kernel(X, X)
    return {
        "linear": lambda: linear_kernel(X),
        "rbf": lambda: rbf_kernel(X, gamma=gamma),
        "poly": lambda: polynomial_kernel(X, degree=e.degree, gamma=gamma, coef0=e.coef0),
        "polynomial": lambda: polynomial_kernel(X, degree=e.degree, gamma=gamma, coef0=e.coef0),
        "laplacian": lambda: laplacian_kernel(X, gamma=gamma),
    }[e.kernel]()


def svc_gamma(e: Any, X: Any) -> float:
    dense = X.toarray() if hasattr(X, "toarray") else X
    named = {"scale": 1.0 / (X.shape[1] * dense.var()), "auto": 1.0 / X.shape[1]}
    return named[e.gamma] if isinstance(e.gamma, str) else e.gamma


def dense(held: Any) -> Array:
    return np.asarray(held.toarray() if hasattr(held, "toarray") else held)


def support(e: Any, s: Array) -> Array:
    """``support_`` among all samples: libsvm counts without those of weight 0."""
    return np.flatnonzero(s > 0.0)[e.support_]


def of_pairs(e: Any, X: Any, y: Array, s: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Of each pair of classes: its rows, y f(x), and coefficients.

    The predictions are those of ``decision_function``, not of the dual coefficients.
    """
    index, k = np.searchsorted(e.classes_, y), len(e.classes_)
    dual = dense(e.dual_coef_)
    scores = e.decision_function(X).reshape(len(y), -1)
    for p, (i, j) in enumerate(combinations(range(k), 2)):
        rows = (index == i) | (index == j)
        sign = np.where(index == (j if k == 2 else i), 1.0, -1.0)
        q = np.zeros(len(y))
        for at, sample in enumerate(support(e, s)):
            if rows[sample]:
                q[sample] = dual[0 if k == 2 else (j - 1 if index[sample] == i else i), at]
        yield rows, sign * scores[:, p], q


def svc(e: Any, X: Any, y: Array, s: Array) -> float:
    K = kernel_matrix(e, X, svc_gamma(e, X))
    v = balanced(y, s, e.class_weight, weighted=False) * s
    total = 0.0
    for rows, margins, q in of_pairs(e, X, y, s):
        hinge = np.maximum(0.0, 1.0 - margins)
        total += 0.5 * q @ K @ q + e.C * np.sum((v * hinge)[rows])
    return float(total)


def svr(e: Any, X: Any, y: Array, s: Array) -> float:
    K = kernel_matrix(e, X, svc_gamma(e, X))
    q = np.zeros(len(y))
    q[support(e, s)] = np.ravel(dense(e.dual_coef_))
    excess = np.maximum(0.0, np.abs(y - e.predict(X)) - e.epsilon)
    return float(0.5 * q @ K @ q + e.C * np.sum(s * excess))


def kernel_ridge(e: Any, X: Any, y: Array, s: Array) -> float:
    K = kernel_matrix(e, X, e.gamma)
    q = np.atleast_2d(e.dual_coef_.T).T
    Y = np.atleast_2d(y.T).T
    fit = np.sum(s[:, None] * (Y - K @ q) ** 2, axis=0)
    return float(np.sum(fit + np.ravel(e.alpha) * np.sum(q * (K @ q), axis=0)))


def sgd_losses(e: Any, y: Array, z: Array) -> Array:
    excess = np.maximum(0.0, np.abs(y - z) - e.epsilon)
    r = np.abs(y - z)
    return {
        "hinge": np.maximum(0.0, 1.0 - y * z),
        "squared_hinge": np.maximum(0.0, 1.0 - y * z) ** 2,
        "log_loss": np.logaddexp(0.0, -y * z),
        "squared_error": 0.5 * r**2,
        "huber": np.where(r <= e.epsilon, 0.5 * r**2, e.epsilon * r - 0.5 * e.epsilon**2),
        "epsilon_insensitive": excess,
        "squared_epsilon_insensitive": excess**2,
    }[e.loss]


def sgd_penalty(e: Any, w: Array) -> float:
    rho = {None: 0.0, "l2": 0.0, "l1": 1.0, "elasticnet": e.l1_ratio}[e.penalty]
    size = 0.0 if e.penalty is None else e.alpha
    return float(size * (rho * np.abs(w).sum() + 0.5 * (1.0 - rho) * w @ w))


def sgd_regressor(e: Any, X: Any, y: Array, s: Array) -> float:
    z = X @ e.coef_ + e.intercept_
    return float(np.mean(s * sgd_losses(e, y, z))) + sgd_penalty(e, e.coef_)


def sgd_classifier(e: Any, X: Any, y: Array, s: Array) -> float:
    v = balanced(y, s, e.class_weight, weighted=False)
    total = 0.0
    for k, (row, b) in enumerate(zip(e.coef_, e.intercept_, strict=True)):
        chosen = y == e.classes_[1 if len(e.coef_) == 1 else k]
        weight = v if len(e.coef_) == 1 else np.where(chosen, v, 1.0)
        losses = sgd_losses(e, np.where(chosen, 1.0, -1.0), X @ row + b)
        total += float(np.mean(weight * s * losses)) + sgd_penalty(e, row)
    return total


def quantile(e: Any, X: Any, y: Array, s: Array) -> float:
    r = residuals(e, X, y)
    losses = np.maximum(e.quantile * r, (e.quantile - 1.0) * r)
    return float(s @ losses / s.sum() + e.alpha * np.abs(e.coef_).sum())


def poisson(e: Any, X: Any, y: Array, s: Array) -> float:
    mu = e.predict(X)
    half_deviance = xlogy(y, y / mu) - y + mu
    return float(s @ half_deviance / s.sum() + 0.5 * e.alpha * e.coef_ @ e.coef_)


def huber(e: Any, X: Any, y: Array, s: Array) -> float:
    t = np.abs(residuals(e, X, y)) / e.scale_
    H = np.where(t < e.epsilon, t**2, 2.0 * e.epsilon * t - e.epsilon**2)
    return float(s @ (e.scale_ + H * e.scale_) + e.alpha * e.coef_ @ e.coef_)

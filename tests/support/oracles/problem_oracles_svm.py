"""Known facts of support vector machines: libsvm's support, verified by linear algebra here."""

from __future__ import annotations

import numpy as np


def hard_margin_svm(X, y):
    """libsvm (C = 1e8) finds the support; the KKT system on it is then solved exactly."""
    from sklearn.svm import SVC

    model = SVC(kernel="linear", C=1e8, tol=1e-9).fit(X, y)
    S = model.support_[np.abs(model.dual_coef_[0]) > 1e-9 * np.abs(model.dual_coef_).max()]
    Z = y[S, None] * X[S]
    k = len(S)
    system = np.block([[Z @ Z.T, y[S, None]], [y[None, S], np.zeros((1, 1))]])
    solution = np.linalg.lstsq(system, np.r_[np.ones(k), 0], rcond=None)[0]
    alpha, b = solution[:k], solution[k]
    w = Z.T @ alpha
    assert (alpha > 0).all()
    assert (y * (X @ w + b)).min() >= 1 - 1e-9
    norm = np.linalg.norm(w)
    return {"objective": norm**2 / 2, "w": w, "b": b, "margin": 1 / norm, "support_size": k}


def soft_margin_svm(X, y, C, fit_intercept=True):
    """libsvm says which alpha are 0, C or between; the linear system for the last is solved.

    P and D of that solution, computed here, bracket the optimal value (libsvm alone stalls at a
    relative gap of 2e-7).
    """
    from sklearn.svm import SVC

    if not fit_intercept:
        return svm_through_the_origin(X, y, C)
    model = SVC(kernel="linear", C=C, tol=1e-8).fit(X, y)
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    F, full = (alpha > 1e-8 * C) & (alpha < (1 - 1e-8) * C), alpha >= (1 - 1e-8) * C
    Z = y[:, None] * X
    w_full = C * Z[full].sum(0)
    system = np.block([[Z[F] @ Z[F].T, y[F, None]], [y[None, F], np.zeros((1, 1))]])
    known = np.r_[1 - Z[F] @ w_full, -C * y[full].sum()]
    solution = np.linalg.lstsq(system, known, rcond=None)[0]
    alpha[F], b = solution[:-1], solution[-1]
    alpha[full], alpha[~F & ~full] = C, 0.0
    assert abs(y @ alpha) < 1e-12 * alpha.sum()
    assert 0 <= alpha.min() <= alpha.max() <= C
    w = Z.T @ alpha
    P = w @ w / 2 + C * np.maximum(0, 1 - y * (X @ w + b)).sum()
    D = alpha.sum() - w @ w / 2
    assert P - D < 1e-9 * P, (P, D)
    return {"objective": (P + D) / 2}


def svm_through_the_origin(X, y, C):
    """liblinear says which alpha are 0, C or between; the linear system for the last is solved."""
    from sklearn.svm import LinearSVC

    options = {"loss": "hinge", "fit_intercept": False, "tol": 1e-9, "max_iter": 10**6}
    z = y * (X @ LinearSVC(C=C, random_state=0, **options).fit(X, y).coef_[0])
    F, full = np.abs(z - 1) <= 1e-6, z < 1 - 1e-6
    Z = y[:, None] * X
    alpha = np.where(full, C, 0.0)
    alpha[F] = np.linalg.lstsq(Z[F] @ Z[F].T, 1 - Z[F] @ (C * Z[full].sum(0)), rcond=None)[0]
    assert 0 <= alpha.min() <= alpha.max() <= C
    w = Z.T @ alpha
    P = w @ w / 2 + C * np.maximum(0, 1 - Z @ w).sum()
    D = alpha.sum() - w @ w / 2
    assert P - D < 1e-9 * P, (P, D)
    return {"objective": (P + D) / 2}


def hinge_l2(X, y, lam):
    """(1/n)Σ hinge + (λ/2)‖w‖² is λ times the SVM with C = 1/(λn)."""
    return {"objective": lam * soft_margin_svm(X, y, 1 / (lam * len(y)))["objective"]}


def svr(X, y, C, epsilon):
    """P and D of libsvm's solution, computed here, bracket the optimal value."""
    from sklearn.svm import SVR

    model = SVR(kernel="linear", C=C, epsilon=epsilon, tol=1e-8).fit(X, y)
    w, b, u = model.coef_[0], model.intercept_[0], -model.dual_coef_[0]
    P = w @ w / 2 + C * np.maximum(0, np.abs(X @ w + b - y) - epsilon).sum()
    v = X[model.support_].T @ u
    D = -v @ v / 2 - u @ y[model.support_] - epsilon * np.abs(u).sum()
    assert P - D < 1e-7 * P, (P, D)
    return {"objective": (P + D) / 2}

"""Known facts of machines with nu: libsvm's support, verified by linear algebra here."""

from __future__ import annotations

import numpy as np

from support.oracles.problem_oracles_kernel import kernel_matrix

LINEAR = {"name": "linear"}


def one_class_svm(X, nu, kernel=None, y=None):
    """libsvm says which alpha are 0, 1 or between; the system for the last and rho is solved."""
    from sklearn.svm import OneClassSVM

    K, n = kernel_matrix(X, X, kernel or LINEAR), len(X)
    model = OneClassSVM(kernel="precomputed", nu=nu, tol=1e-10).fit(K)
    alpha = np.zeros(n)
    alpha[model.support_] = model.dual_coef_[0]
    return bracketed(K, alpha, np.empty((n, 0)), nu)


def nu_svc(X, y, nu, kernel=None):
    """The same, with b beside rho; libsvm has divided its alpha by rho."""
    from sklearn.svm import NuSVC

    K = kernel_matrix(X, X, kernel or LINEAR)
    model = NuSVC(kernel="precomputed", nu=nu, tol=1e-10).fit(K, y)
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    alpha *= nu * len(y) / alpha.sum()
    return bracketed(y[:, None] * K * y, alpha, y[:, None], nu)


def bracketed(Q, alpha, E, nu):
    """The conditions (Q alpha + E b)_F = rho, E'alpha = 0, 1'alpha = nu n on the F in the box."""
    n, m = len(Q), E.shape[1]
    F, full = (alpha > 1e-8) & (alpha < 1.0 - 1e-8), alpha >= 1.0 - 1e-8
    rows = np.column_stack([E, -np.ones(n)])
    sums = np.append(np.zeros(m), -nu * n)
    system = np.block([[Q[np.ix_(F, F)], rows[F]], [rows[F].T, np.zeros((m + 1, m + 1))]])
    known = np.append(-Q[np.ix_(F, full)].sum(axis=1), sums - rows[full].sum(axis=0))
    found = np.linalg.lstsq(system, known, rcond=None)[0]
    k = int(F.sum())
    alpha = full.astype(float)
    alpha[F], b, rho = found[:k], found[k : k + m], found[-1]
    assert np.abs(rows.T @ alpha - sums).max() < 1e-12 * n
    assert 0 <= alpha.min() <= alpha.max() <= 1
    assert rho >= 0
    f = Q @ alpha
    P = alpha @ f / 2 + np.maximum(0, rho - f - E @ b).sum() - nu * n * rho
    D = -alpha @ f / 2
    assert P - D < 1e-9 * abs(P), (P, D)
    return {"objective": (P + D) / 2, "rho": rho, "support_size": int((alpha > 0).sum())}

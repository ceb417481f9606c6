"""Known facts of machines and kernels: libsvm's support, verified by linear algebra here."""

from __future__ import annotations

import numpy as np

from support.oracles import smooth


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
    return between(Z, alpha, y * b, C)


def between(Z, alpha, shift, C):
    """P and D of alpha, computed here, bracket the optimal value."""
    assert 0 <= alpha.min() <= alpha.max() <= C
    w = Z.T @ alpha
    P = w @ w / 2 + C * np.maximum(0, 1 - Z @ w - shift).sum()
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
    return between(Z, alpha, 0.0, C)


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


def kernel_matrix(A, B, kernel):
    """k(a, b) for all pairs, each from the definition."""
    differences = A[:, None, :] - B[None, :, :]
    match kernel["name"]:
        case "gaussian":
            return np.exp(-(differences**2).sum(-1) / (2 * kernel["sigma"] ** 2))
        case "laplacian":
            return np.exp(-np.sqrt((differences**2).sum(-1)) / kernel["sigma"])
        case "polynomial":
            return (A @ B.T + kernel.get("coef0", 0.0)) ** kernel["degree"]
        case "sum":
            return sum(kernel_matrix(A, B, kernel[part]) for part in ("first", "second"))
        case "linear":
            return A @ B.T
    raise LookupError(kernel)


def gaussian(sigma):
    """What the statements, which know no other kernel, mean by sigma."""
    return {"name": "gaussian", "sigma": sigma}


def features(X, kernel):
    """Phi with K = Phi Phi'."""
    values, vectors = np.linalg.eigh(kernel_matrix(X, X, kernel))
    return vectors * np.sqrt(np.maximum(values, 0.0))


def kernel_ridge(X, y, lam, kernel=None, sigma=None):
    """(K + nλI) q = y."""
    K, n = kernel_matrix(X, X, kernel or gaussian(sigma)), len(y)
    q = np.linalg.solve(K + n * lam * np.eye(n), y)
    f = K @ q
    return {"objective": np.mean((y - f) ** 2) / 2 + lam / 2 * q @ f, "q": q}


def kernel_logistic(X, y, lam, kernel=None, sigma=None):
    """Newton in NumPy on the features."""
    Z = features(X, kernel or gaussian(sigma))
    return {"objective": smooth.newton(Z, y, lam, smooth.logistic_loss)[0]}


def kernel_svm(X, y, C, kernel=None, sigma=None):
    """libsvm's support on the features, the KKT system solved, P and D bracket."""
    return soft_margin_svm(features(X, kernel or gaussian(sigma)), y, C)


def kernel_problem(X, y, lam, loss, kernel):
    """Newton in NumPy on the features; of Huber's loss."""
    assert loss["name"] == "huber"
    found = smooth.newton(features(X, kernel), y, lam, smooth.huber_loss(loss["delta"]))
    return {"objective": found[0]}


def kernel_svr(X, y, C, epsilon, kernel):
    """P and D of libsvm's solution on the features bracket."""
    return svr(features(X, kernel), y, C, epsilon)


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

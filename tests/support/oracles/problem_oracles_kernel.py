"""Known facts of kernel models: a factor of K by its eigenvectors makes them linear models."""

from __future__ import annotations

import numpy as np

import support.oracles.problem_oracles_smooth as newton
import support.oracles.problem_oracles_svm as svm


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
    return {"objective": newton.newton(Z, y, lam, newton.logistic_loss)[0]}


def kernel_svm(X, y, C, kernel=None, sigma=None):
    """libsvm's support on the features, the KKT system solved, P and D bracket."""
    return svm.soft_margin_svm(features(X, kernel or gaussian(sigma)), y, C)


def kernel_problem(X, y, lam, loss, kernel):
    """Newton in NumPy on the features; of Huber's loss."""
    assert loss["name"] == "huber"
    found = newton.newton(features(X, kernel), y, lam, newton.huber_loss(loss["delta"]))
    return {"objective": found[0]}


def kernel_svr(X, y, C, epsilon, kernel):
    """P and D of libsvm's solution on the features bracket."""
    return svm.svr(features(X, kernel), y, C, epsilon)

"""Known facts of softmax regression: Newton and proximal gradient in NumPy, run to rounding."""

from __future__ import annotations

import numpy as np


def value_and_slope(X, Y, t):
    """The mean loss at t = [W; b] (d+1, K), its gradient, and the probabilities."""
    z = X @ t[:-1] + t[-1]
    largest = z.max(1, keepdims=True)
    total = np.exp(z - largest).sum(1, keepdims=True)
    loss = (np.log(total) + largest)[:, 0] - (Y * z).sum(1)
    p = np.exp(z - largest) / total
    u = (p - Y) / len(X)
    return loss.mean(), np.vstack([X.T @ u, u.sum(0)]), p


def softmax_regression(X, y, lam, penalty="l2"):
    """W and b from zero; lam_max for l1 and groups, which are rows of W."""
    Y = (y[:, None] == np.unique(y)).astype(float)
    if penalty == "l2":
        return by_newton(X, Y, lam)
    share = Y.mean(0)
    found = by_proximal_gradient(X, Y, lam, penalty)
    return found | {"lam_max": sizes(X.T @ (share - Y), penalty).max() / len(X)}


def sizes(w, penalty):
    """|w_jk|, or the lengths of the rows, in the shape of w."""
    lengths = np.sqrt((w**2).sum(1, keepdims=True)) * np.ones_like(w)
    return lengths if penalty == "group" else np.abs(w)


def by_newton(X, Y, lam):
    """Damped Newton; least squares for the constant that b may be shifted by."""
    (n, d), K = X.shape, Y.shape[1]
    A, t = np.c_[X, np.ones(n)], np.zeros((d + 1, K))
    ridge = lam * np.r_[np.ones(d), 0.0]

    def P(t):
        return value_and_slope(X, Y, t)[0] + (ridge @ t**2).sum() / 2

    for _ in range(100):
        _, slope, p = value_and_slope(X, Y, t)
        gradient = slope + ridge[:, None] * t
        curvature = (p[:, :, None] * np.eye(K) - p[:, :, None] * p[:, None, :]) / n
        hessian = np.einsum("ij,il,ikm->jklm", A, A, curvature).reshape((d + 1) * K, -1)
        hessian += np.diag(np.repeat(ridge, K))
        step = -np.linalg.lstsq(hessian, gradient.ravel(), rcond=None)[0].reshape(t.shape)
        length = 1.0
        while length > 1e-10 and P(t + length * step) > P(t) + 1e-15:
            length /= 2
        t = t + length * step
        if np.abs(gradient).max() < 1e-15:
            break
    assert np.abs(gradient).max() < 1e-12, "Newton has not converged"
    return {"objective": P(t), "w": t[:-1]}


def by_proximal_gradient(X, Y, lam, penalty):
    """Accelerated, with restarts, until the prox step is of rounding size."""
    n, K = Y.shape
    A = np.c_[X, np.ones(n)]
    step = 2.0 * n / np.linalg.norm(A, 2) ** 2
    t = s = np.zeros((A.shape[1], K))
    momentum = 1.0
    for _ in range(200_000):
        moved = s - step * value_and_slope(X, Y, s)[1]
        size = sizes(moved[:-1], penalty)
        moved[:-1] *= np.maximum(1.0 - step * lam / np.where(size > 0, size, 1.0), 0.0)
        if ((s - moved) * (moved - t)).sum() > 0.0:
            momentum = 1.0
        following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        change = np.abs(moved - t).max()
        s, t = moved + (momentum - 1.0) / following * (moved - t), moved
        momentum = following
        if change < 1e-14:
            break
    slope, w = value_and_slope(X, Y, t)[1][:-1], t[:-1]
    size = sizes(w, penalty)
    direction = w / np.where(size > 0, size, 1.0)
    assert np.abs((slope + lam * direction)[size > 0]).max(initial=0) < 1e-10
    assert sizes(slope, penalty)[size == 0].max(initial=0) <= lam
    norm = size[:, 0].sum() if penalty == "group" else size.sum()
    objective = value_and_slope(X, Y, t)[0] + lam * norm
    return {"objective": objective, "nonzeros": np.count_nonzero(w), "w": w}

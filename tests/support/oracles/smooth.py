"""Known facts of smooth losses: Newton and proximal gradient in NumPy, run to rounding."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, xlogy


def newton(X, y, lam, loss, free=None, linear=None):
    """Damped Newton on mean loss(y, z) + (λ/2)‖w‖² + linear·w over `free` features and b.

    `loss(y, z)` returns value, first and second derivative. Ends at a gradient of rounding size.
    """
    n, d = X.shape
    free = np.ones(d, dtype=bool) if free is None else free
    A = np.c_[X[:, free], np.ones(n)]
    penalty = lam * np.r_[np.ones(free.sum()), 0.0]
    linear = np.r_[np.zeros(free.sum()) if linear is None else linear[free], 0.0]

    def P(t):
        return loss(y, A @ t)[0].mean() + penalty @ t**2 / 2 + linear @ t

    t = np.zeros(A.shape[1])
    if (y > 0).all():
        t[-1] = np.log(y.mean()) if loss is poisson_loss else np.median(y)
    for _ in range(200):
        _, slope, curvature = loss(y, A @ t)
        gradient = A.T @ slope / n + penalty * t + linear
        hessian = A.T @ (curvature[:, None] * A) / n + np.diag(penalty)
        direction = -np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        length = 1.0
        while length > 1e-10 and P(t + length * direction) > P(t) + 1e-14 * abs(P(t)):
            length /= 2
        t = t + length * direction
        if -gradient @ direction < 1e-15 * abs(P(t)):
            break
    assert -gradient @ direction < 1e-12 * abs(P(t)), "Newton has not converged"
    w = np.zeros(d)
    w[free] = t[:-1]
    return P(t), w, t[-1]


def logistic_loss(y, z):
    p = expit(-y * z)
    return np.logaddexp(0, -y * z), -y * p, p * (1 - p)


def huber_loss(delta):
    def loss(y, z):
        r = z - y
        inside = np.abs(r) <= delta
        value = np.where(inside, r**2 / 2, delta * (np.abs(r) - delta / 2))
        return value, np.clip(r, -delta, delta), inside.astype(float)

    return loss


def poisson_loss(y, z):
    return np.exp(z) - y * z + xlogy(y, y) - y, np.exp(z) - y, np.exp(z)


def squared_hinge_loss(y, z):
    m = np.maximum(0, 1 - y * z)
    return m**2 / 2, -y * m, (m > 0).astype(float)


def exponential_loss(y, z):
    e = np.exp(-y * z)
    return e, -y * e, e


def smooth(loss):
    """An oracle for `loss` with an L2 penalty: damped Newton in NumPy."""

    def oracle(X, y, lam):
        objective, w, b = newton(X, y, lam, loss)
        return {"objective": objective, "w": w, "b": b}

    return oracle


def huber_regression(X, y, delta, lam):
    return smooth(huber_loss(delta))(X, y, lam)


def logistic_regression(X, y, lam, penalty="l2"):
    """L2: Newton. L1: L-BFGS-B on w = w⁺ - w⁻ finds the signs, Newton on them, KKT asserted."""
    if penalty == "l2":
        return smooth(logistic_loss)(X, y, lam)
    n, d = X.shape

    def split(t):
        w, b = t[:d] - t[d : 2 * d], t[-1]
        value, slope, _ = logistic_loss(y, X @ w + b)
        g = X.T @ slope / n
        return value.mean() + lam * t[: 2 * d].sum(), np.r_[g + lam, lam - g, slope.mean()]

    bounds = [(0, None)] * (2 * d) + [(None, None)]
    options = {"maxiter": 50000, "maxfun": 10**6, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 50}
    t = minimize(split, np.zeros(2 * d + 1), jac=True, bounds=bounds, options=options).x
    w = t[:d] - t[d : 2 * d]
    sign = np.where(np.abs(w) > 1e-6, np.sign(w), 0.0)
    objective, w, b = newton(X, y, 0.0, logistic_loss, free=sign != 0, linear=lam * sign)
    slope = X.T @ logistic_loss(y, X @ w + b)[1] / n
    assert (np.sign(w) == sign).all()
    assert np.abs(slope[sign == 0]).max() < lam
    share = (y > 0).mean()  # at w = 0 the best b has expit(b) = share
    lam_max = np.abs(X.T @ (share - (y > 0))).max() / n
    return {"objective": objective, "nonzeros": np.count_nonzero(w), "lam_max": lam_max}


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

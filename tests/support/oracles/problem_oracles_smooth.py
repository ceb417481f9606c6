"""Known facts of learning problems with a smooth loss: Newton in NumPy, run to rounding level."""

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

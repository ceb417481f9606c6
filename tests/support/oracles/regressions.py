"""Known facts of regressions by routes that share nothing with convexml.

Closed forms, NumPy iterations run to rounding level, the exact LARS path, SciPy and scikit-learn.
Every oracle takes X, y (±1 for classification) and the parameters of the problem file, and returns
facts by name. An oracle that iterates asserts its own optimality conditions before it answers.
"""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
from scipy.optimize import brentq, linprog, lsq_linear, nnls
from sklearn.linear_model import lars_path


def weighted_mean(X, sample_weight):
    s = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    return s / s.sum()


def centred(X, y, c):
    return X - c @ X, y - c @ y


def least_squares(X, y):
    """QR of the centred matrix, columns scaled to length 1."""
    Xc, yc = X - X.mean(0), y - y.mean()
    scale = np.linalg.norm(Xc, axis=0)
    Q, R = np.linalg.qr(Xc / scale)
    w = np.linalg.solve(R, Q.T @ yc) / scale
    r = yc - Q @ (Q.T @ yc)
    return {"objective": r @ r / (2 * len(y)), "w": w, "b": y.mean() - X.mean(0) @ w}


def minimum_norm(X, y):
    """w = Xᵀ(XXᵀ)⁻¹y."""
    w = X.T @ np.linalg.solve(X @ X.T, y)
    return {"objective": w @ w / 2, "w": w}


def ridge(X, y, lam, sample_weight=None):
    """Normal equations of the centred data: (XᵀCX + λI) w = XᵀCy."""
    c = weighted_mean(X, sample_weight)
    Xc, yc = centred(X, y, c)
    w = np.linalg.solve(Xc.T @ (c[:, None] * Xc) + lam * np.eye(X.shape[1]), Xc.T @ (c * yc))
    objective = c @ (yc - Xc @ w) ** 2 / 2 + lam / 2 * w @ w
    return {"objective": objective, "w": w, "b": c @ y - c @ X @ w}


def constrained_ridge(X, y, radius):
    """The λ with ‖w(λ)‖ = radius, from the secular equation in the SVD."""
    n = len(y)
    Xc, yc = centred(X, y, np.full(n, 1 / n))
    U, s, Vt = np.linalg.svd(Xc, full_matrices=False)

    def w_of(lam):
        return Vt.T @ (s * (U.T @ yc) / (s**2 + n * lam))

    lam = brentq(lambda t: np.linalg.norm(w_of(t)) - radius, 0, 1e6, xtol=1e-14, rtol=1e-15)
    w = w_of(lam)
    return {"objective": np.mean((yc - Xc @ w) ** 2) / 2, "w": w}


def maximum_a_posteriori(X, y, sigma, scale, prior):
    """n/sigma² times ridge, or the lasso, with the λ of the errata to [H] 7.2."""
    n = len(y)
    fitted = (
        ridge(X, y, sigma**2 / (n * scale**2))
        if prior == "gaussian"
        else lasso(X, y, sigma**2 / (n * scale))
    )
    return fitted | {"objective": n / sigma**2 * fitted["objective"]}


def lasso_path(X, y, smallest=0.0, *, centred=True):
    """The knots of the exact path; it is linear in between."""
    Xc, yc = (X - X.mean(0), y - y.mean()) if centred else (X, y)
    return Xc, yc, lars_path(Xc, yc, method="lasso", alpha_min=smallest)[2].T


def lasso(X, y, lam):
    """The exact LARS path down to λ; w = 0 from λ_max on."""
    Xc, yc, W = lasso_path(X, y, lam)
    w = W[-1]
    slope, active = Xc.T @ (yc - Xc @ w) / len(y), w != 0
    assert np.allclose(slope[active], lam * np.sign(w[active]), rtol=1e-9)
    assert np.abs(slope[~active]).max(initial=0) <= lam
    objective = np.mean((yc - Xc @ w) ** 2) / 2 + lam * np.abs(w).sum()
    return {
        "objective": objective, "w": w, "b": y.mean() - X.mean(0) @ w,
        "nonzeros": np.count_nonzero(w), "lam_max": np.abs(Xc.T @ yc).max() / len(y),
    }  # fmt: skip


def constrained_lasso(X, y, radius, fit_intercept=True):
    """The point of the exact LARS path where ‖w‖₁ = radius."""
    Xc, yc, W = lasso_path(X, y, centred=fit_intercept)
    w = np.array([np.interp(radius, np.abs(W).sum(1), column) for column in W.T])
    return {"objective": np.mean((yc - Xc @ w) ** 2) / 2, "nonzeros": np.count_nonzero(w), "w": w}


def elastic_net(X, y, lam, l1_ratio):
    """scikit-learn finds the signs; the linear system on the support is then solved exactly."""
    from sklearn.linear_model import ElasticNet

    n = len(y)
    Xc, yc = X - X.mean(0), y - y.mean()
    coef = ElasticNet(alpha=lam, l1_ratio=l1_ratio, fit_intercept=False, tol=1e-12, max_iter=10**6)
    sign = np.sign(coef.fit(Xc, yc).coef_)
    S = sign != 0
    gram = Xc[:, S].T @ Xc[:, S] / n + lam * (1 - l1_ratio) * np.eye(S.sum())
    w = np.zeros(X.shape[1])
    w[S] = np.linalg.solve(gram, Xc[:, S].T @ yc / n - lam * l1_ratio * sign[S])
    slope = Xc.T @ (yc - Xc @ w) / n - lam * (1 - l1_ratio) * w
    assert (np.sign(w) == sign).all()
    assert np.abs(slope[~S]).max(initial=0) <= lam * l1_ratio
    penalty = l1_ratio * np.abs(w).sum() + (1 - l1_ratio) / 2 * w @ w
    return {
        "objective": np.mean((yc - Xc @ w) ** 2) / 2 + lam * penalty,
        "nonzeros": S.sum(),
        "lam_max": np.abs(Xc.T @ yc).max() / (n * l1_ratio),
    }


def multi_task_lasso(X, y, lam):
    """Exact steps on the rows of W in NumPy until they are at rounding level."""
    n = len(X)
    Xc, yc = X - X.mean(0), y - y.mean(0)
    W = np.zeros((X.shape[1], y.shape[1]))
    for _ in range(5000):
        before = W.copy()
        for j, x in enumerate(Xc.T):
            pull = x @ (yc - Xc @ W + np.outer(x, W[j]))
            W[j] = pull * max(0.0, 1 - n * lam / np.linalg.norm(pull)) / (x @ x)
        if np.allclose(W, before, rtol=1e-15, atol=0.0):
            break
    objective = ((yc - Xc @ W) ** 2).sum() / (2 * n) + lam * np.linalg.norm(W, axis=1).sum()
    largest = np.linalg.norm(Xc.T @ yc, axis=1).max() / n
    return {"objective": objective, "nonzeros": np.count_nonzero(W), "lam_max": largest}


def slope(X, y, lams):
    """Every order and sign: w = Ba, a >= 0, and w costs the sums of lams times a."""
    n, d = X.shape
    Xc, yc = X - X.mean(0), y - y.mean()
    half, sums = np.linalg.cholesky(Xc.T @ Xc / n).T, np.cumsum(lams)
    best = yc @ yc / (2 * n), np.zeros(d)
    for order in permutations(range(d)):
        for signs in product([1.0, -1.0], repeat=d):
            B = np.triu(np.ones((d, d)))[np.argsort(order)] * np.array(signs)[:, None]
            target = np.linalg.solve((half @ B).T, B.T @ (Xc.T @ yc) / n - sums)
            a = nnls(half @ B, target)[0]
            value = np.mean((yc - Xc @ B @ a) ** 2) / 2 + sums @ a
            best = min(best, (value, B @ a), key=lambda found: found[0])
    largest = np.sort(abs(Xc.T @ yc / n))[::-1]
    lam_max = np.max(np.cumsum(largest) / sums)
    return {"objective": best[0], "nonzeros": np.count_nonzero(best[1]), "lam_max": lam_max}


def group_lasso(X, y, lam, groups):
    """Accelerated proximal gradient in NumPy until its steps are at rounding level."""
    n, d = X.shape
    groups = np.asarray(groups)
    Xc, yc = X - X.mean(0), y - y.mean()
    members = [groups == g for g in np.unique(groups)]
    L = np.linalg.norm(Xc, 2) ** 2 / n
    w = v = np.zeros(d)
    for k in range(20000):
        step = v + Xc.T @ (yc - Xc @ v) / (n * L)
        new = np.zeros(d)
        for g in members:
            norm = np.linalg.norm(step[g])
            new[g] = step[g] * max(0.0, 1 - lam * np.sqrt(g.sum()) / (L * norm))
        momentum = k % 500 / (k % 500 + 3)  # restarted, hence linearly convergent
        v, moved, w = new + momentum * (new - w), np.abs(new - w).max(), new
        if k % 500 > 1 and moved < 1e-13 * np.abs(w).max():
            break
    norms = np.array([np.sqrt(g.sum()) * np.linalg.norm(w[g]) for g in members])
    slopes = [np.linalg.norm(Xc[:, g].T @ yc) / (n * np.sqrt(g.sum())) for g in members]
    objective = np.mean((yc - Xc @ w) ** 2) / 2 + lam * norms.sum()
    slope = Xc.T @ (yc - Xc @ w) / n
    for g in members:  # the optimality conditions, group by group
        bound = lam * np.sqrt(g.sum())
        if w[g].any():
            assert np.allclose(slope[g], bound * w[g] / np.linalg.norm(w[g]), atol=1e-7 * bound)
        else:
            assert np.linalg.norm(slope[g]) <= bound
    return {"objective": objective, "nonzeros": np.count_nonzero(w), "lam_max": max(slopes)}


def piecewise_linear(X, y, lam=0.0, epsilon=0.0, above=1.0, below=1.0):
    """above·(y-z-ε)₊ + below·(z-y-ε)₊ + λ‖w‖₁: HiGHS through scipy's linprog."""
    n, d = X.shape
    cost = np.r_[np.full(2 * d, lam), 0, np.full(n, above / n), np.full(n, below / n)]
    fit, eye, zero = np.c_[X, -X, np.ones(n)], np.eye(n), np.zeros((n, n))
    A = np.r_[np.c_[-fit, -eye, zero], np.c_[fit, zero, -eye]]
    bounds = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * (2 * n)
    result = linprog(cost, A, np.r_[-y + epsilon, y + epsilon], bounds=bounds)
    assert result.status == 0
    return {"objective": result.fun}


def quantile_regression(X, y, tau, lam):
    return piecewise_linear(X, y, lam, above=tau, below=1 - tau)


def nonnegative_least_squares(X, y, fit_intercept):
    """Lawson and Hanson's active set method, scipy.optimize.nnls."""
    assert not fit_intercept
    w, norm = nnls(X, y)
    return {"objective": norm**2 / (2 * len(y)), "nonzeros": np.count_nonzero(w), "w": w}


def box_least_squares(X, y, lo, hi):
    """scipy.optimize.lsq_linear on the centred data."""
    result = lsq_linear(X - X.mean(0), y - y.mean(), (lo, hi), method="bvls", tol=1e-14)
    return {"objective": result.cost / len(y), "w": result.x}


def halfspace_lp(X, y):
    """Separable: the value of a feasibility problem is 0. Inseparable: HiGHS says infeasible."""
    result = linprog(np.zeros(X.shape[1]), -y[:, None] * X, -np.ones(len(y)), bounds=(None, None))
    return {"objective": 0.0} if result.status == 0 else {}


def linear_program(c, **arrays):
    """HiGHS through scipy's linprog; its marginals are ∂p*/∂(limit), minus the multipliers."""
    result = linprog(c, **arrays)
    if result.status != 0:
        return {}
    lambda_ub = -result.ineqlin.marginals
    return {
        "objective": result.fun,
        "x": result.x,
        "lambda_ub": lambda_ub,  # in a statement's dual
        "dual.lambda_ub": lambda_ub,  # in a solution
        "dual.lambda_upper": -result.upper.marginals,
    }


def square_root_lasso(X, y, lam):
    """Where the strength of the lasso on scikit-learn's LARS path is lam times its residuals."""
    n = len(y)
    Xc, yc = X - X.mean(0), y - y.mean()
    levels, _, W = lars_path(Xc, yc, method="lasso")

    def at(level):
        return np.array([np.interp(level, levels[::-1], row[::-1]) for row in W])

    def size(level):
        return np.linalg.norm(yc - Xc @ at(level)) / np.sqrt(n)

    lam_max = levels[0] / size(levels[0])
    root = levels[0]
    if lam < lam_max:
        root = brentq(lambda level: lam * size(level) - level, 0.0, levels[0], xtol=1e-15)
    w = at(root)
    return {
        "objective": size(root) + lam * np.abs(w).sum(),
        "w": w,
        "nonzeros": np.count_nonzero(w),
        "lam_max": lam_max,
    }


def dantzig_selector(X, y, lam, c=None):
    """Every support with as many rows met, on either side: the least |w|_1 that is feasible."""
    n, d = X.shape
    c = np.ones(n) / n if c is None else c
    G, h = X.T @ (c[:, None] * X), X.T @ (c * y)
    best = (0.0, np.zeros(d)) if np.abs(h).max() <= lam else (np.inf, np.zeros(d))
    for k in range(1, d + 1):
        for used, met in product(combinations(range(d), k), repeat=2):
            block = G[np.ix_(met, used)]
            if abs(np.linalg.det(block)) < 1e-12:
                continue
            inverse = np.linalg.inv(block)
            for signs in product([1.0, -1.0], repeat=k):
                w = np.zeros(d)
                w[list(used)] = inverse @ (h[list(met)] - lam * np.array(signs))
                feasible = np.abs(h - G @ w).max() <= lam + 1e-12 * np.abs(h).max()
                if feasible and np.abs(w).sum() < best[0]:
                    best = np.abs(w).sum(), w
    found = {"objective": best[0], "w": best[1], "nonzeros": np.count_nonzero(best[1])}
    return found | {"lam_max": np.abs(h).max()}

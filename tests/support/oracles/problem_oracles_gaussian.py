"""Known facts of Gaussian likelihoods: determinants in 100 digits, and Friedman's block descent."""

from __future__ import annotations

import flint
import numpy as np


def log_det(S):
    """Of the covariance of a handful of features, by Gauss in 100 digits."""
    before, flint.ctx.prec = flint.ctx.prec, 333
    try:
        return float(flint.arb_mat(S.tolist()).det().log())
    finally:
        flint.ctx.prec = before


def gaussian_likelihood(X, lam=0.0, y=None):
    """log det W + d at W = S, or where each row of W solves its lasso (Friedman et al., 2008)."""
    S = np.cov(X.T, bias=True)
    d, W = len(S), S.copy()
    lam_max = float(np.abs(S - np.diag(np.diag(S))).max())
    if lam == 0.0:
        return {"objective": log_det(S) + d, "lam_max": lam_max}
    B = np.zeros((d, d))
    for _ in range(500):
        before = W.copy()
        for j in range(d):
            rest = np.delete(np.arange(d), j)
            V, s, beta = W[np.ix_(rest, rest)], S[rest, j], B[j, rest]
            for _ in range(200):
                last = beta.copy()
                for k in range(d - 1):
                    r = s[k] - V[k] @ beta + V[k, k] * beta[k]
                    beta[k] = np.sign(r) * max(abs(r) - lam, 0.0) / V[k, k]
                if np.array_equal(beta, last):
                    break
            B[j, rest] = beta
            W[rest, j] = W[j, rest] = V @ beta
        if np.allclose(W, before, rtol=1e-15, atol=0.0):
            break
    return {"objective": log_det(W) + d, "lam_max": lam_max}


def discriminant_analysis(X, y, shared=True):
    """log det S + d, S pooled or of each class."""
    shares = {label: np.mean(y == label) for label in np.unique(y)}
    each = {label: np.cov(X[y == label].T, bias=True) for label in shares}
    if shared:
        S = sum(share * each[label] for label, share in shares.items())
        return {"objective": log_det(S) + X.shape[1]}
    total = sum(share * log_det(each[label]) for label, share in shares.items())
    return {"objective": total + X.shape[1]}

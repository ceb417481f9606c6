"""Known facts of likelihoods: shares as rationals, logarithms and determinants in many digits."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import flint
import numpy as np


def log_det(S):
    """Of the covariance of a handful of features, by Gauss in 100 digits."""
    with flint.ctx.workprec(333):
        return float(flint.arb_mat(S.tolist()).det().log())


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


def entropy(shares):
    """-sum of q log q."""
    with flint.ctx.workprec(200):
        known = [flint.arb(flint.fmpq(q.numerator, q.denominator)) for q in shares]
        return float(-sum(q * q.log() for q in known))


def categorical_likelihood(y, X=None):
    """The entropy of the shares, which are the minimiser."""
    shares = [Fraction(times, len(y)) for _, times in sorted(Counter(y.tolist()).items())]
    return {"objective": entropy(shares), "p": [float(q) for q in shares], "dual.nu": 1.0}


def bernoulli_likelihood(y, X=None):
    """The entropy of the share of ones."""
    known = categorical_likelihood(y)
    return {**known, "p": known["p"][1]}

"""Ridge regression with each sample left out in turn, in closed form."""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse
from scipy.linalg import lapack

from ...errors import SolverError, warn
from ...numerics import EPS, Array
from ...objective import Objective

LEVER = 1e-6
"""A sample of which the others tell less than this share is left out by hand."""
CURVED = 1e-6
"""Products of columns or rows are enough where their least eigenvalue with mu is this share of the
largest: they square what columns of unlike units differ by."""
ENTRIES = 20_000_000
"""Entries of a sparse X that is made dense for its singular values, at most."""


def leave_one_out(objective: Objective, weights: Array, lams: Array) -> Array:
    """The mean squared error of predicting each sample from the others, for each lam.

    A sample of weight s_i is left out whole. Of the others the mean loss with lam has the minimum
    of the sum of weighted losses with mu_i = (sum s - s_i) lam, so that its residual is
    e_i(mu_i) / (1 - h_i(mu_i)): residual and leverage of the fit with mu_i to all samples, of which
    one eigendecomposition tells every one. With fewer columns than rows that is one of X'SX, else
    of S^1/2 X X' S^1/2 (centred for the intercept), by whose eigenvectors e_i / (1 - h_i) has no
    cancellation, and a limit at lam = 0: that of the least norm.

    Parameters
    ----------
    objective : Objective
        Of squared losses and lam / 2 |w|^2.
    weights : array, shape (n,)
    lams : array, shape (m,)

    Returns
    -------
    array, shape (m,)
    """
    total = float(weights.sum())
    strengths = np.maximum(np.multiply.outer(lams, total - weights), 0.0)
    found: Array = left_out(objective, weights, strengths) ** 2 @ (weights / total)
    return found


def left_out(objective: Objective, weights: Array, strengths: Array) -> Array:
    """Residuals of samples left out, (m, n), with a mu for each, (m, n), or for all, (m, 1)."""
    find = _by_features if objective.d < objective.n - 1 else _by_samples
    return find(objective, weights, strengths)


def _sums(table: Array, factors: Array, inverse: Array) -> Array:
    """sum_j table_ij factors_j inverse_ij, shape (n,); of one row of ``inverse`` for all."""
    found: Array
    if len(inverse) == 1:
        found = table @ (factors * inverse[0])
    else:
        found = np.einsum("ij,j,ij->i", table, factors, inverse)
    return found


class Weighed:
    """S^1/2 (X - 1 m') and S^1/2 (y - mean), with the weighted means where there is an intercept.

    A sparse X stays sparse.
    """

    def __init__(self, objective: Objective, weights: Array) -> None:
        self.root, share = np.sqrt(weights), weights / weights.sum()
        self.X, self.mean = objective.design.constant, np.zeros(objective.d)
        self.y = objective.y
        if objective.fit_intercept:
            self.y = self.y - share @ self.y
            self.mean = objective.design.rmatvec(share)
            if not sparse.issparse(self.X):  # rounding leaves a mean of its own
                self.X = self.X - self.mean
                self.X, self.mean = self.X - share @ self.X, np.zeros(objective.d)

    @property
    def target(self) -> Array:
        """S^1/2 (y - mean), shape (n,)."""
        return self.root * self.y

    def gram(self) -> Array:
        """Its products of columns, shape (d, d)."""
        half = self.X * self.root[:, None]
        found = half.T @ half
        found = found.toarray() if sparse.issparse(found) else found
        return found - float(self.root @ self.root) * np.outer(self.mean, self.mean)

    def outer(self) -> Array:
        """Its products of rows, shape (n, n)."""
        found = self.X @ self.X.T
        found = found.toarray() if sparse.issparse(found) else found
        across = self.X @ self.mean
        found = found - across - across[:, None] + float(self.mean @ self.mean)
        return found * np.outer(self.root, self.root)

    def times(self, vectors: Array) -> Array:
        """Its products with vectors, shape (n, k)."""
        return self.root[:, None] * (self.X @ vectors - self.mean @ vectors)

    def decomposed(self, objective: Objective) -> tuple[Array, Array]:
        """Left singular vectors, shape (n, k), and the singular values that are no rounding."""
        X, given = self.X, objective.design.constant
        X = X.toarray() if sparse.issparse(X) else X
        powers = given.power(2) if sparse.issparse(given) else given**2
        sizes = np.sqrt(np.asarray(self.root**2 @ powers))
        return decompose(self.root[:, None] * (X - self.mean), sizes)[:2]


def decompose(Z: Array, sizes: Array) -> tuple[Array, Array, Array]:
    """Z = U diag(s) V', without the s that rounding of columns of these sizes explains.

    By Jacobi rotations of a pivoted triangle (Drmac and Veselic, 2008,
    https://doi.org/10.1137/050639193), which see small columns beside large ones.
    """
    wide = Z.shape[0] < Z.shape[1]
    matrix = np.asfortranarray(Z.T if wide else Z)
    s, U, V, scale, _, info = lapack.dgejsv(matrix, joba=2, jobu=0, jobv=0, jobr=0, jobt=1)
    if info:
        raise SolverError("leave one out: the singular values of X were not found.")
    s, (U, V) = s * (scale[0] / scale[1]), (V, U) if wide else (U, V)
    kept = s > max(Z.shape) * EPS * (sizes @ np.abs(V))
    return U[:, kept], s[kept], V[:, kept]


def _is_enough(objective: Objective, values: Array, strengths: Array) -> bool:
    """Whether eigenvalues of products, with mu, are all far from their rounding."""
    highest, least = np.max(values, initial=0.0), np.min(values, initial=np.inf)
    if least + np.min(strengths, initial=np.inf) >= CURVED * highest:
        return True
    if sparse.issparse(objective.design.constant) and objective.n * objective.d > ENTRIES:
        warn(
            "leave one out: columns of X differ so much that products of them lose the small ones; "
            "give them similar units, or a dense X, for errors that are accurate.",
            RuntimeWarning,
        )
        return True
    return False


def _by_features(objective: Objective, weights: Array, strengths: Array) -> Array:
    """Residuals (m, n) from the eigenvectors of X'SX."""
    rows = Weighed(objective, weights)
    values, vectors = linalg.eigh(rows.gram())
    if _is_enough(objective, values, strengths):
        kept = values > np.max(values, initial=0.0) * len(values) * EPS  # the rest is rounding
        values = values[kept]
        scores = rows.times(vectors[:, kept]) / np.sqrt(values)
    else:
        scores, sizes = rows.decomposed(objective)
        values = sizes**2
    pull, squares, ones = scores.T @ rows.target, scores * scores, np.ones(len(values))
    own = weights / weights.sum() if objective.fit_intercept else np.zeros(objective.n)
    found = np.empty((len(strengths), objective.n))
    for k, mu in enumerate(strengths):
        shares = values / (values + mu[:, None])
        e = rows.y - _sums(scores, pull, shares) / rows.root
        rest = 1.0 - own - _sums(squares, ones, shares)
        found[k] = e / np.maximum(rest, LEVER)
        for i in np.flatnonzero(rest <= LEVER).tolist():
            found[k, i] = _by_hand(
                objective, weights, i, float(np.broadcast_to(mu, objective.n)[i])
            )
    return found


def _by_samples(objective: Objective, weights: Array, strengths: Array) -> Array:
    """Residuals (m, n) from the eigenvectors of S^1/2 X X' S^1/2 that are no intercept's."""
    rows = Weighed(objective, weights)
    matrix, count = rows.outer(), objective.n
    unit = rows.root / np.linalg.norm(rows.root)
    if objective.fit_intercept:
        matrix += (2.0 * float(np.trace(matrix)) + 1.0) * np.outer(unit, unit)
        count -= 1  # the last one is the intercept's
    values, vectors = linalg.eigh(matrix)
    values, vectors = values[:count], vectors[:, :count]
    if _is_enough(objective, values, strengths):
        values = np.where(values > np.max(values, initial=0.0) * count * EPS, values, 0.0)
    else:
        vectors, sizes = rows.decomposed(objective)
        known = np.column_stack([unit, vectors]) if objective.fit_intercept else vectors
        others = linalg.qr(known)[0][:, known.shape[1] :]
        values = np.append(sizes**2, np.zeros(others.shape[1]))
        vectors = np.hstack([vectors, others])
    count = len(values)
    pull, squares, ones = vectors.T @ rows.target, vectors * vectors, np.ones(count)
    found = np.empty((len(strengths), objective.n))
    for k, mu in enumerate(strengths):
        whole = values + mu[:, None]
        empty = whole == 0.0  # as lam -> 0 only these count
        inverse = np.where(empty, 1.0, 1.0 / np.where(empty, 1.0, whole))
        inverse[empty.any(axis=1)] *= empty[empty.any(axis=1)]
        e = _sums(vectors, pull, inverse) / rows.root
        rest = _sums(squares, ones, inverse)
        alone = (empty.any(axis=1) & (rest <= LEVER)) | ~(rest > 0.0)
        found[k] = e / np.where(alone, 1.0, rest)
        for i in np.flatnonzero(alone).tolist():
            found[k, i] = _by_hand(
                objective, weights, i, float(np.broadcast_to(mu, objective.n)[i])
            )
    return found


def _by_hand(objective: Objective, weights: Array, i: int, mu: float) -> float:
    """The residual of sample i in the fit to all others."""
    others = np.delete(np.arange(objective.n), i)
    X, y, s = objective.design.dense(), objective.y, weights[others]
    mean, level = np.zeros(objective.d), 0.0
    if objective.fit_intercept:
        mean, level = s @ X[others] / s.sum(), float(s @ y[others]) / s.sum()
    root = np.sqrt(s)
    sizes = np.linalg.norm(root[:, None] * X[others], axis=0)
    U, values, V = decompose(root[:, None] * (X[others] - mean), sizes)
    w = V @ (values / (values**2 + mu) * (U.T @ (root * (y[others] - level))))
    return float(y[i] - level - (X[i] - mean) @ w)

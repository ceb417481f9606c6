"""Least squares by factorisation, and leading eigenvectors, as printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..numerics import Array
from .descent import Field


def normal_equations(X: Array, y: Array, level: float = 0.0) -> Array:
    """The solution of (X'X + level I) w = X'y.

    For ridge regression with the mean (1/2n) |.|^2, level = n lam. The condition number of X is
    squared: see ``qr_least_squares``. Source: [G] 2.5, [E] 1.9, [H] 4.

    Parameters
    ----------
    X : array, shape (n, d)
        The samples, a row each.
    y : array, shape (n,)
        The responses.
    level : float
        >= 0; > 0 where the columns are dependent.

    Returns
    -------
    array, shape (d,)
    """
    return np.linalg.solve(X.T @ X + level * np.eye(X.shape[1]), X.T @ y)


def gram_schmidt(X: Array) -> tuple[Array, Array]:
    """X = Q R by modified Gram-Schmidt: Q'Q = I, R upper triangular with a positive diagonal.

    For each column j: r_jj = |v_j|, q_j = v_j / r_jj, and v_k <- v_k - <q_j, v_k> q_j for k > j.
    Source: [G] 2.3 (with Q'Q = I, see the errata); Golub and Van Loan, section 5.2.8.

    Parameters
    ----------
    X : array, shape (n, d)
        With independent columns.

    Returns
    -------
    tuple of (array of shape (n, d), array of shape (d, d))
        Q and R.
    """
    Q, d = np.array(X, dtype=float), X.shape[1]
    R = np.zeros((d, d))
    for j in range(d):
        R[j, j] = np.linalg.norm(Q[:, j])
        Q[:, j] /= R[j, j]
        R[j, j + 1 :] = Q[:, j] @ Q[:, j + 1 :]
        Q[:, j + 1 :] -= np.outer(Q[:, j], R[j, j + 1 :])
    return Q, R


def householder(X: Array) -> tuple[Array, Array]:
    """X = Q R by reflections: H_j = I - 2 v v' / v'v takes column j below the diagonal to 0.

    v = x + sign(x_1) |x| e_1, x the part of column j from the diagonal on; Q = H_1 ... H_d.
    Source: Householder, 1958; Golub and Van Loan, section 5.2.2.

    Parameters
    ----------
    X : array, shape (n, d)
        n >= d.

    Returns
    -------
    tuple of (array of shape (n, d), array of shape (d, d))
        Q with Q'Q = I, and R, upper triangular.
    """
    n, d = X.shape
    R, Q = np.array(X, dtype=float), np.eye(n)
    for j in range(min(n - 1, d)):
        v = R[j:, j].copy()
        v[0] += np.copysign(np.linalg.norm(v), v[0])
        if np.any(v):
            v /= np.linalg.norm(v)
            R[j:] -= 2.0 * np.outer(v, v @ R[j:])
            Q[:, j:] -= 2.0 * np.outer(Q[:, j:] @ v, v)
    return Q[:, :d], np.triu(R[:d])


def qr_least_squares(
    X: Array, y: Array, factor: Callable[[Array], tuple[Array, Array]] = householder
) -> Array:
    """The minimiser of |y - X w|: R w = Q'y with X = Q R, by back substitution.

    w_j = ((Q'y)_j - sum over k > j of R_jk w_k) / R_jj, from the last to the first.
    Source: [G] 2.3, [BV] appendix C.

    Parameters
    ----------
    X : array, shape (n, d)
        With independent columns, n >= d.
    y : array, shape (n,)
        The responses.
    factor : callable
        ``householder`` or ``gram_schmidt``.

    Returns
    -------
    array, shape (d,)
    """
    Q, R = factor(X)
    right, w = Q.T @ y, np.zeros(X.shape[1])
    for j in reversed(range(len(w))):
        w[j] = (right[j] - R[j, j + 1 :] @ w[j + 1 :]) / R[j, j]
    return w


def irls(X: Array, y: Array, w: Array) -> Iterator[Array]:
    """IRLS for logistic regression: pure Newton for mean log(1 + exp(-y_i <w, x_i>)).

    Each step is a weighted least squares: p_i = 1 / (1 + exp(-<w, x_i>)), h_i = p_i (1 - p_i),
    r_i = <w, x_i> + (t_i - p_i) / h_i with t_i = (1 + y_i) / 2, and w <- (X'HX)^-1 X'H r.
    Source: [H] 3.3.

    Parameters
    ----------
    X : array, shape (n, d)
        The samples, a row each.
    y : array, shape (n,)
        Labels -1 and +1.
    w : array, shape (d,)
        w_0.

    Yields
    ------
    array, shape (d,)
        w_0, w_1, ...
    """
    while True:
        yield w
        z = X @ w
        p = 1.0 / (1.0 + np.exp(-z))
        h = p * (1.0 - p)
        response = z + ((1.0 + y) / 2.0 - p) / h
        w = np.linalg.solve(X.T @ (h[:, None] * X), X.T @ (h * response))


def power_iteration(S: Array, v: Array) -> Iterator[tuple[float, Array]]:
    """Power iteration: v_{t+1} = S v_t / |S v_t|, with the Rayleigh quotient v' S v.

    The angle to the leading eigenvector falls by lambda_2 / lambda_1 a step.
    Source: [G] 8.2, [P] 16.1; Golub and Van Loan, section 8.2.1.

    Parameters
    ----------
    S : array, shape (d, d)
        Symmetric positive semidefinite.
    v : array, shape (d,)
        The start; not orthogonal to the leading eigenvector.

    Yields
    ------
    tuple of (float, array of shape (d,))
        v_t' S v_t and v_t, |v_t| = 1.
    """
    while True:
        v = v / np.linalg.norm(v)
        image = S @ v
        yield float(v @ image), v
        v = image


def deflation(S: Array, k: int, leading: Field) -> tuple[Array, Array]:
    """The k leading eigenpairs, one after the other: S <- (I - vv') S (I - vv').

    Source: [G] 8.2 (on the orthogonal complement of v, see the errata).

    Parameters
    ----------
    S : array, shape (d, d)
        Symmetric positive semidefinite.
    k : int
        How many.
    leading : callable
        S -> a leading eigenvector of norm 1, (d,).

    Returns
    -------
    tuple of (array of shape (k,), array of shape (k, d))
        Eigenvalues and eigenvectors, the largest first.
    """
    values, vectors = [], []
    for _ in range(k):
        v = leading(S)
        values.append(v @ S @ v)
        vectors.append(v)
        away = np.eye(len(S)) - np.outer(v, v)
        S = away @ S @ away
    return np.array(values), np.array(vectors)

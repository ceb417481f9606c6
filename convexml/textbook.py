"""The algorithms as printed: each at most 20 lines of NumPy, with nothing that the page has not.

They take functions and arrays, and yield their iterates. Those that minimise a posed problem are
solvers too, by name: ``problem.solve("textbook.newton")``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .errors import InputError
from .numerics import Array, soft_threshold

# One coordinate, or one block of variables, at a time, as printed.


def coordinate_descent(
    X: Array, y: Array, lam: float, w: Array, seed: int | None = None
) -> Iterator[Array]:
    """Coordinate descent for (1/2n) |y - X w|^2 + lam |w|_1: an iterate a coordinate.

    w_j <- S(X_j'(y - X w + X_j w_j) / n, lam) / (|X_j|^2 / n), j = 1 ... d in turn, or drawn
    uniformly. Source: [H] 6; Friedman, Hastie and Tibshirani, 2010, section 2.

    Parameters
    ----------
    X : array, shape (n, d)
        Without columns of zeros.
    y : array, shape (n,)
        The responses.
    lam : float
        >= 0.
    w : array, shape (d,)
        The start.
    seed : int, optional
        Of the draws; None goes through the coordinates in turn.

    Yields
    ------
    array, shape (d,)
        The start, and w after each coordinate.
    """
    n, d = X.shape
    rng, t = np.random.default_rng(seed), 0
    while True:
        yield w
        j = t % d if seed is None else int(rng.integers(d))
        w = w.copy()
        correlation = X[:, j] @ (y - X @ w + X[:, j] * w[j]) / n
        w[j] = soft_threshold(correlation, lam) / (X[:, j] @ X[:, j] / n)
        t += 1


def dual_coordinate_ascent(
    X: Array, y: Array, C: Array | float, seed: int | None = None
) -> Iterator[tuple[Array, Array]]:
    """Dual coordinate ascent for 1/2 |w|^2 + C sum (1 - y_i <w, x_i>)_+, without an intercept.

    alpha_i <- clip(alpha_i + (1 - y_i <w, x_i>) / |x_i|^2, 0, C), w = sum_i alpha_i y_i x_i.
    Source: Hsieh et al., 2008, https://doi.org/10.1145/1390156.1390208.

    Parameters
    ----------
    X : array, shape (n, d)
        Without rows of zeros.
    y : array, shape (n,)
        Labels -1 and +1.
    C : float or array of shape (n,)
        > 0.
    seed : int, optional
        Of the draws; None goes through the samples in turn.

    Yields
    ------
    tuple of (array of shape (d,), array of shape (n,))
        w and alpha, from 0.
    """
    n = len(y)
    rng, t, alpha = np.random.default_rng(seed), 0, np.zeros(n)
    most = np.broadcast_to(C, n)
    while True:
        w = X.T @ (alpha * y)
        yield w, alpha
        i = t % n if seed is None else int(rng.integers(n))
        alpha = alpha.copy()
        alpha[i] = np.clip(alpha[i] + (1.0 - y[i] * (X[i] @ w)) / (X[i] @ X[i]), 0.0, most[i])
        t += 1


def admm(X: Array, y: Array, lam: float, rho: float = 1.0) -> Iterator[Array]:
    """ADMM for (1/2n) |y - X w|^2 + lam |v|_1 subject to w = v.

    w = (X'X/n + rho I)^-1 (X'y/n + rho (v - q)); v = S(w + q, lam / rho); q = q + w - v.
    Source: Boyd et al., 2011, section 6.4, https://doi.org/10.1561/2200000016.

    Parameters
    ----------
    X : array, shape (n, d)
        The samples, a row each.
    y : array, shape (n,)
        The responses.
    lam : float
        >= 0.
    rho : float
        > 0.

    Yields
    ------
    array, shape (d,)
        v, from 0.
    """
    n, d = X.shape
    v, q = np.zeros(d), np.zeros(d)
    while True:
        yield v
        w = np.linalg.solve(X.T @ X / n + rho * np.eye(d), X.T @ y / n + rho * (v - q))
        v = soft_threshold(w + q, lam / rho)
        q = q + w - v


# Descent along gradients and Newton's method, as printed: generators of x_0, x_1, ...


Function = Callable[[Array], float]
Field = Callable[[Array], Array]
Step = float | Callable[[int], float]
"""A number, or the step of iteration t = 0, 1, ..."""


def step_at(step: Step, t: int) -> float:
    """The step of iteration t."""
    return step(t) if callable(step) else step


def gradient_descent(gradient: Field, x: Array, step: Step) -> Iterator[Array]:
    """Gradient descent: x_{t+1} = x_t - gamma_t grad f(x_t).

    With f convex and L-smooth and gamma = 1/L: f(x_T) - f* <= L |x_0 - x*|^2 / (2 T).
    Source: [G] 4.2.2, [P] 13.

    Parameters
    ----------
    gradient : callable
        x -> grad f(x).
    x : array
        x_0.
    step : float or callable
        gamma, or t -> gamma_t.

    Yields
    ------
    array
        x_0, x_1, ...
    """
    t = 0
    while True:
        yield x
        x = x - step_at(step, t) * gradient(x)
        t += 1


def subgradient(
    subgradient: Field, x: Array, step: Step, project: Field | None = None, average: bool = False
) -> Iterator[Array]:
    """Projected subgradient descent: x_{t+1} = Pi(x_t - eta_t v_t), v_t in the subdifferential.

    With |v_t| <= rho, |x*| <= B, x_0 = 0 and eta = B / (rho sqrt T), the mean of x_0 ... x_{T-1}
    has f - f* <= B rho / sqrt T. Source: [E] 1.10.

    Parameters
    ----------
    subgradient : callable
        x -> one subgradient of f at x.
    x : array
        x_0.
    step : float or callable
        eta, or t -> eta_t.
    project : callable, optional
        Pi, the projection on the feasible set.
    average : bool
        Whether the means of the points so far are yielded.

    Yields
    ------
    array
        x_0, x_1, ..., or (x_0 + ... + x_t) / (t + 1).
    """
    t, total = 0, np.zeros_like(x)
    while True:
        total = total + x
        yield total / (t + 1) if average else x
        x = x - step_at(step, t) * subgradient(x)
        x = x if project is None else project(x)
        t += 1


def accelerated_gradient(gradient: Field, x: Array, step: float) -> Iterator[Array]:
    """Nesterov's method: x_{t+1} = y_t - gamma grad f(y_t), then a step of momentum.

    theta_0 = 1, theta_{t+1} = (1 + sqrt(1 + 4 theta_t^2)) / 2 and
    y_{t+1} = x_{t+1} + (theta_t - 1) / theta_{t+1} (x_{t+1} - x_t).
    With gamma = 1/L: f(x_T) - f* <= 2 L |x_0 - x*|^2 / (T + 1)^2.
    Source: Nesterov, 1983; Beck and Teboulle, 2009, https://doi.org/10.1137/080716542.

    Parameters
    ----------
    gradient : callable
        x -> grad f(x).
    x : array
        x_0.
    step : float
        gamma.

    Yields
    ------
    array
        x_0, x_1, ...
    """
    yield from fista(gradient, lambda v, _: v, x, step)


def proximal_gradient(
    gradient: Field, prox: Callable[[Array, float], Array], x: Array, step: Step
) -> Iterator[Array]:
    """Proximal gradient: x_{t+1} = prox_{gamma g}(x_t - gamma grad f(x_t)), for f + g.

    For g = lam |.|_1 the prox is soft thresholding: ISTA. For the indicator of a set it is the
    projection: projected gradient. Source: Beck and Teboulle, 2009,
    https://doi.org/10.1137/080716542.

    Parameters
    ----------
    gradient : callable
        x -> grad f(x).
    prox : callable
        (v, gamma) -> argmin over x of gamma g(x) + |x - v|^2 / 2.
    x : array
        x_0.
    step : float or callable
        gamma <= 1/L, or t -> gamma_t.

    Yields
    ------
    array
        x_0, x_1, ...
    """
    t = 0
    while True:
        yield x
        gamma = step_at(step, t)
        x = prox(x - gamma * gradient(x), gamma)
        t += 1


def fista(
    gradient: Field, prox: Callable[[Array, float], Array], x: Array, step: float
) -> Iterator[Array]:
    """FISTA: the proximal gradient step from y_t, then a step of momentum.

    x_{t+1} = prox_{gamma g}(y_t - gamma grad f(y_t)), y_0 = x_0, theta_0 = 1,
    theta_{t+1} = (1 + sqrt(1 + 4 theta_t^2)) / 2,
    y_{t+1} = x_{t+1} + (theta_t - 1) / theta_{t+1} (x_{t+1} - x_t).
    Source: Beck and Teboulle, 2009, https://doi.org/10.1137/080716542.

    Parameters
    ----------
    gradient : callable
        x -> grad f(x).
    prox : callable
        (v, gamma) -> argmin over x of gamma g(x) + |x - v|^2 / 2.
    x : array
        x_0.
    step : float
        gamma <= 1/L.

    Yields
    ------
    array
        x_0, x_1, ...
    """
    y, theta = x, 1.0
    while True:
        yield x
        before, x = x, prox(y - step * gradient(y), step)
        momentum, theta = theta - 1.0, (1.0 + np.sqrt(1.0 + 4.0 * theta**2)) / 2.0
        y = x + momentum / theta * (x - before)


def newton(gradient: Field, hessian: Field, x: Array) -> Iterator[Array]:
    """Newton's method, pure (t = 1): x_{t+1} = x_t - (Hess f(x_t))^-1 grad f(x_t).

    It may diverge where it starts far from the minimiser: see ``damped_newton``.
    Source: [G] 3.1.3, [H] 3.3, [BV] 9.5.

    Parameters
    ----------
    gradient, hessian : callable
        x -> grad f(x), (d,); x -> Hess f(x), (d, d).
    x : array, shape (d,)
        x_0.

    Yields
    ------
    array
        x_0, x_1, ...
    """
    while True:
        yield x
        x = x - np.linalg.solve(hessian(x), gradient(x))


def damped_newton(
    value: Function,
    gradient: Field,
    hessian: Field,
    x: Array,
    alpha: float = 0.25,
    beta: float = 0.5,
) -> Iterator[Array]:
    """Newton's method with backtracking: x_{t+1} = x_t + s dx, dx = -(Hess f)^-1 grad f.

    s = 1 is multiplied by beta until f(x + s dx) <= f(x) + alpha s <grad f(x), dx>.
    Source: [BV] 9.5.2 and algorithm 9.2.

    Parameters
    ----------
    value, gradient, hessian : callable
        f, its gradient (d,) and its Hessian (d, d).
    x : array, shape (d,)
        x_0.
    alpha, beta : float
        0 < alpha < 1/2, 0 < beta < 1.

    Yields
    ------
    array
        x_0, x_1, ...
    """
    while True:
        yield x
        g = gradient(x)
        dx, s = -np.linalg.solve(hessian(x), g), 1.0
        while s > 1e-16 and not value(x + s * dx) <= value(x) + alpha * s * g @ dx:
            s = beta * s
        x = x + s * dx


# Least squares by factorisation, and leading eigenvectors, as printed.


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


# Clusters, neighbours, trees of linkage and boosting, as printed.


JOINS: dict[str, Callable[[Array], Any]] = {
    "single": np.min,
    "complete": np.max,
    "average": np.mean,
}
"""The distance of two clusters, of the distances of their pairs."""


def lloyd(X: Array, centers: Array) -> Iterator[tuple[Array, Array, float]]:
    """Lloyd's algorithm for k-means: labels of the nearest centers, then means of the clusters.

    The cost sum_i |x_i - center of i|^2 never increases. A cluster that is empty keeps its center.
    Source: [G] 8.1, [P] 16.1, [E] 2.2, [C] 4.

    Parameters
    ----------
    X : array, shape (n, d)
        The samples, a row each.
    centers : array, shape (k, d)
        The start.

    Yields
    ------
    tuple of (array of shape (k, d), array of shape (n,), float)
        Centers, labels (the nearest centers) and the cost, until the labels stay.
    """
    before = None
    while True:
        squares = ((X[:, None, :] - centers) ** 2).sum(axis=2)
        labels = squares.argmin(axis=1)
        yield centers, labels, float(squares[np.arange(len(X)), labels].sum())
        if before is not None and np.array_equal(labels, before):
            return
        before, centers = labels, centers.copy()
        for k in set(labels.tolist()):
            centers[k] = X[labels == k].mean(axis=0)


def kmeans_plus_plus(X: Array, k: int, seed: int = 0) -> Array:
    """Seeding of k-means: the next center is x_i with probability D_i^2 / sum_j D_j^2.

    D_i is the distance of x_i to the centers chosen so far; the first is uniform. The expected cost
    is at most 8 (2 + ln k) times the least. Source: Arthur and Vassilvitskii, 2007; [C] 4.

    Parameters
    ----------
    X : array, shape (n, d)
        With at least k different rows.
    k : int
        How many.
    seed : int
        Of the draws.

    Returns
    -------
    array, shape (k, d)
        Rows of X.
    """
    rng = np.random.default_rng(seed)
    centers = [X[rng.integers(len(X))]]
    while len(centers) < k:
        squares = np.min([((X - c) ** 2).sum(axis=1) for c in centers], axis=0)
        centers.append(X[rng.choice(len(X), p=squares / squares.sum())])
    return np.array(centers)


def linkage(
    distances: Array, between: str = "single"
) -> Iterator[tuple[list[int], list[int], float]]:
    """Agglomerative clustering: merge the two nearest clusters, again and again.

    Between clusters the distance is the least of their pairs ("single"), the largest ("complete")
    or the mean ("average"). Source: [G] 7, [E] 2.2.

    Parameters
    ----------
    distances : array, shape (n, n)
        Symmetric.
    between : str
        "single", "complete" or "average".

    Yields
    ------
    tuple of (list of int, list of int, float)
        The two clusters that are merged, and their distance: n - 1 times.

    Raises
    ------
    InputError
        Another ``between``.
    """
    if between not in JOINS:
        raise InputError(f"linkage: between must be one of {', '.join(JOINS)}, got {between!r}.")
    join = JOINS[between]
    clusters = [[i] for i in range(len(distances))]
    while len(clusters) > 1:
        pairs = [(a, b) for b in range(len(clusters)) for a in range(b)]
        height = [join(distances[np.ix_(clusters[a], clusters[b])]) for a, b in pairs]
        a, b = pairs[int(np.argmin(height))]
        yield clusters[a], clusters[b], float(min(height))
        clusters[a] = clusters[a] + clusters.pop(b)


def nearest_neighbors(X: Array, y: Array, queries: Array, k: int) -> Array:
    """k nearest neighbours: the label that most of the k nearest samples have.

    Ties of votes go to the smallest label, ties of distance to the first sample.
    Source: [P] 16.4.1, [C] 5.1, [G] 7.

    Parameters
    ----------
    X : array, shape (n, d)
        The samples, a row each.
    y : array, shape (n,)
        Labels.
    queries : array, shape (m, d)
        The samples to label.
    k : int
        How many.

    Returns
    -------
    array, shape (m,)
        Labels.
    """
    squares = ((queries[:, None, :] - X) ** 2).sum(axis=2)
    nearest = np.argsort(squares, axis=1, kind="stable")[:, :k]
    classes = np.unique(y)
    votes = (y[nearest][:, :, None] == classes).sum(axis=1)
    return classes[votes.argmax(axis=1)]


def adaboost(H: Array, y: Array) -> Iterator[tuple[Array, float]]:
    """AdaBoost over the columns of H: the weights of the votes, and the edge of the last column.

    D_1 = 1/n; at t: h the column of least error eps = sum of D_i where h_i != y_i, weight
    1/2 log((1 - eps) / eps), D_i <- D_i exp(-weight y_i h_i), normalised. Edge gamma_t = 1/2 - eps:
    the training error after T rounds is at most exp(-2 sum gamma_t^2). Source: [C] 5.3, [E].

    Parameters
    ----------
    H : array, shape (n, m)
        Entries -1 and +1: the predictions of the weak learners.
    y : array, shape (n,)
        Labels -1 and +1.

    Yields
    ------
    tuple of (array of shape (m,), float)
        Weights w, the prediction being sign(H w), and the edge; from w = 0 and edge 0, until the
        best error is 0 or 1/2.
    """
    w, D, edge = np.zeros(H.shape[1]), np.full(len(y), 1.0 / len(y)), 0.0
    while True:
        yield w, edge
        errors = D @ (y[:, None] != H)
        j = int(errors.argmin())
        if not 0.0 < errors[j] < 0.5:
            return
        edge, weight = 0.5 - errors[j], 0.5 * np.log((1.0 - errors[j]) / errors[j])
        w = w + weight * np.eye(len(w))[j]
        D = D * np.exp(-weight * y * H[:, j])
        D = D / D.sum()


# One sample at a time, as printed: SGD, Pegasos, SAGA, the perceptron, and online learning.


SampleField = Callable[[Array, int], Array]
"""(x, i) -> a (sub)gradient of f_i at x."""


def sgd(
    gradient: SampleField, n: int, x: Array, step: Step, seed: int = 0, average: bool = False
) -> Iterator[Array]:
    """Stochastic gradient descent for the mean of f_1 ... f_n.

    x_{t+1} = x_t - gamma_t grad f_i(x_t); i is drawn uniformly, independently at each step.
    Steps: a constant (a noise floor stays), scale / sqrt(t + 1), or 1 / (mu (t + 1)).
    Source: [G] 4.2.3, [E] 1.11.

    Parameters
    ----------
    gradient : callable
        (x, i) -> grad f_i(x), or a subgradient; i = 0 ... n - 1.
    n : int
        The number of samples.
    x : array
        x_0.
    step : float or callable
        gamma, or t -> gamma_t.
    seed : int
        Of the draws.
    average : bool
        Whether the means of the points so far are yielded (Polyak and Ruppert).

    Yields
    ------
    array
        x_0, x_1, ..., or (x_0 + ... + x_t) / (t + 1).
    """
    t, mean, rng = 0, x, np.random.default_rng(seed)
    while True:
        mean = mean + (x - mean) / (t + 1)
        yield mean if average else x
        x = x - step_at(step, t) * gradient(x, int(rng.integers(n)))
        t += 1


def pegasos(X: Array, y: Array, lam: float, seed: int = 0) -> Iterator[Array]:
    """SGD for (lam/2) |w|^2 + mean (1 - y_i <w, x_i>)_+ with steps 1 / (lam t), averaged.

    theta_1 = 0; at t = 1, 2, ...: w_t = theta_t / (lam t), i is drawn uniformly,
    theta_{t+1} = theta_t + y_i x_i if y_i <w_t, x_i> < 1, else theta_t.
    Source: [E] 2.1; Shalev-Shwartz and Ben-David, 2014, section 15.5.

    Parameters
    ----------
    X : array, shape (n, d)
        The samples, a row each.
    y : array, shape (n,)
        Labels -1 and +1.
    lam : float
        > 0.
    seed : int
        Of the draws.

    Yields
    ------
    array, shape (d,)
        (w_1 + ... + w_t) / t for t = 1, 2, ...
    """
    rng, t = np.random.default_rng(seed), 1
    theta, mean = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    while True:
        w = theta / (lam * t)
        mean = mean + (w - mean) / t
        yield mean
        i = int(rng.integers(len(y)))
        if y[i] * (X[i] @ w) < 1.0:
            theta = theta + y[i] * X[i]
        t += 1


def saga(
    gradient: SampleField,
    prox: Callable[[Array, float], Array],
    n: int,
    x: Array,
    step: float,
    seed: int = 0,
) -> Iterator[Array]:
    """SAGA for the mean of f_1 ... f_n, plus g: a table of gradients takes the noise away.

    i uniform; v = grad f_i(x_t) - table_i + mean of the table;
    x_{t+1} = prox_{gamma g}(x_t - gamma v); table_i = grad f_i(x_t).
    The table starts with the gradients at x_0; gamma = 1 / (3 L_max).
    Source: Defazio, Bach and Lacoste-Julien, 2014, https://arxiv.org/abs/1407.0202.

    Parameters
    ----------
    gradient : callable
        (x, i) -> grad f_i(x); i = 0 ... n - 1.
    prox : callable
        (v, gamma) -> argmin over x of gamma g(x) + |x - v|^2 / 2.
    n : int
        The number of samples.
    x : array
        x_0.
    step : float
        gamma.
    seed : int
        Of the draws.

    Yields
    ------
    array
        x_0, x_1, ...
    """
    rng, table = np.random.default_rng(seed), np.array([gradient(x, i) for i in range(n)])
    while True:
        yield x
        i = int(rng.integers(n))
        new = gradient(x, i)
        v = new - table[i] + table.mean(axis=0)
        x, table[i] = prox(x - step * v, step), new


def perceptron(X: Array, y: Array) -> Iterator[Array]:
    """The perceptron: theta <- theta + y_i x_i wherever y_i <theta, x_i> <= 0, from theta = 0.

    Round the samples, until none is mistaken. A column of ones in X is the intercept. Updates on
    separable data: <= max |x_i|^2 |theta*|^2 for any theta* of margin 1.
    Source: [H] 1 (with <=, see the errata: with < it never leaves 0); Novikoff, 1962.

    Parameters
    ----------
    X : array, shape (n, d)
        The samples, a row each.
    y : array, shape (n,)
        Labels -1 and +1.

    Yields
    ------
    array, shape (d,)
        theta at the start and after each update.
    """
    theta, right, i = np.zeros(X.shape[1]), 0, 0
    yield theta
    while right < len(y):
        right += 1
        if y[i] * (X[i] @ theta) <= 0.0:
            theta, right = theta + y[i] * X[i], 0
            yield theta
        i = (i + 1) % len(y)


def kernel_perceptron(K: Array, y: Array) -> Iterator[Array]:
    """The perceptron in the space of a kernel: m_i counts the mistakes on sample i.

    f(x) = sum_j m_j y_j k(x_j, x); m_i <- m_i + 1 wherever y_i f(x_i) <= 0, from m = 0.
    Source: Aizerman, Braverman and Rozonoer, 1964; [P] 16.5.

    Parameters
    ----------
    K : array, shape (n, n)
        k(x_i, x_j); K + 1 gives an intercept.
    y : array, shape (n,)
        Labels -1 and +1.

    Yields
    ------
    array, shape (n,)
        The counts m at the start and after each update.
    """
    m, right, i = np.zeros(len(y)), 0, 0
    yield m
    while right < len(y):
        right += 1
        if y[i] * (K[i] @ (m * y)) <= 0.0:
            m, right = m + np.eye(len(y))[i], 0
            yield m
        i = (i + 1) % len(y)


def online_gradient_descent(
    subgradient: SampleField, x: Array, step: Step, project: Field
) -> Iterator[Array]:
    """Online gradient descent: x_{t+1} = Pi(x_t - eta_t v_t), v_t a subgradient of f_t at x_t.

    With |v_t| <= G, |x| <= B, x_0 = 0, eta = B / (G sqrt T): regret <= B G sqrt T, T rounds.
    Source: Zinkevich, 2003; Shalev-Shwartz, 2012, https://doi.org/10.1561/2200000018.

    Parameters
    ----------
    subgradient : callable
        (x, t) -> a subgradient of f_t at x; t = 0, 1, ...
    x : array
        x_0.
    step : float or callable
        eta, or t -> eta_t.
    project : callable
        Pi, on the set that is played in.

    Yields
    ------
    array
        What is played: x_0, x_1, ...
    """
    t = 0
    while True:
        yield x
        x = project(x - step_at(step, t) * subgradient(x, t))
        t += 1


def follow_the_regularized_leader(
    subgradient: SampleField, d: int, step: float, project: Field
) -> Iterator[Array]:
    """Follow the regularised leader: x_{t+1} = argmin <v_0 + ... + v_t, x> + |x|^2 / (2 eta).

    Over a set that is Pi(-eta (v_0 + ... + v_t)): lazy projection. From x_0 = argmin |x|^2.
    Source: Shalev-Shwartz, 2012, section 2.3, https://doi.org/10.1561/2200000018.

    Parameters
    ----------
    subgradient : callable
        (x, t) -> a subgradient of f_t at x; t = 0, 1, ...
    d : int
        The number of coordinates.
    step : float
        eta.
    project : callable
        Pi, on the set that is played in.

    Yields
    ------
    array, shape (d,)
        What is played: x_0, x_1, ...
    """
    t, total = 0, np.zeros(d)
    while True:
        x = project(-step * total)
        yield x
        total = total + subgradient(x, t)
        t += 1


def exponentiated_gradient(subgradient: SampleField, d: int, step: float) -> Iterator[Array]:
    """Mirror descent with the entropy, on the simplex: p_{t+1} ~ p_t exp(-eta v_t), normalised.

    From p_0 = 1/d; |v_t|_inf <= G and eta = sqrt(log d / T) / G: regret <= 2 G sqrt(T log d).
    Source: Kivinen and Warmuth, 1997; Shalev-Shwartz, 2012, section 2.7.

    Parameters
    ----------
    subgradient : callable
        (p, t) -> a subgradient of f_t at p; t = 0, 1, ...
    d : int
        The number of corners.
    step : float
        eta.

    Yields
    ------
    array, shape (d,)
        What is played: p_0, p_1, ...
    """
    t, p = 0, np.full(d, 1.0 / d)
    while True:
        yield p
        p = p * np.exp(-step * subgradient(p, t))
        p = p / p.sum()
        t += 1


__all__ = [
    "accelerated_gradient",
    "adaboost",
    "admm",
    "coordinate_descent",
    "damped_newton",
    "deflation",
    "dual_coordinate_ascent",
    "exponentiated_gradient",
    "fista",
    "follow_the_regularized_leader",
    "gradient_descent",
    "gram_schmidt",
    "householder",
    "irls",
    "kernel_perceptron",
    "kmeans_plus_plus",
    "linkage",
    "lloyd",
    "nearest_neighbors",
    "newton",
    "normal_equations",
    "online_gradient_descent",
    "pegasos",
    "perceptron",
    "power_iteration",
    "proximal_gradient",
    "qr_least_squares",
    "saga",
    "sgd",
    "subgradient",
]

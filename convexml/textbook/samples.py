"""One sample at a time, as printed: SGD, Pegasos, SAGA, the perceptron, and online learning."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..numerics import Array
from .descent import Field, Step, step_at

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

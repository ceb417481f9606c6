"""What is promised of boosting, of the nearest neighbour, of k-means++, and of tails of means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...validation import finite_array
from ..domains import COUNT, NONNEGATIVE, POSITIVE, Domain, domains

EDGE = Domain("in [-1/2, 1/2]", lambda v: np.abs(v) <= 0.5)
HALF = Domain("in [0, 1/2]", lambda v: (v >= 0.0) & (v <= 0.5))


@domains(m=COUNT, eps=POSITIVE, variance=NONNEGATIVE, width=POSITIVE)
def bernstein(m: int, *, eps: float, variance: float, width: float = 1.0) -> float:
    """Bound on P(|mean - E| >= eps): 2 exp(-m eps^2 / (2 variance + 2 width eps / 3)).

    Less than ``hoeffding`` where the variance is small.

    Parameters
    ----------
    m : int
        Number of independent samples of one distribution.
    eps : float
        Distance of their mean from its expectation, > 0.
    variance : float
        Of one sample.
    width : float
        No sample is further than this from its expectation.

    Returns
    -------
    float
        At most 1.

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Boucheron, Lugosi and Massart, *Concentration Inequalities*, theorem 2.10.
    """
    return min(1.0, 2.0 * math.exp(-m * eps**2 / (2.0 * variance + 2.0 * width * eps / 3.0)))


@domains(edges=EDGE)
def boosting_error(edges: Any) -> float:
    """Bound on the training error of AdaBoost: prod sqrt(1 - 4 gamma_t^2) <= exp(-2 sum gamma_t^2).

    Parameters
    ----------
    edges : array, shape (T,)
        gamma_t = 1/2 - weighted error of the t-th weak learner.

    Returns
    -------
    float
        exp(-2 sum gamma_t^2).

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Shalev-Shwartz and Ben-David, theorem 10.2; Cesari, section 5.3.
    """
    return float(np.exp(-2.0 * np.sum(finite_array(edges, "boosting_error", "edges") ** 2)))


@domains(k=COUNT)
def kmeans_plus_plus_factor(k: int) -> float:
    """E cost of k-means++ over the least cost, at most: 8 (2 + ln k), over the seeding alone.

    Parameters
    ----------
    k : int
        Number of clusters.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Arthur and Vassilvitskii, 2007, theorem 3.1.
    """
    return 8.0 * (2.0 + math.log(k))


@domains(sizes=NONNEGATIVE, moves=NONNEGATIVE)
def lloyd_decrease(sizes: Any, moves: Any) -> float:
    """Bound from below on the fall of the cost in a step of Lloyd: sum_k n_k |c_k - mean_k|^2.

    sum |x_i - c|^2 = sum |x_i - mean|^2 + n |c - mean|^2, and nearest centers cost no more.

    Parameters
    ----------
    sizes : array, shape (k,)
        n_k, of the clusters whose centers move.
    moves : array, shape (k,)
        |c_k - mean_k|^2.

    Returns
    -------
    float
        >= 0: the cost never increases.

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Shalev-Shwartz and Ben-David, lemma 22.1.
    """
    return float(np.sum(np.multiply(sizes, moves)))


@domains(bayes=HALF, m=COUNT, d=COUNT, c=NONNEGATIVE)
def nearest_neighbor_risk(*, bayes: float, m: int, d: int, c: float) -> float:
    """Bound on E risk of the nearest neighbour: 2 R* + 4 c sqrt(d) m^(-1/(d+1)).

    x lies in [0, 1]^d and P(y = 1 | x) is c-Lipschitz. 2 R* alone is its limit as m grows.

    Parameters
    ----------
    bayes : float
        R*, the risk of the Bayes predictor.
    m : int
        Number of samples.
    d : int
        Number of features.
    c : float
        Lipschitz constant of P(y = 1 | x).

    Returns
    -------
    float

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Shalev-Shwartz and Ben-David, theorem 19.3.
    """
    return float(2.0 * bayes + 4.0 * c * math.sqrt(d) * m ** (-1.0 / (d + 1)))


@domains(count=COUNT)
def vc_intervals(count: int = 1) -> int:
    """The VC dimension of unions of so many intervals of the line: 2 count; of thresholds it is 1.

    Points 1 ... 2 count have all labellings; of 2 count + 1 the one that alternates, + first, needs
    count + 1 intervals.

    Parameters
    ----------
    count : int
        Number of intervals.

    Returns
    -------
    int

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Shalev-Shwartz and Ben-David, section 6.3.
    """
    return 2 * count

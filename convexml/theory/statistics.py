"""How far a fit generalises."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import entr, rel_entr

from ..errors import InputError
from ..numerics import EPS, Array
from ..validation import finite_array, nonnegative_array, nonnegative_number, positive_number
from .theorem import COUNT, DIMENSION, NONNEGATIVE, POSITIVE, PROBABILITY, REAL, Domain, domains

# What is promised of boosting, of the nearest neighbour, of k-means++, and of tails of means.


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


# The Vapnik-Chervonenkis dimension: how many labellings a class has, and what follows.


@domains(d=DIMENSION)
def vc_halfspaces(d: int, *, fit_intercept: bool = True) -> int:
    """The VC dimension of the halfspaces {x : w.x + b > 0} of R^d: d + 1, or d without b.

    Some d + 1 points have all labellings (0 and the unit vectors); no d + 2 points have, since two
    parts of them have hulls that meet (Radon).

    Parameters
    ----------
    d : int
        Number of features.
    fit_intercept : bool
        Whether b is free; else it is 0.

    Returns
    -------
    int

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Shalev-Shwartz and Ben-David, theorems 9.2 and 9.3.
    """
    return d + bool(fit_intercept)


@domains(dimension=DIMENSION, m=DIMENSION)
def vc_growth(dimension: int, m: int) -> int:
    """Bound on the labellings of m points: sum of binomials (m over i), i = 0 ... dimension.

    Parameters
    ----------
    dimension : int
        The VC dimension.
    m : int
        Number of points.

    Returns
    -------
    int
        2^m where m is at most the dimension.

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Shalev-Shwartz and Ben-David, lemma 6.10 (Sauer, Shelah and Perles).
    """
    return sum(math.comb(m, i) for i in range(dimension + 1))


@domains(dimension=DIMENSION, m=COUNT, delta=PROBABILITY)
def vc_error(dimension: int, *, m: int, delta: float) -> float:
    """Bound on risk - training error of every member: sqrt(2 log G / m) + sqrt(log(1/delta)/(2m)).

    G is ``vc_growth(dimension, m)``, the loss 0 or 1.

    Parameters
    ----------
    dimension : int
        The VC dimension.
    m : int
        Number of samples.
    delta : float
        The bound holds for all members at once with probability 1 - delta.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Mohri, Rostamizadeh and Talwalkar, *Foundations of Machine Learning* (2018), corollary 3.9.
    """
    growth = math.log(vc_growth(dimension, m))
    return math.sqrt(2.0 * growth / m) + math.sqrt(math.log(1.0 / delta) / (2.0 * m))


# What estimators vary by: Gauss and Markov, ridge regression, and what is paid for stability.


@domains(sigma=NONNEGATIVE)
def least_squares_variance(X: Any, *, sigma: float) -> Array:
    """Variance of the least squares estimate, X fixed: sigma^2 (X'X)^-1.

    No linear unbiased estimate has less in any direction, where X has full column rank and the
    errors are uncorrelated with mean 0 and one variance sigma^2 (Gauss and Markov).

    Parameters
    ----------
    X : array, shape (n, d)
        A column of ones is an intercept. Of full column rank.
    sigma : float
        Standard deviation of an error.

    Returns
    -------
    array, shape (d, d)

    Raises
    ------
    InputError
        For columns that depend on each other, and for an argument outside its domain.

    References
    ----------
    Hajjar, *Linear Models*, section 4.
    """
    X = finite_array(X, "least_squares_variance", "X")
    if np.linalg.matrix_rank(X) < X.shape[1]:
        raise InputError(
            "least_squares_variance: X must have full column rank; no estimate is unbiased "
            "where columns depend on each other. Drop one, or take ridge_variance."
        )
    half = np.linalg.inv(np.linalg.qr(X, mode="r"))
    return sigma**2 * half @ half.T


@domains(sigma=NONNEGATIVE, lam=NONNEGATIVE)
def ridge_variance(X: Any, *, sigma: float, lam: float) -> Array:
    """Variance of the ridge estimate: sigma^2 (X'X + n lam I)^-1 X'X (X'X + n lam I)^-1, X fixed.

    The loss is the mean (1/2n) |y - X w|^2 + (lam / 2) |w|^2, without an intercept.

    Parameters
    ----------
    X : array, shape (n, d)
        The samples, a row each.
    sigma : float
        Standard deviation of an error.
    lam : float
        Strength, >= 0; 0 takes the pseudo-inverse.

    Returns
    -------
    array, shape (d, d)

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Hajjar, *Linear Models*, section 5 (corrected).
    """
    X = finite_array(X, "ridge_variance", "X")
    _, s, V = np.linalg.svd(X, full_matrices=False)
    kept = s > len(X) * np.finfo(float).eps * np.max(s, initial=0.0)
    shrunk = sigma * s[kept] / (s[kept] ** 2 + len(X) * lam)
    return (V[kept].T * shrunk**2) @ V[kept]


@domains(theta=REAL, lam=POSITIVE)
def ridge_bias(X: Any, theta: Any, *, lam: float) -> Array:
    """Bias of the ridge estimate, X fixed: E theta_hat - theta = -n lam (X'X + n lam I)^-1 theta.

    Its square and the trace of ``ridge_variance`` are E |theta_hat - theta|^2.

    Parameters
    ----------
    X : array, shape (n, d)
        The samples, a row each.
    theta : array, shape (d,)
        The true coefficients.
    lam : float
        Strength, > 0, as of ``ridge_variance``.

    Returns
    -------
    array, shape (d,)

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Hajjar, *Linear Models*, section 5.
    """
    X, level = finite_array(X, "ridge_bias", "X"), len(X) * lam
    gram = X.T @ X + level * np.eye(X.shape[1])
    return -level * np.linalg.solve(gram, np.asarray(theta, dtype=float))


@domains(rho=NONNEGATIVE, lam=POSITIVE, m=COUNT, norm=NONNEGATIVE)
def regularized_excess(*, rho: float, lam: float, m: int, norm: float) -> float:
    """Bound on E risk(w_S) - risk(w): lam |w|^2 + 2 rho^2 / (lam m), for any fixed w.

    w_S minimises the mean loss on m samples + lam |w|^2; losses are convex and rho-Lipschitz in w.
    The first term is what fitting loses, the second what stability costs; at
    lam = sqrt(2 / m) rho / |w| their sum is least, |w| rho sqrt(8 / m).

    Parameters
    ----------
    rho : float
        Lipschitz constant of the loss as a function of w.
    lam : float
        Strength, > 0.
    m : int
        Number of samples.
    norm : float
        |w| of what is compared with.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Shalev-Shwartz and Ben-David, corollaries 13.8 and 13.9.
    """
    return lam * norm**2 + 2.0 * rho**2 / (lam * m)


# Entropy and divergence, in nats.


@domains()
def entropy(p: Any) -> float:
    """Entropy of a distribution: -sum_i p_i log p_i, 0 <= H <= log k.

    Parameters
    ----------
    p : array, shape (k,)
        >= 0, with sum 1.

    Returns
    -------
    float
        In nats.

    Raises
    ------
    InputError
        If p is no distribution.

    References
    ----------
    Cesari, section 3.
    """
    return float(np.sum(entr(distribution(p, "entropy", "p"))))


@domains()
def divergence(p: Any, q: Any) -> float:
    """Kullback and Leibler's KL(p | q) = sum_i p_i log(p_i / q_i) >= 0, 0 only for q = p (Gibbs).

    Parameters
    ----------
    p, q : array, shape (k,)
        >= 0, with sum 1.

    Returns
    -------
    float
        In nats; inf where some p_i > 0 = q_i.

    Raises
    ------
    InputError
        If p or q is no distribution, or their lengths differ.

    References
    ----------
    Cesari, section 3.
    """
    first, second = distribution(p, "divergence", "p"), distribution(q, "divergence", "q")
    if first.shape != second.shape:
        raise InputError(
            f"divergence: p and q must have one length, got {len(first)} and {len(second)}."
        )
    return float(np.sum(rel_entr(first, second)))


def distribution(p: Any, owner: str, name: str) -> Array:
    """The entries of p, which must be a distribution.

    Raises
    ------
    InputError
        If p is none.
    """
    values = nonnegative_array(p, owner, name)
    if values.ndim != 1 or abs(float(values.sum()) - 1.0) > 64.0 * EPS * max(values.size, 1):
        raise InputError(
            f"{owner}: {name} must be a vector with sum 1, got shape {values.shape} and sum "
            f"{values.sum():.17g}. Divide by its sum."
        )
    return values


# How many samples are enough: stability, finite classes, validation.


@domains(rho=NONNEGATIVE, lam=POSITIVE, m=COUNT)
def stability(*, rho: float, lam: float, m: int) -> float:
    """Bound on the mean change of the loss when one sample is replaced: 2 rho^2 / (lam m).

    Regularised loss minimisation, mean loss + lam |w|^2 or + (lam / 2) |w|^2, losses convex and
    rho-Lipschitz in w. It also bounds the mean of (risk - training loss).

    Parameters
    ----------
    rho : float
        Lipschitz constant of the loss as a function of w.
    lam : float
        Strength, > 0.
    m : int
        Number of samples.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Shalev-Shwartz and Ben-David, corollary 13.6.
    """
    return 2.0 * rho**2 / (lam * m)


@domains(classes=COUNT, eps=POSITIVE, delta=PROBABILITY)
def finite_class(classes: int, *, eps: float, delta: float, case: str = "agnostic") -> int:
    """Samples that are enough for a finite class of H members, with a loss in [0, 1].

    "realizable": log(H / delta) / eps, where one member makes no mistake: every member without a
    mistake on the samples has a risk of at most eps. "uniform": log(2 H / delta) / (2 eps^2): no
    member's training error is more than eps from its risk. "agnostic": 2 log(2 H / delta) / eps^2:
    the one with the least training error is within eps of the best.

    Parameters
    ----------
    classes : int
        Size H of the class, fixed before the samples are drawn.
    eps, delta : float
        The claim holds with probability 1 - delta.
    case : str
        Which claim.

    Returns
    -------
    int
        Rounded up.

    Raises
    ------
    InputError
        For another case, and for an argument outside its domain.

    References
    ----------
    Shalev-Shwartz and Ben-David, corollaries 2.3 and 4.6.
    """
    counts = {
        "realizable": math.log(classes / delta) / eps,
        "uniform": math.log(2.0 * classes / delta) / (2.0 * eps**2),
        "agnostic": 2.0 * math.log(2.0 * classes / delta) / eps**2,
    }
    if case not in counts:
        raise InputError(f"finite_class: case must be one of {', '.join(counts)}, got {case!r}.")
    return math.ceil(counts[case])


@domains(m=COUNT, eps=POSITIVE, width=POSITIVE)
def hoeffding(m: int, *, eps: float, width: float = 1.0) -> float:
    """Bound on the probability that a mean is off by eps: 2 exp(-2 m eps^2 / width^2).

    Parameters
    ----------
    m : int
        Number of independent samples of one distribution.
    eps : float
        Distance of their mean from its expectation, > 0.
    width : float
        Of the interval that they lie in.

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
    Shalev-Shwartz and Ben-David, lemma 4.5.
    """
    return min(1.0, 2.0 * math.exp(-2.0 * m * (eps / width) ** 2))


@domains(classes=COUNT, m=COUNT, delta=PROBABILITY)
def validation_error(classes: int, *, m: int, delta: float) -> float:
    """Bound on |validation error - risk| for all H candidates: sqrt(log(2 H/delta) / (2 m)).

    Parameters
    ----------
    classes : int
        Number H of candidates, chosen without the validation set; the loss lies in [0, 1].
    m : int
        Size of the validation set.
    delta : float
        The bound holds for all with probability 1 - delta.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Shalev-Shwartz and Ben-David, theorem 11.2.
    """
    return math.sqrt(math.log(2.0 * classes / delta) / (2.0 * m))


# What no predictor is better than, and what is lost on the way to it.


@domains(p=NONNEGATIVE)
def bayes_risk(p: Any) -> float:
    """The least risk of any predictor: 1 - sum_x max_y P(x, y), loss 0 or 1.

    Parameters
    ----------
    p : array, shape (k, labels)
        P(x, y), with sum 1.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If p is no distribution over pairs.

    References
    ----------
    Shalev-Shwartz and Ben-David, section 3.2.1.
    """
    return 1.0 - float(_pairs(p, "bayes_risk").max(axis=1).sum())


@domains(p=NONNEGATIVE)
def bayes_predictor(p: Any) -> Array:
    """The label argmax_y P(y | x) of each x: its risk is ``bayes_risk``; ties go to the first.

    Parameters
    ----------
    p : array, shape (k, labels)
        P(x, y), with sum 1.

    Returns
    -------
    array of int, shape (k,)

    Raises
    ------
    InputError
        If p is no distribution over pairs.

    References
    ----------
    Shalev-Shwartz and Ben-David, section 3.2.1.
    """
    return _pairs(p, "bayes_predictor").argmax(axis=1)


def _pairs(p: Any, owner: str) -> Array:
    table = np.asarray(p, dtype=float)
    if table.ndim != 2:
        raise InputError(f"{owner}: p must have a row for each x, a column for each label.")
    return distribution(table.ravel(), owner, "p").reshape(table.shape)


@domains(m=COUNT)
def no_free_lunch(m: int) -> float:
    """Some f on 2 m points has E error >= (1/2) (1 - 1/(2m))^m >= 1/4, whatever the learner.

    A point is not among m uniform samples with probability (1 - 1/(2m))^m; half of all f differ
    there from what is predicted. Hence the mean over f is no less, and some f has the mean.

    Parameters
    ----------
    m : int
        Number of samples.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Shalev-Shwartz and Ben-David, theorem 5.1.
    """
    return 0.5 * float(1.0 - 0.5 / m) ** m


@domains(approximation=NONNEGATIVE, classes=COUNT, m=COUNT, delta=PROBABILITY)
def excess_error(approximation: float, *, classes: int, m: int, delta: float) -> float:
    """Bound on risk - R* of the least training error: approximation + 2 sqrt(log(2H/delta)/(2m)).

    The first term is what the best of H candidates lacks, the second what is lost by estimation.

    Parameters
    ----------
    approximation : float
        The least risk among the candidates - R*.
    classes : int
        Number H of candidates.
    m : int
        Number of samples.
    delta : float
        The bound holds with probability 1 - delta.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Shalev-Shwartz and Ben-David, section 5.2 and corollary 4.6.
    """
    return approximation + 2.0 * validation_error(classes, m=m, delta=delta)


@domains(X=REAL, sigma=NONNEGATIVE, lam=POSITIVE, source=HALF, norm=NONNEGATIVE)
def source_risk(X: Any, *, sigma: float, lam: float, source: float, norm: float) -> float:
    """Bound on the risk of ridge where theta = S^r g: c lam^a |g|^2 + sigma^2 tr S / (4 n lam).

    a = 2 r + 1 and c = (a/2)^a (1 - a/2)^(2 - a), the largest u^a / (1 + u)^2; S = X'X/n. At
    lam ~ n^(-1/(a+1)) the rate is n^(-a/(a+1)), from n^(-1/2) to n^(-2/3).

    Parameters
    ----------
    X : array, shape (n, d)
        Fixed design; the risk is that of ``ridge_risk``.
    sigma : float
        Standard deviation of the noise.
    lam : float
        Strength, > 0.
    source : float
        r: how smooth theta is.
    norm : float
        |g|.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Bach, *Learning Theory from First Principles*, section 7.6; constants from l^a lam^2 / (l +
    lam)^2 <= c lam^a and l^2 / (l + lam)^2 <= l / (4 lam).
    """
    X = np.asarray(X, dtype=float)
    a = 2.0 * source + 1.0
    constant = (0.5 * a) ** a * (1.0 - 0.5 * a) ** (2.0 - a)
    variance = sigma**2 * float(np.sum(X**2)) / (4.0 * len(X) ** 2 * lam)
    return float(constant * lam**a * norm**2 + variance)


# Penalties as priors: maximum a posteriori estimates.


PRIORS = ("gaussian", "laplace")


def prior_scale(lam: float, *, n: float, sigma: float = 1.0, prior: str = "gaussian") -> float:
    """The scale of the prior on each w_j for which a penalised fit is the most probable one.

    With y = X w + b + noise of variance sigma^2, n/sigma^2 times mean (1/2) r^2 + lam Omega(w) is
    -log posterior up to a constant, for

        Omega = |w|_2^2 / 2 (``Ridge``):  w_j normal, of standard deviation sigma / sqrt(n lam);
        Omega = |w|_1 (``Lasso``):        w_j Laplace, of scale sigma^2 / (n lam).

    A mean of -log p (``LogisticRegression``, ``PoissonRegression``, softmax) has sigma = 1. The
    intercept has a flat prior.

    Parameters
    ----------
    lam : float
        Strength >= 0; at 0 the prior is flat and its scale inf.
    n : float
        Number of samples, or the sum of their weights (then the variance of sample i is
        sigma^2 / s_i).
    sigma : float
        Standard deviation of the noise.
    prior : str
        "gaussian" or "laplace".

    Returns
    -------
    float
        The standard deviation tau of the normal prior, or the scale s of the Laplace prior
        exp(-abs(w_j) / s) / (2 s).

    Raises
    ------
    InputError
        For numbers out of range, and another prior.

    References
    ----------
    Hajjar, *Linear Models* (2019), section 7.2, where the prior enters once: of |r|^2 + lam Omega
    the normal variance is sigma^2 / lam and the Laplace scale 2 sigma^2 / lam.
    """
    lam = nonnegative_number(lam, "prior_scale", "lam")
    n, sigma = _read("prior_scale", n, sigma, prior)
    if lam == 0.0:
        return float("inf")
    return sigma / (n * lam) ** 0.5 if prior == "gaussian" else sigma**2 / (n * lam)


def prior_strength(scale: float, *, n: float, sigma: float = 1.0, prior: str = "gaussian") -> float:
    """The lam of a prior of this scale, the inverse of ``prior_scale``.

    lam = sigma^2 / (n scale^2) for a normal prior (``Ridge``), sigma^2 / (n scale) for a Laplace
    prior (``Lasso``); both with the mean of (1/2) r^2.

    Parameters
    ----------
    scale : float
        Standard deviation of the normal prior, or scale of the Laplace prior, > 0.
    n : float
        Number of samples, or the sum of their weights.
    sigma : float
        Standard deviation of the noise; 1 for a mean of -log p.
    prior : str
        "gaussian" or "laplace".

    Returns
    -------
    float

    Raises
    ------
    InputError
        For numbers out of range, and another prior.

    References
    ----------
    Hajjar, *Linear Models* (2019), section 7.2.
    """
    scale = positive_number(scale, "prior_strength", "scale")
    n, sigma = _read("prior_strength", n, sigma, prior)
    return sigma**2 / (n * (scale**2 if prior == "gaussian" else scale))


def _read(owner: str, n: float, sigma: float, prior: str) -> tuple[float, float]:
    """The number of samples and the deviation of the noise; the prior is one that is known."""
    if prior not in PRIORS:
        raise InputError(f"{owner}: prior must be one of {', '.join(PRIORS)}, got {prior!r}.")
    return positive_number(n, owner, "n"), positive_number(sigma, owner, "sigma")


# The risk of ridge regression and least squares for a fixed design.


@domains(X=REAL, theta=REAL, sigma=NONNEGATIVE, lam=NONNEGATIVE)
def ridge_risk(X: Any, theta: Any, sigma: float, lam: float) -> float:
    """Exact risk E |X (theta_hat - theta)|^2 / n of ridge regression, for a fixed design.

    With y = X theta + noise of variance sigma^2, theta_hat minimises |y - X w|^2 / n + lam |w|^2
    (the same as ``Ridge(X, y, lam, fit_intercept=False)``). The risk is

        sum_j theta_j^2 l_j / (1 + l_j/lam)^2 + (sigma^2/n) sum_j l_j^2 / (l_j + lam)^2,

    l_j the eigenvalues of X'X/n, theta_j in its eigenbasis.

    Parameters
    ----------
    X : array, shape (n, d)
        Fixed design.
    theta : array, shape (d,)
        The true coefficients.
    sigma : float
        Standard deviation of the noise.
    lam : float
        Strength, >= 0; 0 is least squares of minimum norm.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Groudiev, property 2.6.
    """
    values, coefficients = _eigen(X, theta)
    kept = values > 0.0 if lam == 0.0 else np.ones(len(values), dtype=bool)
    shrink = values[kept] / (values[kept] + lam)
    bias = float(np.sum(coefficients[kept] ** 2 * values[kept] * (1.0 - shrink) ** 2))
    return bias + sigma**2 / len(np.asarray(X)) * float(np.sum(shrink**2))


@domains(X=REAL, theta=REAL, sigma=NONNEGATIVE)
def ridge_best_lam(X: Any, theta: Any, sigma: float) -> float:
    """The lam that minimises the bound on the risk: sigma sqrt(tr S) / (|theta| sqrt(n)).

    Parameters
    ----------
    X : array, shape (n, d)
        Fixed design; S = X'X/n.
    theta : array, shape (d,)
        The true coefficients, not all 0.
    sigma : float
        Standard deviation of the noise.

    Returns
    -------
    float
        It minimises ``ridge_risk_bound``, not the risk itself.

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Groudiev, property 2.6.
    """
    trace = float(np.sum(np.asarray(X, dtype=float) ** 2)) / len(X)
    return sigma * np.sqrt(trace / len(X)) / float(np.linalg.norm(theta))


@domains(X=REAL, theta=REAL, sigma=NONNEGATIVE, lam=POSITIVE)
def ridge_risk_bound(X: Any, theta: Any, sigma: float, lam: float) -> float:
    """Bound on the risk: lam |theta|^2 / 4 + sigma^2 tr(S) / (4 n lam).

    Parameters
    ----------
    X : array, shape (n, d)
        Fixed design; S = X'X/n.
    theta : array, shape (d,)
        The true coefficients.
    sigma : float
        Standard deviation of the noise.
    lam : float
        Strength, > 0.

    Returns
    -------
    float
        At ``ridge_best_lam`` it is sigma sqrt(tr S) |theta| / (2 sqrt(n)).

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Groudiev, property 2.6, with the constant that the printed one lacks.
    """
    trace = float(np.sum(np.asarray(X, dtype=float) ** 2)) / len(X)
    square = float(np.sum(np.asarray(theta, dtype=float) ** 2))
    return 0.25 * (lam * square + sigma**2 * trace / (len(X) * lam))


@domains(X=REAL, sigma=NONNEGATIVE)
def least_squares_excess_risk(X: Any, sigma: float) -> float:
    """Excess risk of least squares for a fixed design: sigma^2 rank(X) / n.

    Parameters
    ----------
    X : array, shape (n, d)
        Fixed design, the column of ones included if an intercept is fitted.
    sigma : float
        Standard deviation of the noise.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Groudiev, property 2.5.
    """
    return sigma**2 * float(np.linalg.matrix_rank(np.asarray(X, dtype=float))) / len(X)


def _eigen(X: Any, theta: Any) -> tuple[Array, Array]:
    matrix = np.asarray(X, dtype=float)
    values, basis = np.linalg.eigh(matrix.T @ matrix / len(matrix))
    values = np.where(values > 1e-12 * values.max(initial=0.0), values, 0.0)
    return values, basis.T @ np.asarray(theta, dtype=float)

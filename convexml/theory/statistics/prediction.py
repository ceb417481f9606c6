"""What no predictor is better than, and what is lost on the way to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InputError
from ...numerics import Array
from ..domains import COUNT, NONNEGATIVE, POSITIVE, PROBABILITY, REAL, Domain, domains
from .information import distribution
from .learning import validation_error

SOURCE = Domain("in [0, 1/2]", lambda v: (v >= 0.0) & (v <= 0.5))


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


@domains(X=REAL, sigma=NONNEGATIVE, lam=POSITIVE, source=SOURCE, norm=NONNEGATIVE)
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

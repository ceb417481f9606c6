"""The Vapnik-Chervonenkis dimension: how many labellings a class has, and what follows."""

from __future__ import annotations

import math

from ..domains import COUNT, DIMENSION, PROBABILITY, domains


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

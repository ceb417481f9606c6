"""How many samples are enough: stability, finite classes, validation."""

from __future__ import annotations

import math


def replace_one_stability(*, rho: float, lam: float, m: int) -> float:
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

    References
    ----------
    Shalev-Shwartz and Ben-David, corollary 13.6.
    """
    return 2.0 * rho**2 / (lam * m)


def realizable_samples(classes: int, *, eps: float, delta: float) -> int:
    """Samples enough for a finite realizable class: log(H / delta) / eps, rounded up.

    Parameters
    ----------
    classes : int
        Size H of the class, one member of which makes no mistake.
    eps, delta : float
        Risk at most eps with probability 1 - delta.

    Returns
    -------
    int

    References
    ----------
    Shalev-Shwartz and Ben-David, corollary 2.3.
    """
    return math.ceil(math.log(classes / delta) / eps)


def uniform_convergence_samples(classes: int, *, eps: float, delta: float) -> int:
    """Samples after which no member's training error is eps off: log(2 H/delta) / (2 eps^2).

    Parameters
    ----------
    classes : int
        Size H of the class; the loss lies in [0, 1].
    eps, delta : float
        All within eps with probability 1 - delta.

    Returns
    -------
    int
        Rounded up.

    References
    ----------
    Shalev-Shwartz and Ben-David, corollary 4.6.
    """
    return math.ceil(math.log(2.0 * classes / delta) / (2.0 * eps**2))


def agnostic_samples(classes: int, *, eps: float, delta: float) -> int:
    """Samples after which empirical risk minimisation is eps from the best: 2 log(2 H/delta)/eps^2.

    Parameters
    ----------
    classes : int
        Size H of the class; the loss lies in [0, 1].
    eps, delta : float
        Within eps of the best member with probability 1 - delta.

    Returns
    -------
    int
        Rounded up.

    References
    ----------
    Shalev-Shwartz and Ben-David, corollary 4.6.
    """
    return math.ceil(2.0 * math.log(2.0 * classes / delta) / eps**2)


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

    References
    ----------
    Shalev-Shwartz and Ben-David, theorem 11.2.
    """
    return math.sqrt(math.log(2.0 * classes / delta) / (2.0 * m))

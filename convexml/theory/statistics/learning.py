"""How many samples are enough: stability, finite classes, validation."""

from __future__ import annotations

import math

from ...errors import InputError
from ..domains import COUNT, NONNEGATIVE, POSITIVE, PROBABILITY, domains


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

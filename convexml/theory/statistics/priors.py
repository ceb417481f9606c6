"""Penalties as priors: maximum a posteriori estimates."""

from __future__ import annotations

from ...errors import InputError
from ...validation import nonnegative_number, positive_number

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

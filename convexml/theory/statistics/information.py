"""Entropy and divergence, in nats."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import entr, rel_entr

from ...errors import InputError
from ...numerics import EPS, Array
from ...validation import nonnegative_array
from ..domains import domains


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

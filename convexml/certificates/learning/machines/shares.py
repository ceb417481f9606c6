"""Whether nu leaves the machine for two classes a dual point, decided in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import compress
from typing import NamedTuple

from ....numerics import Array, gamma
from ...algebra.rationals import as_integers


class ShortClass(NamedTuple):
    """The class whose weights are less than nu S / 2: P falls without end as it is given up.

    Attributes
    ----------
    sign : float
        That of its labels.
    most : Fraction
        Twice its share of S: the largest nu.
    excess : Fraction
        nu less that.
    """

    sign: float
    most: Fraction
    excess: Fraction


def short_class(nu: float, s: Array, y: Array) -> ShortClass | None:
    """The class that cannot hold its half of nu S, of float64 numbers as they are, or None.

    sum_i alpha_i y_i = 0 and sum_i alpha_i = nu S ask for nu S / 2 of each class, where
    alpha_i <= s_i. Sums of floats decide where they are further apart than their rounding.
    """
    positive = y > 0.0
    total, own = float(s.sum()), min(float(s[positive].sum()), float(s[~positive].sum()))
    if 0.5 * nu * total * (1.0 + 4.0 * gamma(len(s) + 4)) < own:
        return None
    whole = as_integers(s[None, :])[0]
    everything, up = sum(whole), sum(compress(whole, positive.tolist()))
    most = Fraction(2 * min(up, everything - up), everything)
    excess = Fraction(nu) - most
    if excess <= 0:
        return None
    return ShortClass(1.0 if 2 * up <= everything else -1.0, most, excess)

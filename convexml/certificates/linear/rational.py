"""The price of multipliers of a small linear program, by a dual point in rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy import sparse

from ...numerics import EPS, Array
from ...objective.linear.data import LinearData
from ..algebra.rational_dual import exact_dual


def rational_price(
    data: LinearData, lambda_ub: Array, nu: Array, cost: Array, value: float
) -> float | None:
    """How far ``value`` is above D at an exactly feasible dual point; None where none is found.

    Where dual points have no room to spare (two of its inequalities leave an interval of some
    units in the last place) only exact ones are.

    Parameters
    ----------
    data : LinearData
    lambda_ub, nu : array, shapes (m,) and (p,)
        The multipliers, and their reduced costs.
    cost : array, shape (n,)
    value : float
    """
    lower, upper = np.isfinite(data.lower), np.isfinite(data.upper)
    eye, none = sparse.eye_array(data.n, format="csr"), sparse.csc_array((data.n, data.n))
    A = sparse.vstack([data.A_ub, data.A_eq, -eye[lower], eye[upper]], format="csr")
    b = np.concatenate([data.b_ub, data.b_eq, -data.lower[lower], data.upper[upper]])
    below, above = np.maximum(cost, 0.0)[lower], np.maximum(-cost, 0.0)[upper]
    y = np.concatenate([np.maximum(lambda_ub, 0.0), nu, below, above])
    signed = np.ones(y.size, dtype=bool)
    signed[lambda_ub.size :][: nu.size] = False
    found = exact_dual(none, data.c, A, b, signed, np.zeros(data.n), y)
    if found is None or not np.isfinite(value):
        return None
    return max(float(Fraction(value) - found[2]), 0.0) * (1.0 + 4.0 * EPS)

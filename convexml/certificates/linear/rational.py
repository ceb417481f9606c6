"""The price of multipliers of a small linear program, by a dual point in rationals."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ...numerics import EPS, Array
from ...objective.conic.cones import NonnegativeCone, ZeroCone
from ...objective.conic.program import ConeProgram, cone_program_of
from ...objective.linear.data import LinearData
from ..conic.prices.rational_dual import rational_dual


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
    bounds = (np.maximum(cost, 0.0)[lower], np.maximum(-cost, 0.0)[upper])
    y = np.concatenate([lambda_ub, nu, *bounds])
    found = rational_dual(_cone_program(data, lower, upper), np.zeros(data.n), y)
    if found is None:
        return None
    price = value - found.value + found.price
    return max(price + 4.0 * EPS * (abs(value) + abs(found.value)), 0.0)


def _cone_program(data: LinearData, lower: Array, upper: Array) -> ConeProgram:
    """Minimise c'x with all constraints as rows: A_ub, A_eq, lower, upper."""
    eye = sparse.eye_array(data.n, format="csr")
    rows = sparse.vstack([data.A_ub, data.A_eq, -eye[lower], eye[upper]], format="csr")
    sides = np.concatenate([data.b_ub, data.b_eq, -data.lower[lower], data.upper[upper]])
    m, p = data.b_ub.size, data.b_eq.size
    cones = [NonnegativeCone(m), ZeroCone(p), NonnegativeCone(sides.size - m - p)]
    return cone_program_of(None, data.c, rows, sides, [c for c in cones if c.dim])

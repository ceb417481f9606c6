"""Dual points in rationals, where a program is small and all its cones are polyhedral."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ....numerics import EPS, Array
from ....objective.conic.cones import NonnegativeCone
from ....objective.conic.program import ConeProgram
from ...algebra.rational_dual import exact_dual
from ..values import dual_residual, dual_value
from .price import Priced


def rational_dual(program: ConeProgram, w: Array, y: Array) -> Priced | None:
    """An exact dual point near (w, y), rounded, and what the rounding hides; None if there is none.

    See ``exact_dual``.
    """
    if not program.is_polyhedral:
        return None
    signed, y = program.ruled_by(NonnegativeCone), program.project_dual(y)
    found = exact_dual(program.P, program.q, program.A, program.b, signed, w, y)
    if found is None:
        return None
    w, y, exact = found
    value = dual_value(program, w, y)
    if not np.isfinite(value):
        return None
    price = max(float(Fraction(value) - exact), 0.0) * (1.0 + 4.0 * EPS)
    return Priced(w, y, value, price, dual_residual(program, w, y))

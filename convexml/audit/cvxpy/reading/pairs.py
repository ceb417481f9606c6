"""Complex equations: two rows of the conic form that are one constraint."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from scipy import sparse

from ....certificates.conic.units import conic_units
from ....numerics import ROUNDING, Array
from ....objective.conic.cones import ZeroCone
from ....objective.conic.program import ConeProgram
from .layout import MultiplierMap


def with_pairs(program: ConeProgram, maps: Iterable[MultiplierMap]) -> ConeProgram:
    """The program with the rows that are real and imaginary part of one complex equation.

    A part whose terms are all rounding beside the other's, as the imaginary one of tr(A N) = b is
    for Hermitian A and N, becomes 0 = 0: it was not meant, and a bound without it is one with it.
    """
    found = [_pairs(item) for item in maps if any(arg.is_complex() for arg in item.constraint.args)]
    pairs = np.concatenate([np.zeros((0, 2), dtype=int), *found])
    pairs = pairs[np.all(program.ruled_by(ZeroCone)[pairs], axis=1)]
    if not pairs.size:
        return program
    program = replace(program, pairs=pairs)
    units = conic_units(program)
    terms = np.abs(program.b) + program.A_sizes @ units.columns
    idle = np.zeros(terms.size, dtype=bool)
    idle[pairs] = terms[pairs] <= ROUNDING * units.rows[pairs]
    if not np.any(idle):
        return program
    A = sparse.csc_array(sparse.diags_array((~idle).astype(float)) @ program.A)
    A.eliminate_zeros()
    return replace(program, A=A, b=np.where(idle, 0.0, program.b))


def _pairs(item: MultiplierMap) -> Array:
    """Of entries that have one row for each part."""
    alone = np.diff(item.matrix.indptr).reshape(2, -1) == 1
    first = item.matrix.indptr[:-1].reshape(2, -1)[:, np.all(alone, axis=0)]
    return item.matrix.indices[first].T

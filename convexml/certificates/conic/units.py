"""Sizes of the rows, columns and objective of a cone program, from its data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from ...numerics import Array
from ...objective.conic.cones import Semidefinite
from ...objective.conic.program import ConeProgram
from ..scale import ProgramUnits, program_units


def conic_units(program: ConeProgram) -> ProgramUnits:
    """``program_units`` with one unit a row, one a curved cone, one a row of a matrix.

    Units of a semidefinite cone are those of a congruence D S D: entry (p, q) has d_p d_q. A
    complex equation is one row, of the absolute values of its coefficients.
    """
    places: list[tuple[Array, Array]] = []
    count = 0
    for cone, run in program.runs:
        if isinstance(cone, Semidefinite):
            column, row = np.tril_indices(cone.order)
            for part in run:
                places += [(part, count + row), (part, count + column)]
                count += cone.order
        elif run.size:
            owners = np.arange(run.size if cone.is_polyhedral else len(run))
            places.append((run.ravel(), count + np.repeat(owners, run.size // owners.size)))
            count += owners.size
    empty = np.zeros(0, dtype=int)
    rows, columns = (np.concatenate([empty, *(p[k] for p in places)]) for k in (0, 1))
    shape = (program.b.size, count)
    groups = sparse.csr_array((np.ones(rows.size), (rows, columns)), shape=shape)
    A, b = program.A, program.b
    if program.pairs is None:
        return program_units(A, b, program.q, program.P, groups)
    owner, turn = np.arange(b.size), np.ones(b.size, dtype=complex)
    owner[program.pairs[:, 1]], turn[program.pairs[:, 1]] = program.pairs[:, 0], 1j
    joined = sparse.csr_array((turn, (owner, np.arange(b.size))), shape=(b.size, b.size))
    found = program_units(abs(joined @ A), abs(joined @ b), program.q, program.P, groups)
    return replace(found, rows=found.rows[owner])

"""The multiplier of a Hermitian constraint X >> 0 in the rows of its real form."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ....objective.conic.cones import Semidefinite
from ....objective.conic.program import ConeProgram


def hermitian_map(program: ConeProgram, read: Any, order: int) -> Any:
    """The map from y to the dual value Y, by all four blocks of the real form.

    CVXPY poses [[Re X, -Im X], [Im X, Re X]] >> 0 with the multiplier D, and reads
    Y = 2 (D_11 + i D_21). The two other blocks say the same of the D that has the structure of
    the real form, and an average over the four is what can be lifted to such a D:
    Y = D_11 + D_22 + i (D_21 - D_12).

    Parameters
    ----------
    program : ConeProgram
        The conic form.
    read : sparse array
        CVXPY's map: it names one row of the block at least.
    order : int
        The order n of X.

    Returns
    -------
    sparse array, shape (2 n^2, m)
        Real parts in C order, then imaginary ones; ``read`` where there is no such block.
    """
    row = int(read.tocoo().col[0])
    for cone, part in program.blocks:
        if isinstance(cone, Semidefinite) and part.start <= row < part.stop:
            break
    else:
        return read
    if cone.order != 2 * order:
        return read
    column, line = np.tril_indices(2 * order)  # the upper triangle column by column
    place = np.zeros((2 * order, 2 * order), dtype=int)
    place[line, column] = place[column, line] = part.start + np.arange(column.size)
    entries = []
    for i in range(order):
        for j in range(order):
            at = order * i + j
            scale = 1.0 if i == j else np.sqrt(0.5)
            entries += [(at, place[i, j], scale), (at, place[order + i, order + j], scale)]
            at += order**2
            entries += [
                (at, place[order + i, j], np.sqrt(0.5)),
                (at, place[i, order + j], -np.sqrt(0.5)),
            ]
    rows, columns, values = (np.array(part) for part in zip(*entries, strict=True))
    return sparse.csr_array((values, (rows, columns)), shape=(2 * order**2, program.b.size))

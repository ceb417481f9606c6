"""Rays of a cone program where curved cones leave none but those of flatter ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import Array
from ...objective.conic.cones import Cone, NonnegativeCone, SecondOrder, ZeroCone
from ...objective.conic.curved import ExponentialCone
from ...objective.conic.program import ConeProgram


def flattened(program: ConeProgram) -> ConeProgram:
    """A program with the same rays d, -A d in K, of fewer curved cones; b is that of the rows.

    Decided by coefficients that are equal, not nearly: (t, +-t, v) in a second-order cone, as
    squares are written, has v = 0 and t >= 0; so has (0, v); (x, 0, z) in an exponential cone has
    x <= 0 and z >= 0. A residual of v that is rounding has no such ray near in the curved cone, and
    one in the flat.
    """
    A = sparse.csr_array(program.A)
    A.sum_duplicates()
    A.eliminate_zeros()
    parts = [part for block in program.blocks for part in _flat(program, A, *block)]
    if len(parts) == len(program.cones):
        return program
    rows = np.concatenate([rows for _, rows, _ in parts])
    signs = np.concatenate([np.full(rows.size, 1.0) if s is None else s for _, rows, s in parts])
    rounded = program.rounded
    return replace(
        program,
        A=sparse.csc_array(sparse.diags_array(signs) @ A[rows]),
        b=signs * program.b[rows],
        cones=tuple(cone for cone, _, _ in parts),
        rounded=None if rounded is None else replace(rounded, rows=rounded.rows[rows]),
    )


Part = tuple[Cone, Array, Array | None]
"""A cone, the rows that it rules, and their signs where some are turned."""


def _flat(program: ConeProgram, A: Any, cone: Cone, part: slice) -> Iterator[Part]:
    rows = np.arange(part.start, part.stop)
    if isinstance(cone, SecondOrder) and rows.size > 2 and _twins(program, A, *rows[:2]):
        yield NonnegativeCone(1), rows[:1], None
        yield ZeroCone(rows.size - 2), rows[2:], None
    elif isinstance(cone, SecondOrder) and rows.size > 1 and _is_empty(program, A, rows[0]):
        yield NonnegativeCone(1), rows[:1], None
        yield ZeroCone(rows.size - 1), rows[1:], None
    elif isinstance(cone, ExponentialCone) and _is_empty(program, A, rows[1]):
        yield NonnegativeCone(1), rows[:1], np.array([-1.0])
        yield NonnegativeCone(1), rows[2:], None
    else:
        yield cone, rows, None


def _twins(program: ConeProgram, A: Any, first: int, second: int) -> bool:
    """Whether two rows of A are equal, or opposite, for certain."""
    (where, values), (other, others) = _row(A, first), _row(A, second)
    if not np.array_equal(where, other) or _is_off(program, first) or _is_off(program, second):
        return False
    return np.array_equal(values, others) or np.array_equal(values, -others)


def _is_empty(program: ConeProgram, A: Any, row: int) -> bool:
    return not _row(A, row)[0].size and not _is_off(program, row)


def _row(A: Any, row: int) -> tuple[Array, Array]:
    part = slice(A.indptr[row], A.indptr[row + 1])
    return A.indices[part], A.data[part]


def _is_off(program: ConeProgram, row: int) -> bool:
    """Whether the coefficients may be other ones."""
    if program.rounded is None:
        return False
    where, values = _row(program.rounded.rows, row)
    return bool(np.any(values[where < program.q.size]))

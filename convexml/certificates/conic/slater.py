"""Slater's condition of a cone program: a point inside of its curved cones, or a proof of none.

Linear rows need only be met (Rockafellar, 1970, *Convex Analysis*, theorem 28.2; Boyd and
Vandenberghe, 2004, section 5.2.3). Where y in K* has A'y = 0, b'y <= 0 and a part in some curved
cone that is not 0, there is no such point: it would have 0 < y's = b'y. That is decided in
rationals, since b'y = 0 is the common case.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from scipy import sparse

from ...numerics import Array
from ...problem.cones import (
    Cone,
    ConeProgram,
    ExponentialCone,
    NonnegativeCone,
    Power,
    SecondOrder,
    Semidefinite,
    ZeroCone,
)
from ..algebra.definite import eliminates
from .ray import INWARDS, exact_near

TINY = 1e-290
"""A distance that asks for the inside of a cone, not its border."""
ENTRIES = 20_000
"""Of A, up to which multipliers are judged in rationals."""
MANY = 150
"""Entries of a matrix, up to which it is eliminated in rationals."""
DENOMINATORS = (1, 2, 4, 12, 60, 1000, 10**6)
SCALES = 4
"""How many of the largest entries of the multipliers are tried as their unit."""
ROOT = Fraction(float(np.sqrt(2.0)))
"""What the rows of off-diagonal entries of a matrix are multiplied by."""


def strict_point(program: ConeProgram, start: Array | None) -> tuple[Array, float] | None:
    """A point x, and a distance within which an exact point is inside of all curved cones.

    It meets the linear rows exactly, in real numbers; all within the distance of x are inside of
    the curved cones.

    Parameters
    ----------
    program : ConeProgram
    start : array, shape (n,), or None
        A point to start from.

    Returns
    -------
    tuple, or None
        None where none is verified.
    """
    start = np.zeros(program.q.size) if start is None else start
    return next(exact_near(program, [start], TINY, INWARDS), None)


def no_interior(program: ConeProgram, y: Array) -> Array | None:
    """Multipliers near y that prove exactly that no point is inside; None where none are found."""
    for exact in _rationals(program, y):
        if _proves(program, exact):
            return np.array([float(value) for value in exact])
    return None


def _rationals(program: ConeProgram, y: Array) -> Iterator[list[Fraction]]:
    """y in units of one of its entries, rounded to fractions of small denominators."""
    if program.A.nnz > ENTRIES or not np.all(np.isfinite(y)):
        return
    # The rows of entries beside the diagonal of a matrix.
    off = np.zeros(program.b.size, dtype=bool)
    for cone, part in program.blocks:
        if isinstance(cone, Semidefinite):
            off[part] = cone.triangle[2] > 1.0
    plain = np.where(off, y / np.sqrt(2.0), y)
    sizes = np.unique(np.abs(plain[plain != 0.0]))[::-1]
    for unit in sizes[:SCALES]:
        for most in DENOMINATORS:
            rounded = [Fraction(v).limit_denominator(most) for v in (plain / unit).tolist()]
            if any(rounded):
                yield [
                    2 * value / ROOT if mixed else value
                    for value, mixed in zip(rounded, off.tolist(), strict=True)
                ]


def _proves(program: ConeProgram, y: list[Fraction]) -> bool:
    """A'y = 0, b'y <= 0, y in K* and not 0 on a curved cone, all exactly."""
    curved = False
    for cone, part in program.blocks:
        piece = y[part]
        if not _in_dual(cone, piece):
            return False
        curved = curved or (not cone.is_polyhedral and any(piece))
    if not curved:
        return False
    # b'y, and A'y column by column.
    both = sparse.csc_array(sparse.hstack([program.b[:, None], program.A]))
    totals = []
    for j in range(program.q.size + 1):
        entries = slice(both.indptr[j], both.indptr[j + 1])
        pairs = zip(both.data[entries].tolist(), both.indices[entries].tolist(), strict=True)
        totals.append(sum((Fraction(a) * y[i] for a, i in pairs if y[i]), Fraction(0)))
    return totals[0] <= 0 and not any(totals[1:])


def _in_dual(cone: Cone, y: list[Fraction]) -> bool:
    """Whether y is in K*, by sums of rationals; of some cones the border alone is known."""
    match cone:
        case ZeroCone():
            return True
        case NonnegativeCone():
            return all(value >= 0 for value in y)
        case SecondOrder():
            return y[0] >= 0 and y[0] ** 2 >= sum((v**2 for v in y[1:]), Fraction(0))
        case Semidefinite():
            return _semidefinite(cone, y)
        case ExponentialCone():
            return y[0] == 0 and y[1] >= 0 and y[2] >= 0
        case Power():
            return y[-1] == 0 and all(value >= 0 for value in y[:-1])
    return False


def _semidefinite(cone: Semidefinite, y: list[Fraction]) -> bool:
    """By elimination, of not many entries.

    Those off the diagonal are times sqrt(2). That is below ``ROOT``: they are even smaller.
    """
    rows = [[Fraction(0)] * cone.order for _ in range(cone.order)]
    for value, i, j in zip(y, *map(np.ndarray.tolist, cone.triangle[:2]), strict=True):
        rows[i][j] = rows[j][i] = value if i == j else value * ROOT / 2
    return sum(map(bool, y)) <= MANY and eliminates(rows)

"""Which columns of a matrix depend on the others: exactly, or only up to rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import linalg

from ...numerics import Array
from .rationals import solve_exactly
from .singular import unit_columns
from .sums import exact_residual

INDEPENDENT = 1e-11
"""Share of its length that a column keeps beside the others if it counts as independent."""
FACTORISED = 4_000_000
"""Entries up to which all rows look for a dependence."""
NOTHING = 2.0**-60
"""Below what two different entries of a column can leave beside its mean."""
DENOMINATOR = 4096
ENTRIES = 200_000
"""Up to this many entries a combination is solved for exactly where no simple one is found."""
COLUMNS = 40


@dataclass(frozen=True)
class Dependence:
    """The columns of B, split in three.

    Attributes
    ----------
    independent : array of int
        Columns that are independent as far as floating point can tell.
    exact : array of int
        Columns that are, exactly, rational combinations of independent ones.
    doubtful : array of int
        Columns that are so up to rounding only, or not known to be so exactly.
    """

    independent: Array
    exact: Array
    doubtful: Array


def dependence(B: Array, *, ones: bool = False) -> Dependence:
    """Split the columns of B; combinations are verified on every row without rounding.

    Parameters
    ----------
    B : array, shape (n, k)
    ones : bool
        Whether a column of ones stands behind them, as number k; it is always kept.
    """
    n, k = B.shape
    unit, scales = unit_columns(B)
    same = np.array_equal(unit / scales, B)  # nothing fell below the least number
    # A dependence on all rows is one on some of them, where it is found; then all rows decide.
    some = np.arange(n) if n * k <= FACTORISED else np.linspace(0, n - 1, 8 * k + 2000).astype(int)
    near = unit[some]
    if ones:
        near = near - near.mean(axis=0)
        near = near - near.mean(axis=0)  # a constant column leaves nothing
        near = np.where(np.abs(near).max(axis=0) > NOTHING, near, 0.0)
        unit = np.column_stack([unit, np.ones(n)])
    R, order = linalg.qr(unit_columns(near)[0], mode="r", pivoting=True, check_finite=False)
    size = np.zeros(k)
    size[: min(len(some), k)] = np.abs(np.diag(R))
    rank = int(np.sum(size > INDEPENDENT))
    kept, others = np.sort(order[:rank]), np.sort(order[rank:])
    kept = np.append(kept, k) if ones else kept
    sure = [int(j) for j in others if same and _is_combination(unit[:, kept], unit[:, j], some)]
    return Dependence(kept, np.array(sure, dtype=int), np.setdiff1d(others, sure))


def _is_combination(base: Array, column: Array, some: Array) -> bool:
    """Whether q column = base p holds exactly for integers p and some q > 0."""
    n, k = base.shape
    if not np.any(column):
        return True
    if not k:
        return False
    near = linalg.lstsq(base[some], column[some], check_finite=False)[0]
    fractions = [Fraction(float(p)).limit_denominator(DENOMINATOR) for p in near]
    if _holds(base, column, fractions):
        return True
    if n * k > ENTRIES or k > COLUMNS:
        return False
    # Rows on which the base is regular decide the combination, if there is one.
    rows = linalg.qr(base.T, mode="r", pivoting=True, check_finite=False)[1][:k]
    exact = solve_exactly(base[rows], column[rows])
    if exact is None:
        return False
    return all(
        sum((p * Fraction(x) for p, x in zip(exact, row, strict=True)), -Fraction(y)) == 0
        for row, y in zip(base.tolist(), column.tolist(), strict=True)
    )


def _holds(base: Array, column: Array, fractions: list[Fraction]) -> bool:
    q = math.lcm(*(f.denominator for f in fractions))
    whole = [int(f * q) for f in fractions]
    if q >= 2**53 or any(abs(p) >= 2**53 for p in whole):
        return False
    used = [i for i, p in enumerate(whole) if p]
    matrix = np.column_stack([base[:, used], column])
    weights = np.array([float(whole[i]) for i in used] + [-float(q)])
    near = matrix @ weights
    if np.any(np.abs(near) > 1e-12 * (np.abs(matrix) @ np.abs(weights))):
        return False
    return not np.any(exact_residual(matrix, weights))

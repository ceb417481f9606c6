"""Multipliers of a convex fit that are to balance at every point: repaired, and priced.

sum_j lambda_ij (x_j - x_i) = 0 for lambda_i >= 0 says that x_i is a mean of other points: at an
extreme point only 0 does it. What is changed is chosen in floating point; that multipliers which
balance exactly are near what was chosen is proved by the directions of as many of them as there
are features.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from ...numerics import UNIT, Array, gamma, length, two_sum
from ..algebra.dependence import dependence
from ..algebra.singular import least_singular_value, unit_columns

ROUNDS = 30
"""How often multipliers that would become negative are dropped."""
NOTHING = 1e-280
"""Multipliers up to this are 0: directions times smaller ones leave float64."""
INDEPENDENT = 1e-9
"""Share of the longest that a direction has beside the others if it counts."""


class Balanced(NamedTuple):
    """Multipliers, and by how much those that balance exactly are away from them.

    Attributes
    ----------
    multipliers : array, shape (n, n)
    change : array, shape (n,)
        At most that much each entry of ``moved`` changes, by rows.
    moved : array of bool, shape (n, n)
    doubtful : int
        Points whose multipliers were dropped because they balance up to rounding only.
    """

    multipliers: Array
    change: Array
    moved: Array
    doubtful: int


def balanced_multipliers(X: Array, given: Array, least: float) -> Balanced:
    """Multipliers near those given, of at least ``least``, that balance up to ``change``.

    A row that cannot be balanced is 0.
    """
    n, doubtful = len(X), 0
    found, change, moved = np.zeros((n, n)), np.zeros(n), np.zeros((n, n), dtype=bool)
    for i in range(n):
        support = np.flatnonzero(given[i] > max(least, NOTHING))
        support = support[support != i]
        same = np.all(X[support] == X[i], axis=1)
        found[i, support[same]] = given[i, support[same]]  # no direction, nothing to balance
        support = support[~same]
        V = X[support] - X[i]
        row = _balanced(V, given[i, support])
        used = row > 0.0
        if not np.any(used):
            continue
        exact = not np.any(two_sum(X[support[used]], -X[i])[1])
        proved = _nearby(V[used], row[used], exact)
        doubtful += proved is None
        if proved is not None:
            found[i, support], change[i] = row, proved[0]
            moved[i, support[used][proved[1]]] = True
    return Balanced(found, change, moved, doubtful)


def _balanced(V: Array, start: Array) -> Array:
    """The least relative change of ``start`` with V'l = 0; what would be negative becomes 0."""
    row, used = start.copy(), start > 0.0
    for _ in range(ROUNDS):
        if not np.any(used):
            break
        part = start[used]
        directions = V[used] * part[:, None]  # changes relative to the multipliers
        _, units = unit_columns(directions)
        shares = np.linalg.lstsq((directions * units).T, -units * (part @ V[used]), rcond=1e-13)[0]
        row = np.zeros_like(start)
        row[used] = part * (1.0 + shares)
        if np.all(shares > -1.0):
            return row
        used = used.copy()
        used[np.flatnonzero(used)[shares <= -1.0]] = False
    return np.zeros_like(start)


def _nearby(V: Array, row: Array, exact: bool) -> tuple[float, Array] | None:
    """(bound, which): multipliers that balance are within the bound, on those alone; or None.

    ``exact`` says that the directions V are not rounded.
    """
    V = V[:, np.any(V != 0.0, axis=0)]  # 0 is exact: of a face along the axes
    d = V.shape[1]
    scaled, _ = unit_columns(V)
    weighted = (scaled * row[:, None]).T
    R, order = linalg.qr(weighted, mode="r", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diag(R))
    rank = int(np.sum(diagonal > INDEPENDENT * diagonal[0]))
    which = order[:rank]
    if rank < d:
        # The residual is a combination of all directions: of these too, if they span the others.
        split = dependence(scaled.T) if exact else None
        if split is None or split.doubtful.size or split.independent.size != rank:
            return None
        which = split.independent
    rest = np.abs(row @ scaled) + gamma(len(row) + 8) * (row @ np.abs(scaled))
    sigma = least_singular_value(scaled[which].T) - 4.0 * UNIT * length(scaled[which])
    if not sigma > 0.0:
        return None
    bound = length(rest) / sigma * (1.0 + gamma(d + 8))
    return (bound, which) if bound <= float(np.min(row[which])) else None

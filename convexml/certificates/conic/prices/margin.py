"""Multipliers that are exactly inside their cones, and how far they may move there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from ....numerics import EPS, Array
from ....objective.conic.cones import Cone, SecondOrder, Semidefinite, ZeroCone
from ....objective.conic.curved import ExponentialCone, Power
from ....objective.conic.program import ConeProgram
from . import exponential

THIN = 1e-11
"""Below this share of its size a multiplier counts as on the boundary of a curved cone."""
DENSE_BLOCK = 600
"""Semidefinite blocks of more entries move inside a ball only."""


def nudged(program: ConeProgram, y: Array) -> Array:
    """Multipliers in K* with rounding allowed for: a few ulp inside where the cone is curved."""
    y = program.project_dual(y)
    for cone, rows in program.runs:
        if isinstance(cone, ExponentialCone):
            y[rows] = exponential.nudged_each(y[rows])
        elif isinstance(cone, SecondOrder):
            least = np.linalg.norm(y[rows[:, 1:]], axis=1) * (1.0 + (cone.dim + 4) * EPS)
            y[rows[:, 0]] = np.maximum(y[rows[:, 0]], least)
        elif not cone.is_polyhedral:
            y[rows] = [_nudged(cone, part) for part in y[rows]]
    return y


def _nudged(cone: Cone, y: Array) -> Array:
    if isinstance(cone, Semidefinite):
        return _semidefinite(cone, y)
    y = y.copy()
    if inside_dual(cone, y):
        return y
    for k in range(1, 40):  # a power cone: |z| is lowered
        y[-1] *= 1.0 - EPS * 2.0**k
        if inside_dual(cone, y):
            return y
    return np.zeros_like(y)


def _semidefinite(cone: Semidefinite, y: Array) -> Array:
    matrix = cone.matrix(y)
    trace = float(np.trace(matrix))
    if not trace > 0.0:
        return np.zeros_like(y)
    room = 4.0 * (cone.order + 4) * EPS * trace
    used = np.diag(matrix) > room  # other rows become zeros: the rest is a matrix of its own
    row, column, _ = cone.triangle
    y, identity = np.where(used[row] & used[column], y, 0.0), used[row] * (row == column)
    inner = matrix[np.ix_(used, used)]
    for k in range(30):
        shift = room * (2.0**k - 1.0)
        try:
            np.linalg.cholesky(inner + (shift - room) * np.eye(len(inner)))
        except np.linalg.LinAlgError:
            continue
        return y + shift * identity if k else y
    return np.zeros_like(y)


def inside_dual(cone: Cone, y: Array) -> bool:
    """Whether an exponential or power multiplier is in K*, rounding included."""
    if isinstance(cone, ExponentialCone):
        return bool(exponential.inside_each(y))
    assert isinstance(cone, Power)
    alpha, x, z = np.array(cone.alphas), y[:-1], abs(float(y[-1]))
    if np.any(x < 0.0):
        return False
    if z == 0.0:
        return True
    if not np.all(x > 0.0):
        return False
    logs = np.log(x / alpha)
    room = 16.0 * EPS * (y.size + float(np.abs(logs) @ alpha) + abs(np.log(z)))
    return bool(float(alpha @ logs) >= np.log(z) + room)


def margins(
    program: ConeProgram, y: Array, free: Array, share: float = 1.0, balls: bool = False
) -> sparse.csc_array:
    """M with y + M z in K* for every z of norm at most 1: the metric of the slack.

    Parameters
    ----------
    program : ConeProgram
    y : array, shape (m,)
        In K*, as ``nudged`` makes it.
    free : array, shape (m,)
        How far the multiplier of an equality may go.
    share : float
        How much of its room each multiplier is given, at most 1.
    balls : bool
        Whether semidefinite multipliers move inside of balls only: these have sparse metrics.
    """
    found = margin_parts(program, y, free, share, balls)
    return sparse.csc_array(found.triplets(), shape=(y.size, found.width))


class ConeMargins(NamedTuple):
    """M in parts: entries with their rows and columns, and full blocks from a column on."""

    entries: list[tuple[Array, Array, Array]]
    blocks: list[tuple[Array, int, Array]]
    width: int

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return sum(part[2].size for part in (*self.entries, *self.blocks))

    def dense(self, m: int) -> Array:
        """M, shape (m, width)."""
        M = np.zeros((m, self.width))
        for rows, columns, values in self.entries:
            M[rows, columns] = values
        for rows, start, block in self.blocks:
            M[rows, start : start + block.shape[1]] = block
        return M

    def triplets(self) -> tuple[Array, tuple[Array, Array]]:
        """The values that are not 0, and their rows and columns."""
        found = [*self.entries]
        for rows, start, block in self.blocks:
            used = np.nonzero(block)
            found.append((rows[used[0]], start + used[1], block[used]))
        none = np.zeros(0, dtype=int)
        at, columns = (np.concatenate([none, *(part[k] for part in found)]) for k in (0, 1))
        return np.concatenate([np.zeros(0), *(part[2] for part in found)]), (at, columns)


def margin_parts(
    program: ConeProgram, y: Array, free: Array, share: float, balls: bool
) -> ConeMargins:
    """What ``margins`` is made of."""
    entries: list[tuple[Array, Array, Array]] = []
    whole: list[tuple[Array, int, Array]] = []
    width = 0
    for cone, rows in program.runs:
        if cone.is_polyhedral:
            room = free[rows[0]] if isinstance(cone, ZeroCone) else y[rows[0]]
            entries.append((rows[0], width + np.arange(cone.dim), share * room))
            width += cone.dim
            continue
        if isinstance(cone, ExponentialCone):
            blocks = exponential.margins_each(y[rows], _sizes(y[rows]), share)
            empty = (y[rows[:, 0]] == 0.0).astype(int)  # a face has no first column
            starts = width + np.cumsum(4 - empty) - 4
            used = np.nonzero(blocks)
            entries.append((rows[used[:2]], starts[used[0]] + used[2], blocks[used]))
            width += int(np.sum(4 - empty))
            continue
        for part in rows:
            block = _about(cone, y[part], share, balls)
            whole.append((part, width, block))
            width += block.shape[1]
    return ConeMargins(entries, whole, width)


def _about(cone: Cone, y: Array, share: float, balls: bool) -> Array:
    """Half of the way along y, and half of an ellipsoid about it."""
    along = 0.5 * share * y[:, None]
    if not np.any(y):
        return along
    match cone:
        case SecondOrder():
            return share * _lorentz(y)
        case Semidefinite():
            return share * _congruence(cone, y, balls)
    ball = _shrunk(cone, y, share * np.diag(_sizes(y[None, :])[0]))
    return along if ball is None else np.hstack([along, 0.5 * ball])


def _sizes(y: Array) -> Array:
    return np.abs(y) + THIN * np.linalg.norm(y, axis=1, keepdims=True)


def _lorentz(y: Array) -> Array:
    """(2 a a' - det(a) J) / 2 with a = y^(1/2): it turns a ball about (1, 0) to one about y."""
    t, norm = float(y[0]), float(np.linalg.norm(y[1:]))
    if not t - norm > THIN * t:
        return 0.5 * y[:, None]
    high, low = np.sqrt(t + norm), np.sqrt(t - norm)
    a = np.append(0.5 * (high + low), np.zeros(y.size - 1))
    if norm > 0.0:
        a[1:] = 0.5 * (high - low) * y[1:] / norm
    J = np.full(y.size, -1.0)
    J[0] = 1.0
    return 0.5 * (2.0 * np.outer(a, a) - high * low * np.diag(J))


def _congruence(cone: Semidefinite, y: Array, balls: bool) -> Array:
    """S -> Y^(1/2) S Y^(1/2) / 2, or a ball where that is too large."""
    values, vectors = np.linalg.eigh(cone.matrix(y))
    if not values[0] > THIN * values[-1]:
        return 0.5 * y[:, None]
    if balls:
        return 0.5 * values[0] * np.eye(cone.dim)
    if cone.dim > DENSE_BLOCK:
        return np.hstack([0.5 * y[:, None], 0.5 * values[0] * np.eye(cone.dim)])
    root = (vectors * np.sqrt(values)) @ vectors.T
    row, column, factor = cone.triangle
    ours, across = root[np.ix_(row, row)], root[np.ix_(row, column)]
    # Entry (i, j) of R S R, S the unit matrix of entries (p, q) and (q, p).
    both = ours * root[np.ix_(column, column)] + across * root[np.ix_(column, row)]
    return 0.25 * factor[:, None] * both * factor


def _shrunk(cone: Cone, y: Array, axes: Array) -> Array | None:
    """Axes of an ellipsoid about y in K*: it is inside the hull of sqrt(dim) times their ends."""
    for _ in range(40):
        ends = np.sqrt(cone.dim) * 1.01 * axes
        if all(inside_dual(cone, y + s * e) for e in ends.T for s in (1.0, -1.0)):
            return axes
        axes = 0.5 * axes
    return None

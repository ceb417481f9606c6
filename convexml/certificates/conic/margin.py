"""Multipliers that are exactly inside their cones, and how far they may move there."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import EPS, ROUNDING, Array
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
from ..algebra.definite import eigenvalue_bound
from ..algebra.polyhedron import LeastChange
from .program import shared

# Multipliers of exponential cones, many at once: (u, v, w), v >= u (1 + log(-w / u)).


TURN = np.array([[1.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
"""(u, v, w) is in K* where (a, b, c) = (u - v, -u, w) is in K."""

HALVINGS = 39
"""How often axes are halved until they fit."""


def nudged_each(y: Array) -> Array:
    """Multipliers, shape (k, 3), with w raised to a few ulp inside of K*."""
    y = y.copy()
    u, v = y[:, 0], y[:, 1]
    flat = ~(u < 0.0)
    with np.errstate(all="ignore"):
        ratio = v / u
        least = -u * np.exp(ratio - 1.0) * (1.0 + 16.0 * EPS * (4.0 + np.abs(ratio)))
    y[:, 2] = np.maximum(y[:, 2], np.where(flat, 0.0, least + np.finfo(float).tiny))
    y[flat, 0] = 0.0
    y[flat, 1] = np.maximum(v[flat], 0.0)
    return y


def inside_exponential(s: Array, dual: bool = False) -> Array:
    """Which points, shape (..., 3), are in the exponential cone, or its dual, for certain.

    They are where y > 0 and y exp(x / y) <= z, or u < 0 and -u exp(v / u - 1) <= w; of the faces
    that of the dual is known.
    """
    x, y, z = np.moveaxis(s, -1, 0)
    with np.errstate(all="ignore"):
        size, ratio = (np.log(-x), y / x - 1.0) if dual else (np.log(y), x / y)
        room = 16.0 * EPS * (5.0 + np.abs(ratio) + np.abs(size))
        bent = (z > 0.0) & (size + ratio + room <= np.log(z))
    return np.asarray(bent | (dual & (x == 0.0) & (y >= 0.0) & (z >= 0.0)))


def margins_each(cone: ExponentialCone | Power, y: Array, share: float) -> Array:
    """Half of the way along y, and half of an ellipsoid about it, shape (k, dim, 1 + dim).

    Parameters
    ----------
    cone : Cone
    y : array, shape (k, dim)
        In K*.
    share : float
        How much of its room each is given. Where that is not all, the axes of the ellipsoid are
        that share of the entries' sizes.
    """
    sizes, curved = _sizes(y), isinstance(cone, ExponentialCone)
    axes, good = share * np.eye(cone.dim) * sizes[:, :, None], np.zeros(len(y), dtype=bool)
    if curved and share == 1.0:
        ours = _dikin(y)
        good = has_ends(cone, y, ours, True)
        axes[good] = ours[good]
    elif curved:
        axes[:, 1, 1] = share * np.abs(y[:, 0])
    good |= has_ends(cone, y, axes, True)
    for _ in range(HALVINGS):
        left = np.flatnonzero(~good)
        if not left.size:
            break
        axes[left] *= 0.5
        good[left] = has_ends(cone, y[left], axes[left], True)
    axes[~good] = 0.0
    found = 0.5 * np.concatenate([share * y[:, :, None], axes], axis=2)
    face = curved & (y[:, 0] == 0.0)  # the face of (0, v, w) with v, w >= 0
    found[face, :, 0] = 0.0
    found[face, :, 1:] = 0.5 * share * np.eye(cone.dim) * y[face][:, :, None]
    return found


def has_ends(cone: ExponentialCone | Power, y: Array, axes: Array, dual: bool) -> Array:
    """Whether y plus and minus sqrt(dim) times each axis, a column of the last two, is in K (K*).

    The ellipsoid of these axes about y is in the hull of these.
    """
    ends = np.sqrt(cone.dim) * 1.01 * np.swapaxes(axes, -1, -2)
    ends = y[:, None, :] + np.stack([ends, -ends])
    inside = (
        inside_exponential if isinstance(cone, ExponentialCone) else partial(inside_power, cone)
    )
    return np.asarray(np.all(inside(ends, dual=dual), axis=(0, -1)))


def _dikin(y: Array) -> Array:
    """Half of the ellipsoids that the barrier of K* gives; nan where it has none.

    The barrier of K is -log(b log(c / b) - a) - log b - log c. Its Hessian is a sum of squares.
    """
    found = np.full((len(y), 3, 3), np.nan)
    with np.errstate(all="ignore"):
        a, b, c = TURN @ y.T
        psi, ratio, none = b * np.log(c / b) - a, b / c, np.zeros(len(y))
        root = 1.0 / np.sqrt(psi * b)
        slope = [-1.0 / psi, (np.log(c / b) - 1.0) / psi, ratio / psi]
        rows = [slope, [none, root, -ratio * root], [none, 1.0 / b, none], [none, none, 1.0 / c]]
        squares = np.moveaxis(np.array(rows), -1, 0)
        good = (b > 0.0) & (c > 0.0) & (psi > 0.0) & np.all(np.isfinite(squares), axis=(1, 2))
        R = np.linalg.qr(squares[good], mode="r")
        found[good] = 0.5 * np.linalg.solve(TURN, np.linalg.inv(R))
    return found


THIN = 1e-11
"""Below this share of its size a multiplier counts as on the boundary of a curved cone."""
DENSE_BLOCK = 600
"""Semidefinite blocks of more entries move inside a ball only."""


def nudged(program: ConeProgram, y: Array) -> Array:
    """Multipliers in K* with rounding allowed for: a few ulp inside where the cone is curved."""
    y = program.project_dual(y)
    for cone, rows in program.runs:
        if isinstance(cone, ExponentialCone):
            y[rows] = nudged_each(y[rows])
        elif isinstance(cone, SecondOrder):
            least = np.linalg.norm(y[rows[:, 1:]], axis=1) * (1.0 + (cone.dim + 4) * EPS)
            y[rows[:, 0]] = np.maximum(y[rows[:, 0]], least)
        elif isinstance(cone, Semidefinite):
            y[rows] = [_semidefinite(cone, part) for part in y[rows]]
        elif isinstance(cone, Power):
            y[rows] = [_power(cone, part) for part in y[rows]]
    return y


def _power(cone: Power, y: Array) -> Array:
    for k in range(40):  # |z| is lowered
        if inside_power(cone, y, dual=True):
            return y
        y[-1] *= 1.0 - EPS * 2.0 ** (k + 1)
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
        if eigenvalue_bound(inner + (shift - room) * np.eye(len(inner))) > -np.inf:
            return y + shift * identity if k else y
    return np.zeros_like(y)


def inside_power(cone: Power, s: Array, dual: bool = False) -> Array:
    """Which points, shape (..., dim), are in a power cone, or (x / alpha, z) in it, for certain."""
    alpha, x, z = np.array(cone.alphas), s[..., :-1], np.abs(s[..., -1])
    with np.errstate(all="ignore"):
        logs, size = np.log(x / alpha if dual else x), np.log(z)
        room = 16.0 * EPS * (cone.dim + np.abs(logs) @ alpha + np.abs(size))
        bent = np.all(x > 0.0, axis=-1) & (logs @ alpha >= size + room)
    return np.asarray(np.where(z == 0.0, np.all(x >= 0.0, axis=-1), bent))


def margins(program: ConeProgram, y: Array, free: Array, share: float) -> Any:
    """M with y + M z in K* for every z of norm at most 1: the metric of the slack, a coo_array.

    Parameters
    ----------
    program : ConeProgram
    y : array, shape (m,)
        In K*, as ``nudged`` makes it.
    free : array, shape (m,)
        How far the multiplier of an equality may go.
    share : float
        How much of its room each multiplier is given, at most 1.
    """
    none, width = np.zeros(0, dtype=int), 0
    entries: list[tuple[Array, Array, Array]] = [(none, none, np.zeros(0))]
    for cone, rows in program.runs:
        if cone.is_polyhedral:
            room = free[rows[0]] if isinstance(cone, ZeroCone) else y[rows[0]]
            entries.append((rows[0], width + np.arange(cone.dim), share * room))
            width += cone.dim
        elif isinstance(cone, ExponentialCone | Power):
            blocks = margins_each(cone, y[rows], share)
            used, most = np.nonzero(blocks), 1 + cone.dim
            entries.append((rows[used[:2]], width + most * used[0] + used[2], blocks[used]))
            width += most * len(rows)
        else:
            for part in rows:
                block = share * _about(cone, y[part])
                inner = np.indices(block.shape).reshape(2, -1)
                entries.append((part[inner[0]], width + inner[1], block.ravel()))
                width += block.shape[1]
    at, columns, values = map(np.concatenate, zip(*entries, strict=True))
    return sparse.coo_array((values, (at, columns)), shape=(program.b.size, width))


def _about(cone: Cone, y: Array) -> Array:
    """Half of the way along y, and half of an ellipsoid about it."""
    if not np.any(y):
        return 0.5 * y[:, None]
    if isinstance(cone, SecondOrder):
        return _lorentz(y)
    assert isinstance(cone, Semidefinite)
    return _congruence(cone, y)


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


def _congruence(cone: Semidefinite, y: Array) -> Array:
    """S -> Y^(1/2) S Y^(1/2) / 2, or a ball where that is too large."""
    values, vectors = np.linalg.eigh(cone.matrix(y))
    if not values[0] > THIN * values[-1]:
        return 0.5 * y[:, None]
    if cone.dim > DENSE_BLOCK:
        return np.hstack([0.5 * y[:, None], 0.5 * values[0] * np.eye(cone.dim)])
    root = (vectors * np.sqrt(values)) @ vectors.T
    row, column, factor = cone.triangle
    ours, across = root[np.ix_(row, row)], root[np.ix_(row, column)]
    # Entry (i, j) of R S R, S the unit matrix of entries (p, q) and (q, p).
    both = ours * root[np.ix_(column, column)] + across * root[np.ix_(column, row)]
    return 0.25 * factor[:, None] * both * factor


# Make a multiplier of a cone program exactly feasible: alternate between cone and equality.


ROUNDS, SPAN, THOROUGH = 40, 6, 3
"""Rounds, those in which what is left has to fall to a quarter, and those that may take a singular
value decomposition of a larger system."""
NOTHING = 1e-8
"""A multiplier of this size is taken for 0 where 0 is feasible."""
NORMAL = 1e-3
"""How much of a step along the normal of a curved cone is wanted."""


def repair_conic_dual(
    program: ConeProgram,
    x: Array,
    y: Array,
    start: Array | None = None,
    room: Array | None = None,
) -> tuple[Array, Array]:
    """Project y to K*, and remove what is left of the equality by the least change of (w, y).

    w starts at ``start``, by default at x, whose slack gives the normals of curved cones. Entries
    move in proportion to their size, so that y stays inside K* where it is inside, and entries at
    0 stay there; or all in proportion to ``room``.
    """
    w = (x if start is None else start).copy()
    y = program.project_dual(y)
    if float(np.max(np.abs(y), initial=0.0)) <= NOTHING:
        y = np.zeros_like(y) if not np.any(_seen(program, w, 0.0 * y)[1]) else y
    normals = (1.0 - NORMAL) ** 0.5 * _normals(program, x)
    along = program.A.T - (program.A.T @ normals) @ normals.T
    system = sparse.hstack([program.P, along], format="csr")
    curved = abs(program.P).sum(axis=0) > 0.0  # only there w matters to the dual
    raw, left, size = _seen(program, w, y)
    best, least, before = (w, y), _worst(left, size), np.inf
    for round_ in range(ROUNDS):
        if round_ % SPAN == 0:
            slow, before = not least <= 0.25 * before, least
        if slow or least == 0.0:
            break
        size = np.maximum(size, EPS * float(np.max(size)))
        rows = 1.0 / np.where(size > 0.0, size, 1.0)
        entries = np.repeat(rows, np.diff(system.indptr)) * system.data
        scaled = sparse.csr_array((entries, system.indices, system.indptr), shape=system.shape)
        reach = weights_of_multipliers(program, y) if room is None else room
        least_w = 1e-3 * (float(np.max(np.abs(w), initial=0.0)) or 1.0)
        weights = np.where(curved, np.maximum(np.abs(w), least_w), 0.0)
        weights = np.concatenate([weights, reach])
        step = LeastChange(scaled, weights, round_ < THOROUGH)(-rows * raw)
        w = w + step[: w.size]
        turn = step[w.size :]
        y = program.project_dual(y + turn - normals @ (normals.T @ turn))
        raw, left, size = _seen(program, w, y)
        if (worst := _worst(left, size)) < least:
            best, least = (w, y), worst
    return best


def _normals(program: ConeProgram, x: Array) -> Any:
    """Unit vectors U along s, which is normal to K* at a complementary y: one for a curved cone.

    Steps T d with T = I - (1 - NORMAL) U U' avoid them: a step in the tangent plane leaves the
    cone only to second order, so that few rounds suffice.
    """
    normal = program.project(program.slack(x)) * ~program.ruled_by(ZeroCone, NonnegativeCone)
    count = len(program.cones)
    owner = np.repeat(np.arange(count), [cone.dim for cone in program.cones])
    size = np.sqrt(np.bincount(owner, normal**2, count))[owner]
    at = np.flatnonzero(size > 0.0)
    return sparse.csc_array((normal[at] / size[at], (at, owner[at])), shape=(owner.size, count))


def _seen(program: ConeProgram, w: Array, y: Array) -> tuple[Array, Array, Array]:
    """What is left of the equality, the same without what may be rounding, and its terms."""
    left, size = program.stationarity(w, y), program.stationarity_size(w, y)
    return left, np.where(np.abs(left) <= ROUNDING * size, 0.0, left), size


def _worst(left: Array, size: Array) -> float:
    return float(np.max(np.abs(left) / np.where(size > 0.0, size, 1.0), initial=0.0))


def weights_of_multipliers(program: ConeProgram, y: Array) -> Array:
    """How far each entry may move: in proportion to it, or to its block in a curved cone."""
    level = float(np.max(np.abs(y), initial=0.0)) or 1.0
    weights = np.maximum(shared(program, np.abs(y)), 1e-9 * level)
    return np.where(program.ruled_by(ZeroCone), level, weights)

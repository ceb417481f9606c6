"""Multipliers that are exactly inside their cones, and how far they may move there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ....numerics import EPS, Array
from ....objective.conic.cones import Cone, NonnegativeCone, SecondOrder, Semidefinite, ZeroCone
from ....objective.conic.curved import ExponentialCone, Power
from ....objective.conic.program import ConeProgram

THIN = 1e-11
"""Below this share of its size a multiplier counts as on the boundary of a curved cone."""
DENSE_BLOCK = 600
"""Semidefinite blocks of more entries move inside a ball only."""


def nudged(program: ConeProgram, y: Array) -> Array:
    """Multipliers in K* with rounding allowed for: a few ulp inside where the cone is curved."""
    y = program.project_dual(y)
    for cone, part in program.blocks:
        if not cone.is_polyhedral:
            y[part] = _nudged(cone, y[part])
    return y


def _nudged(cone: Cone, y: Array) -> Array:
    y = y.copy()
    match cone:
        case SecondOrder():
            least = float(np.linalg.norm(y[1:])) * (1.0 + (y.size + 4) * EPS)
            y[0] = max(float(y[0]), least)
            return y
        case Semidefinite():
            return _semidefinite(cone, y)
        case ExponentialCone():
            u, v = float(y[0]), float(y[1])
            if not u < 0.0:
                return np.array([0.0, max(v, 0.0), max(float(y[2]), 0.0)])
            with np.errstate(over="ignore"):
                least = -u * np.exp(v / u - 1.0) * (1.0 + 16.0 * EPS * (4.0 + abs(v / u)))
            y[2] = max(float(y[2]), float(least) + np.finfo(float).tiny)
            return y
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
    identity = cone.vector(np.eye(cone.order))
    for k in range(30):
        shift = room * (2.0**k - 1.0)
        try:
            np.linalg.cholesky(matrix + (shift - room) * np.eye(cone.order))
        except np.linalg.LinAlgError:
            continue
        return y + shift * identity if k else y
    return np.zeros_like(y)


def inside_dual(cone: Cone, y: Array) -> bool:
    """Whether an exponential or power multiplier is in K*, rounding included."""
    if isinstance(cone, ExponentialCone):
        u, v, w = (float(entry) for entry in y)
        if u >= 0.0:
            return u == 0.0 and v >= 0.0 and w >= 0.0
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            left, right = np.log(-u) + v / u - 1.0, np.log(w) if w > 0.0 else -np.inf
            return bool(left + 16.0 * EPS * (4.0 + abs(v / u) + abs(np.log(-u))) <= right)
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


def margins(program: ConeProgram, y: Array, free: Array, share: float = 1.0) -> sparse.csc_array:
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
    """
    blocks: list[Any] = []
    for cone, part in program.blocks:
        match cone:
            case ZeroCone():
                blocks.append(sparse.diags_array(share * free[part]))
            case NonnegativeCone():
                blocks.append(sparse.diags_array(share * y[part]))
            case _:
                blocks.append(sparse.csc_array(_curved(cone, y[part], share)))
    if not blocks:
        return sparse.csc_array((0, 0))
    return sparse.csc_array(sparse.block_diag(blocks))


def _curved(cone: Cone, y: Array, share: float) -> Array:
    """Half of the way along y, and half of an ellipsoid about it."""
    along = 0.5 * share * y[:, None]
    size = float(np.linalg.norm(y))
    if size == 0.0:
        return along
    match cone:
        case SecondOrder():
            return share * _lorentz(y)
        case Semidefinite():
            return share * _congruence(cone, y)
        case ExponentialCone() if y[0] == 0.0:
            return 0.5 * share * np.diag(y)  # the face of (0, v, w) with v, w >= 0
    ball = _axes(cone, y, share)
    return along if ball is None else np.hstack([along, 0.5 * ball])


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
    columns = [cone.vector(root @ cone.matrix(unit) @ root) for unit in np.eye(cone.dim)]
    return 0.5 * np.stack(columns, axis=1)


def _axes(cone: Cone, y: Array, share: float) -> Array | None:
    """Axes of an ellipsoid about y in K*: it is inside the hull of sqrt(dim) times their ends.

    Where only a share of the room is wanted, they are that share of the entries' sizes.
    """

    def fits(axes: Array) -> bool:
        ends = np.sqrt(cone.dim) * 1.01 * axes
        return all(inside_dual(cone, y + s * e) for e in ends.T for s in (1.0, -1.0))

    sizes = np.abs(y) + THIN * float(np.linalg.norm(y))
    if isinstance(cone, ExponentialCone):
        sizes[1] = abs(y[0]) if share < 1.0 else sizes[1]
        axes = _dikin(y) if share == 1.0 else None
        if axes is not None and fits(axes):
            return axes
    return _shrunk(fits, share * np.diag(sizes))


def _shrunk(fits: Callable[[Array], bool], axes: Array) -> Array | None:
    for _ in range(40):
        if fits(axes):
            return axes
        axes = 0.5 * axes
    return None


def _dikin(y: Array) -> Array | None:
    """Half of the ellipsoid that the barrier of the dual exponential cone gives.

    (u, v, w) is in K* where (u - v, -u, w) = (a, b, c) is in K; the barrier is
    -log(b log(c / b) - a) - log b - log c.
    """
    turn = np.array([[1.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    a, b, c = turn @ y
    if not (b > 0.0 and c > 0.0):
        return None
    with np.errstate(all="ignore"):
        psi = b * np.log(c / b) - a
        slope = np.array([-1.0, np.log(c / b) - 1.0, b / c]) / psi
        bent = np.array([[0.0, 0.0, 0.0], [0.0, 1.0 / b, -1.0 / c], [0.0, -1.0 / c, b / c**2]])
        hessian = np.outer(slope, slope) + bent / psi + np.diag([0.0, b**-2, c**-2])
        units = 1.0 / np.sqrt(np.diag(hessian))
        scaled = units[:, None] * hessian * units
    if not (psi > 0.0 and np.all(np.isfinite(scaled))):
        return None
    values, vectors = np.linalg.eigh(scaled)
    if not values[0] > EPS:
        return None
    return 0.5 * np.linalg.solve(turn, units[:, None] * vectors / np.sqrt(values))

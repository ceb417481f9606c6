"""The bound that multipliers give: strict, or over a box where they leave a residual."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..certificates.conic import floor_of
from ..certificates.conic_repair import repair_conic_dual
from ..numerics import ROUNDING, Array
from ..objective.cone_program import ConeProgram
from ..objective.cones import Nonnegative

SMALL = 1e-4
"""Multipliers above this share of the largest are no noise."""


@dataclass(frozen=True)
class Bound:
    """What holds of every feasible point x' of a cone program (a minimisation).

    Attributes
    ----------
    value : float
        objective(x') >= value; -inf where a residual is left.
    local : float
        objective(x') >= local wherever abs(x'_j - xhat_j) <= radius.
    radius : float
    left : array, shape (n,)
        The residual r of P w + A'y + q = 0; 0 where only rounding is left.
    w, y : array
        The repaired dual point.
    moved : float
        How far the repair moved it, largest coordinate.
    """

    value: float
    local: float
    radius: float
    left: Array
    w: Array
    y: Array
    moved: float


def bound_of(program: ConeProgram, x: Array, w: Array, y: Array) -> Bound:
    """Repair (w, y), carry what is left by bounds on single variables, and evaluate.

    Where the least change does not make the equality exact, it is tried once more from
    multipliers without the noise that an interior-point method leaves on inactive rows.
    """
    found = _repaired(program, x, w, y, y)
    if np.any(found.left):
        clean = np.where(_inactive(program, x, y), 0.0, y)
        other = _repaired(program, x, w, clean, y)
        found = max(found, other, key=lambda bound: (bound.value, bound.local))
    return found


def _repaired(program: ConeProgram, x: Array, w: Array, y: Array, passed: Array) -> Bound:
    pair = repair_conic_dual(program, x, y, w)
    point, left = pair.y, pair.left
    if np.any(left):
        carried = _carry(program, point, left)
        after = program.stationarity(pair.w, carried)
        after[np.abs(after) <= ROUNDING * program.stationarity_size(pair.w, carried)] = 0.0
        if not np.any(after):
            point, left = carried, after
    radius = max(1.0, float(np.max(np.abs(x), initial=0.0)))
    value = program.dual_objective(pair.w, point)
    local = value + float(left @ x) - radius * float(np.abs(left).sum())
    steps = (pair.w - w, point - passed)
    moved = max(float(np.max(np.abs(step), initial=0.0)) for step in steps)
    strict = -np.inf if np.any(left) else value
    return Bound(strict, local, radius, left, pair.w, point, moved)


def _inactive(program: ConeProgram, x: Array, y: Array) -> Array:
    """Rows of inequalities whose slack is larger, for its size, than their multiplier."""
    slack = program.slack(x)
    size = abs(program.A) @ np.abs(x) + np.abs(program.b)
    size = np.maximum(size, floor_of(size, program.b))
    level = floor_of(y, program.q)
    mask = np.zeros(y.size, dtype=bool)
    for cone, part in program.blocks:
        if isinstance(cone, Nonnegative):
            mask[part] = (y[part] < slack[part] / size[part]) & (y[part] < SMALL * level)
        elif not cone.is_polyhedral:
            wide = np.linalg.norm(slack[part]) > np.sqrt(SMALL) * np.linalg.norm(size[part])
            mask[part] = wide and np.linalg.norm(y[part]) < SMALL * level
    return mask


def _carry(program: ConeProgram, y: Array, left: Array) -> Array:
    """Let rows a x_j <= b of one variable each carry its residual; 0 <= y stays."""
    y, A = y.copy(), program.A.tocsr()
    single = np.diff(A.indptr) == 1
    for cone, part in program.blocks:
        if not isinstance(cone, Nonnegative):
            continue
        for i in np.flatnonzero(single[part]) + part.start:
            j, a = A.indices[A.indptr[i]], A.data[A.indptr[i]]
            step = max(-left[j] / a, -y[i]) if a != 0.0 else 0.0
            # Lowering a multiplier would do as well, as far as it is positive.
            y[i] += step
            left = left.copy()
            left[j] += a * step
    return y

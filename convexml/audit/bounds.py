"""The bound that multipliers give: strict, or over a box where they leave a residual."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..certificates.conic import floor_of
from ..certificates.conic_repair import DualPair, repair_conic_dual
from ..numerics import EPS, ROUNDING, Array
from ..objective.cone_program import ConeProgram
from ..objective.cones import Nonnegative
from .interior import move_inside
from .scaling import equilibrate

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
        objective(x') >= local wherever abs(x'_j - xhat_j) <= radius, and <= far for auxiliary j.
    radius, far : float
        max(1, abs(xhat)_inf) of the user's variables; far is 0 where nothing is left on
        auxiliary ones.
    left : array, shape (n,)
        The residual r of P w + A'y + q = 0; 0 where only rounding is left: 64 eps of its terms
        or, over the box, what is below the last digit of the bound.
    w, y : array
        The repaired dual point.
    moved : float
        How far the repair moved it, largest coordinate.
    """

    value: float
    local: float
    radius: float
    far: float
    left: Array
    w: Array
    y: Array
    moved: float


def bound_of(program: ConeProgram, x: Array, own: Array, w: Array, y: Array) -> Bound:
    """Repair (w, y), carry what is left by bounds on single variables, and evaluate.

    Where the least change does not make the equality exact, it is tried in other units, and from
    multipliers without the noise that an interior-point method leaves on inactive rows.
    """
    best: Bound | None = None
    for pair in _repairs(program, x, w, y):
        found = _evaluate(program, x, own, pair, (w, y))
        best = found if best is None else max(best, found, key=lambda b: (b.value, b.local))
        if not np.any(best.left):
            break
    assert best is not None
    return best


def _repairs(program: ConeProgram, x: Array, w: Array, y: Array) -> Iterator[DualPair]:
    yield repair_conic_dual(program, x, y, w)
    clean = np.where(_inactive(program, x, y), 0.0, y)
    yield repair_conic_dual(program, x, clean, w)
    units = equilibrate(program)
    inner = move_inside(units.program, units.x_in(w), units.y_in(y))
    if inner is not None:
        yield _rounded(program, units.x_out(inner[0]), units.y_out(inner[1]))


def _rounded(program: ConeProgram, w: Array, y: Array) -> DualPair:
    """The point with the residual that is more than rounding."""
    y = program.project_dual(y)
    left, size = program.stationarity(w, y), program.stationarity_size(w, y)
    size = np.maximum(size, EPS * float(np.max(size, initial=0.0)))
    left[np.abs(left) <= ROUNDING * size] = 0.0
    return DualPair(w, y, left, 0.0)


def _evaluate(
    program: ConeProgram, x: Array, own: Array, pair: DualPair, passed: tuple[Array, Array]
) -> Bound:
    if np.any(pair.left):
        carried = _rounded(program, pair.w, _carry(program, pair.y, pair.left))
        pair = pair if np.any(carried.left) else carried
    left = pair.left
    radius = max(1.0, float(np.max(np.abs(x[own]), initial=0.0)))
    far = max(1.0, float(np.max(np.abs(x), initial=0.0))) if np.any(left[~own]) else 0.0
    value = program.dual_objective(pair.w, pair.y)
    drift, spread = float(left @ x), float(np.where(own, radius, far) @ np.abs(left))
    if abs(drift) + spread <= EPS * max(1.0, abs(value)):  # the last digit of the bound itself
        left, drift, spread = np.zeros_like(left), 0.0, 0.0
    local = value + drift - spread
    steps = (pair.w - passed[0], pair.y - passed[1])
    moved = max(float(np.max(np.abs(step), initial=0.0)) for step in steps)
    strict = -np.inf if np.any(left) else value
    return Bound(strict, local, radius, far, left, pair.w, pair.y, moved)


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

"""Points that miss a domain by less than the tolerance: they are priced at the nearest one inside.

Rounding leaves log or entr at -1e-11, where it has no value. Feasibility is told of the point as
it stands; its objective, and what the constraints are short of, are those of the point nearby.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsqr

from ....conditions import Condition
from ....duality.checking import substituted, value_of
from ....numerics import EPS, Array
from .domain import (
    is_endless,
    row_name,
    size_of,
    transposed,
    undefined,
    units_of,
    without_value,
)
from .layout import dense
from .point import Posed, Violations, outside_domain, variable_sizes, violations

ROUNDS, STEPS = 4, 200
"""The point moves to the border, then by a few roundings beyond it; and steps of least squares."""
FAR = 10.0
"""A point farther away than so many tolerances, in the units of a variable, is not nearby."""


@dataclass(frozen=True)
class Missed:
    """How a point is judged that misses a domain.

    Attributes
    ----------
    at : dict
        Values by variable: its own where the objective has one, else those nearby; empty where
        nothing nearby has values.
    told, near : Violations
        Its own, with those nearby of constraints whose domain it misses; and all those nearby.
    drift : float
        How far the objective nearby is from that told.
    outside : list of Condition
        Its domains.
    words : str
        What has no value there.
    """

    at: dict[Any, Array]
    told: Violations
    near: Violations
    drift: float
    outside: list[Condition]
    words: str

    def stands(self) -> bool:
        """Whether the variables have the values ``at``."""
        return all(np.array_equal(dense(v.value), value) for v, value in self.at.items())


def missed(posed: Posed, tol: float, share: float = 1.0) -> Missed | None:
    """None where all domains are met, or a function is infinite for another reason.

    Where it is infinite at the border, the point nearby is inside by a ``share`` of ``tol``, for
    the size of its argument; so is that of a constraint that is infinite on the border.
    """
    if not any(constraints for owner in posed.domains for _, constraints in owner.atoms):
        return None
    outside, told = outside_domain(posed), Violations([], [])
    if not without_value(posed.domains):  # each violation is a number, or infinite
        told = violations(posed)
        if all(map(_is_finite, told.constraints)) and not any(row.residual for row in outside):
            return None
    own = {v: dense(v.value) for v in posed.problem.variables()}
    values = dict(own)
    for count in range(ROUNDS + 1):
        with substituted(values), np.errstate(all="ignore"):
            wanted = list(_wanted(posed, share * tol, count))
            moves = _moves(posed, wanted) if count < ROUNDS else {}
        if not moves:
            break
        values |= {v: values[v] + move for v, move in moves.items()}
    if count == 0 and not wanted:
        return None
    words, value = undefined(posed.domains), _objective(posed)
    far = any(
        np.any(np.abs(values[v] - own[v]).ravel(order="F") > FAR * tol * unit)
        for v, unit in ((v, units_of(v, variable_sizes(posed, v))) for v in own)
    )
    with substituted(values):
        if wanted or far or without_value(posed.domains):
            return Missed({}, told, told, 0.0, outside, words)
        near, other = violations(posed), _objective(posed)
    away = max(float(np.max(np.abs(values[v] - own[v]), initial=0.0)) for v in values)
    words = f"{words}; its value is taken {away:.3g} away"
    broken = {row.name for row in outside if row.residual}
    names = {row_name(owner.name) for owner in posed.domains}
    outside = [row for row in outside if row.name in names]
    if not told.constraints:
        told = near
    told = told._replace(
        constraints=[
            one if _is_finite(one) and row_name(posed.labels[one[0].id]) not in broken else two
            for one, two in zip(told.constraints, near.constraints, strict=True)
        ]
    )
    if np.isfinite(value) and row_name("the objective") not in broken:
        return Missed(own, told, near, abs(other - value), outside, words)
    return Missed(values, told, near, 0.0, outside, words)


def _is_finite(found: tuple[Any, Array]) -> bool:
    return bool(np.all(np.isfinite(found[1])))


def _objective(posed: Posed) -> float:
    """Its value; nan where it has none."""
    value = value_of(posed.problem.objective.expr)[0]
    return np.nan if value is None else float(np.real(dense(value)).ravel()[0])


def _wanted(posed: Posed, tol: float, count: int) -> Iterator[tuple[Any, Array]]:
    """Expressions, and how far each of their entries has to move."""
    import cvxpy as cp

    for k, (_, _, atoms) in enumerate(posed.domains):
        for atom, constraints in atoms:
            for i, constraint in enumerate(constraints):
                part, is_matrix = constraint.args[0], isinstance(constraint, cp.constraints.PSD)
                if isinstance(constraint, cp.constraints.Inequality):
                    part = constraint.args[1] - part
                elif not is_matrix:
                    continue
                value = value_of(part)[0]
                if value is None or not part.variables():
                    continue
                endless, value = is_endless(atom, i), dense(value)
                levels, vectors = np.linalg.eigh(value) if is_matrix else (value, value)
                # On the border the objective is infinite, and not by rounding.
                out = levels <= 0.0 if endless and k + count > 0 else levels < 0.0
                if not np.any(out):
                    continue
                size = size_of(part, lambda v: variable_sizes(posed, v))[0]
                size = np.linalg.norm(size, axis=(-2, -1))[..., None] if is_matrix else size
                step = np.where(out, size * (tol if endless else count * EPS) - levels, 0.0)
                if is_matrix:
                    step = (vectors * step[..., None, :]) @ np.conj(np.swapaxes(vectors, -2, -1))
                yield part, step


def _moves(posed: Posed, wanted: list[tuple[Any, Array]]) -> dict[Any, Array]:
    """The least moves of the variables that make these, in their units; none where unknown."""
    variables = posed.problem.variables()
    units = [units_of(v, variable_sizes(posed, v)) for v in variables]
    blocks, sides = [], []
    for part, step in wanted:
        slopes, side = part.grad, step.ravel(order="F")
        if any(slope is None for slope in slopes.values()):
            return {}
        at = np.flatnonzero(side)
        every = [transposed(slopes.get(v, np.zeros((v.size, side.size))), v) for v in variables]
        rows = sparse.hstack([sparse.csr_array(matrix.T)[at] for matrix in every])
        blocks.append(rows @ sparse.diags_array(np.concatenate(units)))
        sides.append(side[at])
    if not blocks:
        return {}
    system, side = sparse.vstack(blocks, format="csr"), np.concatenate(sides)
    z = np.zeros(system.shape[1], dtype=side.dtype)
    for turn, half in ((1.0, np.real(side)), (1j, np.imag(side))):
        if np.any(half):
            z = z + turn * lsqr(system, half, atol=1e-15, btol=1e-15, iter_lim=STEPS)[0]
    moves = np.split(z * np.concatenate(units), np.cumsum([unit.size for unit in units])[:-1])
    return {
        v: (move if v.is_complex() else np.real(move)).reshape(v.shape, order="F")
        for v, move in zip(variables, moves, strict=True)
    }

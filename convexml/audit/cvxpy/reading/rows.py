"""The multipliers that stand in a CVXPY problem, and the conditions on them by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....certificates.conic.search.recovery import Completed
from ....conditions import Condition, worst
from ....numerics import Array
from ....objective.conic.cones import NonnegativeCone, Semidefinite, ZeroCone
from .layout import dual_values
from .point import Posed


@dataclass(frozen=True)
class Given:
    """The dual values that were found.

    Attributes
    ----------
    y : array, shape (m,)
        In the rows of the conic form; 0 elsewhere.
    mask : array, shape (m,)
        Where they stand.
    off : dict
        By constraint id: the largest part that no multiplier of the conic form can have (a skew
        part, for one).
    missing : list of str
        Labels of the constraints without dual values.
    broken : str
        Label of a constraint whose dual value is not finite, else "".
    """

    y: Array
    mask: Array
    off: dict[int, float]
    missing: list[str]
    broken: str = ""


def read_duals(posed: Posed) -> Given:
    """Carry the dual values over to the rows of the conic form."""
    size = posed.program.b.size
    y, mask = np.zeros(size), np.zeros(size, dtype=bool)
    off, missing, broken = {}, [], ""
    for constraint in posed.problem.constraints:
        multipliers, values = posed.maps.get(constraint.id), dual_values(constraint)
        if multipliers is None or multipliers.rows.size == 0:
            continue
        label = posed.labels[constraint.id]
        if values is None:
            missing.append(label)
        elif values.shape != (multipliers.matrix.shape[0],) or not np.all(np.isfinite(values)):
            broken = broken or label
        else:
            y[multipliers.rows], off[constraint.id] = multipliers.lift(values)
            mask[multipliers.rows] = True
    return Given(y, mask, off, missing, broken)


def dual_rows(
    posed: Posed, x: Array, full: Completed, given: Given, size: float
) -> list[Condition]:
    """Cone and complementarity by constraint and attribute, stationarity by variable.

    ``size`` is that of the objective: a multiplier counts against size / (its row's size), a
    product against size, a gradient against size / (its variable's size) or its own terms.
    """
    program, y = posed.program, full.y
    slack = program.slack(x)
    rows = np.maximum(np.abs(program.b), posed.units.rows)
    unit = np.divide(size, rows, out=np.zeros(rows.size), where=rows > 0.0)
    found = []
    for name, part, off in _groups(posed, given):
        distance, scale, product = _measure(posed, part, slack, y, unit)
        if off > 0.0:
            distance, scale = np.append(distance, off), np.append(scale, float(np.max(scale)))
        found.append(worst(f"{name}: multiplier in its cone", "dual_feasibility", distance, scale))
        if product.size:
            row = worst(f"{name}: complementarity", "complementary_slackness", product, size)
            found.append(row)
    return found + _stationarity(posed, x, full, size)


def _stationarity(posed: Posed, x: Array, full: Completed, size: float) -> list[Condition]:
    program, columns = posed.program, posed.units.columns
    unit = np.divide(size, columns, out=np.zeros(columns.size), where=columns > 0.0)
    left = program.stationarity(x, full.y)
    scale = np.maximum(program.stationarity_size(x, full.y), unit)
    rows = []
    for variable in posed.problem.variables():
        own = [part.columns for part in posed.parts if part.variable is variable]
        if own:
            at = np.concatenate(own)
            name = f"stationarity in {posed.names[variable.id]}"
            rows.append(worst(name, "stationarity", left[at], scale[at]))
    return rows


def _groups(posed: Posed, given: Given) -> Iterator[tuple[str, Array, float]]:
    for constraint in posed.problem.constraints:
        multipliers = posed.maps.get(constraint.id)
        if multipliers is not None and multipliers.rows.size:
            off = given.off.get(constraint.id, 0.0)
            yield posed.labels[constraint.id], multipliers.rows, off
    for name, rows in attribute_rows(posed).items():
        yield name, rows, 0.0


def _measure(
    posed: Posed, wanted: Array, slack: Array, y: Array, unit: Array
) -> tuple[Array, Array, Array]:
    """Distances to K*, their scales and the products s'y, entry by entry or cone by cone.

    The products of equalities say nothing: there are none of them.
    """
    found: list[tuple[Array, Array, Array]] = []
    for cone, part in posed.program.blocks:
        rows = wanted[(wanted >= part.start) & (wanted < part.stop)]
        if rows.size == 0:
            continue
        if cone.is_polyhedral:
            distance, product = type(cone)(rows.size).distance_dual(y[rows]), slack[rows] * y[rows]
            if isinstance(cone, ZeroCone):
                product = product[:0]
            found.append((distance, unit[rows], product))
        else:
            s, z = slack[part], y[part]
            found.append(
                (cone.distance_dual(z), np.array([np.linalg.norm(unit[part])]), np.array([s @ z]))
            )
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))  # type: ignore[return-value]


def attribute_rows(posed: Posed) -> dict[str, Array]:
    """Rows of the conic form that only say what an attribute of one variable says, by name."""
    taken = np.zeros(posed.program.b.size, dtype=bool)
    for multipliers in posed.maps.values():
        taken[multipliers.rows] = True
    owner: list[Any] = [None] * posed.program.q.size
    for part in posed.parts:
        for j in part.columns:
            owner[j] = part.variable
    A = posed.program.A.tocsr()
    names: dict[str, list[int]] = {}
    for cone, block in posed.program.blocks:
        if isinstance(cone, NonnegativeCone):
            for i in np.flatnonzero(~taken[block]) + block.start:
                entries = slice(A.indptr[i], A.indptr[i + 1])
                if A.indices[entries].size == 1 and owner[A.indices[entries][0]] is not None:
                    name = _sided(posed, owner[A.indices[entries][0]], float(A.data[entries][0]))
                    names.setdefault(name, []).append(int(i))
        elif isinstance(cone, Semidefinite) and not np.any(taken[block]):
            owners = {owner[j] for j in np.unique(A[block].indices)}
            variable: Any = owners.pop() if len(owners) == 1 else None
            kind = [] if variable is None else [k for k in ("PSD", "NSD") if variable.attributes[k]]
            if kind:
                name = f"{posed.names[variable.id]} {kind[0]}"
                names.setdefault(name, []).extend(range(block.start, block.stop))
    return {name: np.array(rows, dtype=int) for name, rows in names.items() if name}


def _sided(posed: Posed, variable: Any, coefficient: float) -> str:
    """The attribute behind a row a x_j <= b of one variable; "" where it has none."""
    lower = coefficient < 0.0
    for kind in ("nonneg", "pos") if lower else ("nonpos", "neg"):
        if variable.attributes[kind]:
            return f"{posed.names[variable.id]} {kind}"
    if variable.attributes["bounds"]:
        return f"{posed.names[variable.id]} {'lower' if lower else 'upper'} bounds"
    return ""

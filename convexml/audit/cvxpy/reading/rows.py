"""The multipliers that stand in a CVXPY problem, and the conditions on them by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ....certificates.conic.rows import distances, products, row_sizes, share
from ....conditions import Condition, worst
from ....numerics import Array
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
    return Given(np.where(posed.idle, 0.0, y), mask, off, missing, broken)


def dual_rows(posed: Posed, x: Array, y: Array, given: Given, size: float) -> list[Condition]:
    """Cone and complementarity by constraint and attribute, stationarity by variable.

    ``size`` is that of the objective: a multiplier counts against size / (its row's size), a
    product against size, a gradient against size / (its variable's size) or its own terms.
    """
    program = posed.program
    slack, unit = program.slack(x), share(size, row_sizes(program, posed.units))
    found = []
    for name, part, off in _groups(posed, given):
        wanted = np.zeros(y.size, dtype=bool)
        wanted[part] = True
        distance, scale = distances(program, y, unit, True, wanted)
        product = products(program, slack, y, wanted)
        if off > 0.0:
            distance, scale = np.append(distance, off), np.append(scale, float(np.max(scale)))
        found.append(worst(f"{name}: multiplier in its cone", "dual_feasibility", distance, scale))
        if product.size:
            row = worst(f"{name}: complementarity", "complementary_slackness", product, size)
            found.append(row)
    return found + _stationarity(posed, x, y, size)


def moved_row(posed: Posed, y: Array, given: Given) -> Condition | None:
    """How far y is from the dual values that stand, by the worst row; None where none stand.

    An entry counts against max(|y_i|, exp(V - eta_i)), that of a curved cone with its others; what
    no multiplier of the conic form can have is off as well.
    """
    if not np.any(given.mask):
        return None
    unit = share(posed.units.objective, posed.units.rows)
    away, size = np.abs(y - given.y), np.maximum(np.abs(given.y), unit)
    for cone, rows in posed.program.runs_of(given.mask):
        if not cone.is_polyhedral:
            for each in (away, size):
                each[rows] = np.linalg.norm(each[rows], axis=1)[:, None]
    found = []
    for key, off in given.off.items():
        rows = posed.maps[key].rows
        name = f"that of {posed.labels[key]}"
        found.append(worst(name, "dual_feasibility", away[rows], size[rows]))
        if off > 0.0:
            found.append(worst(name, "dual_feasibility", off, np.max(size[rows])))
    return max(found, key=lambda row: row.relative)


def _stationarity(posed: Posed, x: Array, y: Array, size: float) -> list[Condition]:
    left = posed.program.stationarity(x, y)
    unit = share(size, posed.units.columns)
    scale = np.maximum(posed.program.stationarity_size(x, y), unit)
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
    for name, rows in posed.attribute_rows.items():
        yield name, rows, 0.0

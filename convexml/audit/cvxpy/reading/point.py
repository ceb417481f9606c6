"""What stands in a CVXPY problem after somebody solved it, in terms of its conic form."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from operator import is_
from typing import Any, NamedTuple

import numpy as np

from ....certificates.conic.rows import row_sizes as sizes_of_rows
from ....certificates.conic.search.fit import FittedProgram, fitted
from ....certificates.conic.units import conic_units
from ....certificates.scale import ProgramUnits
from ....conditions import Condition, worst
from ....duality.canonical import Canonical, cone_program
from ....duality.checking import constraint_names
from ....duality.inner import stored
from ....errors import InputError, SolverError
from ....numerics import EPS, ROUNDING, Array
from ....objective.conic.program import ConeProgram
from .attributed import attribute_rows
from .curvature import ROUNDED, curved, unproved
from .domain import Domains, domain_rows, domains_of
from .layout import (
    Columns,
    MultiplierMap,
    dense,
    expand_variable,
    multiplier_maps,
    parts_of,
    read_part,
)
from .pairs import with_pairs
from .sizes import cone_numbers, gathered, row_sizes, term_sizes, value_sizes
from .violation import attribute_violations, constraint_violation


@dataclass(frozen=True)
class Posed:
    """A CVXPY problem with its conic form, and where its parts stand there."""

    problem: Any
    canonical: Canonical
    parts: list[Columns]
    maps: dict[int, MultiplierMap] = field(default_factory=dict)
    outside: list[tuple[list[Any], list[Condition]]] = field(default_factory=list)

    @cached_property
    def program(self) -> ConeProgram:
        """The conic form, a minimisation, without what is rounding in complex equations."""
        return with_pairs(self.canonical.program, self.maps.values())

    @property
    def idle(self) -> Array:
        """The rows that are rounding: of 0 = 0 no multiplier says anything."""
        pairs, mask = self.program.pairs, np.zeros(self.program.b.size, dtype=bool)
        if pairs is not None:
            mask[pairs] = np.diff(self.program.A_by_row.indptr)[pairs] == 0
        return mask

    @cached_property
    def own(self) -> Array:
        """Which entries of x are the user's variables; the others are auxiliary."""
        mask = np.zeros(self.program.q.size, dtype=bool)
        for part in self.parts:
            mask[part.columns] = True
        return mask

    @cached_property
    def units(self) -> ProgramUnits:
        """Sizes of the objective and of the rows of the conic form, from its data."""
        return conic_units(self.program)

    @cached_property
    def fit(self) -> FittedProgram:
        """The conic form in those units, rounded to powers of two."""
        return fitted(self.program, self.units)

    @cached_property
    def curvature(self) -> str:
        """Why the conic form bounds nothing: a quadratic form, or an approximation; else ""."""
        return curved(self.problem, self._unproved)

    @property
    def doubt(self) -> str:
        """What is not proved of quadratic forms that are convex up to rounding; else ""."""
        return ROUNDED if self._unproved else ""

    @cached_property
    def _unproved(self) -> list[Any]:
        return unproved(self.problem)

    @cached_property
    def labels(self) -> dict[int, str]:
        """The label, else ``constraints[i]``, of each constraint by id; all different."""
        return constraint_names(self.problem)

    @cached_property
    def names(self) -> dict[int, str]:
        """The name of each variable by id; a second one of the same name gets its number."""
        names: dict[int, str] = {}
        for variable in self.problem.variables():
            name = variable.name()
            names[variable.id] = f"{name}#{variable.id}" if name in names.values() else name
        return names

    @cached_property
    def domains(self) -> list[Domains]:
        """Where the objective and the constraints are defined."""
        return domains_of(self.problem, self.labels)

    @cached_property
    def attribute_rows(self) -> dict[str, Array]:
        """The rows of the conic form that attributes stand for, by name."""
        taken = np.zeros(self.program.b.size, dtype=bool)
        for multipliers in self.maps.values():
            taken[multipliers.rows] = True
        return attribute_rows(self.program, self.parts, taken, self.names)

    def read(self, values: Mapping[Any, Any]) -> Array:
        """x with the user's entries filled and 0 elsewhere."""
        x = np.zeros(self.program.q.size)
        for part in self.parts:
            x[part.columns] = read_part(self.canonical, part, values[part.variable])
        return x

    def values(self, x: Array) -> dict[Any, Array]:
        """The values of the user's variables at x, without CVXPY's projection to attributes."""
        variables = self.problem.variables()
        return {v: expand_variable(self.canonical, self.parts, v, x) for v in variables}

    def point(self, x: Array) -> dict[str, Any]:
        """The values at x by the variables' names."""
        return {self.names[variable.id]: value for variable, value in self.values(x).items()}

    def named(self, y: Array) -> dict[str, Any]:
        """The multipliers of the user's constraints, as CVXPY has them, by label."""
        _, duals = self.canonical.recover(np.zeros(self.program.q.size), y)
        return {self.labels[c.id]: dense(v) for c, v in duals.items() if v is not None}

    def column_name(self, j: int) -> str:
        """``name[k]`` of an entry of x."""
        for part in self.parts:
            where = np.flatnonzero(part.columns == j)
            if where.size:
                return f"{self.names[part.variable.id]}[{where[0]}]"
        return f"an auxiliary variable ({j})"


def pose(problem: Any, owner: str = "certify") -> Posed:
    """Translate a problem that ``check_problem`` has let through.

    Raises
    ------
    InputError
        Where CVXPY cannot compile it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # CVXPY said it when the problem was solved
            canonical = cone_program(problem)
    except (SolverError, InputError) as error:
        raise InputError(f"{owner}: {error}") from None
    posed = Posed(problem, canonical, parts_of(canonical, problem))
    posed.maps.update({m.constraint.id: m for m in multiplier_maps(canonical, problem)})
    return posed


@contextmanager
def sparse_values() -> Iterator[None]:
    """Read the values of variables with ``sparsity``, which CVXPY answers with a warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Reading from a sparse CVXPY expression")
        warnings.filterwarnings("ignore", message="Writing to a sparse CVXPY expression")
        yield


class Violations(NamedTuple):
    """Distances of the variables' values from each constraint, and from attributes that ask.

    Attributes
    ----------
    constraints : list of (constraint, array)
    attributes : list of (variable, attribute, array, array)
        The last are limits, as ``attribute_violations`` has them.
    """

    constraints: list[tuple[Any, Array]]
    attributes: list[tuple[Any, str, Array, Array]]


def violations(posed: Posed) -> Violations:
    """Those of the values that stand."""
    with np.errstate(all="ignore"):
        own = [(each, constraint_violation(each)) for each in posed.problem.constraints]
    variables = posed.problem.variables()
    return Violations(own, [(v, *found) for v in variables for found in attribute_violations(v)])


def primal_rows(
    posed: Posed, x: Array, found: Violations, outside: list[Condition] | None = None
) -> list[Condition]:
    """Feasibility of the variables' values, by constraint, domain (``outside``) and attribute.

    A violation counts against the size of its row in the data, and may be off by the rounding of
    its terms at ``x``.
    """
    program = posed.program
    size = sizes_of_rows(program, posed.units)
    terms = 4.0 * EPS * program.in_pairs(program.A_sizes @ np.abs(x) + np.abs(program.b))
    rows = []
    for constraint, violated in found.constraints:
        known, count = posed.maps.get(constraint.id), violated.size
        if known is None or known.rows.size == 0:
            scale = value_sizes(constraint, count)
            each = [ROUNDING * term_sizes(part) for part in constraint.args]
            error = gathered(constraint, each, count)
        else:
            scale, error = (_sizes(known, constraint, v, count) for v in (size, terms))
        name = f"{posed.labels[constraint.id]}: violation"
        rows.append(worst(name, "primal_feasibility", violated, scale, error))
    rows += outside_domain(posed) if outside is None else outside
    for variable, attribute, violated, limit in found.attributes:
        sizes = variable_sizes(posed, variable)
        name = f"{posed.names[variable.id]} {attribute}: violation"
        scale = sizes if sizes.size == violated.size else np.max(sizes, initial=0.0)
        rows.append(worst(name, "primal_feasibility", violated, np.maximum(limit, scale)))
    return rows


def outside_domain(posed: Posed) -> list[Condition]:
    """Feasibility in the domains of the atoms, by constraint; once for the values that stand."""
    values, kept = [stored(v) for v in posed.problem.variables()], posed.outside
    if not kept or not all(map(is_, values, kept[0][0])):
        kept[:] = [(values, domain_rows(posed.domains, lambda v: variable_sizes(posed, v)))]
    return kept[0][1]


def variable_sizes(posed: Posed, variable: Any) -> Array:
    """The unit of each entry of a variable; that of its value where the data give none."""
    at = [part.columns for part in posed.parts if part.variable is variable]
    units = posed.units.columns[np.concatenate(at)] if at else np.zeros(1)
    if not np.any(units):
        return np.atleast_1d(np.max(np.abs(dense(variable.value)), initial=0.0))
    entries = units.size == variable.size and len(at) == 1
    return units.reshape(variable.shape, order="F").ravel() if entries else units


def _sizes(multipliers: MultiplierMap, constraint: Any, size: Array, count: int) -> Array:
    """The sizes of the terms behind each violation; each cone counts by its own."""
    if multipliers.is_selection and count == multipliers.rows.size:
        if cone_numbers(constraint) is None:
            return np.abs(size[multipliers.matrix.indices])
    return row_sizes(constraint, multipliers.matrix, size, count)

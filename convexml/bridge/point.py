"""What stands in a CVXPY problem after somebody solved it, in terms of its conic form."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import is_
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..certificates.algebra.definite import is_semidefinite, negative_eigenvalue
from ..certificates.conic.program import (
    FittedProgram,
    conic_units,
    curvature_words,
    distances,
    fitted,
    products,
    share,
)
from ..certificates.conic.program import row_sizes as sizes_of_rows
from ..certificates.conic.search import Completed
from ..certificates.scale import ProgramUnits
from ..duality.canonical import Canonical, cone_program
from ..duality.checking import constraint_names, shown
from ..duality.checking import parts_of as quadratic_parts
from ..duality.interface import stored
from ..errors import InputError, SolverError
from ..formulas import Condition, worst
from ..numerics import EPS, ROUNDING, Array
from ..problem.cones import ConePoint, ConeProgram, NonnegativeCone, Semidefinite, ZeroCone
from .domain import Domains, domain_rows, domains_of
from .layout import (
    Columns,
    MultiplierMap,
    attribute_violations,
    constraint_violation,
    dense,
    dual_values,
    expand_variable,
    gathered,
    multiplier_maps,
    names_of,
    parts_of,
    read_part,
    row_sizes,
    side_of,
    term_sizes,
    value_sizes,
)

# Rows of the conic form that attributes of variables stand for.


KINDS = ("nonneg", "pos", "nonpos", "neg", "bounds", "PSD", "NSD")
"""Attributes that have rows."""


def attribute_rows(
    program: ConeProgram, parts: list[Columns], taken: Array, label: Mapping[int, str]
) -> dict[str, Array]:
    """Rows of the conic form that only say what an attribute of one variable says, by name.

    ``taken`` is the mask of rows that say something else, ``label`` has the variables' by id.
    """
    kept = any(any(part.variable.attributes[kind] for kind in KINDS) for part in parts)
    if not kept or np.all(taken):
        return {}
    owner: list[Any] = [None] * program.q.size
    variable: Any
    for part in parts:
        for j in part.columns:
            owner[j] = part.variable
    A = program.A_by_row
    names: dict[str, list[int]] = {}
    for cone, block in program.blocks:
        if isinstance(cone, NonnegativeCone):
            alone = ~taken[block] & (np.diff(A.indptr)[block] == 1)
            for i in np.flatnonzero(alone) + block.start:
                place = A.indptr[i]
                if owner[A.indices[place]] is not None:
                    variable = owner[A.indices[place]]
                    side = side_of(variable, bool(A.data[place] < 0.0))
                    name = f"{label[variable.id]} {side}" if side else ""
                    names.setdefault(name, []).append(int(i))
        elif isinstance(cone, Semidefinite) and not np.any(taken[block]):
            owners = {owner[j] for j in np.unique(A[block].indices)}
            variable = owners.pop() if len(owners) == 1 else None
            kind = [] if variable is None else [k for k in ("PSD", "NSD") if variable.attributes[k]]
            if kind:
                name = f"{label[variable.id]} {kind[0]}"
                names.setdefault(name, []).extend(range(block.start, block.stop))
    return {name: np.array(rows, dtype=int) for name, rows in names.items() if name}


# What a conic form takes on trust: that quadratic forms are convex, and cones the atoms.


APPROXIMATE = ("RelEntrConeQuad", "OpRelEntrConeQuad")
"""Constraints that CVXPY writes by a quadrature, as it writes atoms with ``quad_approx``."""
ROUNDED = (
    "this is said but for the rounding of the matrix of a quadratic form: that it has no negative "
    "eigenvalue is not proved"
)


def unproved(problem: Any) -> list[Any]:
    """The matrices of quadratic forms that are not proved to have no negative eigenvalue."""
    return [matrix for matrix in _matrices(problem) if not is_semidefinite(matrix)]


def curved(problem: Any, matrices: list[Any]) -> str:
    """Why the conic form bounds nothing, in words; else "".

    A quadratic form, by one of these matrices, has the wrong curvature, or cones only approximate
    what was asked for.
    """
    for node in quadratic_parts(problem):
        if type(node).__name__ in APPROXIMATE or getattr(node, "quad_approx", None):
            return (
                f"CVXPY's cones only approximate {shown(node)}, by nobody knows how much: there is "
                "no bound"
            )
    return curvature_words(min(map(negative_eigenvalue, matrices), default=0.0))


def _matrices(problem: Any) -> Iterator[Any]:
    """The symmetric real matrices of the quadratic forms, with the sign that makes them convex."""
    for node in quadratic_parts(problem):
        if type(node).__name__ == "QuadForm":
            P = node.args[1]
            matrix = -P.value if not P.is_psd() and P.is_nsd() else P.value
            if np.iscomplexobj(matrix):
                block = sparse.block_array if sparse.issparse(matrix) else np.block
                matrix = block([[matrix.real, -matrix.imag], [matrix.imag, matrix.real]])
            yield 0.5 * (matrix + matrix.T)


# Complex equations: two rows of the conic form that are one constraint.


def with_pairs(program: ConeProgram, maps: Iterable[MultiplierMap]) -> ConeProgram:
    """The program with the rows that are real and imaginary part of one complex equation.

    A part whose terms are all rounding beside the other's, as the imaginary one of tr(A N) = b is
    for Hermitian A and N, becomes 0 = 0: it was not meant, and a bound without it is one with it.
    """
    found = [_pairs(item) for item in maps if any(arg.is_complex() for arg in item.constraint.args)]
    pairs = np.concatenate([np.zeros((0, 2), dtype=int), *found])
    pairs = pairs[np.all(program.ruled_by(ZeroCone)[pairs], axis=1)]
    if not pairs.size:
        return program
    program = replace(program, pairs=pairs)
    units = conic_units(program)
    terms = np.abs(program.b) + program.A_sizes @ units.columns
    idle = np.zeros(terms.size, dtype=bool)
    idle[pairs] = terms[pairs] <= ROUNDING * units.rows[pairs]
    if not np.any(idle):
        return program
    A = sparse.csc_array(sparse.diags_array((~idle).astype(float)) @ program.A)
    A.eliminate_zeros()
    return replace(program, A=A, b=np.where(idle, 0.0, program.b))


def _pairs(item: MultiplierMap) -> Array:
    """Of entries that have one row for each part."""
    alone = np.diff(item.matrix.indptr).reshape(2, -1) == 1
    first = item.matrix.indptr[:-1].reshape(2, -1)[:, np.all(alone, axis=0)]
    return item.matrix.indices[first].T


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
        return names_of(self.problem.variables())

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
        """The multipliers of the user's constraints, as CVXPY has them, and of attributes."""
        _, duals = self.canonical.recover(np.zeros(self.program.q.size), y)
        own = {self.labels[c.id]: dense(v) for c, v in duals.items() if v is not None}
        return own | of_attributes(self, y)

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
    maps = multiplier_maps(canonical, problem)
    posed.maps.update({each.constraint.id: each for each in maps if each.rows.size})
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
        if known is None:
            scale = value_sizes(constraint, count)
            each = [ROUNDING * term_sizes(part) for part in constraint.args]
            error = gathered(constraint, each, count)
        else:
            scale, error = (row_sizes(constraint, known.matrix, v, count) for v in (size, terms))
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


# Rows of the conic form by the user's own names: constraints by label, attributes by variable.


def soft_rows(posed: Posed) -> Array:
    """Rows of the user's constraints and attributes; what defines an atom is never relaxed."""
    mask = np.zeros(posed.program.b.size, dtype=bool)
    for rows in named_rows(posed).values():
        mask[rows] = True
    return mask


def named_rows(posed: Posed) -> dict[str, Array]:
    """Rows by name."""
    own = {
        posed.labels[c.id]: posed.maps[c.id].rows
        for c in posed.problem.constraints
        if c.id in posed.maps
    }
    return own | posed.attribute_rows


def of_attributes(posed: Posed, values: Array) -> dict[str, Array]:
    """What rows of attributes have, by name, in the shape of the variable; 0 where it has no row.

    A semidefinite block is a matrix.
    """
    A, found = posed.program.A_by_row, {}
    matrices = {part.start: cone for cone, part in posed.program.blocks}
    for name, rows in posed.attribute_rows.items():
        cone, entries = matrices.get(int(rows[0])), abs(A[rows]).T @ values[rows]
        if isinstance(cone, Semidefinite) and rows.size == cone.dim:
            found[name] = cone.matrix(values[rows])
        else:
            column = A.indices[A.indptr[rows[0]]]
            variable = next(part.variable for part in posed.parts if column in part.columns)
            found[name] = expand_variable(posed.canonical, posed.parts, variable, entries)
    return found


def moves_by_label(posed: Posed, shift: Array) -> dict[str, Array]:
    """How far each constraint moves, in the shape of its dual value where that is one array."""
    found = {}
    for constraint in posed.problem.constraints:
        multipliers = posed.maps.get(constraint.id)
        if multipliers is not None:
            moved, variables = abs(multipliers.matrix) @ shift, constraint.dual_variables
            alone = len(variables) == 1 and variables[0].size == moved.size
            found[posed.labels[constraint.id]] = (
                moved.reshape(variables[0].shape) if alone else moved
            )
    return found | of_attributes(posed, shift)


# The multipliers that stand in a CVXPY problem, and the conditions on them by name.


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
        By label: the largest part that no multiplier of the conic form can have (a skew
        part, for one).
    missing : list of str
        Labels of the constraints without dual values.
    broken : str
        Label of a constraint whose dual value is not finite, else "".
    """

    y: Array
    mask: Array
    off: dict[str, float]
    missing: list[str]
    broken: str = ""


def read_duals(posed: Posed) -> Given:
    """Carry the dual values over to the rows of the conic form."""
    size = posed.program.b.size
    y, mask = np.zeros(size), np.zeros(size, dtype=bool)
    off, missing, broken = {}, [], ""
    for constraint in posed.problem.constraints:
        multipliers, values = posed.maps.get(constraint.id), dual_values(constraint)
        if multipliers is None:
            continue
        label = posed.labels[constraint.id]
        if values is None:
            missing.append(label)
        elif values.shape != (multipliers.matrix.shape[0],) or not np.all(np.isfinite(values)):
            broken = broken or label
        else:
            y[multipliers.rows], off[label] = multipliers.lift(values)
            mask[multipliers.rows] = True
    return Given(np.where(posed.idle, 0.0, y), mask, off, missing, broken)


def dual_rows(posed: Posed, x: Array, y: Array, given: Given, size: float) -> list[Condition]:
    """Cone and complementarity by constraint and attribute, stationarity by variable.

    ``size`` is that of the objective: a multiplier counts against size / (its row's size), a
    product against size, a gradient against size / (its variable's size) or its own terms.
    """
    program = posed.program
    slack, unit = program.slack(x), share(size, sizes_of_rows(program, posed.units))
    found = []
    for name, part in named_rows(posed).items():
        off = given.off.get(name, 0.0)
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
    known = named_rows(posed)
    for label, off in given.off.items():
        rows, name = known[label], f"that of {label}"
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


# The auxiliary entries and multipliers of the solver's own answer, where CVXPY still has it.


SAME = 1e-7
"""How far values may be from the solver's, relative to the largest: CVXPY projects some."""
NEAR = 1e-4
"""Rows and columns are met to this, for their terms, by the answer to this very problem."""


def kept_answer(posed: Posed, x: Array, given: Given, found: ConePoint) -> Completed | None:
    """The dual point of a solver's answer; None unless it is what stands in the problem.

    A candidate as any other: its bound is computed from the data.

    Parameters
    ----------
    posed : Posed
    x : array, shape (n,)
        The owner's entries stand in it.
    given : Given
        The multipliers that stand.
    found : ConePoint
        It may be that to another problem.
    """
    program = posed.program
    if tuple(map(len, found)) != (program.q.size, *2 * (program.b.size,)):
        return None
    w, s, y = found
    own, mask, y = posed.own, given.mask, np.where(posed.idle, 0.0, y)
    if not (_same(w[own], x[own]) and _same(y[mask], given.y[mask])):
        return None
    w, y = np.where(own, x, w), np.where(mask, given.y, y)
    terms = program.A_sizes @ np.abs(w) + np.abs(program.b)
    if not _small(program.slack(w) - s, terms, NEAR):
        return None
    left = program.stationarity(w, y)
    return Completed(w, y) if _small(left, program.stationarity_size(w, y), NEAR) else None


def _same(one: Array, other: Array) -> bool:
    return _small(one - other, other, SAME)


def _small(part: Array, sizes: Array, share: float) -> bool:
    size = float(np.max(np.abs(sizes), initial=0.0))
    return float(np.max(np.abs(part), initial=0.0)) <= share * size

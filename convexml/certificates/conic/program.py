"""A cone program as its certificate sees it: values, sizes, rows by cone, and units."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ...errors import SolverError
from ...formulas import Condition
from ...numerics import Array, power_of_two
from ...problem.cones import ConeProgram, NonnegativeCone, SecondOrder, Semidefinite, ZeroCone
from ...problem.linear_program import LinearData
from ..algebra.definite import powers_of_two
from ..algebra.dual_points import quadratic_value
from ..algebra.searchers import solve_cone_program
from ..algebra.sums import exact_residual
from ..scale import ProgramUnits, program_units

# Values of a cone program at a point: the objective and the violations of rows.


def conic_objective(program: ConeProgram, x: Array) -> float:
    """x'Px / 2 + q'x, rounded at the end; the offset is left out."""
    return quadratic_value(program, x, program.q, x)


def row_violations(program: ConeProgram, x: Array) -> tuple[Array, Array]:
    """The slack b - A x, rounded once, and how far it is outside of the cones, entry by entry."""
    slack = -exact_residual(program.A_by_row, x, program.b)
    return slack, slack - program.project(slack)


def linear_rows(program: ConeProgram, wanted: Array | bool = True) -> tuple[LinearData, Array]:
    """The wanted rows of {0} and of inequalities, and their numbers: of A_ub, then of A_eq."""
    rules = (program.ruled_by(kind) & wanted for kind in (NonnegativeCone, ZeroCone))
    below, equal = map(np.flatnonzero, rules)
    order, k, free = np.concatenate([below, equal]), below.size, np.full(program.q.size, np.inf)
    A, b = program.A_by_row[order], program.b[order]
    return LinearData(program.q, A[:k], b[:k], A[k:], b[k:], -free, free), order


def curvature_words(least: float) -> str:
    """Why there is no bound where P has a negative eigenvalue."""
    if not least < 0.0:
        return ""
    said = f"the quadratic form is not convex: its least eigenvalue is {least:.3g}"
    return f"{said}; no bound is known"


# Distances and products of a cone program, gathered by cone: the one way of counting them.


def distances(
    program: ConeProgram,
    values: Array,
    size: Array,
    dual: bool = False,
    wanted: Array | None = None,
) -> tuple[Array, Array]:
    """How far values are outside of K (or K*), and the size that each distance counts against.

    One distance a row of a polyhedral cone, one a curved cone; of ``wanted`` rows, a mask, only.
    """
    found = [(np.zeros(0), np.zeros(0))]
    for cone, rows in program.runs_of(wanted):
        nearest = cone.project_dual_each if dual else cone.project_each
        away, own = values[rows] - nearest(values[rows]), size[rows]
        if cone.is_polyhedral:
            found.append((np.abs(away).ravel(), own.ravel()))
        else:
            found.append((np.linalg.norm(away, axis=1), np.linalg.norm(own, axis=1)))
    distances, sizes = zip(*found, strict=True)
    return np.concatenate(distances), np.concatenate(sizes)


def products(program: ConeProgram, slack: Array, y: Array, wanted: Array | None = None) -> Array:
    """s'y row by row and curved cone by cone; of equalities it says nothing, and there is none."""
    found = [np.zeros(0)]
    for cone, rows in program.runs_of(wanted):
        if not isinstance(cone, ZeroCone):
            found.append(np.sum(slack[rows] * y[rows], axis=0 if cone.is_polyhedral else 1))
    return np.concatenate(found)


def row_sizes(program: ConeProgram, units: ProgramUnits) -> Array:
    """What the violation of each row counts against."""
    return program.in_pairs(np.maximum(np.abs(program.b), units.rows))


def share(size: float, sizes: Array) -> Array:
    """size / sizes: what a multiplier or a slope counts against; 0 where the data have no size."""
    return np.divide(size, sizes, out=np.zeros(sizes.size), where=sizes > 0.0)


# Sizes of the rows, columns and objective of a cone program, from its data.


def conic_units(program: ConeProgram) -> ProgramUnits:
    """``program_units`` with one unit a row, one a curved cone, one a row of a matrix.

    Units of a semidefinite cone are those of a congruence D S D: entry (p, q) has d_p d_q. A
    complex equation is one row, of the absolute values of its coefficients.
    """
    places: list[tuple[Array, Array]] = []
    count = 0
    for cone, run in program.runs:
        if isinstance(cone, Semidefinite):
            for part in run:
                places += [(part, count + side) for side in cone.triangle[:2]]
                count += cone.order
        elif run.size:
            owners = np.arange(run.size if cone.is_polyhedral else len(run))
            places.append((run.ravel(), count + np.repeat(owners, run.size // owners.size)))
            count += owners.size
    empty = np.zeros(0, dtype=int)
    rows, columns = (np.concatenate([empty, *(p[k] for p in places)]) for k in (0, 1))
    shape = (program.b.size, count)
    groups = sparse.csr_array((np.ones(rows.size), (rows, columns)), shape=shape)
    A, b = program.A, program.b
    if program.pairs is None:
        return program_units(A, b, program.q, program.P, groups)
    owner, turn = np.arange(b.size), np.ones(b.size, dtype=complex)
    owner[program.pairs[:, 1]], turn[program.pairs[:, 1]] = program.pairs[:, 0], 1j
    joined = sparse.csr_array((turn, (owner, np.arange(b.size))), shape=(b.size, b.size))
    found = program_units(abs(joined @ A), abs(joined @ b), program.q, program.P, groups)
    return replace(found, rows=found.rows[owner])


# Solve a cone program in units in which its rows and columns have entries of size 1.


SWEEPS = 8
ROUNDS = 3
RANGE = 1e10
"""Scales beyond this are cut: smaller entries count as noise."""
TIGHT = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10, "max_iter": 300}


Program = TypeVar("Program")


class InUnits(NamedTuple, Generic[Program]):
    """x = columns * x' / unit, y = cost * rows' y' / unit; ``rows`` is a matrix."""

    program: Program
    columns: Array
    rows: Any
    unit: float
    cost: float

    def x_out(self, x: Array) -> Array:
        """x in the program's own units."""
        return self.columns * x / self.unit

    def x_in(self, x: Array) -> Array:
        """The inverse of ``x_out``."""
        return self.unit * x / self.columns

    def y_out(self, y: Array) -> Array:
        """y in the program's own units."""
        return np.asarray(self.cost * (self.rows.T @ y) / self.unit)

    @property
    def worth(self) -> float:
        """What 1 of the scaled program's objective is in the program's own."""
        return self.cost / self.unit**2

    def y_in(self, y: Array) -> Array:
        """The inverse of ``y_out``."""
        inverse = splu(sparse.csc_matrix(self.rows.T)) if y.size else None
        return y if inverse is None else np.asarray(inverse.solve(y) * (self.unit / self.cost))


def in_units(
    program: ConeProgram, columns: Array, rows: Any, unit: float = 1.0, cost: float = 1.0
) -> InUnits[ConeProgram]:
    """The program in these units; its constant and what its data may be off by stay behind."""
    inside = ConeProgram(
        times(program.P, columns / cost, columns),
        unit * columns * program.q / cost,
        times(rows @ program.A, np.ones(program.b.size), columns),
        unit * (rows @ program.b),
        program.cones,
        pairs=program.pairs,
    )
    return InUnits(inside, columns, rows, unit, cost)


def equilibrate_cone(program: ConeProgram) -> InUnits[ConeProgram]:
    """Scale columns, rows, right-hand side and objective to entries of size 1.

    Second-order cones also turn, by the Lorentz boosts that keep them: that evens out what stands
    for a quadratic, (1 + t, 1 - t, 2 v), where t is 1e12 when v is 1e6.
    """
    found = in_units(program, np.ones(program.q.size), diagonal(np.ones(program.b.size)))
    for round_ in range(ROUNDS):
        column, row, one = _ruiz(found.program)
        columns, unit = _cut(found.columns * column), found.unit * one
        rows = times(found.rows.T, np.ones(row.size), row).T
        found = in_units(program, columns, rows, unit)
        if round_ == ROUNDS - 1 or not any(isinstance(c, SecondOrder) for c in program.cones):
            break
        found = in_units(program, columns, _boosts(found.program) @ rows, unit)
    sizes = np.concatenate([np.abs(found.program.q), _largest(found.program.P, 0)])
    cost = float(powers_of_two(float(np.max(sizes, initial=0.0)) or 1.0))
    return in_units(program, columns, rows, unit, cost)


def times(matrix: Any, rows: Array, columns: Array) -> Any:
    """The matrix with its rows and columns times these, entry by entry: a csc_array."""
    matrix = matrix if matrix.format == "csc" else sparse.csc_array(matrix)
    data = rows[matrix.indices] * matrix.data * np.repeat(columns, np.diff(matrix.indptr))
    return sparse.csc_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _ruiz(program: ConeProgram) -> tuple[Array, Array, float]:
    """Ruiz's scaling of [[P, A', q], [A, 0, b], [q', b', 0]]: columns, rows and the last one.

    The rows of a curved cone share one scale.
    """
    n, m = program.q.size, program.b.size
    columns, rows, unit = np.ones(n), np.ones(m), 1.0
    P, A = (abs(sparse.coo_array(matrix)) for matrix in (program.P, program.A))
    bent, entries, q, b = P.data, A.data, program.q, program.b
    for _ in range(SWEEPS):
        column, row = np.abs(q), np.abs(b)
        np.maximum.at(column, P.col, bent)
        np.maximum.at(column, A.col, entries)
        np.maximum.at(row, A.row, entries)
        row = shared(program, row)
        last = np.max(np.concatenate([np.abs(q), np.abs(b)]), initial=0.0)
        column, row, last = (1.0 / np.sqrt(np.where(v > 0.0, v, 1.0)) for v in (column, row, last))
        columns, rows, unit = _cut(columns * column), _cut(rows * row), float(_cut(unit * last))
        bent = columns[P.row] * P.data * columns[P.col]
        entries = rows[A.row] * A.data * columns[A.col]
        q, b = unit * columns * program.q, unit * rows * program.b
    # Powers of two: without boosts, the scaled program is the same one to the last bit.
    return powers_of_two(columns), powers_of_two(rows), float(powers_of_two(unit))


def _boosts(program: ConeProgram) -> Any:
    """(s_0 + s_1, s_0 - s_1) -> (a (s_0 + s_1), (s_0 - s_1) / a), to equal size, cone by cone."""
    curved = [p.start for c, p in program.blocks if isinstance(c, SecondOrder) and c.dim > 2]
    heads = np.array(curved, dtype=int)
    A, b = program.A_by_row, program.b
    first, second = A[heads], A[heads + 1]
    plus = np.maximum(_largest(first + second, 1), np.abs(b[heads] + b[heads + 1]))
    minus = np.maximum(_largest(first - second, 1), np.abs(b[heads] - b[heads + 1]))
    uneven = (plus > 0.0) & (minus > 0.0) & (plus != minus)
    heads, a = heads[uneven], _cut(np.sqrt(minus[uneven] / plus[uneven]))
    own, other = np.ones(b.size), 0.5 * (a - 1 / a)
    own[heads] = own[heads + 1] = 0.5 * (a + 1 / a)
    k = np.arange(b.size)
    at = (np.concatenate([k, heads, heads + 1]), np.concatenate([k, heads + 1, heads]))
    return sparse.csr_array((np.concatenate([own, other, other]), at), shape=(b.size, b.size))


def _largest(matrix: Any, axis: int) -> Array:
    if 0 in matrix.shape:
        return np.zeros(matrix.shape[1 - axis])
    found = abs(matrix).max(axis=axis)
    return np.asarray(found.toarray() if sparse.issparse(found) else found).ravel()


def shared(program: ConeProgram, sizes: Array) -> Array:
    """The sizes, of a curved cone's rows the largest one for all."""
    sizes = sizes.copy()
    for cone, rows in program.runs:
        if not cone.is_polyhedral:
            sizes[rows] = np.max(sizes[rows], axis=1, initial=0.0)[:, None]
    return sizes


def _cut(scale: Any) -> Any:
    return np.clip(scale, 1.0 / RANGE, RANGE)


def solve_scaled(program: ConeProgram, plain: bool = False, **settings: Any) -> tuple[Array, Array]:
    """(x, y) in the program's own units: whatever Clarabel ended with.

    Parameters
    ----------
    program : ConeProgram
        A minimisation.
    plain : bool
        Whether its units are good as they are.
    **settings
        Of Clarabel; tolerances are 1e-10 unless said otherwise.

    Returns
    -------
    tuple
        (x, y), to be judged by the caller.

    Raises
    ------
    SolverError
        Where Clarabel breaks down, panics included, or returns what is not finite.
    """
    scaled = None if plain else equilibrate_cone(program)
    try:
        x, _, y = solve_cone_program(scaled.program if scaled else program, **(TIGHT | settings))
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise SolverError(f"conic form: Clarabel broke down: {error}") from None
    if scaled:
        x, y = scaled.x_out(x), scaled.y_out(y)
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        raise SolverError("conic form: Clarabel returned entries that are not finite.")
    return x, y


# A cone program in the units that its data suggest: the same one in whatever units it is posed.


class FittedProgram(NamedTuple):
    """The program in units of size 1, and its units there: powers of two, as the factors are."""

    scaled: InUnits[ConeProgram]
    units: ProgramUnits

    @property
    def program(self) -> ConeProgram:
        """The program in these units."""
        return self.scaled.program

    def solve(self) -> tuple[Array, Array]:
        """(x, y) of ``solve_scaled`` from these units, in the program's own.

        Raises
        ------
        SolverError
        """
        x, y = solve_scaled(self.program)
        return self.scaled.x_out(x), self.scaled.y_out(y)


def fitted(program: ConeProgram, units: ProgramUnits) -> FittedProgram:
    """Round the fitted units to powers of two, and pose the program in them, exactly.

    Rows of a curved cone share one unit. The units are the identity where float64 cannot hold
    the program in others.
    """
    sides = np.abs(program.b)
    # Without entries: b alone.
    row = shared(program, np.where(units.rows > 0.0, units.rows, sides))
    columns, cost = units.columns, units.objective
    if columns.size and not np.any(sides):  # nothing fixes x: its first entry does
        factor = power_of_two(columns[0]) / columns[0]
        row, columns, cost = row * factor, columns * factor, cost * factor
    row, columns, cost = power_of_two(row), power_of_two(columns), float(power_of_two(cost))
    scaled = in_units(program, columns, diagonal(1.0 / row), 1.0, cost)
    own = np.where(units.rows > 0.0, power_of_two(units.rows / row), 0.0)
    size = float(power_of_two(units.size / cost)) if units.size > 0.0 else 0.0
    if _holds(program, scaled):
        return FittedProgram(scaled, ProgramUnits(size, own, np.ones(columns.size), 1.0))
    one = in_units(program, np.ones(columns.size), diagonal(np.ones(row.size)))
    return FittedProgram(one, units)


def diagonal(entries: Array) -> Any:
    """The diagonal matrix, a csr_array."""
    at = np.arange(entries.size + 1)
    return sparse.csr_array((entries, at[:-1], at), shape=(entries.size, entries.size))


def _holds(program: ConeProgram, scaled: InUnits[ConeProgram]) -> bool:
    """Whether nothing overflowed or was lost below the smallest float."""
    old, new = (
        np.concatenate([part.P.data, part.A.data, part.q, part.b])
        for part in (program, scaled.program)
    )
    factors = np.concatenate([scaled.columns, scaled.rows.data, [scaled.cost]])
    tiny = np.finfo(float).tiny
    return bool(
        np.all((factors > tiny) & (factors < 1.0 / tiny))
        and np.all(np.isfinite(new) & ((np.abs(new) >= tiny) | (new == 0.0)))
        and np.count_nonzero(new) == np.count_nonzero(old)
    )


# What the conic engine asks of whoever owns a cone program and a point of it.


class Seen(NamedTuple):
    """The objective at a point, without its constant too; how far off both; feasibility by row.

    ``violated`` is what ``Subject.shortfall`` reads again.
    """

    value: float
    rest: float
    radius: float
    rows: list[Condition]
    violated: Any = None


class Names(Protocol):
    """What the owner calls the entries of a cone program."""

    def column_name(self, j: int) -> str:
        """``name[k]`` of entry j of x."""

    def named(self, y: Array) -> dict[str, Any]:
        """The multipliers by name."""

    def point(self, x: Array) -> dict[str, Any]:
        """The values at x by name."""


@dataclass(frozen=True)
class Subject(ABC):
    """A cone program as its owner states it.

    Attributes
    ----------
    program : ConeProgram
    units : ProgramUnits
        Of its data.
    fit : FittedProgram
        The program in those.
    own : mask, shape (n,)
        The entries of x that are the owner's; others only say what an expression means.
    names : Names
    sign : float
        -1 where the owner maximises.
    bent : bool
        Whether the owner's constraints ask for more than linear rows.
    curvature : str
        Why multipliers bound nothing, where P does not say so: the owner's problem is not convex,
        or the program only approximates it.
    """

    program: ConeProgram
    units: ProgramUnits
    fit: FittedProgram
    own: Array
    names: Names
    sign: float
    bent: bool
    curvature: str

    @abstractmethod
    def seen(self, x: Array) -> Seen:
        """The point that stands, which x is."""

    @abstractmethod
    def standing(self, x: Array) -> AbstractContextManager[None]:
        """Let x be the point that stands."""

    @abstractmethod
    def dual_rows(self, x: Array, y: Array, scale: float) -> list[Condition]:
        """The conditions on multipliers, with a gap measured on ``scale``."""

    def moved(self, y: Array) -> Condition | None:
        """How far y is from the multipliers that were passed, by the worst row, if any were."""
        return None

    @property
    def comparable(self) -> bool:
        """Whether ``meets`` may say yes of any point."""
        return False

    def meets(self, x: Array) -> bool:
        """Whether the owner's own constraints are met exactly by x, for certain."""
        return False

    @abstractmethod
    def shortfall(self, seen: Seen, y: Array) -> float:
        """|y|'violation: what being feasible within tol only gains, to first order."""
